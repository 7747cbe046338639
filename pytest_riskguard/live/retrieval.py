"""Queries a live system, several queries at a time if need be, each with a time limit.

Answers are kept in the order of the queries, whichever arrives first, so that how a system is queried never changes a
verdict. A single worker is the calling thread itself; further ones are daemon threads. How long a call took is
measured when it has come back: an answer that is late counts as none, and a call that hangs is not interrupted, since
Python cannot stop one. What has to be awaited runs on one event loop of the process, in a thread of its own, and is
cancelled at the time limit: a client that belongs to a loop finds the same one for every query.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import reprlib
import sys
import threading
import time
import traceback
import uuid
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence, Set
from contextlib import closing, suppress
from itertools import islice
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import numpy as np

from pytest_riskguard.config.setting_types import Queried
from pytest_riskguard.data.headers import SYNONYMS
from pytest_riskguard.errors import DataError
from pytest_riskguard.live.importing import LIBRARIES
from pytest_riskguard.text import counted, listed

# Queries: each is sent, perhaps again, and ends with an answer or a failure.

#: Seconds before further attempts where an engine is busy.
PAUSES = (0.5, 1.0)
#: Columns of the line that counts topics.
_LINE = 40


class Topic(str):
    """The text of a query, with the topic's id and tags: a search that takes topics may use it as text.

    Attributes
    ----------
    id : str
    text : str
        The query, as plain text.
    tags : mapping tag -> value
        Further columns of the topics file.
    """

    id: str
    tags: Mapping[str, str]

    def __new__(cls, text: str, *, id: str = "", tags: Mapping[str, str] | None = None) -> Topic:
        """A topic with this query."""
        topic = super().__new__(cls, text)
        topic.id, topic.tags = id, tags or {}
        return topic

    @property
    def text(self) -> str:
        """The query, as plain text."""
        return str.__str__(self)


#: A live system: what it returns for a topic, in any of the shapes of ``pairs_of``.
Search = Callable[[Topic], object]


def retrieve(search: Search, queries: Mapping[str, Topic], asking: Queried) -> dict[str, Pairs]:
    """The answer to every query, by topic; ``DataError`` for the failed ones.

    After three failures in a row no more are sent. Anything that a search raises is a failure of its query, except a
    KeyboardInterrupt. Where standard error is a terminal, a line counts the topics meanwhile.
    """
    answers, failed, in_a_row = dict[str, Pairs](), dict[str, BaseException](), 0
    is_watched = sys.stderr.isatty()
    with closing(_outcomes(search, queries, asking)) as outcomes:
        for topic, outcome in outcomes:
            if isinstance(outcome, KeyboardInterrupt):
                raise outcome
            if isinstance(outcome, BaseException):
                failed[topic], in_a_row = outcome, in_a_row + 1
            else:
                answers[topic], in_a_row = outcome, 0
            if is_watched:
                done = len(answers) + len(failed)
                print(end=f"\rretrieving {done}/{len(queries)} topics", file=sys.stderr, flush=True)
            if in_a_row == MAX_FAILURES:
                break
    if is_watched:
        print(end=f"\r{' ' * _LINE}\r", file=sys.stderr, flush=True)
    if failed:
        raise _failure(failed, queries, left=len(queries) - len(answers) - len(failed))
    return {topic: answers[topic] for topic in queries}


#: A topic, and its answer or how its last attempt failed.
_Outcome = tuple[str, "Pairs | BaseException"]


def _outcomes(search: Search, queries: Mapping[str, Topic], asking: Queried) -> Generator[_Outcome, None, None]:
    """How each query ended, as it ends."""

    def ask(topic: str) -> _Outcome:
        return topic, _outcome(search, queries[topic], asking)

    if asking.workers == 1:
        yield from map(ask, queries)
        return
    _event_loop()  # one for all threads
    pool = ThreadPool(min(asking.workers, len(queries)))
    try:
        # Each call has a copy of the caller's context, so that its context variables hold for the search too.
        calls = [(contextvars.copy_context(), topic) for topic in queries]
        yield from pool.imap_unordered(lambda call: call[0].run(ask, call[1]), calls)
    finally:
        pool.terminate()


def _outcome(search: Search, query: Topic, asking: Queried) -> Pairs | BaseException:
    """How a query ends after all attempts."""
    pauses = iter(PAUSES)
    while True:
        start = time.perf_counter()
        try:
            pairs = pairs_of(_awaited(search(query), asking.timeout), asking.depth)
            if asking.timeout is not None and time.perf_counter() - start > asking.timeout:
                raise _too_late(asking.timeout)
            return pairs
        except BaseException as error:
            pause = next(pauses, None) if isinstance(error, SearchError) and error.is_temporary else None
            if pause is None:
                return error
        time.sleep(pause)


def _awaited(results: object, timeout: float | None) -> object:
    """What a search returned, awaited if need be."""
    if not inspect.isawaitable(results):
        return results

    async def answer(results: Awaitable[object]) -> tuple[object, BaseException | None]:
        try:
            return await results, None
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # one such as SystemExit would end the loop
            return None, error

    future = asyncio.run_coroutine_threadsafe(answer(results), _event_loop())
    try:
        found, error = future.result(timeout)
    except TimeoutError:
        raise _too_late(timeout) from None
    finally:
        future.cancel()
    if error is not None:
        raise error
    return found


@functools.cache
def _event_loop() -> asyncio.AbstractEventLoop:
    """The loop of this process."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="riskguard-loop", daemon=True).start()
    return loop


