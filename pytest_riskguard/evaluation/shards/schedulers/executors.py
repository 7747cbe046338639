"""Pieces in any executor of ``concurrent.futures``, in processes of this machine, or one after the other."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    as_completed,
    wait,
)
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pytest_riskguard.evaluation.shards.schedulers import Scheduler, Work, WorkersDiedError


def in_executor(executor: Executor) -> Scheduler:
    """All pieces at once; the executor decides how many run at a time."""

    def run(work: Work, pieces: Sequence[Any], shared: bytes) -> Iterator[tuple[int, Any]]:
        futures = {executor.submit(work, piece, shared): place for place, piece in enumerate(pieces)}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenExecutor as problem:
            raise _died(problem) from None
        finally:
            for future in futures:
                future.cancel()

    return run


def _died(problem: BrokenExecutor) -> WorkersDiedError:
    return WorkersDiedError(
        f"a worker process ended while it scored ({problem}): it may have been killed, or out of memory; use fewer "
        "workers, or smaller pieces"
    )


def in_processes(count: int) -> Scheduler:
    """So many processes of this machine, of which this one is the first: others take a while to start."""

    def run(work: Work, pieces: Sequence[Any], shared: bytes) -> Iterator[tuple[int, Any]]:
        others = min(count, len(pieces)) - 1
        if others < 1:
            yield from in_this_process(work, pieces, shared)
            return
        from multiprocessing import get_context

        # a copy of this process would share its threads' locks, so each one begins anew
        context = get_context("spawn")
        with TemporaryDirectory(prefix="riskguard-") as folder:
            # through a pipe, this process would have to wait until the other one reads
            given = Path(folder, "shared")
            given.write_bytes(shared)
            with ProcessPoolExecutor(others, mp_context=context, initializer=_begin, initargs=(given,)) as executor:
                yield from _with_others(executor, others, work, pieces, shared)

    return run


def _with_others(
    executor: Executor, others: int, work: Work, pieces: Sequence[Any], shared: bytes
) -> Iterator[tuple[int, Any]]:
    """Pieces for other processes, each of which has one to do and one that waits, and for this one."""
    waiting = iter(enumerate(pieces))
    futures: dict[Future[Any], int] = {}
    try:
        while True:
            for place, piece in itertools.islice(waiting, 2 * others - len(futures)):
                futures[executor.submit(_begun, work, piece)] = place
            own = next(waiting, None)
            if own is not None:
                yield own[0], work(own[1], shared)
            if not futures:
                return
            for future in wait(futures, None if own is None else 0, FIRST_COMPLETED).done:
                yield futures.pop(future), future.result()
    except BrokenExecutor as problem:
        raise _died(problem) from None
    finally:
        for future in futures:
            future.cancel()


#: What all pieces need, in a process that ``in_processes`` started.
_SHARED: list[bytes] = []


def _begin(given: Path) -> None:
    """Leave Ctrl-C to the process that started this one, which then asks for no more pieces."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _SHARED[:] = [given.read_bytes()]


def _begun(work: Work, piece: Any) -> Any:
    return work(piece, _SHARED[0])


def in_this_process(work: Work, pieces: Sequence[Any], shared: bytes) -> Iterator[tuple[int, Any]]:
    """One piece after the other."""
    for place, piece in enumerate(pieces):
        yield place, work(piece, shared)
