"""How often is one of several equally good systems found significantly riskier than another? A simulation.

Run from the checkout: ``OMP_NUM_THREADS=1 python -m tests.benchmarks.calibration.pool_study --results FILE``. Every
cell is a population, a number of systems and one of topics. Systems are exchangeable, so that the true difference of
their GeoRisks is 0; system 0 is the candidate, system 1 the reference. Counted is how often the upper limit of
GeoRisk(candidate) - GeoRisk(reference) lies below 0: nominally in 2.5% of the data sets. The file of results is
JSON, one line per batch of data sets; batches found in it are not simulated again, and files of several runs may be
joined by putting one after the other. ``--table`` prints what the file holds, without simulating anything: the table
docs/data/calibration/georisk.csv, which docs/explanation/georisk.md shows.

Intervals are those of the package, with fewer replicates than it takes. Scores of a topic share a difficulty m drawn
from Beta(1.2, 2) and are Beta(10 m, 10 (1 - m)) for each system (the study's population), Beta(m, 1 - m) with heavier
tails, or m moved by a normal number of deviation 0.1 and clipped to [0, 1].
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from pytest_riskguard.inference.georisk_pool import METHODS, pool_inference
from pytest_riskguard.risk.checks import ROUNDING_ERROR

LEVEL = 0.95
ALPHAS = (1.0, 5.0, 10.0)
TOPICS = (25, 50, 250)
SYSTEMS = (3, 10)
REPLICATES = 2000
#: Data sets per line of results.
BATCH = 250
#: Off by more than so many percentage points, the verdict warns.
TOO_FAR = 1.5
NOMINAL = 100 * (1 - LEVEL) / 2


def beta_around(rng: np.random.Generator, shape: tuple[int, int], *, concentration: float) -> np.ndarray:
    m = rng.beta(1.2, 2, shape[1])
    return rng.beta(concentration * m, concentration * (1 - m), shape)


def study(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return beta_around(rng, shape, concentration=10)


def heavy(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return beta_around(rng, shape, concentration=1)


def clipped_normal(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return np.clip(rng.beta(1.2, 2, shape[1]) + 0.1 * rng.normal(size=shape), 0, 1)


POPULATIONS: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    "beta scores, as in the study": study,
    "beta scores, heavier tails": heavy,
    "normal around the topic, clipped": clipped_normal,
}


@dataclass(frozen=True)
class Batch:
    """So many data sets of one cell; equal numbers give equal data sets."""

    population: str
    systems: int
    topics: int
    number: int
    replicates: int


def simulate(batch: Batch) -> dict[str, Any]:
    """How many of a batch's data sets each method fails at each alpha."""
    place = list(POPULATIONS).index(batch.population)
    rng = np.random.default_rng([20240704, place, batch.systems, batch.topics, batch.number])
    failed = {method: dict.fromkeys(ALPHAS, 0) for method in METHODS}
    for _ in range(BATCH):
        scores = POPULATIONS[batch.population](rng, (batch.systems, batch.topics))
        found = pool_inference(scores, candidate=0, references=[1], alphas=ALPHAS, replicates=batch.replicates)
        for difference in found.differences:
            for method in METHODS:
                upper = difference.interval(method=method, level=LEVEL).upper
                failed[method][difference.alpha] += upper < -ROUNDING_ERROR
    return {
        **asdict(batch),
        "simulations": BATCH,
        "failed": {method: {f"{alpha:g}": count for alpha, count in of.items()} for method, of in failed.items()},
    }


def batches(simulations: int, replicates: int) -> Iterator[Batch]:
    """All cells side by side, so that a run that is stopped has simulated each about as often."""
    for number in range(-(-simulations // BATCH)):
        for population, topics, systems in product(POPULATIONS, TOPICS, SYSTEMS):
            yield Batch(population, systems, topics, number, replicates)


def read(path: Path) -> dict[Batch, dict[str, dict[str, int]]]:
    """Batches that a file holds."""
    found = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        of = json.loads(line)
        batch = Batch(**{name: of[name] for name in Batch.__dataclass_fields__})
        found[batch] = of["failed"]
    return found


def table(results: dict[Batch, dict[str, dict[str, int]]]) -> str:
    """Per cent of data sets in which the upper limit lies below 0, as CSV."""
    lines = [["population", "topics", "systems", "alpha", "percentile", "BCa", "Student-t", "simulations"]]
    for population, topics, systems in product(POPULATIONS, TOPICS, SYSTEMS):
        cell = [
            failed
            for batch, failed in results.items()
            if (batch.population, batch.topics, batch.systems) == (population, topics, systems)
        ]
        count = BATCH * len(cell)
        for alpha in ALPHAS if cell else ():
            rates = [
                100 * sum(failed[method][f"{alpha:g}"] for failed in cell) / count
                for method in ("percentile", "bca", "student_t")
            ]
            lines.append(
                [population, *map(str, (topics, systems)), f"{alpha:g}", *(f"{r:.1f}" for r in rates), str(count)]
            )
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(lines)
    return out.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, required=True, help="file that batches are added to")
    parser.add_argument("--simulations", type=int, default=2000, help="data sets of each cell (default: 2000)")
    parser.add_argument("--replicates", type=int, default=REPLICATES, help=f"of each (default: {REPLICATES})")
    parser.add_argument("--processes", type=int, default=2, help="default: 2")
    parser.add_argument("--table", action="store_true", help="only print what the file holds")
    options = parser.parse_args()
    done = read(options.results)
    if not options.table:
        left = [batch for batch in batches(options.simulations, options.replicates) if batch not in done]
        started = time.monotonic()
        with (
            ProcessPoolExecutor(options.processes, mp_context=get_context("spawn")) as workers,
            options.results.open("a") as out,
        ):
            for number, result in enumerate(workers.map(simulate, left), 1):
                print(json.dumps(result), file=out, flush=True)
                print(f"{number} of {len(left)} batches, {time.monotonic() - started:.0f} s", file=sys.stderr)
        done = read(options.results)
    print(table(done), end="")


if __name__ == "__main__":
    main()
