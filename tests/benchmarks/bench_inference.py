"""How long exact intervals, leave-one-out limits, the sign-flip and the break-even test take.

Run from the checkout, with one thread:
``OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m tests.benchmarks.bench_inference``.
Without options it prints times, in milliseconds, medians. ``--peers`` compares the three exact intervals at two
levels, validation included, with BCa by scipy.stats.bootstrap, by arch where that is installed and by R's boot where
``Rscript`` and boot are, in one alternating run: 50 topics with 100,000 replicates and 250 with 500,000. ``--many``
measures 100 statistics over the same 250 topics, ``--million`` 10^6 topics with their peak memory.
``--replicates 1e7`` compares exact limits with so many simulated ones, for each CSV file named after ``--vectors``
(a column ``x`` of trade-off scores) or for made-up scores.
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
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from pytest_riskguard.inference import (
    break_even,
    break_even_without_each,
    intervals,
    leave_one_out_upper,
    mean_law,
    sign_flip,
)
from pytest_riskguard.risk import linear
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


def law_table(repeats: int, alpha: float, seed: int) -> None:
    print("topics changed  law         resolution  3 intervals  leave out each changed topic (BCa)")
    for n, changed in (
        (50, 3),
        (50, 10),
        (50, 50),
        (225, 5),
        (225, 20),
        (225, 30),
        (225, 225),
        (250, 125),
        (250, 250),
    ):
        x = changed_topics(n, changed, alpha=alpha, seed=seed)
        law = mean_law(x)
        left = np.arange(changed)
        print(
            f"{n:6d} {changed:7d}  {law.kind:10s}  {law.resolution:10.1e}"
            f"  {milliseconds(partial(intervals, x), repeats):11.2f}"
            f"  {milliseconds(partial(leave_out, x, left), 3):8.1f}"
        )


def leave_out(x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    return leave_one_out_upper(x, method="bca", level=0.95, indices=indices)


def hard_vectors(repeats: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    outlier = rng.normal(size=250) * 0.01
    outlier[3] = -100
    zeros = linear(np.where(rng.random(250) < 0.6, 0, rng.normal(size=250)), alpha=10)
    rounded = np.round(rng.normal(size=250) * 0.15, 3)
    for name, x in (
        ("one far out", outlier),
        ("60 % zeros, alpha 10", zeros),
        ("4 decimals", np.round(zeros, 4)),
        ("3 decimals", rounded),
    ):
        print(f"{name:24s} {mean_law(x).kind:8s} {milliseconds(partial(intervals, x), repeats):8.2f}")


def flips(repeats: int, seed: int) -> None:
    for m in (20, 30, 31, 100, 250, 1000):
        d = np.random.default_rng(seed).normal(size=m)
        print(f"sign flip, {m:4d} changed     {milliseconds(partial(sign_flip, d), repeats):8.2f}")
    for m in (20, 30, 31, 45, 100, 250, 1000):
        for alpha in (1.0, 5.0):
            stakes = bets(m, alpha=alpha, seed=seed)
            alone = milliseconds(partial(break_even, *stakes), repeats)
            places = np.arange(min(m, 50))
            each = milliseconds(partial(break_even_without_each, *stakes, places=places), 3) / places.size
            print(f"break-even, {m:4d} changed, alpha {alpha:g} {alone:8.2f}, without each of them {each:8.3f}")


def bets(m: int, *, alpha: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What topics win or lose, and which are losses: a little more than chance has it."""
    rng = np.random.default_rng(seed)
    sizes = rng.exponential(size=m)
    return sizes, (1 + alpha) * sizes, rng.random(m) < (1 + 1.5 / np.sqrt(m)) / (2 + alpha)


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


def many_statistics(repeats: int, seed: int) -> None:
    d = np.random.default_rng(seed).normal(size=(250, 100)) * 0.2
    zeros = np.random.default_rng(seed + 1).random(d.shape) < 0.6
    kinds = (
        ("every topic changed", linear_columns(d, 1)),
        ("alpha 5", linear_columns(d, 5)),
        ("60 % zeros", linear_columns(np.where(zeros, 0.0, d), 1)),
        ("3 decimals", linear_columns(np.round(d, 3), 1)),
        ("10 changed", np.where(np.arange(250)[:, None] < 10, d, 0.0)),
    )
    for name, x in kinds:
        took = milliseconds(partial(intervals, x, methods=METHODS, level=LEVELS), min(repeats, 5))
        alone = milliseconds(partial(one_by_one, x), 1, warm=False)
        print(f"100 statistics, 250 topics, {name:20s} {took:8.1f} ms, one by one {alone:8.1f} ms")


def one_by_one(x: np.ndarray) -> list[object]:
    return [exactly(column) for column in x.T]


def linear_columns(d: np.ndarray, alpha: float) -> np.ndarray:
    return np.column_stack([linear(column, alpha=alpha) for column in d.T])


def a_million(seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=10**6)
    stakes = bets(10**6, alpha=1.0, seed=seed)
    for name, call in (
        ("3 intervals at 2 levels", lambda: exactly(x)),
        ("sign flip", lambda: sign_flip(x)),
        ("break-even", lambda: break_even(*stakes)),
    ):
        took = milliseconds(call, 3)
        tracemalloc.start()
        call()
        print(f"10^6 topics, {name}: {took:.0f} ms, peak {tracemalloc.get_traced_memory()[1] / 1e6:.0f} MB beside x")
        tracemalloc.stop()


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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15, help="timed calls of each (default: 15)")
    parser.add_argument("--alpha", type=float, default=1.0, help="extra weight of a loss (default: 1)")
    parser.add_argument("--seed", type=int, default=0, help="of the made-up vectors (default: 0)")
    parser.add_argument("--peers", action="store_true", help="compare with other bootstraps")
    parser.add_argument("--many", action="store_true", help="measure 100 statistics")
    parser.add_argument("--million", action="store_true", help="measure 10^6 topics")
    parser.add_argument("--replicates", type=float, default=0, help="compare with so many simulated replicates")
    parser.add_argument("--vectors", type=Path, nargs="*", default=[], help="CSV files to do that for")
    options = parser.parse_args()
    if not (options.peers or options.many or options.million or options.replicates):
        law_table(options.repeats, options.alpha, options.seed)
        hard_vectors(options.repeats, options.seed)
        flips(options.repeats, options.seed)
    if options.peers:
        against_peers(options.seed)
    if options.many:
        many_statistics(options.repeats, options.seed)
    if options.million:
        a_million(options.seed)
    if options.replicates:
        against_simulation(int(options.replicates), options.vectors, options.seed)


if __name__ == "__main__":
    main()