# Answers: ids in order, pairs, a mapping of ids to scores, hits, or a frame of hits.

Pairs = list[tuple[str, float]]

#: Characters of a document's id.
MAX_ID = 1000
#: Under which names a hit has its id and its score; the first that is there counts.
ID_NAMES = (*SYNONYMS["document"], "uuid", "node_id")
SCORE_NAMES = (*SYNONYMS["score"], "relevance")
EXPECTED = "expected ids, (docid, score) pairs, a mapping of ids to scores, or hits with an id"


def pairs_of(results: object, depth: int) -> Pairs:
    """The first documents of an answer with their scores, in Python's own types.

    Nothing of the search runs after it has answered. Where there is only an order, scores fall with the rank; of a
    mapping those with equal scores stay in its order. ``SearchError`` for anything but the shapes of ``EXPECTED``.
    """
    if isinstance(results, str | bytes | Set) or not isinstance(results := _rows(results), Iterable):
        raise _refused(results)  # None: a forgotten return statement
    if isinstance(results, Mapping):
        return sorted((_pair(*pair) for pair in results.items()), key=lambda pair: pair[1], reverse=True)[:depth]
    entries = [_entry(result) for result in islice(results, depth)]
    unscored = sum(score is None for _, score in entries)
    if 0 < unscored < len(entries):
        raise SearchError(f"it returned {unscored} of {len(entries)} results without a score; {EXPECTED}")
    ranks = range(len(entries), 0, -1)
    return [
        _pair(document, rank if unscored else score) for (document, score), rank in zip(entries, ranks, strict=True)
    ]


def _rows(results: Any) -> object:
    """The rows of a frame of polars, Arrow or pandas as mappings; anything else as it is."""
    if hasattr(results, "columns") and not isinstance(results, Mapping | type):
        for method, arguments in (("to_dicts", ()), ("to_pylist", ()), ("to_dict", ("records",))):
            if callable(rows := getattr(results, method, None)):
                return rows(*arguments)
    return results


def _entry(result: Any) -> tuple[object, object]:
    """The id of a result, and its score or None."""
    if isinstance(result, list | tuple):
        if len(result) != 2:
            raise _refused(result)
        return _field(result[0], ID_NAMES) or result[0], result[1]
    document = None if isinstance(result, str) else _field(result, ID_NAMES)
    return (result, None) if document is None else (document, _field(result, SCORE_NAMES))


