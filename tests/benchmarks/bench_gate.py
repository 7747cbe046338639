"""How long a verdict takes once both systems are scored, beside the scoring itself.

python -m tests.benchmarks.bench_gate          Cranfield, 225 topics; needs the folder of real runs
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial

from pytest_riskguard.evaluation import read_qrels, score_run
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from tests.benchmarks.kept_laws import forget_laws
from tests.shared_data import SHARED

RUNS = ("partial_longquery_trunc", "bm25s_atire", "fts5_and", "ties_bm25s_int", "improved_rrf")


def milliseconds(work: Callable[[], object], repeats: int) -> float:
    """The median of some runs, after one that does not count."""
    work()
    times = []
    for _ in range(repeats):
        forget_laws()
        start = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    folder = SHARED / "data" / "cranfield_runs"
    qrels = read_qrels(folder / "qrels.txt")

    def scored(run: str):
        return score_run(folder / "runs" / f"{run}.run.gz", qrels, ["nDCG@10"])[0]

    baseline = scored("bm25s_lucene")
    print(f"{'candidate':<26}{'changed':>8}{'scoring ms':>12}{'verdict ms':>12}{'ratio':>8}")
    for run in RUNS:
        candidate = scored(run)
        changed = judge(gate_of("g"), candidate, baseline).topics.changed
        scoring = milliseconds(partial(scored, run), repeats)
        verdict = milliseconds(partial(judge, gate_of("g"), candidate, baseline), repeats)
        print(f"{run:<26}{changed:>8}{scoring:>12.1f}{verdict:>12.1f}{verdict / scoring:>8.2f}")


if __name__ == "__main__":
    main()
