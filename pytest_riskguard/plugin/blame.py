"""Where the code under test went wrong: one line in place of a traceback."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path

import pytest

from pytest_riskguard.errors import DataError

_LIBRARIES = tuple(
    Path(path) for name in ("stdlib", "platstdlib", "purelib", "platlib") if (path := sysconfig.get_path(name))
)


def blamed(said: str, error: BaseException, advice: str = "", *, reason: str, ours: str) -> DataError:
    """What other people's code did, with the place, as a reason why nothing can be compared.

    Parameters
    ----------
    said : str
        Which code, and when.
    error : BaseException
        How it ended; ``pytest.skip()`` is said as such.
    advice : str
        Put behind it.
    reason : str
        As the report names it.
    ours : str
        The file that called the code: its frames are nobody's mistake.
    """
    how = _how(error)
    path, line = place(error, ours=ours)
    if path is None:
        return DataError(f"{said}{how}{advice}", reason=reason)
    return DataError(
        f"{said}{how} ({path}:{line}){advice}", reason=reason, problem=f"{said}{how} ({path.name}:{line}){advice}"
    )


def _how(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    for call in ("skip", "xfail", "fail"):
        if isinstance(error, getattr(pytest, call).Exception):
            return f"it called pytest.{call} ({text})"
    kind = type(error).__name__
    return f"{kind}: {text}" if text else kind


def place(error: BaseException, *, ours: str) -> tuple[Path | None, int | None]:
    """File and line that an error is to be mended in.

    Of a syntax error, the line that is wrong; else the innermost frame that belongs to no installed library.
    """
    if isinstance(error, SyntaxError) and error.filename is not None:
        return Path(error.filename), error.lineno
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    theirs = [
        (Path(file), line)
        for file, line in frames
        if file != ours
        and not file.startswith("<")
        and not any(Path(file).is_relative_to(root) for root in _LIBRARIES)
    ]
    return theirs[-1] if theirs else (None, None)
