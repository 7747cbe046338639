"""What holds in this run: how much messages show, how wide, paths from where pytest was called, use of the cache."""

from __future__ import annotations

import os
import re
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard import run_context

#: The entries of xdist's ``workerinput`` that describe the screen of the controller.
WIDTH, BLOCKS = "riskguard_width", "riskguard_blocks"


def set_context(config: pytest.Config) -> None:
    """Make messages follow -q, -v and the width, and the cache what was asked for, until the run ends."""
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    verbosity = config.get_verbosity()
    screen = run_context.Screen(
        detail=run_context.Detail(min(max(verbosity, 0), 2)),
        width=shutil.get_terminal_size().columns if worker is None else worker[WIDTH],
        blocks=run_context.draws_blocks(sys.stdout.encoding) if worker is None else worker[BLOCKS],
    )
    context = ExitStack()
    context.enter_context(
        run_context.changed(
            screen=screen,
            locate=lambda test: _from_here(test, config),
            cached=not config.getoption("riskguard_no_cache"),
        )
    )
    config.add_cleanup(context.close)


def _from_here(test: str, config: pytest.Config) -> str:
    """A node id relative to the folder where pytest was called, instead of to the rootdir."""
    path, *parts = test.split("::")
    here = os.path.relpath(config.rootpath / path, config.invocation_params.dir)
    return "::".join([Path(here).as_posix(), *parts])


def tell_worker(node: Any) -> None:
    """Tell an xdist worker how wide the screen is, and whether it shows block characters."""
    node.workerinput[WIDTH] = shutil.get_terminal_size().columns
    node.workerinput[BLOCKS] = run_context.current().screen.blocks


def with_paths_from_here(message: str, config: pytest.Config) -> str:
    """A message whose paths inside the working folder or the rootdir are relative to the working folder."""
    here = config.invocation_params.dir
    for folder, prefix in ((here, ""), (config.rootpath, f"{os.path.relpath(config.rootpath, here)}{os.sep}")):
        if folder.parent != folder:
            start = re.escape(f"{folder}{os.sep}")
            message = re.sub(rf"(?<![\w./\\-]){start}", lambda _, prefix=prefix: prefix, message)  # type: ignore[misc]
    return message
