"""What readings of runs kept, for the runs that were asked for last."""

from __future__ import annotations

from collections.abc import Hashable

from pytest_riskguard.evaluation.scoring.judged_runs import JudgedRun

#: The most bytes that are held; the run that was asked for last is held whatever its size.
MOST_BYTES = 512 * 2**20


class RecentRuns:
    """Judged runs by key; those that were not asked for longest are dropped, to be read again if need be."""

    def __init__(self) -> None:
        self._runs: dict[Hashable, JudgedRun] = {}

    def keep(self, key: Hashable, run: JudgedRun) -> None:
        """Hold a run instead of what was held under this key."""
        self._runs.pop(key, None)
        self._runs[key] = run
        size = sum(map(size_of, self._runs.values()))
        for other in list(self._runs)[:-1]:
            if size <= MOST_BYTES:
                break
            size -= size_of(self._runs.pop(other))

    def get(self, key: Hashable) -> JudgedRun | None:
        """The run under a key, if it is still held."""
        run = self._runs.pop(key, None)
        if run is not None:
            self._runs[key] = run
        return run


def size_of(run: JudgedRun) -> int:
    """The bytes of a run's arrays."""
    ids, ranks = run.unjudged, {id(of_order): of_order for of_order in run.ranks.values()}
    columns = (run.retrieved, run.offsets, run.judgements, ids.text, ids.starts, ids.lengths)
    return sum(array.nbytes for array in ranks.values()) + sum(array.nbytes for array in columns)
