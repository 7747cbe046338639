"""Errors in the code under test in one line: what it raised, and at which line of which file."""

from __future__ import annotations

import sys
import sysconfig
import traceback
from pathlib import Path

from pytest_riskguard.errors import DataError

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
    text = how(error)
    path, line = place(error)
    return (text, text) if path is None else (f"{text} ({path}:{line})", f"{text} ({path.name}:{line})")


def how(error: BaseException) -> str:
    """The kind of an error and its message."""
    try:
        text = str(error.msg if isinstance(error, SyntaxError) else error)
    except KeyboardInterrupt:
        raise
    except BaseException as second:  # an exception of the code under test may have a broken __str__
        text = f"(its __str__ raised {type(second).__name__})"
    text = text if len(text) <= MAX_MESSAGE else f"{text[:MAX_MESSAGE]}..."
    if (call := _pytest_call(error)) is not None:
        return f"it called pytest.{call} ({text})"
    kind = type(error).__name__
    return f"{kind}: {text}" if text else kind


def _pytest_call(error: BaseException) -> str | None:
    """The function of pytest that raised an error, if it is of one that ends tests."""
    pytest = sys.modules.get("pytest")
    calls = () if pytest is None else ("skip", "xfail", "fail", "exit")
    return next((call for call in calls if isinstance(error, getattr(pytest, call).Exception)), None)


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
