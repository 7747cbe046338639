"""How long an iteration of training takes with each objective, against LightGBM's own lambdarank; memory; numba.

Run from the checkout: ``python -m tests.benchmarks.bench_training``. An iteration of lambdarank and one of each
objective alternate, so that a busy machine slows both; medians of the ratios are printed, with the least and the
largest. Then how much longer gradients take in numpy, without numba, and their memory as documents double.
"""

from __future__ import annotations

import argparse
import statistics
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
import numpy.typing as npt

from pytest_riskguard.ltr import TFARO, TSARO, UCRO, GeoRisk, LambdaMART, QueryBaselines

Floats = npt.NDArray[np.float64]
QUERIES, DOCUMENTS, FEATURES = 2000, 100, 100
TRUNCATION = 30


def made_up(queries: int, documents: int, features: int) -> tuple[Floats, Floats, list[int]]:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(queries * documents, features))
    signal = values[:, : max(1, features // 5)].sum(axis=1) + rng.normal(size=values.shape[0]) * 2
    labels = np.digitize(signal, np.quantile(signal, [0.6, 0.8, 0.92, 0.98])).astype(float)
    return values, labels, [documents] * queries


def objectives(values: Floats, labels: Floats, group: list[int], level: int | None) -> dict[str, Any]:
    columns = {f"feature {number}": values[:, number] for number in range(4)}
    pool = QueryBaselines.from_document_scores(labels, group, columns)
    one = QueryBaselines.from_document_scores(labels, group, {"feature 0": columns["feature 0"]})
    return {
        "LambdaMART": LambdaMART(truncation_level=level),
        "U-CRO": UCRO(one, 5, truncation_level=level),
        "T-SARO": TSARO(one, 5, truncation_level=level),
        "T-FARO": TFARO(one, 5, truncation_level=level),
        "GeoRisk": GeoRisk(pool, 5, truncation_level=level),
    }


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def ratios(objective: Any, data: lightgbm.Dataset, *, threads: int, iterations: int) -> list[tuple[float, float]]:
    """Seconds of an iteration of lambdarank and of the objective, one after the other."""
    options = {"num_threads": threads, "verbosity": -1, "lambdarank_truncation_level": TRUNCATION}
    native = lightgbm.Booster({**options, "objective": "lambdarank"}, data)
    own = lightgbm.Booster({**options, "objective": "none"}, data)
    found = []
    for iteration in range(iterations + 1):
        pair = seconds(native.update), seconds(lambda: own.update(fobj=objective))
        if iteration:  # numba compiles in the first
            found.append(pair)
    return found


def in_numpy(labels: Floats, scores: Floats, queries: int, documents: int) -> tuple[Floats, Floats]:
    """LambdaMART's gradient and hessian by whole arrays: queries of one size, without normalisation by query."""
    gains, table = (np.exp2(labels) - 1).reshape(queries, -1), scores.reshape(queries, -1)
    order = np.argsort(-table, axis=1, kind="stable")
    s, g = np.take_along_axis(table, order, 1), np.take_along_axis(gains, order, 1)
    discounts = 1 / np.log2(2 + np.arange(documents))
    ideal = (-np.sort(-gains, axis=1)[:, :TRUNCATION] * discounts[:TRUNCATION]).sum(axis=1)
    gradient, hessian = np.zeros_like(s), np.zeros_like(s)
    for rank in range(TRUNCATION):
        rest = slice(rank + 1, None)
        change = (g[:, rest] - g[:, rank, None]) * (discounts[rank] - discounts[rest])
        change /= np.maximum(ideal, 1e-12)[:, None]
        distance = s[:, rank, None] - s[:, rest]
        size = np.abs(change) / (0.01 + distance)
        wrong = 1 / (1 + np.exp(np.where(change < 0, distance, -distance)))
        slope = size * wrong
        curve = slope * (1 - wrong)
        towards = np.where(change < 0, slope, -slope)
        gradient[:, rank] -= towards.sum(axis=1)
        gradient[:, rest] += towards
        hessian[:, rank] += curve.sum(axis=1)
        hessian[:, rest] += curve
    found = np.empty_like(s), np.empty_like(s)
    for values, into in zip((gradient, hessian), found, strict=True):
        np.put_along_axis(into, order, values, 1)
    return found[0].ravel(), found[1].ravel()


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def peak(work: Callable[[], object]) -> float:
    """Megabytes that Python and numpy allocate at most."""
    tracemalloc.start()
    work()
    found = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return found


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=15)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    values, labels, group = made_up(QUERIES, DOCUMENTS, FEATURES)
    data = lightgbm.Dataset(values, labels, group=group, params={"verbosity": -1}).construct()
    print(f"{QUERIES:,} queries of {DOCUMENTS} documents with {FEATURES} features, {arguments.threads} threads")
    for level in (None, TRUNCATION):
        for name, objective in objectives(values, labels, group, level).items():
            objective.threads = arguments.threads
            pairs = ratios(objective, data, threads=arguments.threads, iterations=arguments.iterations)
            milliseconds = [f"{1000 * statistics.median(side):.0f} ms" for side in zip(*pairs, strict=True)]
            against = spread([own / native for native, own in pairs])
            times = " against ".join(milliseconds[::-1])
            print(f"{name}, truncation_level={level}: {against} times lambdarank ({times})", flush=True)
    scores = np.random.default_rng(1).normal(size=labels.size)
    compiled = LambdaMART(truncation_level=TRUNCATION, threads=1)
    compiled.gradients(labels, scores, group)
    found = [
        seconds(lambda: in_numpy(labels, scores, QUERIES, DOCUMENTS))
        / seconds(lambda: compiled.gradients(labels, scores, group))
        for _ in range(arguments.iterations)
    ]
    print(f"gradients in numpy take {spread(found)} times those with numba, on one thread")
    for queries, documents in ((1000, 100), (2000, 100), (4000, 100), (4, 25_000), (1, 100_000)):
        _, labels, group = made_up(queries, documents, 5)
        scores = np.random.default_rng(1).normal(size=labels.size)
        used = peak(lambda labels=labels, scores=scores, group=group: LambdaMART().gradients(labels, scores, group))  # type: ignore[misc]
        print(f"{queries:,} queries of {documents:,}: {used:.0f} MB, {1e6 * used / labels.size:.0f} bytes a document")


if __name__ == "__main__":
    main()
