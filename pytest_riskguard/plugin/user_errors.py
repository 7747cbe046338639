"""Users' mistakes in one line: paths as they see them, and the setting that names a file."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import Config, GateSettings


def from_here(message: str, config: pytest.Config) -> str:
    """A message whose paths inside the working folder or the rootdir are relative to the working folder."""
    here = config.invocation_params.dir
    for folder, prefix in ((here, ""), (config.rootpath, f"{os.path.relpath(config.rootpath, here)}{os.sep}")):
        if folder.parent != folder:
            start = re.escape(f"{folder}{os.sep}")
            message = re.sub(rf"(?<![\w./\\-]){start}", lambda _, prefix=prefix: prefix, message)  # type: ignore[misc]
    return message


def whose(message: str, settings: Config, gate: GateSettings) -> str:
    """A message that begins with a file name, followed by the setting that names this file."""
    from pytest_riskguard.config.schema import run_of

    line = settings.line_of(gate, "candidate") if gate.candidate else settings.line("candidate")
    in_collection = settings.line("collection")
    for what, path, named_at in (
        ("qrels", settings.collection.qrels, in_collection),
        ("topics", settings.collection.topics, in_collection),
        ("candidate", run_of(gate.candidate or settings.candidate), line),
    ):
        if path is not None and message.startswith(f"{path}:"):
            return f"{message} (the {what} named in {settings.path}:{named_at})"
    return message
