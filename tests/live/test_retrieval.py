"""Asking a live system: order, threads, time limits, tries. Events say what comes first, no clock does."""

import asyncio
import contextvars
import io
import re
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_riskguard.config.setting_types import Queried
from pytest_riskguard.errors import DataError
from pytest_riskguard.live import retrieval
from pytest_riskguard.live.retrieval import SearchError, Topic, retrieve

QUERIES = {f"t{number:02d}": Topic(f"query {number}", id=f"t{number:02d}") for number in range(20)}
#: Ways of asking: in the calling thread, with and without a limit, and in several threads.
WAYS = [Queried(), Queried(timeout=None), Queried(workers=4, timeout=None), Queried(workers=50)]
every_way = pytest.mark.parametrize("asking", WAYS)
VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")


def answer(query: str) -> list[tuple[str, float]]:
    return [(f"{query}-{rank}", -float(rank)) for rank in range(5)]


ANSWERS = {topic: answer(query) for topic, query in QUERIES.items()}


def failure(search: Any, asking: Queried, queries: Any = QUERIES) -> str:
    with pytest.raises(DataError) as caught:
        retrieve(search, queries, asking)
    assert caught.value.reason == "bad_run"
    return str(caught.value)


@every_way
def test_every_way_of_asking_gives_the_same_in_the_same_order(asking):
    VARIABLE.set("set")
    seen = set()

    def search(query: str) -> list[tuple[str, float]]:
        seen.add(VARIABLE.get())
        return answer(query)

    assert list(retrieve(search, QUERIES, asking).items()) == list(ANSWERS.items())
    assert seen == {"set"}


def test_answers_stand_in_the_order_of_the_queries_though_the_first_comes_last():
    others = threading.Semaphore(0)

    def search(query: str) -> list[tuple[str, float]]:
        if query == "query 0":
            for _ in range(len(QUERIES) - 1):
                assert others.acquire(timeout=30)
        others.release()
        return answer(query)

    assert list(retrieve(search, QUERIES, Queried(workers=2)).items()) == list(ANSWERS.items())


@pytest.mark.parametrize("timeout", [None, 30])
def test_one_worker_is_the_calling_thread(timeout):
    threads = set()
    retrieve(lambda _: threads.add(threading.current_thread()) or [], QUERIES, Queried(timeout=timeout))
    assert threads == {threading.current_thread()}


@every_way
def test_all_failed_queries_are_named_in_order(asking):
    def search(query: str) -> list[tuple[str, float]]:
        if query in ("query 3", "query 5"):
            raise KeyError("key")
        if query == "query 17":
            raise SearchError("no such index")
        return answer(query)

    assert re.fullmatch(
        r"the search failed for 3 of 20 topics: t03, t05 \('query 3'\) failed: KeyError: 'key' "
        r"\(test_retrieval.py:\d+\); t17 \('query 17'\) failed: no such index",
        failure(search, asking),
    )


@pytest.mark.parametrize(("end", "ending"), [(11, ": 9!"), (15, "; and 1 other error")])
def test_five_errors_are_all_told_and_others_counted(end, ending):
    def search(query: str) -> list[tuple[str, float]]:
        number = int(query.split()[1])
        if number in range(1, end, 2):  # never three in a row
            raise SearchError(f"{number % 12}!")
        return answer(query)

    assert failure(search, Queried()).endswith(ending)


@pytest.mark.parametrize("asking", [Queried(), Queried(workers=3)])
@pytest.mark.parametrize(("times", "succeeds"), [(2, True), (3, False)])
def test_an_attempt_that_succeeds_makes_up_for_two_that_failed(asking, times, succeeds, monkeypatch):
    attempts: dict[str, int] = {}
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)

    def search(query: str) -> list[tuple[str, float]]:
        attempts[query] = attempts.get(query, 0) + 1
        if attempts[query] <= times:
            raise SearchError("busy", is_temporary=True)
        return answer(query)

    if succeeds:
        assert retrieve(search, QUERIES, asking) == ANSWERS
    else:
        assert "failed: busy" in failure(search, asking)
    assert max(attempts.values()) == 3  # three failures in a row end the asking of others
    assert (pauses[0], {*pauses}) == (0.5, {0.5, 1.0})


