"""Users' mistakes in one line: the place in their code, paths as they see them, the setting that names a file."""

from __future__ import annotations

import os
import re
import sysconfig
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_riskguard.errors import DataError

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import Config, GateSettings

_SCHEMES = ("stdlib", "platstdlib", "purelib", "platlib")
_LIBRARIES = tuple(Path(path) for name in _SCHEMES if (path := sysconfig.get_path(name)))
#: How much of an error message is shown; some contain a whole page of a server.
MAX_MESSAGE = 300
#: This package, whose frames called the code under test.
_PACKAGE = Path(__file__).parents[1]


def blamed(said: str, error: BaseException, advice: str = "", *, reason: str) -> DataError:
    """An error in the code under test, with its place, as the reason why nothing can be compared.

    ``said`` begins the message (which code failed, and when), ``advice`` ends it; ``reason`` is the word in reports.
    """
    long, short = ending(error)
    return DataError(f"{said}{long}{advice}", reason=reason, problem=f"{said}{short}{advice}")


def ending(error: BaseException) -> tuple[str, str]:
    """How code failed and at which line, once with the full path of its file and once with the file name."""
    how = _how(error)
    path, line = place(error)
    return (how, how) if path is None else (f"{how} ({path}:{line})", f"{how} ({path.name}:{line})")


def _how(error: BaseException) -> str:
    try:
        text = str(error.msg if isinstance(error, SyntaxError) else error)
    except KeyboardInterrupt:
        raise
    except BaseException as second:  # an exception of the code under test may have a broken __str__
        text = f"(its __str__ raised {type(second).__name__})"
    text = text if len(text) <= MAX_MESSAGE else f"{text[:MAX_MESSAGE]}..."
    for call in ("skip", "xfail", "fail", "exit"):
        if isinstance(error, getattr(pytest, call).Exception):
            return f"it called pytest.{call} ({text})"
    kind = type(error).__name__
    return f"{kind}: {text}" if text else kind


def place(error: BaseException) -> tuple[Path | None, int | None]:
    """Where an error must be fixed: the line of a syntax error, or the innermost frame outside libraries."""
    if isinstance(error, SyntaxError) and isinstance(error.filename, str):
        return Path(error.filename), error.lineno
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    for file, line in reversed(frames):
        path = Path(file)
        if not file.startswith("<") and not any(path.is_relative_to(root) for root in (_PACKAGE, *_LIBRARIES)):
            return path, line
    return None, None


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
