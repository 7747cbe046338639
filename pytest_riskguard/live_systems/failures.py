"""Failures of searches as errors of the gate: on import, and for which queries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pytest_riskguard.config.asking import MAX_TIMEOUTS
from pytest_riskguard.errors import DataError
from pytest_riskguard.live_systems.retrieval import FailedQuery, NoPairError, Retrieved, Search
from pytest_riskguard.live_systems.search_import import RefusedSearchError, import_search
from pytest_riskguard.live_systems.time_limit import OutOfTimeError
from pytest_riskguard.live_systems.user_code import blamed, ending
from pytest_riskguard.text import counted

#: How many failed queries a message names; the others are counted.
MAX_NAMED = 5
MAX_QUERY = 80


def failure(retrieved: Retrieved, asked: int) -> DataError:
    """All failed queries in one message; the first ones with their errors."""
    failed = retrieved.failed
    if len(failed) == 1:
        said, problem = (f"the search for topic {text}" for text in _named(failed[0]))
    else:
        first = [_named(query) for query in failed[:MAX_NAMED]]
        rest = f"; and {len(failed) - MAX_NAMED} more" if len(failed) > MAX_NAMED else ""
        if left := asked - retrieved.asked:
            rest += f"; {counted(left, 'topic was', 'topics were')} not queried, because {MAX_TIMEOUTS} queries in a "
            rest += "row had no answer in time"
        start = f"the search failed for {len(failed)} of {asked} topics: "
        said, problem = (start + "; ".join(texts) + rest for texts in zip(*first, strict=True))
    return DataError(said, reason="bad_run", problem=problem)


def _named(failed: FailedQuery) -> tuple[str, str]:
    """A topic, its query and how it failed, once with the full path of the faulty line, once with the file name."""
    query = failed.query if len(failed.query) <= MAX_QUERY else f"{failed.query[:MAX_QUERY]}..."
    start = f"{failed.topic!r} ({query!r}) "
    if isinstance(failed.error, NoPairError):
        return (f"{start}{failed.error}",) * 2
    start += "failed: " if failed.attempts == 1 else f"failed {failed.attempts} times: "
    long, short = ending(failed.error)
    if isinstance(failed.error, OutOfTimeError):
        long, short = (text.partition(": ")[2] for text in (long, short))
    return start + long, start + short


def imported(target: str, root: Path, listed: Sequence[str]) -> Search:
    """The search that is named; ``DataError`` if it cannot be imported, ``RefusedSearchError`` if it must not be."""
    try:
        return import_search(target, root=root, listed=listed)
    except (KeyboardInterrupt, RefusedSearchError):
        raise
    except BaseException as error:
        advice = "; expected 'module:function' that python can import (pytest's `pythonpath` setting adds folders)"
        advice = advice if isinstance(error, ImportError | AttributeError) else ""
        raise blamed(f"cannot import {target!r}: ", error, advice, reason="missing_input") from None
