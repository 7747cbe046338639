"""Failures of searches as errors of the gate: on import, and for which queries, at which line of which file."""

from __future__ import annotations

import sys
import sysconfig
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

from pytest_riskguard.errors import DataError
from pytest_riskguard.live_systems.results import NoAnswerError
from pytest_riskguard.live_systems.retrieval import (
    MAX_TIMEOUTS,
    FailedQuery,
    FailedSearchError,
    OutOfTimeError,
    Retrieved,
)
from pytest_riskguard.text import counted, listed

#: How many failed queries a message names; the others are counted.
MAX_NAMED = 5
MAX_QUERY = 80
#: How much of an error message is shown; some contain a whole page of a server.
MAX_MESSAGE = 300
_SCHEMES = ("stdlib", "platstdlib", "purelib", "platlib")
_LIBRARIES = tuple(Path(path) for name in _SCHEMES if (path := sysconfig.get_path(name)))
#: This package, whose frames called the code under test.
_PACKAGE = Path(__file__).parents[1]


def imported(target: str) -> Callable[..., Any]:
    """The search ``package.module:function``; ``DataError`` if it cannot be imported, or is no function."""
    module, _, function = target.partition(":")
    try:
        search: Callable[..., Any] = attrgetter(function)(import_module(module))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        advice = "; expected 'module:function' that python can import (pytest's `pythonpath` setting adds folders)"
        advice = advice if isinstance(error, ImportError | AttributeError) else ""
        long, short = _ending(error)
        said = f"cannot import {target!r}: "
        raise DataError(f"{said}{long}{advice}", reason="missing_input", problem=f"{said}{short}{advice}") from None
    if not callable(search):
        raise DataError(f"{target!r} is not a function", reason="missing_input")
    return search


def failure(retrieved: Retrieved, asked: int) -> DataError:
    """All failed queries in one message; the first ones with their errors, one that all share only once."""
    failed = retrieved.failed
    if len(failed) == 1:
        said, problem = (f"the search for topic {text}" for text in _named(failed[0]))
    else:
        rest = ""
        if left := asked - retrieved.asked:
            in_time = " in time" if isinstance(failed[-1].error, OutOfTimeError) else ""
            rest = f"; {counted(left, 'topic was', 'topics were')} not queried, because {MAX_TIMEOUTS} queries in a "
            rest += f"row had no answer{in_time}"
        count = f"all {asked}" if len(failed) == asked else f"{len(failed)} of {asked}"
        start = f"the search failed for {count} topics"
        parts = _shared(failed) if len({_how(query)[2] for query in failed}) == 1 else _listed(failed)
        said, problem = (start + part + rest for part in parts)
    return DataError(said, reason="bad_run", problem=problem)


def _shared(failed: Sequence[FailedQuery]) -> tuple[str, str]:
    """The error that all failed queries have, and their topics."""
    long, short, _ = _how(failed[0])
    topics = listed(tuple(query.topic for query in failed), most=MAX_NAMED)
    tries = "" if failed[0].attempts == 1 else f", {failed[0].attempts} times each"
    it = "it " if isinstance(failed[0].error, NoAnswerError) else ""
    end = f"; topics {topics}; the first query is {_query(failed[0])!r}"
    return f" with the same error{tries}: {it}{long}{end}", f" with the same error{tries}: {it}{short}{end}"


def _listed(failed: Sequence[FailedQuery]) -> tuple[str, str]:
    """The first failed queries, each with its error."""
    first = [_named(query) for query in failed[:MAX_NAMED]]
    rest = f"; and {len(failed) - MAX_NAMED} more" if len(failed) > MAX_NAMED else ""
    long, short = (": " + "; ".join(texts) + rest for texts in zip(*first, strict=True))
    return long, short


def _named(failed: FailedQuery) -> tuple[str, str]:
    """A topic, its query and how it failed, once with the full path of the faulty line, once with the file name."""
    start = f"{failed.topic!r} ({_query(failed)!r}) "
    if not isinstance(failed.error, NoAnswerError):
        start += "failed: " if failed.attempts == 1 else f"failed {failed.attempts} times: "
    long, short, _ = _how(failed)
    return start + long, start + short


def _query(failed: FailedQuery) -> str:
    return failed.query if len(failed.query) <= MAX_QUERY else f"{failed.query[:MAX_QUERY]}..."


def _how(failed: FailedQuery) -> tuple[str, str, str]:
    """How a query failed: with the full path of the faulty line, with its file name, and without its place.

    Only the first errors have a place, so that errors are compared without.
    """
    if isinstance(failed.error, NoAnswerError | FailedSearchError):
        return (str(failed.error),) * 3
    return *_ending(failed.error), _said(failed.error)


def _ending(error: BaseException) -> tuple[str, str]:
    """How code failed and at which line, once with the full path of its file and once with the file name."""
    text = _said(error)
    path, line = _place(error)
    return (text, text) if path is None else (f"{text} ({path}:{line})", f"{text} ({path.name}:{line})")


def _said(error: BaseException) -> str:
    """The kind of an error and its message."""
    try:
        text = str(error.msg if isinstance(error, SyntaxError) else error)
    except KeyboardInterrupt:
        raise
    except BaseException as second:  # an exception of the code under test may have a broken __str__
        text = f"(its __str__ raised {type(second).__name__})"
    text = text if len(text) <= MAX_MESSAGE else f"{text[:MAX_MESSAGE]}..."
    pytest = sys.modules.get("pytest")
    for call in () if pytest is None else ("skip", "xfail", "fail", "exit"):
        if isinstance(error, getattr(pytest, call).Exception):
            return f"it called pytest.{call} ({text})"
    kind = type(error).__name__
    return f"{kind}: {text}" if text else kind


def _place(error: BaseException) -> tuple[Path | None, int | None]:
    """Where an error must be fixed: the line of a syntax error, or the innermost frame outside libraries."""
    if isinstance(error, SyntaxError) and isinstance(error.filename, str):
        return Path(error.filename), error.lineno
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    for file, line in reversed(frames):
        path = Path(file)
        if not file.startswith("<") and not any(path.is_relative_to(root) for root in (_PACKAGE, *_LIBRARIES)):
            return path, line
    return None, None
