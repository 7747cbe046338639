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
import threading
import time
from collections.abc import AsyncIterable, Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import field
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from pytest_riskguard.config.asking import Asking
from pytest_riskguard.frozen import frozen
from pytest_riskguard.live.failures import MAX_TIMEOUTS, FailedQuery, FailedSearchError, OutOfTimeError, told
from pytest_riskguard.live.results import Pairs, pairs_of

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
    """How a query ended: with an answer that took so many seconds, or an error after so many attempts."""

    topic: str
    pairs: Pairs | None
    seconds: float
    error: BaseException | None
    attempts: int


def retrieve(
    search: Search, queries: Mapping[str, Topic], asking: Asking, *, progress: Progress | None = None
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


def _asked(search: Search, queries: Mapping[str, Topic], asking: Asking, progress: Progress | None) -> Retrieved:
    """Send each query once, until the system seems to have stopped answering."""
    answers, failed, seconds, unanswered = dict[str, Pairs](), dict[str, FailedQuery](), dict[str, float](), 0
    with closing(_outcomes(search, queries, asking)) as outcomes:
        for outcome in outcomes:
            topic, error = outcome.topic, outcome.error
            if outcome.pairs is not None:
                answers[topic], seconds[topic], unanswered = outcome.pairs, outcome.seconds, 0
            elif error is not None:
                failed[topic] = FailedQuery(topic, queries[topic].text, told(error), outcome.attempts)
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


def _outcomes(search: Search, queries: Mapping[str, Topic], asking: Asking) -> Generator[_Outcome, None, None]:
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


def _outcome(search: Search, topic: str, query: Topic, asking: Asking) -> _Outcome:
    """How a query ends after all attempts."""
    attempt = 1
    while True:
        start = time.perf_counter()
        try:
            pairs = pairs_of(_awaited(search(query), asking.depth, asking.timeout), asking.depth)
            seconds = time.perf_counter() - start
            if asking.timeout is not None and seconds > asking.timeout:
                raise OutOfTimeError(asking.timeout)
            return _Outcome(topic, pairs, seconds, None, attempt)
        except BaseException as error:
            if (wait := pause(attempt, error)) is None:
                return _Outcome(topic, None, 0.0, error, attempt)
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


def _awaited(results: object, depth: int, timeout: float | None) -> object:
    """What a search returned, awaited if need be; at most ``depth`` results of an asynchronous iterator."""
    if not inspect.isawaitable(results) and not isinstance(results, AsyncIterable):
        return results
    future = asyncio.run_coroutine_threadsafe(_on_loop(results, depth), _running_loop())
    try:
        entries, error = future.result(timeout)
    except TimeoutError:
        raise OutOfTimeError(timeout) from None
    finally:
        future.cancel()
    if error is not None:
        raise error
    return entries


async def _on_loop(results: object, depth: int) -> tuple[object, BaseException | None]:
    """The results, or the error: one such as SystemExit would end the loop."""
    try:
        if inspect.isawaitable(results):
            results = await results
        if not isinstance(results, AsyncIterable):
            return results, None
        entries: list[object] = []
        async for entry in results:
            entries.append(entry)
            if len(entries) == depth:
                break
        if inspect.isasyncgen(results):
            await results.aclose()
        return entries, None
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
