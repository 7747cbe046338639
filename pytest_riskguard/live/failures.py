"""Failures of searches as errors of the gate: for which queries, and at which line of which file."""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from pytest_riskguard.config.asking import TIMEOUT
from pytest_riskguard.errors import DataError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.text import counted, listed

#: After this many queries in a row without an answer in time, no more are sent.
MAX_TIMEOUTS = 3
#: How many errors a message tells, and topics of each; the others are counted.
MAX_NAMED = 5
#: How much of an error message is shown; some contain a whole page of a server.
MAX_MESSAGE = 300
_SCHEMES = ("stdlib", "platstdlib", "purelib", "platlib")
#: Libraries, and this package, whose frames called the code under test.
_NOT_OWN = (*(Path(sysconfig.get_paths()[name]) for name in _SCHEMES), Path(__file__).parents[1])


class SearchError(Exception):
    """A query without an answer; the message says why, in words for people."""


class NoAnswerError(SearchError):
    """A search returned something that is not an answer; the query is not tried again."""


class FailedSearchError(SearchError):
    """A system did not answer; ``wait``: the seconds before another attempt, None if there is to be none."""

    def __init__(self, problem: str, *, wait: float | None = None) -> None:
        super().__init__(problem)
        self.wait = wait


class OutOfTimeError(FailedSearchError):
    """An answer took longer than it may."""

    def __init__(self, timeout: float | None) -> None:
        hint = " (the default; `timeout` changes it)" if timeout == TIMEOUT else ""
        super().__init__(f"no answer within {timeout:g} s{hint}")


@frozen
class FailedQuery:
    """A query without an answer after all attempts; ``problem`` says how the last one ended."""

    topic: str
    query: str
    problem: str
    attempts: int


def failure(failed: Sequence[FailedQuery], *, asked: int, wanted: int) -> DataError:
    """All failed queries in one message, which tells an error that several share once."""
    alike: dict[str, list[FailedQuery]] = {}
    for query in failed:
        alike.setdefault(query.problem, []).append(query)
    parts = []
    for problem, queries in islice(alike.items(), MAX_NAMED):
        topics, first = listed(tuple(query.topic for query in queries), most=MAX_NAMED), queries[0]
        tries = "" if first.attempts == 1 else f" {first.attempts} times"
        parts.append(f"{topics} ({first.query!r:.80}) failed{tries}: {problem}")
    if len(alike) > MAX_NAMED:
        parts.append(f"and {counted(len(alike) - MAX_NAMED, 'other error')}")
    if left := wanted - asked:
        topics = counted(left, "topic was", "topics were")
        parts.append(f"{topics} not queried, because {MAX_TIMEOUTS} queries in a row had no answer")
    text = f"the search failed for {len(failed)} of {counted(wanted, 'topic')}: {'; '.join(parts)}"
    return DataError(text, reason="bad_run")


def told(error: BaseException) -> str:
    """How code failed, and at which line of which file; only the message of errors of ours."""
    if isinstance(error, SearchError):
        return str(error)
    try:
        text = str(error.msg if isinstance(error, SyntaxError) else error)
    except KeyboardInterrupt:
        raise
    except BaseException as second:  # of the code under test: it could end the run
        text = f"(its __str__ raised {type(second).__name__})"
    text = text if len(text) <= MAX_MESSAGE else f"{text[:MAX_MESSAGE]}..."
    kind, place = type(error).__name__, _place(error)
    return f"{kind}{': ' if text else ''}{text}{f' ({place})' if place else ''}"


def _place(error: BaseException) -> str | None:
    """Where an error must be fixed: the line of a syntax error, or the innermost frame outside libraries."""
    if isinstance(error, SyntaxError) and isinstance(error.filename, str):
        return f"{Path(error.filename).name}:{error.lineno}"
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        path = Path(frame.f_code.co_filename)
        if not (path.name.startswith("<") or any(path.is_relative_to(root) for root in _NOT_OWN)):
            return f"{path.name}:{line}"
    return None
