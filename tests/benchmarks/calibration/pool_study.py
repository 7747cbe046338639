"""How often is one of several equally good systems found significantly riskier than another? A simulation.

Every cell is a population, a number of systems and one of topics. Systems are exchangeable, so that the true
difference of their GeoRisks is 0; system 0 is the candidate, system 1 the reference. Counted is how often the
upper limit of GeoRisk(candidate) - GeoRisk(reference) lies below 0: nominally in 2.5% of the data sets.

Intervals are those of the package, with fewer replicates than it takes. Scores of a topic share a difficulty m drawn
from Beta(1.2, 2) and are Beta(10 m, 10 (1 - m)) for each system (the study's population), Beta(m, 1 - m) with heavier
tails, or m moved by a normal number of deviation 0.1 and clipped to [0, 1].
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import product

import numpy as np

from pytest_riskguard.inference.georisk_pool import METHODS, georisk_differences
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from tests.benchmarks.calibration.tables import Table, percent, row

LEVEL = 0.95
ALPHAS = (1.0, 5.0, 10.0)
TOPICS = (25, 50, 250)
SYSTEMS = (3, 10)
REPLICATES = 2000
#: So many data sets are drawn from one generator.
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
class Cell:
    """Pools of one kind."""

    population: str
    topics: int
    systems: int
    simulations: int
    seed: int


def simulate(cell: Cell) -> dict[str, dict[float, float]]:
    """The share of a cell's data sets that each method fails at each alpha."""
    place = [list(POPULATIONS).index(cell.population), cell.systems, cell.topics]
    failed = {method: dict.fromkeys(ALPHAS, 0.0) for method in METHODS}
    for number in range(cell.simulations):
        if number % BATCH == 0:
            rng = np.random.default_rng([20240704 + cell.seed, *place, number // BATCH])
        scores = POPULATIONS[cell.population](rng, (cell.systems, cell.topics))
        found = georisk_differences(scores, candidate=0, references=[1], alphas=ALPHAS, replicates=REPLICATES)
        for difference, method in product(found.differences, METHODS):
            upper = difference.interval(method=method, level=LEVEL).upper
            failed[method][difference.alpha] += (upper < -ROUNDING_ERROR) / cell.simulations
    return failed


PLACE = ("population", "topics", "systems", "alpha")


def all_tables(pool: Executor, *, simulations: int, seed: int) -> dict[str, Table]:
    """The table by the name of its file."""
    cells = [
        Cell(population, topics, systems, simulations, seed)
        for population, topics, systems in product(POPULATIONS, TOPICS, SYSTEMS)
    ]
    lines = [row(*PLACE, "percentile", "BCa", "Student-t", "simulations")]
    for (cell, shares), alpha in product(zip(cells, pool.map(simulate, cells), strict=True), ALPHAS):
        of = [percent(shares[method][alpha]) for method in ("percentile", "bca", "student_t")]
        lines.append(row(cell.population, cell.topics, cell.systems, f"{alpha:g}", *of, cell.simulations))
    return {"georisk": lines}


def counted(table: str, column: str, simulations: int) -> int | None:
    """On how many data sets a column was counted: 0 if it names the cell, None if it holds no share."""
    return 0 if column in PLACE else None if column == "simulations" else simulations
