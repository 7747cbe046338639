"""Users' mistakes in one line: the place in their code, paths as they see them, the setting that names a file."""

from __future__ import annotations

import os
import re
import sysconfig
import traceback
from pathlib import Path

import pytest

from pytest_riskguard.config.load import Candidate, CandidateFile, Config
from pytest_riskguard.errors import DataError

_LIBRARIES = tuple(
    Path(path) for name in ("stdlib", "platstdlib", "purelib", "platlib") if (path := sysconfig.get_path(name))
)


#: How much of an error message is shown; some contain a whole page of a server.
MAX_MESSAGE = 300
#: This package, whose frames called the code under test.
_PACKAGE = Path(__file__).parents[1]


def blamed(said: str, error: BaseException, advice: str = "", *, reason: str) -> DataError:
    """An error in the code under test, with its place, as the reason why nothing can be compared.

    Parameters
    ----------
    said : str
        Which code, and when.
    error : BaseException
        How it ended; a call of ``pytest.skip()`` is named.
    advice : str
        Added at the end.
    reason : str
        As the report names it.
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
        text = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception as second:  # an exception of the code under test may have a broken __str__
        text = f"(its __str__ raised {type(second).__name__})"
    text = text if len(text) <= MAX_MESSAGE else f"{text[:MAX_MESSAGE]}..."
    for call in ("skip", "xfail", "fail"):
        if isinstance(error, getattr(pytest, call).Exception):
            return f"it called pytest.{call} ({text})"
    kind = type(error).__name__
    return f"{kind}: {text}" if text else kind


def place(error: BaseException) -> tuple[Path | None, int | None]:
    """File and line where an error must be fixed.

    For a syntax error, the wrong line; else the innermost frame outside installed libraries.
    """
    if isinstance(error, SyntaxError) and error.filename is not None:
        return Path(error.filename), error.lineno
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    outside = [
        (Path(file), line)
        for file, line in frames
        if not Path(file).is_relative_to(_PACKAGE)
        and not file.startswith("<")
        and not any(Path(file).is_relative_to(root) for root in _LIBRARIES)
    ]
    return outside[-1] if outside else (None, None)


def from_here(message: str, config: pytest.Config) -> str:
    """A message whose paths inside the working folder or the rootdir are relative to the working folder."""
    here = config.invocation_params.dir
    for folder, prefix in ((here, ""), (config.rootpath, f"{os.path.relpath(config.rootpath, here)}{os.sep}")):
        if folder.parent != folder:
            start = re.escape(f"{folder}{os.sep}")
            message = re.sub(rf"(?<![\w./\\-]){start}", lambda _, prefix=prefix: prefix, message)  # type: ignore[misc]
    return message


def whose(message: str, settings: Config, candidate: Candidate | None) -> str:
    """A message that begins with a file name, followed by the setting that names this file."""
    named: dict[Path, tuple[str, int]] = {settings.collection.qrels: ("qrels", settings.collection.line)}
    if settings.collection.topics is not None:
        named[settings.collection.topics] = ("topics", settings.collection.line)
    if isinstance(candidate, CandidateFile):
        named[candidate.path] = ("candidate", candidate.line)
    for path, (what, line) in named.items():
        if message.startswith(f"{path}:"):
            return f"{message} (the {what} named in {settings.path}:{line})"
    return message
