"""Queries a live system: several queries at a time, each with a time limit and a number of attempts.

Answers are kept in the order of the queries, whichever arrives first, so that how a system is queried never changes a
verdict. A single worker is the calling thread itself, whose call is interrupted at its time limit. Several workers
cannot be stopped: a thread that exceeds its time limit is abandoned, its query counts as failed, and another thread
takes over.
All threads are daemons, so a process can end without waiting for them.
"""

from __future__ import annotations

import contextvars
import heapq
import math
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pytest_riskguard.config.asking import MAX_TIMEOUTS, TIMEOUT, Asking
from pytest_riskguard.live_systems.event_loop import Awaiting
from pytest_riskguard.live_systems.results import NoAnswerError, Pairs, pairs_of
from pytest_riskguard.live_systems.time_limit import OutOfTimeError, within
from pytest_riskguard.live_systems.topic import Topic


class Answer(NamedTuple):
    """What a search returned, and how long it took in seconds."""

    pairs: Pairs
    seconds: float


#: A live system: what it returns for a topic, in any of the shapes of ``results``.
Search = Callable[[Topic], object]
Progress = Callable[[int, int], None]
#: Called with a topic, its answer, and whether that is the second one.
Answered = Callable[[str, Answer, bool], None]

#: Seconds before the second attempt; each further one waits twice as long as the one before, up to the maximum.
_FIRST_PAUSE, MAX_PAUSE = 0.5, 30.0
#: The longest wait that a system may ask for; where it asks for more, there is no further attempt.
MAX_WAIT_ASKED = 120.0
#: How many failed queries keep the traceback of their error.
MAX_TRACEBACKS = 10
#: Seconds after which a wait ends to notice Ctrl-C, where a wait cannot be interrupted (Windows).
_MAX_WAIT = 0.2


@dataclass(frozen=True)
class FailedQuery:
    """A query without an answer after all attempts; ``error`` is the error of the last one."""

    topic: str
    query: str
    error: BaseException
    attempts: int


@dataclass(frozen=True)
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


class FailedSearchError(Exception):
    """A search of riskguard's own without an answer; the message says why, in words for people.

    ``is_final`` if another attempt would end like this one; ``wait`` is how many seconds the system asks to wait
    before it.
    """

    def __init__(self, problem: str, *, is_final: bool = False, wait: float = 0.0) -> None:
        super().__init__(problem)
        self.is_final, self.wait = is_final, wait


def backoff(attempt: int) -> float:
    """Seconds between a failed attempt (the first is 1) and the next, without a random part."""
    return min(_FIRST_PAUSE * 2.0 ** min(attempt - 1, 60), MAX_PAUSE)


def pause(attempt: int, error: BaseException) -> float | None:
    """Seconds between an attempt that ended so and the next; None if there is to be none."""
    if isinstance(error, NoAnswerError):
        return None
    if not isinstance(error, FailedSearchError):
        return backoff(attempt)
    return None if error.is_final or error.wait > MAX_WAIT_ASKED else max(backoff(attempt), error.wait)


def retrieve(
    search: Search,
    queries: Mapping[str, Topic],
    asking: Asking,
    *,
    progress: Progress | None = None,
    stuck: Callable[[], None] | None = None,
    answered: Answered = lambda *_: None,
) -> Retrieved:
    """Send every query, by topic; a generator that ``search`` returns is read in the thread that called it.

    What has to be awaited runs on the event loop of the process.

    Anything that a search raises is a failure of its query, except a KeyboardInterrupt in the calling thread, which
    is raised here. ``progress`` is called in the calling thread with the numbers of topics done and of all topics,
    and ``answered`` with each answer; ``stuck`` as in ``time_limit.within``.
    """
    book = _asked(search, _Book(queries, asking, progress, answered), stuck)
    failed = [book.failed[topic] for topic in queries if topic in book.failed]
    answers = {topic: book.answers[topic].pairs for topic in queries if topic in book.answers}
    seconds = tuple(answer.seconds for answer in book.answers.values())
    if failed or asking.ask_twice == 0:
        return Retrieved(answers, tuple(failed), seconds=seconds)
    sample = {topic: queries[topic] for topic in spread(list(queries), asking.ask_twice)}
    second = _asked(search, _Book(sample, asking, None, answered, is_second=True), stuck)
    again = {topic: second.answers[topic].pairs for topic in sample if topic in second.answers}
    failed = [second.failed[topic] for topic in sample if topic in second.failed]
    return Retrieved(answers, tuple(failed), again, seconds)