def _field(hit: Any, names: Sequence[str]) -> Any:
    """What a hit has under the first of some names; keys of mappings are compared in lower case."""
    if isinstance(hit, Mapping):
        fields = {key.lower(): value for key, value in hit.items() if isinstance(key, str)}
        return next((fields[name] for name in names if fields.get(name) is not None), None)
    values = (getattr(hit, name, None) for name in names)
    return next((value for value in values if value is not None and not callable(value)), None)


def _pair(document: object, score: Any) -> tuple[str, float]:
    """A result as a pair of Python's own types; an id is text, a whole number or a UUID, a score is no text."""
    is_id = isinstance(document, str | int | np.integer | uuid.UUID) and not isinstance(document, bool)
    if is_id and not isinstance(score, str | bytes | bool | np.bool_):
        with suppress(TypeError, ValueError, ArithmeticError):  # such as that of a fraction of huge numbers
            text, number = "".join([str(document)]), float(score)
            if len(text) <= MAX_ID:
                return text, number
    raise _refused((document, score))


def _refused(value: object) -> SearchError:
    return SearchError(f"it returned {reprlib.repr(value)}, {EXPECTED}")


# Failures: for which queries, and at which line of which file.

#: After this many failed queries in a row, no more are sent.
MAX_FAILURES = 3
#: How many errors a message tells, and topics of each; the others are counted.
MAX_NAMED = 5
#: How much of an error message is shown; some contain a whole page of a server.
MAX_MESSAGE = 300


class SearchError(Exception):
    """A query without an answer, in words for people; ``is_temporary``: another attempt may succeed."""

    def __init__(self, problem: str, *, is_temporary: bool = False, remedy: str | None = None) -> None:
        super().__init__(problem)
        self.is_temporary, self.remedy = is_temporary, remedy


def _too_late(timeout: float | None) -> SearchError:
    return SearchError(f"no answer within {timeout:g} s (`timeout` changes that)")


def _failure(failed: Mapping[str, BaseException], queries: Mapping[str, Topic], *, left: int) -> DataError:
    """All failed queries in one message, which tells an error that several share once."""
    alike: dict[str, list[str]] = {}
    for topic in queries:
        if topic in failed:
            alike.setdefault(told(failed[topic]), []).append(topic)
    parts = []
    for problem, topics in islice(alike.items(), MAX_NAMED):
        text = queries[topics[0]].text
        parts.append(f"{listed(topics, most=MAX_NAMED)} ({text!r:.80}) failed: {problem}")
    if len(alike) > MAX_NAMED:
        parts.append(f"and {counted(len(alike) - MAX_NAMED, 'other error')}")
    if left:
        unasked = counted(left, "topic was", "topics were")
        parts.append(f"{unasked} not queried, because {MAX_FAILURES} queries in a row failed")
    text = f"the search failed for {len(failed)} of {counted(len(queries), 'topic')}: {'; '.join(parts)}"
    remedies = (error.remedy for error in failed.values() if isinstance(error, SearchError))
    return DataError(text, reason="bad_run", remedy=next(filter(None, remedies), None))


def told(error: BaseException) -> str:
    """How code failed, and at which line of which file; only the message of errors of ours."""
    if isinstance(error, SearchError):
        return str(error)
    text = str(error.msg if isinstance(error, SyntaxError) else error)[:MAX_MESSAGE]
    place = _place(error)
    return f"{type(error).__name__}{': ' if text else ''}{text}{f' ({place})' if place else ''}"


def _place(error: BaseException) -> str | None:
    """Where an error must be fixed: the line of a syntax error, or the innermost frame outside libraries."""
    if isinstance(error, SyntaxError) and isinstance(error.filename, str):
        return f"{Path(error.filename).name}:{error.lineno}"
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        path = Path(frame.f_code.co_filename)
        if not (path.name.startswith("<") or any(path.is_relative_to(root) for root in LIBRARIES)):
            return f"{path.name}:{line}"
    return None
