"""Failures of searches as errors of the gate: on import, and for which queries, at which line of which file."""

from __future__ import annotations

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
        raise DataError(f"cannot import {target!r}: {_ending(error)}{advice}", reason="missing_input") from None
    if not callable(search):
        raise DataError(f"{target!r} is not a function", reason="missing_input")
    return search


def failure(retrieved: Retrieved, asked: int) -> DataError:
    """All failed queries in one message; the first ones with their errors, one that all share only once."""
    failed = retrieved.failed
    if len(failed) == 1:
        return DataError(f"the search for topic {_named(failed[0])}", reason="bad_run")
    rest = ""
    if left := asked - retrieved.asked:
        in_time = " in time" if isinstance(failed[-1].error, OutOfTimeError) else ""
        rest = f"; {counted(left, 'topic was', 'topics were')} not queried, because {MAX_TIMEOUTS} queries in a "
        rest += f"row had no answer{in_time}"
    count = f"all {asked}" if len(failed) == asked else f"{len(failed)} of {asked}"
    errors = {_said(query.error) for query in failed}
    part = _shared(failed) if len(errors) == 1 else _listed(failed)
    return DataError(f"the search failed for {count} topics{part}{rest}", reason="bad_run")


def _shared(failed: Sequence[FailedQuery]) -> str:
    """The error that all failed queries have, and their topics."""
    topics = listed(tuple(query.topic for query in failed), most=MAX_NAMED)
    tries = "" if failed[0].attempts == 1 else f", {failed[0].attempts} times each"
    it = "it " if isinstance(failed[0].error, NoAnswerError) else ""
    how = _ending(failed[0].error)
    return f" with the same error{tries}: {it}{how}; topics {topics}; the first query is {_query(failed[0])!r}"


def _listed(failed: Sequence[FailedQuery]) -> str:
    """The first failed queries, each with its error."""
    rest = f"; and {len(failed) - MAX_NAMED} more" if len(failed) > MAX_NAMED else ""
    return f": {'; '.join(map(_named, failed[:MAX_NAMED]))}{rest}"


def _named(failed: FailedQuery) -> str:
    """A topic, its query and how it failed."""
    start = f"{failed.topic!r} ({_query(failed)!r}) "
    if not isinstance(failed.error, NoAnswerError):
        start += "failed: " if failed.attempts == 1 else f"failed {failed.attempts} times: "
    return start + _ending(failed.error)


def _query(failed: FailedQuery) -> str:
    return failed.query if len(failed.query) <= MAX_QUERY else f"{failed.query[:MAX_QUERY]}..."


def _ending(error: BaseException) -> str:
    """How code failed, and at which line of which file."""
    text, place = _said(error), None if isinstance(error, NoAnswerError | FailedSearchError) else _place(error)
    return text if place is None else f"{text} ({place})"


def _said(error: BaseException) -> str:
    """The kind of an error and its message; only the message of ours."""
    if isinstance(error, NoAnswerError | FailedSearchError):
        return str(error)
    try:
        text = str(error.msg if isinstance(error, SyntaxError) else error)
    except KeyboardInterrupt:
        raise
    except BaseException as second:  # an exception of the code under test may have a broken __str__
        text = f"(its __str__ raised {type(second).__name__})"
    text = text if len(text) <= MAX_MESSAGE else f"{text[:MAX_MESSAGE]}..."
    kind = type(error).__name__
    return f"{kind}: {text}" if text else kind


def _place(error: BaseException) -> str | None:
    """Where an error must be fixed: the line of a syntax error, or the innermost frame outside libraries."""
    if isinstance(error, SyntaxError) and isinstance(error.filename, str):
        return f"{Path(error.filename).name}:{error.lineno}"
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    for file, line in reversed(frames):
        path = Path(file)
        if not file.startswith("<") and not any(path.is_relative_to(root) for root in (_PACKAGE, *_LIBRARIES)):
            return f"{path.name}:{line}"
    return None
