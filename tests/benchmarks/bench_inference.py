"""Exact intervals beside other bootstraps, and beside simulated ones.

Run from the checkout, with one thread:
``OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m tests.benchmarks.bench_inference``.
It compares three exact intervals at two levels, validation included, with BCa by scipy.stats.bootstrap, by arch where
that is installed and by R's boot where ``Rscript`` and boot are, in one alternating run: 50 topics with 100,000
replicates and 250 with 500,000. ``--replicates 1e7`` compares exact limits with so many simulated ones instead, for
each CSV file named after ``--vectors`` (a column ``x`` of trade-off scores) or for made-up scores.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pytest_riskguard.inference.intervals import intervals
from pytest_riskguard.risk.tradeoff import linear
from tests.benchmarks.kept_laws import forget_laws
from tests.inference._bootstrap.brute_force import furthest_off, resampled_in_blocks


def changed_topics(n: int, changed: int, *, alpha: float, seed: int) -> np.ndarray:
    d = np.zeros(n)
    d[:changed] = np.random.default_rng(seed).normal(size=changed) * 0.2
    return linear(d, alpha=alpha)


def milliseconds(call: Callable[[], object], repeats: int, *, warm: bool = True) -> float:
    if warm:
        call()
    times = []
    for _ in range(repeats):
        forget_laws()
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


METHODS, LEVELS = ("basic", "percentile", "bca"), (0.95, 0.999)
#: Topics, replicates and times run of the comparison with peers.
SIZES = ((50, 100_000, 9), (250, 500_000, 3))
R_SCRIPT = """
library(boot)
x <- scan(commandArgs(TRUE)[1], quiet = TRUE)
set.seed(1)
started <- proc.time()[["elapsed"]]
b <- boot(x, function(d, i) mean(d[i]), R = as.integer(commandArgs(TRUE)[2]))
invisible(boot.ci(b, conf = 0.95, type = "bca", L = x - mean(x)))
cat(proc.time()[["elapsed"]] - started)
"""


def exactly(x: np.ndarray) -> object:
    return intervals(x, methods=METHODS, level=LEVELS)


def by_scipy(x: np.ndarray, replicates: int) -> float:
    from scipy import stats

    return milliseconds(
        lambda: stats.bootstrap((x,), np.mean, n_resamples=replicates, batch=1000, method="BCa", rng=1), 1, warm=False
    )


def by_arch(x: np.ndarray, replicates: int) -> float:
    from arch.bootstrap import IIDBootstrap  # type: ignore[import-not-found]

    return milliseconds(
        lambda: IIDBootstrap(x, seed=1).conf_int(np.mean, reps=replicates, method="bca", size=0.95), 1, warm=False
    )


def by_r(x: np.ndarray, replicates: int) -> float:
    rscript = shutil.which("Rscript")
    assert rscript is not None
    with tempfile.TemporaryDirectory() as folder:
        script, data = Path(folder, "boot.R"), Path(folder, "x.txt")
        script.write_text(R_SCRIPT)
        data.write_text("\n".join(map(repr, x.tolist())))
        # the script times itself, so that R's start does not count
        done = subprocess.run([rscript, script, data, str(replicates)], capture_output=True, text=True, check=True)
    return 1e3 * float(done.stdout)


def peers() -> dict[str, Callable[[np.ndarray, int], float]]:
    found: dict[str, Callable[[np.ndarray, int], float]] = {"scipy": by_scipy}
    if importlib.util.find_spec("arch") is None:
        print("arch is not installed: no comparison with it")
    else:
        found["arch"] = by_arch
    rscript = shutil.which("Rscript")
    if rscript is None or subprocess.run([rscript, "-e", "library(boot)"], capture_output=True).returncode:
        print("Rscript with boot is not installed: no comparison with it")
    else:
        found["R's boot"] = by_r
    return found


def against_peers(seed: int) -> None:
    found = peers()
    for n, replicates, rounds in SIZES:
        x = changed_topics(n, n, alpha=1, seed=seed)
        exactly(x)
        ours: list[float] = []
        theirs: dict[str, list[float]] = {name: [] for name in found}
        for _ in range(rounds):  # alternating, so that a busy machine slows all
            for name, call in found.items():
                ours.append(milliseconds(lambda: exactly(x), 20, warm=False))  # noqa: B023 - called at once
                theirs[name].append(call(x, replicates))
        print(f"{n} topics: 3 exact intervals at 2 levels take {statistics.median(ours):.2f} ms")
        for place, (name, times) in enumerate(theirs.items()):
            ratios = [their / our for their, our in zip(times, ours[place :: len(found)], strict=True)]
            print(
                f"  {name} BCa at one level, {replicates} replicates: {statistics.median(times):.0f} ms,"
                f" {statistics.median(ratios):.0f} times as long ({min(ratios):.0f} to {max(ratios):.0f})"
            )


def against_simulation(replicates: int, vectors: list[Path], seed: int) -> None:
    named = {}
    for path in vectors:
        with path.open() as lines:
            named[path.stem] = np.array([float(row["x"]) for row in csv.DictReader(lines)])
    for name, x in (named or {"made up": changed_topics(50, 50, alpha=1, seed=seed)}).items():
        off = furthest_off(x, resampled_in_blocks(x, replicates, seed=seed), levels=LEVELS)
        print(
            f"{name:14s} {replicates} replicates: at most {off:.2f} standard errors off{'' if off <= 4 else ' (!)'}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="of the made-up vectors (default: 0)")
    parser.add_argument("--replicates", type=float, default=0, help="compare with so many simulated replicates")
    parser.add_argument("--vectors", type=Path, nargs="*", default=[], help="CSV files to do that for")
    options = parser.parse_args()
    if options.replicates:
        against_simulation(int(options.replicates), options.vectors, options.seed)
    else:
        against_peers(options.seed)


if __name__ == "__main__":
    main()
