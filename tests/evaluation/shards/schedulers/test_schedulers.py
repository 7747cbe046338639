"""Executors, dask and Spark run every piece once more where a worker died, and pass errors on."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context, parent_process
from pathlib import Path

import pytest

from pytest_riskguard.errors import DataError, RunFormatError, UsageError
from pytest_riskguard.evaluation.shards.schedulers import Scheduler, Work, WorkersDiedError
from pytest_riskguard.evaluation.shards.schedulers.dask_cluster import on_dask
from pytest_riskguard.evaluation.shards.schedulers.executors import in_executor, in_processes
from pytest_riskguard.evaluation.shards.schedulers.spark_cluster import on_spark
from tests.evaluation.shards import clusters


def joined(piece: str, shared: bytes) -> bytes:
    return shared + piece.encode()


def refused(piece: str, shared: bytes) -> bytes:
    raise RunFormatError(Path("a/run.txt"), 7, f"expected another line than {piece}")


def ends_the_process(piece: str, shared: bytes) -> bytes:
    os._exit(1)


def ends_another_process(piece: str, shared: bytes) -> bytes:
    if parent_process() is not None:
        os._exit(1)
    return joined(piece, shared)


def refused_elsewhere(piece: str, shared: bytes) -> bytes:
    return joined(piece, shared) if parent_process() is None else refused(piece, shared)


def waits_for_others(piece: str, shared: bytes) -> bytes:
    """Which process does the piece; this one does one piece in the time that others take to start."""
    if parent_process() is None:
        time.sleep(0.5)
    else:
        time.sleep(0.01)
    return str(os.getpid()).encode()


def results(scheduler: Scheduler, work: Work = joined, pieces: Sequence[str] = tuple("abcdef")) -> list[bytes]:
    found = dict(scheduler(work, pieces, b"of-"))
    return [found[place] for place in range(len(pieces))]


EXPECTED = [b"of-" + piece.encode() for piece in "abcdef"]


@pytest.fixture
def processes():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        yield in_executor(executor)


def check_errors(scheduler: Scheduler) -> None:
    with pytest.raises(RunFormatError, match=r"^a/run\.txt:7: expected another line than") as found:
        results(scheduler, refused)
    assert (found.value.path, found.value.line, found.value.reason) == (Path("a/run.txt"), 7, "bad_run")
    assert found.value.problem.startswith("run.txt:7: expected")


def test_threads():
    with ThreadPoolExecutor(3) as executor:
        assert results(in_executor(executor)) == EXPECTED
        check_errors(in_executor(executor))


def test_processes(processes):
    assert results(processes) == EXPECTED
    check_errors(processes)


@pytest.mark.parametrize("count", [1, 2, 3, 9])
def test_processes_of_which_this_one_is_the_first(count):
    assert results(in_processes(count)) == EXPECTED
    assert results(in_processes(count), pieces=["a"]) == EXPECTED[:1]
    check_errors(in_processes(count))


def test_each_process_does_some_of_the_work():
    done_by = set(results(in_processes(3), waits_for_others, pieces=[str(number) for number in range(40)]))
    assert str(os.getpid()).encode() in done_by
    assert len(done_by) == 3


def test_an_error_of_another_process_is_raised():
    with pytest.raises(RunFormatError, match="another line than"):
        results(in_processes(2), refused_elsewhere)


def test_another_process_that_dies():
    with pytest.raises(WorkersDiedError, match="a worker process ended while it scored"):
        results(in_processes(2), ends_another_process)


def test_a_process_that_dies_is_an_error_that_says_so(processes):
    with pytest.raises(DataError, match="a worker process ended while it scored"):
        results(processes, ends_the_process)


def test_dask_does_the_work_of_a_dead_worker_again(tmp_path):
    with clusters.dask_cluster(tmp_path) as address:
        check_errors(on_dask(address))
        assert results(clusters.with_a_death(on_dask(address), tmp_path / "pids")) == EXPECTED
        assert results(on_dask(address)) == EXPECTED
        with pytest.raises(DataError, match=rf"^{address}: workers died while they scored"):
            results(on_dask(address), ends_the_process)


def test_an_address_without_a_scheduler_of_dask(monkeypatch):
    monkeypatch.setattr("pytest_riskguard.evaluation.shards.schedulers.dask_cluster.PATIENCE", 1)
    with pytest.raises(UsageError, match=r"tcp://127\.0\.0\.1:1: expected a scheduler of dask, found none"):
        results(on_dask("tcp://127.0.0.1:1"))


@pytest.mark.slow
def test_spark_does_the_work_of_a_dead_executor_again(tmp_path):
    with clusters.spark_cluster(tmp_path):
        check_errors(on_spark())
        # a worker of Python is the child of a daemon, which is the child of the executor
        assert results(clusters.with_a_death(on_spark(), tmp_path / "pids", generation=2)) == EXPECTED
        assert results(on_spark()) == EXPECTED
