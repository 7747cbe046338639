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
from collections.abc import AsyncIterable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from types import MappingProxyType
from typing import NamedTuple

from pytest_riskguard.config.asking import TIMEOUT, Asking
from pytest_riskguard.frozen import frozen
from pytest_riskguard.live_systems.results import NoAnswerError, Pairs, pairs_of

#: After this many queries in a row without an answer in time, no more are sent.
MAX_TIMEOUTS = 3
#: For how many topics a query is sent twice, to compare the answers.
ASK_TWICE = 10
#: Further attempts where an engine is busy; seconds before the first, twice as many before the second.
_RETRIES, _FIRST_PAUSE = 2, 0.5
#: The longest wait that a system may ask for; where it asks for more, there is no further attempt.
_MAX_WAIT_ASKED = 120.0
#: How many failed queries keep the traceback of their error.
MAX_TRACEBACKS = 10
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


class Answer(NamedTuple):
    """What a search returned, and how long it took in seconds."""

    pairs: Pairs
    seconds: float


class FailedSearchError(Exception):
    """A query without an answer; the message says why, in words for people.

    ``wait`` is how many seconds the system asks to wait before another attempt, None if there is to be none.
    """

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
    """A query without an answer after all attempts; ``error`` is the error of the last one."""

    topic: str
    query: str
    error: BaseException
    attempts: int


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


def pause(attempt: int, error: BaseException) -> float | None:
    """Seconds between an attempt (the first is 1) that ended so and the next; None if there is to be none."""
    wait = error.wait if isinstance(error, FailedSearchError) else None
    if wait is None or wait > _MAX_WAIT_ASKED or attempt > _RETRIES:
        return None
    return max(_FIRST_PAUSE * attempt, wait)


def retrieve(
    search: Search, queries: Mapping[str, Topic], asking: Asking, *, progress: Progress | None = None
) -> Retrieved:
    """Send every query, by topic; a generator that ``search`` returns is read in the thread that called it.

    Anything that a search raises is a failure of its query, except a KeyboardInterrupt in the calling thread, which
    is raised here. ``progress`` is called in the calling thread with the numbers of topics done and of all topics.
    """
    first = _Round(search, queries, asking, progress)
    first.ask_all()
    failed = [first.failed[topic] for topic in queries if topic in first.failed]
    answers = {topic: first.answers[topic].pairs for topic in queries if topic in first.answers}
    seconds = tuple(answer.seconds for answer in first.answers.values())
    if failed:
        return Retrieved(answers, tuple(failed), seconds=seconds)
    sample = {topic: queries[topic] for topic in spread(list(queries), ASK_TWICE)}
    second = _Round(search, sample, asking, None)
    second.ask_all()
    again = {topic: second.answers[topic].pairs for topic in sample if topic in second.answers}
    failed = [second.failed[topic] for topic in sample if topic in second.failed]
    return Retrieved(answers, tuple(failed), again, seconds)


def spread(topics: Sequence[str], size: int) -> list[str]:
    """``size`` of the topics, evenly spread; all of them if there are fewer."""
    return [topics[i * len(topics) // size] for i in range(size)] if size < len(topics) else list(topics)


class _Round:
    """Sends each of some queries, and notes which have an answer and which have failed."""

    def __init__(
        self, search: Search, queries: Mapping[str, Topic], asking: Asking, progress: Progress | None
    ) -> None:
        self._search, self._queries, self._asking, self._progress = search, queries, asking, progress
        self.answers: dict[str, Answer] = {}
        self.failed: dict[str, FailedQuery] = {}
        self._told = 0
        self._unanswered = 0  # queries in a row that had no answer in time, or that the system did not answer
        self._lock = threading.Lock()

    @property
    def _is_over(self) -> bool:
        """Whether all is done, or the system seems to have stopped answering."""
        return len(self.answers) + len(self.failed) >= len(self._queries) or self._unanswered >= MAX_TIMEOUTS

    def ask_all(self) -> None:
        """Send the queries, in the calling thread if it is the only worker."""
        if self._asking.workers == 1:
            for topic in self._queries:
                self._note(topic, *self._asked(topic, interrupts=(KeyboardInterrupt,)))
                self._tell()
                if self._is_over:
                    return
            return
        todo, done = iter(self._queries), queue.SimpleQueue[None]()

        def work() -> None:
            while True:
                with self._lock:
                    topic = None if self._is_over else next(todo, None)
                if topic is None:
                    return
                outcome, attempts = self._asked(topic)
                with self._lock:
                    if not self._is_over:
                        self._note(topic, outcome, attempts)
                done.put(None)

        for _ in range(min(self._asking.workers, len(self._queries))):
            # A copy of the caller's context, so that its context variables hold for the search too.
            target = contextvars.copy_context().run
            threading.Thread(target=target, args=(work,), name="riskguard-search", daemon=True).start()
        try:
            while not self._is_over or not done.empty():
                with suppress(queue.Empty):
                    done.get(timeout=_MAX_WAIT)
                    self._tell()
        finally:
            with self._lock:
                self._unanswered = MAX_TIMEOUTS

    def _asked(
        self, topic: str, *, interrupts: tuple[type[BaseException], ...] = ()
    ) -> tuple[Answer | BaseException, int]:
        """The answer, or the error of the last attempt; and how many attempts there were."""
        attempt = 1
        while True:
            try:
                outcome: Answer | BaseException = self._answer(self._queries[topic])
            except interrupts:
                raise
            except BaseException as error:
                outcome = error
            if not isinstance(outcome, BaseException) or (wait := pause(attempt, outcome)) is None:
                return outcome, attempt
            time.sleep(wait)
            attempt += 1

    def _answer(self, topic: Topic) -> Answer:
        """The first documents of an answer; ``NoAnswerError`` if it holds anything else."""
        depth, timeout = self._asking.depth, self._asking.timeout
        start = time.perf_counter()
        pairs = pairs_of(_awaited(self._search(topic), depth, timeout), depth)
        seconds = time.perf_counter() - start
        if timeout is not None and seconds > timeout:
            raise OutOfTimeError(timeout)
        return Answer(pairs, seconds)

    def _note(self, topic: str, outcome: Answer | BaseException, attempts: int) -> None:
        if not isinstance(outcome, BaseException):
            self.answers[topic], self._unanswered = outcome, 0
        else:
            if isinstance(outcome, NoAnswerError) or len(self.failed) >= MAX_TRACEBACKS:
                outcome = outcome.with_traceback(None)  # its frames hold whole answers
            self.failed[topic] = FailedQuery(topic, self._queries[topic], outcome, attempts)
            self._unanswered = self._unanswered + 1 if isinstance(outcome, FailedSearchError) else 0

    def _tell(self) -> None:
        self._told += 1
        if self._progress is not None:
            self._progress(self._told, len(self._queries))


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
