"""Queries a live system: several queries at a time, each with a time limit and a number of attempts.

Answers are kept in the order of the queries, whichever arrives first, so that how a system is queried never changes a
verdict. A thread cannot be stopped: one that exceeds its time limit is abandoned, its query counts as failed, and
another thread takes over. All threads are daemons, so a process can end without waiting for them.
"""

from __future__ import annotations

import contextvars
import heapq
import math
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

Pairs = list[tuple[str, float]]
Search = Callable[[str], Iterable[tuple[str, float]]]
Progress = Callable[[int, int], None]

#: Seconds before the second attempt; each further one waits twice as long as the one before, up to the maximum.
_FIRST_PAUSE, _MAX_PAUSE = 0.5, 30.0
#: Seconds after which a wait ends to notice Ctrl-C, where a wait cannot be interrupted (Windows).
_MAX_WAIT = 0.2


@dataclass(frozen=True)
class Asking:
    """How a system is queried."""

    depth: int = 100  # results kept of each answer
    workers: int = 1  # queries sent at a time; one worker without a time limit is the calling thread itself
    timeout: float | None = None  # seconds that an answer may take
    retries: int = 0  # further attempts for a query that failed


@dataclass(frozen=True)
class FailedQuery:
    """A query without an answer after all attempts; ``error`` is how the last one ended."""

    topic: str
    query: str
    error: BaseException
    attempts: int


@dataclass(frozen=True)
class Retrieved:
    """Answers by topic, and what failed, both in the order of the queries."""

    answers: dict[str, Pairs]
    failed: tuple[FailedQuery, ...]


class NoPairError(ValueError):
    """A result that is not a (docid, score) pair; it is not retried."""


def backoff(attempt: int) -> float:
    """Seconds between a failed attempt (the first is 1) and the next, without a random part."""
    return min(_FIRST_PAUSE * 2.0 ** min(attempt - 1, 60), _MAX_PAUSE)


def retrieve(
    search: Search,
    queries: Mapping[str, str],
    asking: Asking,
    *,
    failures: tuple[type[BaseException], ...] = (BaseException,),
    stops: tuple[type[BaseException], ...] = (),
    progress: Progress | None = None,
) -> Retrieved:
    """Send every query, by topic; a generator that ``search`` returns is read in the thread that called it.

    ``failures`` are exceptions that count as a failure of the query. ``stops``, which may be among them, end
    everything and are raised here, as is any other exception, such as KeyboardInterrupt. ``progress`` is called in
    the calling thread with the numbers of topics done and of all topics.
    """
    book = _Book(queries, asking, failures, stops, progress)
    if asking.workers == 1 and asking.timeout is None:
        _ask_here(search, book)
    else:
        _ask_in_threads(search, book)
    return Retrieved(
        {topic: book.answers[topic] for topic in queries if topic in book.answers},
        tuple(book.failed[topic] for topic in queries if topic in book.failed),
    )


@dataclass
class _Book:
    """Which queries have an answer, which have failed, and which are to be retried."""

    queries: Mapping[str, str]
    asking: Asking
    failures: tuple[type[BaseException], ...]
    stops: tuple[type[BaseException], ...]
    progress: Progress | None
    answers: dict[str, Pairs] = field(default_factory=dict)
    failed: dict[str, FailedQuery] = field(default_factory=dict)

    def note(self, topic: str, attempt: int, outcome: Pairs | BaseException) -> float | None:
        """Record how an attempt ended; return the seconds until the next one, or None if there will be none."""
        if not isinstance(outcome, BaseException):
            self.answers[topic] = outcome
        elif isinstance(outcome, (KeyboardInterrupt, *self.stops)) or not isinstance(outcome, self.failures):
            raise outcome
        elif attempt <= self.asking.retries and not isinstance(outcome, NoPairError):
            return backoff(attempt)
        else:
            self.failed[topic] = FailedQuery(topic, self.queries[topic], outcome, attempt)
        if self.progress is not None:
            self.progress(len(self.answers) + len(self.failed), len(self.queries))
        return None


def _ask_here(search: Search, book: _Book) -> None:
    """One query after another, in the calling thread."""
    for topic, query in book.queries.items():
        attempt = 1
        while (wait := book.note(topic, attempt, _outcome(search, query, book.asking.depth))) is not None:
            time.sleep(wait)
            attempt += 1