def spread(topics: Sequence[str], size: int) -> list[str]:
    """``size`` of the topics, evenly spread; all of them if there are fewer."""
    return [topics[i * len(topics) // size] for i in range(size)] if size < len(topics) else list(topics)


def _asked(search: Search, book: _Book, stuck: Callable[[], None] | None) -> _Book:
    if book.asking.workers == 1:
        _ask_here(search, book, stuck)
    else:
        _ask_in_threads(search, book)
    return book


@dataclass
class _Book:
    """Which queries have an answer, which have failed, and which are to be retried."""

    queries: Mapping[str, Topic]
    asking: Asking
    progress: Progress | None
    answered: Answered
    is_second: bool = False  # whether these queries are sent for the second time
    answers: dict[str, Answer] = field(default_factory=dict)
    failed: dict[str, FailedQuery] = field(default_factory=dict)
    unanswered: int = 0  # queries in a row that had no answer in time, or that the system did not answer
    next_send: float = -math.inf  # when the rate lets the next query be sent

    @property
    def gives_up(self) -> bool:
        """Whether the system seems to have stopped answering."""
        return self.unanswered >= MAX_TIMEOUTS

    def send(self, now: float) -> None:
        """Note that a query is sent now."""
        if self.asking.rate is not None:
            self.next_send = max(now, self.next_send) + 1 / self.asking.rate

    def note(self, topic: str, attempt: int, outcome: Answer | BaseException) -> float | None:
        """Record how an attempt ended; return the seconds until the next one, or None if there will be none."""
        if not isinstance(outcome, BaseException):
            self.answers[topic], self.unanswered = outcome, 0
            self.answered(topic, outcome, self.is_second)
        elif attempt <= self.asking.retries and (wait := pause(attempt, outcome)) is not None:
            return wait
        else:
            if isinstance(outcome, NoAnswerError) or len(self.failed) >= MAX_TRACEBACKS:
                outcome = outcome.with_traceback(None)  # its frames hold whole answers
            self.failed[topic] = FailedQuery(topic, self.queries[topic], outcome, attempt)
            is_silent = isinstance(outcome, OutOfTimeError | FailedSearchError)
            self.unanswered = self.unanswered + 1 if is_silent else 0
        if self.progress is not None:
            self.progress(len(self.answers) + len(self.failed), len(self.queries))
        return None


def _ask_here(search: Search, book: _Book, stuck: Callable[[], None] | None) -> None:
    """One query after another, in the calling thread."""
    asking = book.asking

    def outcome(query: Topic) -> Answer | BaseException:
        awaiting = Awaiting(asking.timeout)
        try:
            return within(asking.timeout, lambda: _answer(search, query, asking.depth, awaiting), stuck=stuck)
        except OutOfTimeError as error:
            return _out_of_time(asking, "").with_traceback(error.__traceback__)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return error

    for topic, query in book.queries.items():
        attempt, wait = 1, 0.0
        while True:
            time.sleep(max(wait, book.next_send - time.monotonic()))
            book.send(time.monotonic())
            if (pause_before_next := book.note(topic, attempt, outcome(query))) is None:
                break
            attempt, wait = attempt + 1, pause_before_next
        if book.gives_up:
            return


def _out_of_time(asking: Asking, note: str) -> OutOfTimeError:
    hint = " (the default; `timeout` changes it)" if asking.timeout == TIMEOUT else ""
    return OutOfTimeError(f"no answer within {asking.timeout:g} s{hint}{note}")


def _outcome(search: Search, topic: Topic, depth: int, awaiting: Awaiting) -> Answer | BaseException:
    """The answer, or the error that ended the call."""
    try:
        return _answer(search, topic, depth, awaiting)
    except BaseException as error:
        return error


def _answer(search: Search, topic: Topic, depth: int, awaiting: Awaiting) -> Answer:
    """The first documents of an answer; ``NoAnswerError`` if it holds anything else."""
    start = time.perf_counter()
    pairs = pairs_of(awaiting.result(search(topic), depth), depth)
    return Answer(pairs, time.perf_counter() - start)


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

    def ended(worker: _Worker, outcome: Answer | BaseException) -> None:
        task, _ = busy.pop(worker)
        if (wait := book.note(task.topic, task.attempt, outcome)) is not None:
            heapq.heappush(todo, _Task(time.monotonic() + wait, task.place, task.topic, task.attempt + 1))

    try:
        while (todo or busy) and not book.gives_up:
            now = time.monotonic()
            while todo and len(busy) < asking.workers and max(todo[0].ready, book.next_send) <= now:
                task = heapq.heappop(todo)
                book.send(now)
                worker = idle.pop() if idle else _Worker(search, asking, done)
                busy[worker] = (task, math.inf if asking.timeout is None else now + asking.timeout)
                worker.ask(book.queries[task.topic])
            next_try = max(todo[0].ready, book.next_send) if todo and len(busy) < asking.workers else math.inf
            until = min([next_try, *(deadline for _, deadline in busy.values())])
            for worker, outcome in _arrived(done, timeout=min(max(until - now, 0.0), _MAX_WAIT)):
                if worker in busy:  # else it is too late: its query has already failed
                    idle.append(worker)
                    ended(worker, outcome)
            now = time.monotonic()
            for worker in [worker for worker, (_, deadline) in busy.items() if deadline <= now]:
                note = "" if worker.dismiss() else "; its thread cannot be stopped and may keep running"
                ended(worker, _out_of_time(asking, note))
    finally:
        for worker in (*idle, *busy):
            worker.dismiss()
        for worker in idle:
            worker.thread.join()


def _arrived(done: _Done, *, timeout: float) -> list[tuple[_Worker, Answer | BaseException]]:
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

    def __init__(self, search: Search, asking: Asking, done: _Done) -> None:
        self._search, self._depth, self._done = search, asking.depth, done
        self._awaiting = Awaiting(timeout=None)  # it is cancelled when it is dismissed
        self._inbox: queue.SimpleQueue[Topic | None] = queue.SimpleQueue()
        # A copy of the caller's context, so that its context variables hold for the search too.
        context = contextvars.copy_context()
        self.thread = threading.Thread(target=context.run, args=(self._work,), name="riskguard-search", daemon=True)
        self.thread.start()

    def ask(self, query: Topic) -> None:
        """Give it the next query."""
        self._inbox.put(query)

    def dismiss(self) -> bool:
        """Let it end after its present query; whether that could be cancelled."""
        self._inbox.put(None)
        return self._awaiting.cancel()

    def _work(self) -> None:
        while (query := self._inbox.get()) is not None:
            self._done.put((self, _outcome(self._search, query, self._depth, self._awaiting)))


#: What workers bring back.
_Done = queue.SimpleQueue[tuple[_Worker, Answer | BaseException]]
