"""Pieces in any executor of ``concurrent.futures``, in processes of this machine, or one after the other."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, as_completed
from typing import Any

from pytest_riskguard.evaluation.shards.schedulers import Scheduler, Work, WorkersDiedError


def in_executor(executor: Executor) -> Scheduler:
    """All pieces at once; the executor decides how many run at a time."""

    def run(work: Work, pieces: Sequence[Any], shared: bytes) -> Iterator[tuple[int, bytes]]:
        futures = {executor.submit(work, piece, shared): place for place, piece in enumerate(pieces)}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenExecutor as problem:
            raise WorkersDiedError(
                f"a worker process ended while it scored ({problem}): it may have been killed, or out of memory; use "
                "fewer workers, or smaller pieces"
            ) from None
        finally:
            for future in futures:
                future.cancel()

    return run


def in_processes(count: int) -> Scheduler:
    """So many processes of this machine; each is given what all pieces need once."""

    def run(work: Work, pieces: Sequence[Any], shared: bytes) -> Iterator[tuple[int, bytes]]:
        from multiprocessing import get_context

        # a copy of this process would share its threads' locks, so each one begins anew
        context = get_context("spawn")
        with ProcessPoolExecutor(
            min(count, len(pieces)), mp_context=context, initializer=_begin, initargs=(shared,)
        ) as executor:
            yield from in_executor(executor)(_begun, [(work, piece) for piece in pieces], b"")

    return run


#: What all pieces need, in a process that ``in_processes`` started.
_SHARED: list[bytes] = []


def _begin(shared: bytes) -> None:
    """Leave Ctrl-C to the process that started this one, which then asks for no more pieces."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _SHARED[:] = [shared]


def _begun(task: tuple[Work, Any], _: bytes) -> bytes:
    work, piece = task
    return work(piece, _SHARED[0])


def in_this_process(work: Work, pieces: Sequence[Any], shared: bytes) -> Iterator[tuple[int, bytes]]:
    """One piece after the other."""
    for place, piece in enumerate(pieces):
        yield place, work(piece, shared)
