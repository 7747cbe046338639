"""Asking a live system: order, threads, time limits, tries. Events say what comes first, no clock does."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_riskguard.config.setting_types import Queried
from pytest_riskguard.live import retrieval
from pytest_riskguard.live.retrieval import FailedSearchError, NoAnswerError, Retrieved, Topic, retrieve, spread

QUERIES = {f"t{number:02d}": Topic(f"query {number}", id=f"t{number:02d}") for number in range(20)}
#: Ways of asking: in the calling thread, with and without a limit, and in several threads.
WAYS = [Queried(), Queried(timeout=None), Queried(workers=4, timeout=None), Queried(workers=50)]


@pytest.fixture
def pauses(monkeypatch):
    """The attempts after which a query waited for the next one, which comes at once."""
    attempts: list[int] = []
    pause = retrieval.pause

    def none(attempt: int, error: BaseException) -> float | None:
        wait = pause(attempt, error)
        attempts.append(attempt)
        return wait if wait is None else 0.0

    monkeypatch.setattr(retrieval, "pause", none)
    return attempts


def answer(query: str) -> list[tuple[str, float]]:
    return [(f"{query}-{rank}", -float(rank)) for rank in range(5)]


def searching() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "riskguard-search"]


@pytest.fixture(autouse=True)
def _no_thread_stays():
    yield
    for thread in searching():
        thread.join(timeout=30)
    assert searching() == []


@pytest.mark.parametrize("asking", WAYS)
def test_every_way_of_asking_gives_the_same_in_the_same_order(asking):
    found = retrieve(answer, QUERIES, asking)
    answers = {topic: answer(query) for topic, query in QUERIES.items()}
    assert found == Retrieved(answers, (), {topic: answers[topic] for topic in list(QUERIES)[::2]})
    assert list(found.answers) == list(QUERIES)


def test_answers_stand_in_the_order_of_the_queries_though_the_first_comes_last():
    others, asked = threading.Semaphore(0), set[str]()

    def search(query: str) -> list[tuple[str, float]]:
        is_first = query not in asked
        asked.add(query)
        if query == "query 0" and is_first:
            for _ in range(len(QUERIES) - 1):
                assert others.acquire(timeout=30)
        else:
            others.release()
        return answer(query)

    found = retrieve(search, QUERIES, Queried(workers=2))
    assert list(found.answers) == list(QUERIES)
    assert found.answers["t00"] == answer("query 0")


def test_as_many_are_asked_at_a_time_as_there_are_workers_and_no_more():
    together, most, now, lock = threading.Barrier(5, timeout=30), 0, 0, threading.Lock()

    def search(query: str) -> list[tuple[str, float]]:
        nonlocal most, now
        with lock:
            now += 1
            most = max(most, now)
        together.wait()  # five must be here at a time, or this breaks
        with lock:
            now -= 1
        return []

    assert retrieve(search, QUERIES, Queried(workers=5)).failed == ()
    assert most == 5


@pytest.mark.parametrize("timeout", [None, 30])
def test_one_worker_is_the_calling_thread(timeout):
    threads = set()
    retrieve(lambda _: threads.add(threading.current_thread()) or [], QUERIES, Queried(timeout=timeout))
    assert threads == {threading.current_thread()}
    retrieve(lambda _: threads.add(threading.current_thread()) or [], QUERIES, Queried(workers=2, timeout=timeout))
    assert len(threads) > 1


@pytest.mark.parametrize("asking", WAYS)
@pytest.mark.usefixtures("pauses")
def test_all_failed_queries_are_named_in_order(asking):
    def search(query: str) -> list[tuple[str, float]]:
        if query == "query 3":
            raise KeyError(query)
        if query == "query 17":
            raise FailedSearchError("busy", wait=0.0)
        return answer(query)

    found = retrieve(search, QUERIES, asking)
    problems = [(failed.topic, failed.problem.partition(" (")[0]) for failed in found.failed]
    assert problems == [("t03", "KeyError: 'query 3'"), ("t17", "busy")]
    assert len(found.answers) == len(QUERIES) - 2


@pytest.mark.parametrize("asking", [Queried(), Queried(workers=3)])
def test_an_attempt_that_succeeds_makes_up_for_those_that_failed(asking, pauses):
    attempts: dict[str, int] = {}

    def search(query: str) -> list[tuple[str, float]]:
        attempts[query] = attempts.get(query, 0) + 1
        if attempts[query] < 3:
            raise FailedSearchError("busy", wait=0.0)
        return answer(query)

    assert retrieve(search, QUERIES, asking) == retrieve(answer, QUERIES, Queried())
    assert sorted(pauses) == [1] * len(QUERIES) + [2] * len(QUERIES)


@pytest.mark.parametrize(
    ("error", "attempt", "seconds"),
    [
        (FailedSearchError("busy", wait=0.0), 1, 0.5),
        (FailedSearchError("busy", wait=0.0), 2, 1.0),
        (FailedSearchError("busy", wait=0.0), 3, None),
        (FailedSearchError("busy", wait=7.0), 1, 7.0),
        (FailedSearchError("busy", wait=0.1), 1, 0.5),
        (FailedSearchError("busy", wait=120.0), 1, 120.0),
        (FailedSearchError("busy", wait=121.0), 1, None),
        (FailedSearchError("no such index"), 1, None),
        (ConnectionError("of a function"), 1, None),
        (NoAnswerError("no pairs"), 1, None),
    ],
)
def test_an_engine_says_whether_and_when_it_is_asked_again(error, attempt, seconds):
    assert retrieval.pause(attempt, error) == seconds


@pytest.mark.parametrize("asking", [Queried(), Queried(workers=4)])
def test_three_without_an_answer_in_a_row_end_the_asking(asking):
    asked = []

    def search(query: str) -> list[tuple[str, float]]:
        asked.append(query)
        raise FailedSearchError("no such index")

    found = retrieve(search, QUERIES, asking)
    assert 3 <= len(found.failed) <= 2 + asking.workers
    assert len(asked) <= len(found.failed) + asking.workers


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("workers", [1, 4])
def test_an_answer_that_comes_too_late_is_none(workers, asynchronous):
    def search(query: str) -> list[str]:
        if query in ("query 0", "query 5"):
            time.sleep(0.2)
        return [query]

    async def later(query: str) -> list[str]:
        if query in ("query 0", "query 5"):
            await asyncio.sleep(600)
        return [query]

    asking = Queried(workers=workers, timeout=0.1)
    found = retrieve(later if asynchronous else search, QUERIES, asking)
    assert [(f.topic, f.problem) for f in found.failed] == [(t, "no answer within 0.1 s") for t in ("t00", "t05")]
    assert list(found.answers) == [topic for topic in QUERIES if topic not in ("t00", "t05")]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_system_that_is_always_late_is_not_queried_forever(workers):
    async def never(query: str) -> list[str]:
        await asyncio.sleep(600)
        return []

    found = retrieve(never, QUERIES, Queried(workers=workers, timeout=0.05))
    assert 3 <= len(found.failed) <= 3 + workers
    assert found.asked == len(found.failed)


def test_failures_between_time_outs_do_not_count_as_silence():
    turn = iter(range(10_000))

    def search(query: str) -> list[tuple[str, float]]:
        if next(turn) % 3:
            time.sleep(0.02)
            return []
        raise ConnectionError

    assert len(retrieve(search, QUERIES, Queried(timeout=0.01)).failed) == len(QUERIES)


@pytest.mark.parametrize("asking", WAYS)
def test_what_a_result_does_when_it_is_read_is_a_failure_of_its_query(asking):
    class Ends:
        def __str__(self) -> str:
            pytest.exit("done", returncode=0)

    results: list[Any] = [(Ends(), 1.0)]
    (failed,) = retrieve(lambda _: results, {"t": Topic("q")}, asking).failed
    assert failed.problem.startswith("Exit: done (test_retrieval.py:")


@pytest.mark.parametrize("asking", WAYS)
def test_a_generator_is_read_to_the_depth_and_where_it_was_called(asking):
    threads: list[set[threading.Thread]] = []

    def search(query: str) -> Iterator[tuple[str, float]]:
        mine = {threading.current_thread()}
        threads.append(mine)

        def results() -> Iterator[tuple[str, float]]:
            for rank in range(3):
                mine.add(threading.current_thread())
                yield f"d{rank}", -float(rank)
            raise AssertionError("nobody asked for more")

        return results()

    found = retrieve(search, QUERIES, asking.model_copy(update={"depth": 3}))
    assert found.failed == ()
    assert all(len(pairs) == 3 for pairs in found.answers.values())
    assert all(len(mine) == 1 for mine in threads)


@pytest.mark.parametrize("timeout", [None, 30])
def test_an_interrupt_of_the_calling_thread_passes_through(timeout):
    asked = []

    def search(query: str) -> list[tuple[str, float]]:
        asked.append(query)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        retrieve(search, QUERIES, Queried(timeout=timeout))
    assert len(asked) == 1


@pytest.mark.parametrize("asking", WAYS)
@pytest.mark.parametrize("ending", [SystemExit, GeneratorExit, asyncio.CancelledError, pytest.exit.Exception])
def test_any_other_exception_of_a_search_is_a_failure_of_its_query(asking, ending):
    def search(query: str) -> list[tuple[str, float]]:
        if query == "query 3":
            raise ending
        return answer(query)

    (failed,) = retrieve(search, QUERIES, asking).failed
    assert failed.topic == "t03"
    assert failed.problem.startswith(ending.__name__)
    assert " (test_retrieval.py:" in failed.problem


class MuteError(Exception):
    def __str__(self) -> str:
        raise SystemExit(0)


def test_an_error_whose_words_would_end_the_run_is_named():
    def search(query: str) -> list[str]:
        raise MuteError

    problem = retrieve(search, {"t": Topic("q")}, Queried()).failed[0].problem
    assert problem.startswith("MuteError: (its __str__ raised SystemExit) (test_retrieval.py:")


def test_a_keyboard_interrupt_raised_in_a_thread_is_not_from_the_user():
    started, released = threading.Event(), threading.Event()

    def search(query: str) -> list[tuple[str, float]]:
        if query == "query 0":
            started.set()
            assert released.wait(timeout=30)
        else:
            assert started.wait(timeout=30)
            released.set()
            raise KeyboardInterrupt
        return []

    found = retrieve(search, QUERIES, Queried(workers=2))
    assert [failed.problem.startswith("KeyboardInterrupt (") for failed in found.failed] == [True] * 19
    assert list(found.answers) == ["t00"]


@pytest.mark.parametrize("asking", [Queried(), Queried(workers=3)])
def test_progress_is_told_in_the_calling_thread_once_for_each_query(asking):
    told = []

    def search(query: str) -> list[tuple[str, float]]:
        if query == "query 3":
            raise ValueError
        return []

    def progress(done: int, total: int) -> None:
        assert threading.current_thread() is threading.main_thread()
        told.append((done, total))

    retrieve(search, QUERIES, asking, progress=progress)
    assert told == [(done, len(QUERIES)) for done in range(1, len(QUERIES) + 1)]


def test_context_variables_of_the_caller_hold_for_the_search():
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")
    variable.set("set")
    seen = set()
    retrieve(lambda _: seen.add(variable.get()) or [], QUERIES, Queried(workers=3))
    assert seen == {"set"}


def test_what_is_asked_twice_is_spread_over_all_topics():
    assert spread(list("abcdefghij"), 4) == ["a", "c", "f", "h"]
    assert spread(["a", "b"], 4) == ["a", "b"]


# ---- searches that are async


@pytest.mark.parametrize("asking", WAYS)
def test_answers_are_awaited_on_one_loop(asking):
    loops = set()
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")
    variable.set("set")

    async def search(query: str) -> list[str]:
        loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return [query, variable.get()]

    for _ in range(2):
        retrieved = retrieve(lambda query: search(query), QUERIES, asking)
        assert list(retrieved.answers) == list(QUERIES)
        assert retrieved.answers["t03"] == [("query 3", 2.0), ("set", 1.0)]
    assert len(loops) == 1


def test_an_asynchronous_generator_is_no_answer():
    async def search(query: str) -> Any:
        yield query

    (failed,) = retrieve(search, {"t": Topic("q")}, Queried()).failed
    assert failed.problem.startswith("it returned <async_gen")


def test_errors_of_coroutines_keep_the_line_that_raised_them():
    async def search(query: str) -> list[str]:
        raise ConnectionError(query)

    line = search.__code__.co_firstlineno + 1
    failed = retrieve(search, QUERIES, Queried()).failed
    assert failed[3].problem == f"ConnectionError: query 3 (test_retrieval.py:{line})"


def test_a_keyboard_interrupt_ends_the_run_though_threads_wait():
    running = threading.Event()
    released = threading.Event()

    def search(query: str) -> list[str]:
        if query != "query 0":
            running.set()
            released.wait(timeout=60)
        return []

    def interrupted(done: int, total: int) -> None:
        assert running.wait(timeout=30)
        raise KeyboardInterrupt

    try:
        with pytest.raises(KeyboardInterrupt):
            retrieve(search, QUERIES, Queried(workers=4, timeout=None), progress=interrupted)
    finally:
        released.set()
