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
import inspect
import queue
import reprlib
import sysconfig
import threading
import time
import traceback
import uuid
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence, Set
from contextlib import closing, suppress
from dataclasses import field
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from pytest_riskguard.config.setting_types import TIMEOUT, Queried
from pytest_riskguard.data.headers import SYNONYMS
from pytest_riskguard.errors import DataError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.text import counted, listed

# Queries: each is sent, perhaps again, and ends with an answer or a failure.

#: For how many topics a query is sent twice, to compare the answers.
ASK_TWICE = 10
#: Further attempts where an engine is busy; seconds before the first, twice as many before the second.
_RETRIES, _FIRST_PAUSE = 2, 0.5
#: The longest wait that a system may ask for; where it asks for more, there is no further attempt.
_MAX_WAIT_ASKED = 120.0
#: Seconds after which a wait ends to notice Ctrl-C, where a wait cannot be interrupted (Windows).
_MAX_WAIT = 0.2
_NONE: Mapping[str, str] = MappingProxyType({})


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

    def __new__(cls, text: str, *, id: str = "", tags: Mapping[str, str] = _NONE) -> Topic:
        """A topic with this query."""
        topic = super().__new__(cls, text)
        topic.id, topic.tags = id, tags
        return topic

    @property
    def text(self) -> str:
        """The query, as plain text."""
        return str.__str__(self)


#: A live system: what it returns for a topic, in any of the shapes of ``results``.
Search = Callable[[Topic], object]
Progress = Callable[[int, int], None]


@frozen
class Retrieved:
    """Answers by topic, and failed queries, in the order of the queries; after time-outs a topic may have neither."""

    answers: dict[str, Pairs]
    failed: tuple[FailedQuery, ...]
    #: The second answers, for a sample of the topics.
    again: Mapping[str, Pairs] = field(default_factory=dict)
    #: How long each of the first answers took.
    seconds: tuple[float, ...] = field(default=(), compare=False)

    @property
    def asked(self) -> int:
        """How many queries were sent."""
        return len(self.answers.keys() | {query.topic for query in self.failed})


class _Outcome(NamedTuple):
    """How a query ended: with an answer that took so many seconds, or an error."""

    topic: str
    pairs: Pairs | None
    seconds: float
    error: BaseException | None


def retrieve(
    search: Search, queries: Mapping[str, Topic], asking: Queried, *, progress: Progress | None = None
) -> Retrieved:
    """Send every query, by topic; a generator that ``search`` returns is read in the thread that called it.

    Anything that a search raises is a failure of its query, except a KeyboardInterrupt in the calling thread, which
    is raised here. ``progress`` is called in the calling thread with the numbers of topics done and of all topics.
    """
    first = _asked(search, queries, asking, progress)
    if first.failed:
        return first
    again = _asked(search, {topic: queries[topic] for topic in spread(list(queries), ASK_TWICE)}, asking, None)
    return Retrieved(first.answers, again.failed, again.answers, first.seconds)


