"""Pieces on a cluster of dask.distributed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pytest_riskguard.errors import UsageError
from pytest_riskguard.evaluation.shards.schedulers import Scheduler, Work, WorkersDiedError
from pytest_riskguard.formats.extras import imported

#: Seconds until a scheduler must have answered.
PATIENCE = 30


def on_dask(address: str) -> Scheduler:
    """A scheduler of dask at an address, such as ``tcp://10.0.0.5:8786``; its workers need this package too.

    A piece whose worker died goes to another one. ``UsageError`` without dask.distributed, or where nobody answers;
    ``WorkersDiedError`` if a piece keeps killing its workers.
    """
    distributed = imported("distributed", extra="dask", what="a scheduler of dask")

    def run(work: Work, pieces: Sequence[Any], shared: bytes) -> Iterator[tuple[int, bytes]]:
        try:
            client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as problem:
            raise UsageError(f"{address}: expected a scheduler of dask, found none ({problem})") from None
        with client:
            sent = client.scatter(shared, broadcast=True, hash=False)
            futures = {client.submit(work, piece, sent, pure=False): place for place, piece in enumerate(pieces)}
            try:
                for future in distributed.as_completed(futures, loop=client.loop):
                    yield futures[future], future.result()
            except (distributed.KilledWorker, distributed.CancelledError) as problem:
                raise WorkersDiedError(
                    f"{address}: workers died while they scored ({problem}); look into their logs, give them more "
                    "memory, or make smaller pieces"
                ) from None
            finally:
                client.cancel(list(futures))

    return run