@pytest.mark.parametrize("asking", [Queried(), Queried(workers=4)])
def test_three_failures_in_a_row_end_the_asking_and_fewer_do_not(asking):
    asked = []

    def search(query: str) -> list[str]:
        asked.append(query)
        raise SearchError("no such index")

    assert "17 topics were not queried, because 3 queries in a row failed" in failure(search, asking)
    turn = iter(range(100))

    def between(query: str) -> list[str]:
        if next(turn) % 3:
            raise ConnectionError
        return []

    if asking.workers == 1:
        assert len(asked) == 3
        assert "failed for 13 of 20 topics" in failure(between, asking)


@pytest.mark.parametrize(("workers", "asynchronous"), [(1, False), (1, True), (4, True)])
def test_an_answer_that_comes_too_late_is_none(workers, asynchronous):
    def search(query: str) -> list[str]:
        if query == "query 5":
            time.sleep(0.31)
        return [query]

    async def later(query: str) -> list[str]:
        if query == "query 5":
            await asyncio.sleep(600)
        return [query]

    said = failure(later if asynchronous else search, Queried(workers=workers, timeout=0.3))
    assert said.endswith(
        "failed for 1 of 20 topics: t05 ('query 5') failed: no answer within 0.3 s (`timeout` changes that)"
    )


@pytest.mark.parametrize("seconds", [30.0, 30.1])
def test_an_answer_may_take_the_time_limit_whose_key_is_named(monkeypatch, seconds):
    monkeypatch.setattr(retrieval, "time", SimpleNamespace(perf_counter=iter([1.0, 1.0 + seconds]).__next__))
    if seconds == 30:
        assert retrieve(lambda query: [query], {"t": Topic("q")}, Queried()) == {"t": [("q", 1.0)]}
    else:
        said = failure(lambda query: [query], Queried(), {"t": Topic("q")})
        assert said.endswith("no answer within 30 s (`timeout` changes that)")


@pytest.mark.parametrize("length", [300, 301])
def test_a_long_query_and_a_long_message_are_cut(length):
    def search(query: str) -> list[str]:
        raise ValueError("x" * length)

    said = failure(search, Queried(), {"t": Topic("q" * 80)})
    assert f": t ('{'q' * 79}) failed: ValueError: {'x' * 300} (" in said


def test_a_syntax_error_is_told_with_its_line():
    said = failure(lambda _: compile("1\n2\n  3", "code/own.py", "exec"), Queried(), {"t": Topic("q")})
    assert said.endswith("failed: IndentationError: unexpected indent (own.py:3)")


def test_on_a_terminal_the_topics_are_counted_meanwhile(monkeypatch):
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", terminal)
    failure(lambda query: 1 if query.endswith("1") else [], Queried(), dict(list(QUERIES.items())[:2]))
    counted = "".join(f"\rretrieving {number}/2 topics" for number in (1, 2))
    assert terminal.getvalue() == f"{counted}\r{' ' * 40}\r"


@every_way
def test_what_a_result_does_when_it_is_read_is_a_failure_of_its_query(asking):
    class Ends(str):
        def __str__(self) -> str:
            pytest.exit("done", returncode=0)

    results: list[Any] = [(Ends(), 1.0)]
    assert "failed: Exit: done (test_retrieval.py:" in failure(lambda _: results, asking, {"t": Topic("q")})


@every_way
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

    answers = retrieve(search, QUERIES, asking.model_copy(update={"depth": 3}))
    assert all(len(pairs) == 3 for pairs in answers.values())
    assert all(len(mine) == 1 for mine in threads)


def test_an_interrupt_passes_through():
    asked = []

    def search(query: str) -> list[tuple[str, float]]:
        asked.append(query)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        retrieve(search, QUERIES, Queried())
    assert len(asked) == 1


@every_way
@pytest.mark.parametrize("ending", [SystemExit, asyncio.CancelledError, pytest.exit.Exception])
def test_any_other_exception_of_a_search_is_a_failure_of_its_query(asking, ending):
    def search(query: str) -> list[tuple[str, float]]:
        if query == "query 3":
            raise ending
        return answer(query)

    said = failure(search, asking)
    assert re.search(rf"failed for 1 of 20 topics: t03 .* failed: {ending.__name__}.* \(test_retrieval.py:", said)


# ---- searches that are async


@every_way
def test_answers_are_awaited_on_one_loop(asking):
    loops = set()
    VARIABLE.set("set")

    async def search(query: str) -> list[str]:
        loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return [query, VARIABLE.get()]

    for _ in range(2):
        answers = retrieve(lambda query: search(query), QUERIES, asking)
        assert list(answers) == list(QUERIES)
        assert answers["t03"] == [("query 3", 2.0), ("set", 1.0)]
    assert len(loops) == 1
