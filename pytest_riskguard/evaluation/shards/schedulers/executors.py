"""Pieces in any executor of ``concurrent.futures``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, as_completed
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


def in_this_process(work: Work, pieces: Sequence[Any], shared: bytes) -> Iterator[tuple[int, bytes]]:
    """One piece after the other."""
    for place, piece in enumerate(pieces):
        yield place, work(piece, shared)
