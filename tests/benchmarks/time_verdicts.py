"""Times of verdicts as JSON, by names that every version of the package has; ``bench_gate`` runs it.

python tests/benchmarks/time_verdicts.py FOLDER REPEATS RUN...
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pytest_riskguard import TopicScores, Verdict, check, read_qrels, score_run

BASELINE = "bm25s_lucene"


def forget_laws() -> None:
    """Have laws computed anew, in versions that keep the last ones."""
    try:
        from tests.benchmarks.kept_laws import forget_laws
    except ImportError:
        return
    forget_laws()


def milliseconds(work: Callable[[], object], repeats: int) -> float:
    """Processor time: the median of some runs, after one that does not count."""
    work()
    times = []
    for _ in range(repeats):
        forget_laws()
        start = time.process_time()
        work()
        times.append(1000 * (time.process_time() - start))
    return statistics.median(times)


def verdict(candidate: TopicScores, baseline: TopicScores) -> Verdict:
    """As a passing assertion leaves it."""
    return check("not_significantly_risky", candidate, baseline)


def explained(candidate: TopicScores, baseline: TopicScores) -> object:
    """What a failure shows."""
    return verdict(candidate, baseline).explanation


def written(candidate: TopicScores, baseline: TopicScores) -> object:
    """What a report holds."""
    return verdict(candidate, baseline).to_dict()


def main() -> None:
    folder, repeats, *runs = sys.argv[1:]
    qrels = read_qrels(Path(folder, "qrels.txt"))

    def scored(run: str):
        return score_run(Path(folder, "runs", f"{run}.run.gz"), qrels, ["nDCG@10"])[0]

    baseline, times = scored(BASELINE), {}
    for run in runs:
        candidate = scored(run)
        times[run] = {
            "scoring": milliseconds(partial(scored, run), int(repeats)),
            "answer": milliseconds(partial(verdict, candidate, baseline), int(repeats)),
            "explained": milliseconds(partial(explained, candidate, baseline), int(repeats)),
            "written": milliseconds(partial(written, candidate, baseline), int(repeats)),
        }
    print(json.dumps(times))


if __name__ == "__main__":
    main()
