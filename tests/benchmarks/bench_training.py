"""How long an iteration of training takes with each objective, against LightGBM's own lambdarank; memory; numba.

Run from the checkout: ``python -m tests.benchmarks.bench_training``. An iteration of lambdarank and one of each
objective alternate, so that a busy machine slows both; medians of the ratios are printed, with the least and the
largest.
"""

from __future__ import annotations

import argparse
import statistics
import time
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


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


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


if __name__ == "__main__":
    main()
