"""How long exact intervals, leave-one-out limits and the sign-flip test take.

Run from the checkout: ``python -m tests.benchmarks.bench_inference``; ``--scipy`` compares with
scipy.stats.bootstrap in one alternating run, ``--million`` measures 10^6 topics with their memory.
Times are medians, in milliseconds.
"""

from __future__ import annotations

import argparse
import statistics
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

from pytest_riskguard.inference import intervals, leave_one_out_upper, mean_law, sign_flip
from pytest_riskguard.risk import linear


def changed_topics(n: int, changed: int, *, alpha: float, seed: int) -> np.ndarray:
    d = np.zeros(n)
    d[:changed] = np.random.default_rng(seed).normal(size=changed) * 0.2
    return linear(d, alpha=alpha)


def milliseconds(call: Callable[[], object], repeats: int) -> float:
    call()
    times = []
    for _ in range(repeats):
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
            f"  {milliseconds(lambda x=x: intervals(x), repeats):11.2f}"
            f"  {milliseconds(lambda x=x, i=left: leave_out(x, i), 3):8.1f}"
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
        print(f"{name:24s} {mean_law(x).kind:8s} {milliseconds(lambda x=x: intervals(x), repeats):8.2f}")


def flips(repeats: int, seed: int) -> None:
    for m in (20, 30, 31, 100, 250, 1000):
        d = np.random.default_rng(seed).normal(size=m)
        print(f"sign flip, {m:4d} changed     {milliseconds(lambda d=d: sign_flip(d), repeats):8.2f}")


def against_scipy(repeats: int, seed: int) -> None:
    from scipy import stats

    x = changed_topics(250, 250, alpha=1, seed=seed)
    ours, theirs = [], []
    for _ in range(repeats):  # alternating, so that a busy machine slows both
        ours.append(milliseconds(lambda: intervals(x, methods=("bca",)), 1))
        start = time.perf_counter()
        stats.bootstrap((x,), np.mean, n_resamples=100_000, batch=10_000, method="BCa", rng=seed)
        theirs.append(1e3 * (time.perf_counter() - start))
    ratios = sorted(b / a for a, b in zip(ours, theirs, strict=True))
    print(
        f"BCa, 250 topics: exact {statistics.median(ours):.2f}, scipy 10^5 replicates {statistics.median(theirs):.0f}"
    )
    print(f"ratio {ratios[0]:.0f} to {ratios[-1]:.0f}, median {statistics.median(ratios):.0f}")


def a_million(seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=10**6)
    for name, call in (("3 intervals", lambda: intervals(x)), ("sign flip", lambda: sign_flip(x))):
        took = milliseconds(call, 1)
        tracemalloc.start()
        call()
        print(f"10^6 topics, {name}: {took:.0f}, peak {tracemalloc.get_traced_memory()[1] / 1e6:.0f} MB")
        tracemalloc.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15, help="timed calls of each (default: 15)")
    parser.add_argument("--alpha", type=float, default=1.0, help="extra weight of a loss (default: 1)")
    parser.add_argument("--seed", type=int, default=0, help="of the made-up vectors (default: 0)")
    parser.add_argument("--scipy", action="store_true", help="compare with scipy.stats.bootstrap")
    parser.add_argument("--million", action="store_true", help="measure 10^6 topics")
    options = parser.parse_args()
    law_table(options.repeats, options.alpha, options.seed)
    hard_vectors(options.repeats, options.seed)
    flips(options.repeats, options.seed)
    if options.scipy:
        against_scipy(min(options.repeats, 5), options.seed)
    if options.million:
        a_million(options.seed)


if __name__ == "__main__":
    main()
