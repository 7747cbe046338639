"""What runs the pieces of a run: executors of this process, dask.distributed, PySpark.

Each is a function that is given work, pieces, and what all of them need. It yields the place of each piece with what
the work returned, in the order in which they end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from pytest_riskguard.errors import DataError

#: A piece and what all pieces need, to its part, or the content of it: that is what is sent between processes.
Work = Callable[[Any, bytes], Any]


class WorkersDiedError(DataError):
    """Pieces could not be scored because the processes that had them ended."""

    reason = "missing_input"


class Scheduler(Protocol):
    """What runs pieces; it does a piece again where the worker that had it died."""

    def __call__(self, work: Work, pieces: Sequence[Any], shared: bytes) -> Iterator[tuple[int, Any]]:
        """Yield the place of each piece with its result; what ``work`` raises is raised."""
        ...