def spread(topics: Sequence[str], size: int) -> list[str]:
    """``size`` of the topics, evenly spread; all of them if there are fewer."""
    return [topics[i * len(topics) // size] for i in range(size)] if size < len(topics) else list(topics)


def _asked(search: Search, queries: Mapping[str, Topic], asking: Queried, progress: Progress | None) -> Retrieved:
    """Send each query once, until the system seems to have stopped answering."""
    answers, failed, seconds, unanswered = dict[str, Pairs](), dict[str, FailedQuery](), dict[str, float](), 0
    with closing(_outcomes(search, queries, asking)) as outcomes:
        for outcome in outcomes:
            topic, error = outcome.topic, outcome.error
            if outcome.pairs is not None:
                answers[topic], seconds[topic], unanswered = outcome.pairs, outcome.seconds, 0
            elif error is not None:
                failed[topic] = FailedQuery(topic, queries[topic].text, told(error))
                unanswered = unanswered + 1 if isinstance(error, FailedSearchError) else 0
            if progress is not None:
                progress(len(answers) + len(failed), len(queries))
            if unanswered == MAX_TIMEOUTS:
                break
    in_order = [topic for topic in queries if topic in answers]
    return Retrieved(
        {topic: answers[topic] for topic in in_order},
        tuple(failed[topic] for topic in queries if topic in failed),
        seconds=tuple(seconds[topic] for topic in in_order),
    )


def _outcomes(search: Search, queries: Mapping[str, Topic], asking: Queried) -> Generator[_Outcome, None, None]:
    """How each query ended, as it ends; a worker gets another one when its outcome has been taken."""
    if asking.workers == 1:
        for topic in queries:
            outcome = _outcome(search, topic, queries[topic], asking)
            if isinstance(outcome.error, KeyboardInterrupt):
                raise outcome.error
            yield outcome
        return
    todo, done, waiting = queue.SimpleQueue[str | None](), queue.SimpleQueue[_Outcome](), iter(queries)

    def work() -> None:
        while (topic := todo.get()) is not None:
            done.put(_outcome(search, topic, queries[topic], asking))

    workers = min(asking.workers, len(queries))
    for topic in islice(waiting, workers):
        todo.put(topic)
        # A copy of the caller's context, so that its context variables hold for the search too.
        target = contextvars.copy_context().run
        threading.Thread(target=target, args=(work,), name="riskguard-search", daemon=True).start()
    ended = 0
    try:
        while ended < len(queries):
            try:
                outcome = done.get(timeout=_MAX_WAIT)
            except queue.Empty:
                continue
            yield outcome
            ended += 1
            for topic in islice(waiting, 1):
                todo.put(topic)
    finally:
        for _ in range(workers):
            todo.put(None)


def _outcome(search: Search, topic: str, query: Topic, asking: Queried) -> _Outcome:
    """How a query ends after all attempts."""
    attempt = 1
    while True:
        start = time.perf_counter()
        try:
            pairs = pairs_of(_awaited(search(query), asking.timeout), asking.depth)
            seconds = time.perf_counter() - start
            if asking.timeout is not None and seconds > asking.timeout:
                raise OutOfTimeError(asking.timeout)
            return _Outcome(topic, pairs, seconds, None)
        except BaseException as error:
            if (wait := pause(attempt, error)) is None:
                return _Outcome(topic, None, 0.0, error)
        time.sleep(wait)
        attempt += 1


def pause(attempt: int, error: BaseException) -> float | None:
    """Seconds between an attempt (the first is 1) that ended so and the next; None if there is to be none."""
    wait = error.wait if isinstance(error, FailedSearchError) else None
    if wait is None or wait > _MAX_WAIT_ASKED or attempt > _RETRIES:
        return None
    return max(_FIRST_PAUSE * attempt, wait)


_loop_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def _awaited(results: object, timeout: float | None) -> object:
    """What a search returned, awaited if need be."""
    if not inspect.isawaitable(results):
        return results
    future = asyncio.run_coroutine_threadsafe(_on_loop(results), _running_loop())
    try:
        answer, error = future.result(timeout)
    except TimeoutError:
        raise OutOfTimeError(timeout) from None
    finally:
        future.cancel()
    if error is not None:
        raise error
    return answer


async def _on_loop(results: Awaitable[object]) -> tuple[object, BaseException | None]:
    """The answer, or the error: one such as SystemExit would end the loop."""
    try:
        return await results, None
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return None, error


def _running_loop() -> asyncio.AbstractEventLoop:
    """The loop of this process."""
    global _loop
    with _loop_lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="riskguard-loop", daemon=True).start()
        return _loop


# Answers: ids in order, pairs, a mapping of ids to scores, hits, or a frame of hits.

Pairs = list[tuple[str, float]]

#: What an id may be.
_IDS = str | int | np.integer | uuid.UUID
#: Characters of a document's id.
MAX_ID = 1000

#: Under which names a hit has its id and its score; the first that is there counts.
ID_NAMES = (*SYNONYMS["document"], "uuid", "node_id")
SCORE_NAMES = (*SYNONYMS["score"], "relevance")
EXPECTED = "expected ids, (docid, score) pairs, a mapping of ids to scores, or hits with an id"


def pairs_of(results: object, depth: int) -> Pairs:
    """The first documents of an answer with their scores, in Python's own types.

    Nothing of the search runs after it has answered. Where there is only an order, scores fall with the rank; of a
    mapping those with equal scores stay in its order. ``NoAnswerError`` for anything but the shapes of ``EXPECTED``.
    """
    if isinstance(results, str | bytes | Set) or not isinstance(results := _rows(results), Iterable):
        raise _refused(results)  # None: a forgotten return statement
    if isinstance(results, Mapping):
        return sorted((_pair(*pair) for pair in results.items()), key=lambda pair: pair[1], reverse=True)[:depth]
    entries = [_entry(result) for result in islice(results, depth)]
    unscored = sum(score is None for _, score in entries)
    if 0 < unscored < len(entries):
        raise NoAnswerError(f"it returned {unscored} of {len(entries)} results without a score; {EXPECTED}")
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


def _entry(result: object) -> tuple[object, object]:
    """The id of a result, and its score or None."""
    if isinstance(result, list | tuple):
        if len(result) != 2:
            raise _refused(result)
        return _field(result[0], ID_NAMES) or result[0], result[1]
    if isinstance(result, _IDS) and not isinstance(result, bool):
        return result, None
    document = _field(result, ID_NAMES)
    if isinstance(document, Mapping):  # the whole document, as Typesense has it
        document = _field(document, ID_NAMES)
    if not isinstance(document, _IDS):
        raise _refused(result)
    return document, _field(result, SCORE_NAMES)


def _field(hit: Any, names: Sequence[str]) -> Any:
    """What a hit has under the first of some names; keys of mappings are compared in lower case."""
    if isinstance(hit, Mapping):
        fields = {key.lower(): value for key, value in hit.items() if isinstance(key, str)}
        return next((fields[name] for name in names if fields.get(name) is not None), None)
    values = (getattr(hit, name, None) for name in names)
    return next((value for value in values if value is not None and not callable(value)), None)


def _pair(document: object, score: Any) -> tuple[str, float]:
    """A result as a pair of Python's own types; a score is no text."""
    if not isinstance(document, bool | np.bool_ | bytes | None) and not isinstance(
        score, str | bytes | bool | np.bool_
    ):
        with suppress(TypeError, ValueError, ArithmeticError):  # such as that of a fraction of huge numbers
            text, number = "".join([str(document)]), float(score)
            if len(text) <= MAX_ID:
                return text, number
    raise _refused((document, score))


def _refused(value: object) -> NoAnswerError:
    try:
        shown = reprlib.repr(value)
    except Exception:  # raised by the value, or for too many digits
        shown = f"a value of type {type(value).__name__}"
    return NoAnswerError(f"it returned {shown}, {EXPECTED}")


# Failures: for which queries, and at which line of which file.

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


def failure(failed: Sequence[FailedQuery], *, asked: int, wanted: int) -> DataError:
    """All failed queries in one message, which tells an error that several share once."""
    alike: dict[str, list[FailedQuery]] = {}
    for query in failed:
        alike.setdefault(query.problem, []).append(query)
    parts = []
    for problem, queries in islice(alike.items(), MAX_NAMED):
        topics, first = listed(tuple(query.topic for query in queries), most=MAX_NAMED), queries[0]
        parts.append(f"{topics} ({first.query!r:.80}) failed: {problem}")
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
