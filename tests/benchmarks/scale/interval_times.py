"""Intervals of a mean beside other bootstraps: ``python -m tests.benchmarks.scale.interval_times TOPICS REPLICATES``.

Ours are three at two levels; each peer computes BCa at one level. All run alternately in this process, except R.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import sys
from collections.abc import Sequence

from tests.benchmarks.bench_inference import changed_topics, exactly, milliseconds, peers

ROUNDS = 5


def times(topics: int, replicates: int) -> dict[str, float]:
    """Median seconds of each, ours first."""
    x = changed_topics(topics, topics, alpha=1, seed=0)
    with contextlib.redirect_stdout(sys.stderr):  # it says what is not installed, and so does the table of versions
        found = peers()
    exactly(x)
    taken: dict[str, list[float]] = {"riskguard": [], **{name: [] for name in found}}
    for _ in range(ROUNDS):
        taken["riskguard"].append(milliseconds(lambda: exactly(x), 20, warm=False))
        for name, call in found.items():
            taken[name].append(call(x, replicates))
    return {name: statistics.median(of_one) / 1e3 for name, of_one in taken.items()}


def main(arguments: Sequence[str]) -> None:
    """Print the seconds as JSON."""
    topics, replicates = map(int, arguments)
    print(json.dumps(times(topics, replicates)))


if __name__ == "__main__":
    main(sys.argv[1:])
