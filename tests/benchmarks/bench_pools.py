"""How long the bootstrap of GeoRisk takes, against a plain loop over replicates.

Run from the checkout, with one thread:
``OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m tests.benchmarks.bench_pools``.
Both ways draw topics and give GeoRisk of every system in every replicate at alpha 1. The loop is timed on
``--loops`` replicates and scaled; it is written twice, as one would write it (topics without any score guarded
against, ``np.where`` for losses) and with all that could be spared spared. Fast and plain alternate, so that a busy
machine slows both; medians of the ratios are printed, with the least and the largest, and the peak memory of the
whole process. Last come times of what a gate asks for.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
from scipy.special import ndtr

from pytest_riskguard.inference import pool_inference
from pytest_riskguard.inference._bootstrap.georisk_resampling import Pool, PoolKernel, georisk_left_out

ALPHA = 1.0
#: Systems, topics and replicates that are compared, and how much faster the fast way must be.
SIZES = ((10, 50, 100_000, 8), (10, 225, 100_000, None), (10, 1000, 100_000, 20))


def made_up(systems: int, topics: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    m = rng.beta(1.2, 2, topics)
    return rng.beta(10 * m, 10 * (1 - m), (systems, topics))


def plain(scores: np.ndarray) -> np.ndarray:
    systems, topics = scores.sum(axis=1), scores.sum(axis=0)
    expected = np.outer(systems, topics) / systems.sum()
    z = np.divide(scores - expected, np.sqrt(expected), out=np.zeros_like(scores), where=expected > 0)
    zrisk = np.where(z < 0, (1 + ALPHA) * z, z).sum(axis=1)
    return np.sqrt(scores.mean(axis=1) * ndtr(zrisk / scores.shape[1]))


def spare(scores: np.ndarray) -> np.ndarray:
    n = scores.shape[1]
    systems, topics = scores.sum(axis=1), scores.sum(axis=0)
    expected = systems[:, None] * (topics / systems.sum())
    z = scores - expected
    z /= np.sqrt(expected)
    return np.sqrt(systems / n * ndtr((z.sum(axis=1) + ALPHA * np.minimum(z, 0).sum(axis=1)) / n))


def looped(georisk: Callable[[np.ndarray], np.ndarray], scores: np.ndarray, replicates: int, seed: int) -> None:
    rng, n = np.random.default_rng(seed), scores.shape[1]
    found = np.empty((replicates, scores.shape[0]))
    for replicate in range(replicates):
        found[replicate] = georisk(scores[:, rng.integers(n, size=n)])


def fast(scores: np.ndarray, replicates: int) -> None:
    done = 0
    found = np.empty((scores.shape[0], replicates))
    for georisk, _ in PoolKernel(Pool.of(scores), alphas=[ALPHA]).drawn(replicates):
        found[:, done : done + georisk.shape[2]] = georisk[0]
        done += georisk.shape[2]
    assert done == replicates


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def peak_megabytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


def compare(loops: int, rounds: int, seed: int) -> None:
    for systems, topics, replicates, wanted in SIZES:
        scores = made_up(systems, topics, seed)
        fast(scores, 1000)
        ours: list[float] = []
        ratios: dict[str, list[float]] = {"plain loop": [], "spare loop": []}
        for _ in range(rounds):
            for name, georisk in (("plain loop", plain), ("spare loop", spare)):
                ours.append(seconds(lambda: fast(scores, replicates)))  # noqa: B023 - called at once
                took = seconds(lambda: looped(georisk, scores, loops, seed))  # noqa: B023 - called at once
                ratios[name].append(took * replicates / loops / ours[-1])
        print(
            f"{systems} systems, {topics} topics, {replicates} replicates: {1e3 * statistics.median(ours):.0f} ms, "
            f"peak {peak_megabytes():.0f} MB" + (f" (wanted: {wanted} times faster)" if wanted else "")
        )
        for name, of in ratios.items():
            print(f"  {name}: {statistics.median(of):.1f} times as long ({min(of):.1f} to {max(of):.1f})")


def gates(rounds: int, seed: int) -> None:
    scores = made_up(10, 225, seed)

    def milliseconds(call: Callable[[], object]) -> float:
        return 1e3 * statistics.median(seconds(call) for _ in range(rounds))

    found = pool_inference(scores, candidate=0, references=[1, "median"], alphas=[0, 1, 5, 10], replicates=20_000)
    calls: dict[str, Callable[[], object]] = {
        "20,000 replicates at alpha 1": lambda: fast(scores, 20_000),
        "leave each topic out, 4 alphas": lambda: georisk_left_out(Pool.of(scores), alphas=[0, 1, 5, 10]),
        "1 reference, 1 alpha, 20,000 replicates, all": lambda: pool_inference(
            scores, candidate=0, references=[1], alphas=[1], replicates=20_000
        ),
        "1 reference, alphas 0 and 1, as a gate asks at 0.95": lambda: pool_inference(
            scores, candidate=0, references=[1], alphas=[0, 1]
        ),
        "9 references, alphas 0 and 1, as a gate asks at 0.95": lambda: pool_inference(
            scores, candidate=0, references=range(1, 10), alphas=[0, 1]
        ),
        "a BCa interval": lambda: found.differences[0].interval(),
        "a BCa p-value": lambda: found.differences[0].p_value(),
    }
    for name, call in calls.items():
        print(f"10 systems, 225 topics, {name}: {milliseconds(call):.2f} ms")
    print(f"peak {peak_megabytes():.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loops", type=int, default=2000, help="replicates of the plain loop (default: 2000)")
    parser.add_argument("--rounds", type=int, default=5, help="times each is run (default: 5)")
    parser.add_argument("--seed", type=int, default=0, help="of the made-up scores (default: 0)")
    options = parser.parse_args()
    compare(options.loops, options.rounds, options.seed)
    gates(options.rounds, options.seed)


if __name__ == "__main__":
    main()
