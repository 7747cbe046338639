"""Failures of searches as errors of the gate: on import, and for which queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pytest_riskguard.config.asking import MAX_TIMEOUTS
from pytest_riskguard.errors import DataError
from pytest_riskguard.live_systems.results import NoAnswerError
from pytest_riskguard.live_systems.retrieval import FailedQuery, FailedSearchError, Retrieved
from pytest_riskguard.live_systems.search_import import RefusedSearchError, import_search
from pytest_riskguard.live_systems.time_limit import OutOfTimeError
from pytest_riskguard.live_systems.user_code import blamed, ending, how
from pytest_riskguard.text import counted, listed

#: How many failed queries a message names; the others are counted.
MAX_NAMED = 5
MAX_QUERY = 80


def failure(retrieved: Retrieved, asked: int) -> DataError:
    """All failed queries in one message; the first ones with their errors, one that all share only once."""
    failed = retrieved.failed
    if len(failed) == 1:
        said, problem = (f"the search for topic {text}" for text in _named(failed[0]))
    else:
        rest = ""
        if left := asked - retrieved.asked:
            rest = f"; {counted(left, 'topic was', 'topics were')} not queried, because {MAX_TIMEOUTS} queries in a "
            rest += "row had no answer" if _is_refused(failed[-1]) else "row had no answer in time"
        count = f"all {asked}" if len(failed) == asked else f"{len(failed)} of {asked}"
        start = f"the search failed for {count} topics"
        parts = _shared(failed) if len({_how(query)[2] for query in failed}) == 1 else _listed(failed)
        said, problem = (start + part + rest for part in parts)
    return DataError(said, reason="bad_run", problem=problem)


def _is_refused(query: FailedQuery) -> bool:
    """Whether the system itself gave no answer, in whatever time."""
    return isinstance(query.error, FailedSearchError)


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
    long, short = ending(failed.error)
    plain = how(failed.error)
    if isinstance(failed.error, OutOfTimeError):
        long, short, plain = (text.partition(": ")[2] for text in (long, short, plain))
    return long, short, plain


def imported(target: str, root: Path, listed: Sequence[str]) -> Callable[..., Any]:
    """The search that is named; ``DataError`` if it cannot be imported, ``RefusedSearchError`` if it must not be."""
    try:
        return import_search(target, root=root, listed=listed)
    except (KeyboardInterrupt, RefusedSearchError):
        raise
    except BaseException as error:
        advice = "; expected 'module:function' that python can import (pytest's `pythonpath` setting adds folders)"
        advice = advice if isinstance(error, ImportError | AttributeError) else ""
        raise blamed(f"cannot import {target!r}: ", error, advice, reason="missing_input") from None