def _outcome(search: Search, query: str, depth: int) -> Pairs | BaseException:
    """The answer, or how the call ended."""
    try:
        results = search(query)
        if results is None:  # a forgotten return statement
            raise NoPairError("returned None, expected (docid, score) pairs")
        pairs = list(islice(results, depth))
        for pair in pairs:
            if not _is_pair(pair):
                raise NoPairError(f"returned {pair!r}, expected (docid, score) pairs")
    except BaseException as error:
        return error
    return pairs


def _is_pair(result: object) -> bool:
    """Whether a result is a pair: text of two letters is none, nor is a pair with a missing id or a score as text."""
    return (
        isinstance(result, list | tuple)
        and len(result) == 2
        and not isinstance(result[0], bool | np.bool_ | bytes | None)
        and not isinstance(result[1], str | bytes | bool | np.bool_)
    )


@dataclass(order=True)
class _Task:
    """An attempt, due at ``ready``; attempts due at the same time go in the order of the queries."""

    ready: float
    place: int
    topic: str = field(compare=False)
    attempt: int = field(compare=False, default=1)


def _ask_in_threads(search: Search, book: _Book) -> None:
    asking = book.asking
    todo = [_Task(-math.inf, place, topic) for place, topic in enumerate(book.queries)]  # in order: a heap
    done: _Done = queue.SimpleQueue()
    idle: list[_Worker] = []
    busy: dict[_Worker, tuple[_Task, float]] = {}

    def ended(worker: _Worker, outcome: Pairs | BaseException) -> None:
        task, _ = busy.pop(worker)
        if (wait := book.note(task.topic, task.attempt, outcome)) is not None:
            heapq.heappush(todo, _Task(time.monotonic() + wait, task.place, task.topic, task.attempt + 1))

    try:
        while todo or busy:
            now = time.monotonic()
            while todo and len(busy) < asking.workers and todo[0].ready <= now:
                task = heapq.heappop(todo)
                worker = idle.pop() if idle else _Worker(search, asking.depth, done)
                busy[worker] = (task, math.inf if asking.timeout is None else now + asking.timeout)
                worker.ask(book.queries[task.topic])
            next_try = todo[0].ready if todo and len(busy) < asking.workers else math.inf
            until = min([next_try, *(deadline for _, deadline in busy.values())])
            for worker, outcome in _arrived(done, timeout=min(max(until - now, 0.0), _MAX_WAIT)):
                if worker in busy:  # else it is too late: its query has already failed
                    idle.append(worker)
                    ended(worker, outcome)
            now = time.monotonic()
            for worker in [worker for worker, (_, deadline) in busy.items() if deadline <= now]:
                worker.dismiss()
                limit = f"no answer within {asking.timeout:g} s; its thread cannot be stopped and may keep running"
                ended(worker, TimeoutError(limit))
    finally:
        for worker in (*idle, *busy):
            worker.dismiss()
        for worker in idle:
            worker.thread.join()


def _arrived(done: _Done, *, timeout: float) -> list[tuple[_Worker, Pairs | BaseException]]:
    """All outcomes that have arrived, after waiting for the first."""
    arrived = []
    try:
        arrived.append(done.get(timeout=timeout))
        while True:
            arrived.append(done.get_nowait())
    except queue.Empty:
        return arrived


class _Worker:
    """A thread that sends one query after another until it is dismissed."""

    def __init__(self, search: Search, depth: int, done: _Done) -> None:
        self._search, self._depth, self._done = search, depth, done
        self._inbox: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        # A copy of the caller's context, so that its context variables hold for the search too.
        context = contextvars.copy_context()
        self.thread = threading.Thread(target=context.run, args=(self._work,), name="riskguard-search", daemon=True)
        self.thread.start()

    def ask(self, query: str) -> None:
        """Give it the next query."""
        self._inbox.put(query)

    def dismiss(self) -> None:
        """Let it end after its present query."""
        self._inbox.put(None)

    def _work(self) -> None:
        while (query := self._inbox.get()) is not None:
            self._done.put((self, _outcome(self._search, query, self._depth)))


#: What workers bring back.
_Done = queue.SimpleQueue[tuple[_Worker, Pairs | BaseException]]
