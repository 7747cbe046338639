"""Searches that are async: one loop, as many queries at a time as workers, limits that cancel."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from typing import Any

import pytest

from pytest_riskguard.config.asking import Asking
from pytest_riskguard.live_systems import event_loop
from pytest_riskguard.live_systems.retrieval import MAX_TRACEBACKS, retrieve
from pytest_riskguard.live_systems.time_limit import OutOfTimeError
from pytest_riskguard.live_systems.topic import Topic

QUERIES = {f"t{number:02d}": Topic(f"query {number}", id=f"t{number:02d}") for number in range(20)}
WAYS = [Asking(), Asking(timeout=None), Asking(workers=4, timeout=None), Asking(workers=4, ask_twice=5)]


@pytest.mark.parametrize("asking", WAYS)
def test_answers_are_awaited_in_the_order_of_the_queries(asking):
    async def search(query: str) -> list[str]:
        await asyncio.sleep(0)
        return [f"{query}-1", f"{query}-2"]

    retrieved = retrieve(search, QUERIES, asking)
    assert retrieved.failed == ()
    assert list(retrieved.answers) == list(QUERIES)
    assert retrieved.answers["t03"] == [("query 3-1", 2.0), ("query 3-2", 1.0)]


def test_asynchronous_generators_are_read_to_the_depth_and_closed():
    closed = []

    async def search(query: str) -> Any:
        try:
            for rank in range(1000):
                yield f"d{rank}"
        finally:
            closed.append(query)

    retrieved = retrieve(search, {"t": Topic("q")}, Asking(depth=2))
    assert retrieved.answers == {"t": [("d0", 2.0), ("d1", 1.0)]}
    assert closed == ["q"]


def test_nothing_is_asked_of_a_generator_after_the_depth():
    async def search(query: str) -> Any:
        yield "d0"
        yield "d1"
        raise AssertionError("nobody wants a third")

    assert retrieve(search, {"t": Topic("q")}, Asking(depth=2)).failed == ()


@pytest.mark.parametrize("asking", WAYS)
def test_a_client_that_belongs_to_its_loop_finds_it_again(asking):
    loops = set()

    async def search(query: str) -> list[str]:
        loops.add(asyncio.get_running_loop())
        return []

    retrieve(search, QUERIES, asking)
    retrieve(search, QUERIES, asking)
    assert len(loops) == 1


def test_as_many_run_at_a_time_as_there_are_workers_and_no_more():
    most = now = 0
    together = asyncio.Event()

    async def search(query: str) -> list[str]:
        nonlocal most, now
        now += 1
        most = max(most, now)
        if now == 4:
            together.set()
        await together.wait()
        now -= 1
        return []

    assert retrieve(search, dict(list(QUERIES.items())[:8]), Asking(workers=4)).failed == ()
    assert most == 4


@pytest.mark.parametrize("workers", [1, 4])
def test_a_query_without_an_answer_in_time_is_cancelled(workers):
    cancelled = threading.Event()

    async def search(query: str) -> list[str]:
        try:
            await asyncio.sleep(600 if query == "query 7" else 0)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return []

    (failed,) = retrieve(search, QUERIES, Asking(workers=workers, timeout=0.5)).failed
    assert (failed.topic, str(failed.error)) == ("t07", "no answer within 0.5 s")
    assert isinstance(failed.error, OutOfTimeError)
    assert cancelled.wait(timeout=30)


@pytest.mark.parametrize("workers", [1, 4])
def test_a_coroutine_that_blocks_the_loop_does_not_block_the_run(workers, monkeypatch):
    monkeypatch.setattr(event_loop, "_MAX_BLOCKED", 0.05)
    released = threading.Event()

    async def search(query: str) -> list[str]:
        if query == "query 0":
            released.wait(timeout=60)
        return []

    try:
        failed = retrieve(search, QUERIES, Asking(workers=workers, timeout=0.5)).failed
        assert {type(query.error) for query in failed} == {OutOfTimeError}
        assert len(failed) < len(QUERIES)
        assert retrieve(search, {"t": Topic("later")}, Asking(timeout=30)).failed == ()
    finally:
        released.set()


@pytest.mark.parametrize("workers", [1, 4])
def test_errors_keep_the_line_that_raised_them(workers):
    async def search(query: str) -> list[str]:
        await asyncio.sleep(0)
        raise ConnectionError(query)

    # Later failures keep no traceback.
    failed = retrieve(search, dict(list(QUERIES.items())[:MAX_TRACEBACKS]), Asking(workers=workers)).failed
    assert str(failed[3].error) == "query 3"
    entry = failed[0].error.__traceback__
    while entry.tb_next is not None:
        entry = entry.tb_next
    assert entry.tb_frame.f_code.co_filename == __file__


@pytest.mark.parametrize("ending", [SystemExit, asyncio.CancelledError, TimeoutError, OSError])
@pytest.mark.parametrize("workers", [1, 4])
def test_whatever_a_coroutine_raises_is_a_failure_of_its_query(workers, ending):
    async def search(query: str) -> list[str]:
        if query == "query 3":
            raise ending
        return []

    (failed,) = retrieve(search, QUERIES, Asking(workers=workers)).failed
    assert failed.topic == "t03"


def test_a_keyboard_interrupt_ends_the_run_and_cancels_what_runs():
    running, cancelled = threading.Event(), threading.Event()

    async def search(query: str) -> list[str]:
        running.set()
        try:
            await asyncio.sleep(600)
        finally:
            cancelled.set()
        return []

    def interrupted(done: int, total: int) -> None:
        assert running.wait(timeout=30)
        raise KeyboardInterrupt

    async def one_answers(topic: Topic) -> list[str]:
        return [] if topic == "query 0" else await search(topic)

    with pytest.raises(KeyboardInterrupt):
        retrieve(one_answers, QUERIES, Asking(workers=4, timeout=None), progress=interrupted)
    assert cancelled.wait(timeout=30)


def test_context_variables_of_the_caller_hold():
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")
    variable.set("set")

    async def search(query: str) -> list[str]:
        return [variable.get()]

    assert retrieve(search, {"t": Topic("q")}, Asking()).answers == {"t": [("set", 1.0)]}


def test_a_function_that_returns_a_coroutine_need_not_be_declared_async():
    async def later(query: str) -> list[str]:
        return [query]

    assert retrieve(lambda query: later(query), {"t": Topic("q")}, Asking()).answers == {"t": [("q", 1.0)]}


def test_what_waits_when_its_worker_is_dismissed_is_never_started():
    awaiting = event_loop.Awaiting(timeout=None)
    assert not awaiting.cancel()
    started = []

    async def search() -> None:
        started.append(time.monotonic())

    with pytest.raises(OutOfTimeError):
        awaiting.result(search(), 10)
    assert started == []
