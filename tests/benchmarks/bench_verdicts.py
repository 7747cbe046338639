"""How long verdicts take where there is much to compute: large pools, studentized intervals, many topics.

python -m tests.benchmarks.bench_verdicts                    this checkout
python -m tests.benchmarks.bench_verdicts --before FOLDER    beside another checkout, in turns with this one

Times are processor time, since a busy machine does not change that much; each is the median of ``--rounds``
processes, one after the other for both checkouts. All data are made up, the same for both.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
METHODS, LEVELS = ("basic", "percentile", "bca"), (0.95, 0.999)


def milliseconds(call: Callable[[], object]) -> float:
    """Processor time of one call."""
    start = time.process_time()
    call()
    return 1e3 * (time.process_time() - start)


def repeated(call: Callable[[], object], *, repeats: int = 20) -> float:
    """The median of some calls after one that does not count, each with laws computed anew."""
    from tests.benchmarks.kept_laws import forget_laws

    call()
    times = []
    for _ in range(repeats):
        forget_laws()
        times.append(milliseconds(call))
    return statistics.median(times)


def topic_scores(name: str, values: np.ndarray):
    from pytest_riskguard.evaluation import TopicScores

    width = len(str(values.size))
    topics = tuple(f"{topic:0{width}d}" for topic in range(values.size))
    return TopicScores(name=name, measure="nDCG@10", topics=topics, values=values)


def three_intervals(topics: int) -> float:
    from pytest_riskguard.inference.intervals import intervals
    from pytest_riskguard.risk.tradeoff import linear

    x = linear(np.random.default_rng(0).normal(size=topics) * 0.2, alpha=1)
    return repeated(lambda: intervals(x, methods=METHODS, level=LEVELS))


def many_statistics(changed: int, decimals: int | None) -> float:
    from pytest_riskguard.inference.intervals import intervals
    from pytest_riskguard.risk.tradeoff import linear

    d = np.random.default_rng(0).normal(size=(250, 100)) * 0.2
    d[changed:] = 0
    d = d if decimals is None else np.round(d, decimals)
    x = np.column_stack([linear(column, alpha=1) for column in d.T])
    return repeated(lambda: intervals(x, methods=METHODS, level=LEVELS), repeats=3)


def gates(count: int, step: float) -> float:
    """Failing gates on one comparison of 250 topics, reported; their alphas are so far apart."""
    from pytest_riskguard import check

    rng = np.random.default_rng(2)
    baseline = rng.beta(1.2, 2, 250)
    pair = topic_scores("new", np.clip(baseline + rng.normal(-0.03, 0.1, 250), 0, 1)), topic_scores("old", baseline)

    def judged() -> None:
        for place in range(count):
            verdict = check("not_significantly_risky", *pair, alpha=1 + place * step)
            assert verdict.outcome == "fail"
            verdict.to_dict()

    return repeated(judged, repeats=5)


def pool(systems: int, topics: int, reference: str | None = None) -> float:
    """A failing gate over a pool, explained."""
    from pytest_riskguard.gates.kinds import GeoRiskNotWorse
    from pytest_riskguard.gates.pool.judge import judge_pool

    rng = np.random.default_rng(0)
    m = rng.beta(1.2, 2, topics)
    x = rng.beta(10 * m, 10 * (1 - m), (systems + 1, topics))
    x[0] *= 0.55
    candidate, *baselines = [topic_scores(f"s{place}", x[place]) for place in range(systems + 1)]

    def judged() -> None:
        verdict = judge_pool(GeoRiskNotWorse("pool", alpha=1.0, reference=reference), candidate, baselines)
        assert verdict.outcome == "fail"
        assert verdict.explanation is not None

    return milliseconds(judged)


def studentized(topics: int, changed: int) -> float:
    """A failing gate by the studentized interval, explained."""
    from pytest_riskguard import check

    rng = np.random.default_rng(1)
    baseline, moved = rng.beta(1.2, 2, topics), np.zeros(topics)
    moved[:changed] = rng.normal(size=changed) * 0.15 - 0.1
    pair = topic_scores("new", np.clip(baseline + moved, 0, 1)), topic_scores("old", baseline)
    check("not_significantly_risky", *pair).to_dict()

    def judged() -> None:
        verdict = check("not_significantly_risky", *pair, method="studentized")
        assert verdict.outcome == "fail"
        assert verdict.explanation is not None

    return milliseconds(judged)


def score_files(topics: int) -> float:
    """Two tables of scores on disk to a failing verdict with its explanation; the interpreter's start included."""
    rng = np.random.default_rng(0)
    baseline = rng.beta(1.2, 2, topics)
    moved = np.where(rng.random(topics) < 0.5, rng.normal(0, 0.1, topics) - 0.005, 0)
    with tempfile.TemporaryDirectory() as folder:
        tables = []
        for name, values in (("new", np.clip(baseline + moved, 0, 1)), ("old", baseline)):
            tables.append(Path(folder, f"{name}.csv"))
            rows = (f"{topic},{value:.4f}\n" for topic, value in enumerate(values.tolist(), 1))
            tables[-1].write_text("topic,nDCG@10\n" + "".join(rows))
        started = "import sys; from pytest_riskguard.cli import main; main(sys.argv[1:])"
        command = [sys.executable, "-c", started, "compare", "--scores", str(tables[0])]
        environment = {**os.environ, "RISKGUARD_LIMITS": "10"}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ended = subprocess.run([*command, "--baseline", str(tables[1])], env=environment, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert ended.returncode == 1, ended
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


CASES: dict[str, Callable[[], float]] = {
    "three intervals at two levels, 50 topics": lambda: three_intervals(50),
    "three intervals at two levels, 250 topics": lambda: three_intervals(250),
    "three intervals at two levels, 10^6 topics": lambda: three_intervals(10**6),
    "100 statistics, 250 topics changed": lambda: many_statistics(250, None),
    "100 statistics, 10 of 250 topics changed": lambda: many_statistics(10, None),
    "100 statistics, 250 topics, two decimals": lambda: many_statistics(250, 2),
    "a failing pool of 199 systems, 50 topics": lambda: pool(199, 50),
    "a failing pool of 199 systems, 225 topics": lambda: pool(199, 225),
    "the same against the median, 50 topics": lambda: pool(199, 50, "median"),
    "the same against any of them, 50 topics": lambda: pool(199, 50, "any"),
    "a failing gate, 250 topics": lambda: gates(1, 0),
    "30 failing gates that differ in alpha": lambda: gates(30, 0.1),
    "30 failing gates that differ in name": lambda: gates(30, 0),
    "studentized, failing, 250 topics changed": lambda: studentized(250, 250),
    "studentized, failing, 12 of 50 topics changed": lambda: studentized(50, 12),
    "two tables of 10^6 topics, failing": lambda: score_files(10**6),
}


def timed(tree: Path, name: str) -> float:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tree), str(ROOT)])}
    command = [sys.executable, "-P", str(Path(__file__)), "--case", name]
    ended = subprocess.run(command, env=environment, cwd=tree, capture_output=True, text=True, check=True)
    return float(json.loads(ended.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--before", type=Path, metavar="FOLDER")
    parser.add_argument("--case", choices=CASES, help="time one case in this process, and print milliseconds as JSON")
    options = parser.parse_args()
    if options.case is not None:
        print(json.dumps(CASES[options.case]()))
        return
    trees = [ROOT] if options.before is None else [ROOT, options.before.resolve()]
    for name in CASES:
        rounds = [[timed(tree, name) for tree in trees] for _ in range(options.rounds)]
        now, *before = (statistics.median(times) for times in zip(*rounds, strict=True))
        ratio = f"   {before[0]:10.1f} before: {before[0] / now:5.1f} times as fast" if before else ""
        print(f"{name:<48}{now:10.1f} ms{ratio}", flush=True)


if __name__ == "__main__":
    main()
