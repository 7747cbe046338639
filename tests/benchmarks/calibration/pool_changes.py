"""How often is a system found significantly below another by GeoRisk, where only some topics changed between them?

The two are equally good: on the topics that changed, their scores are exchangeable; on the others they are the same.
Intervals are those of the package with 2,000 replicates, fewer than it takes. By the gate's rule BCa and Student-t
must both fail.
"""

from __future__ import annotations

import zlib
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import product

import numpy as np

from pytest_riskguard.inference._bootstrap.replicates import Draws
from pytest_riskguard.inference.georisk_pool import GeoRiskDifference, georisk_differences
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from tests.benchmarks.calibration.pool_study import POPULATIONS, REPLICATES
from tests.benchmarks.calibration.tables import Table, percent, row

LEVEL = 0.95
SYSTEMS = 5
ALPHAS = (1.0, 5.0)
#: Topics, changed topics.
SIZES = ((50, 4), (50, 6), (50, 8), (250, 8), (50, 12), (25, 15), (50, 20), (100, 30), (100, 45), (250, 80))


@dataclass(frozen=True)
class Cell:
    """Pools of one kind; the candidate is the first system, the reference the second."""

    population: str
    topics: int
    changed: int
    simulations: int
    seed: int


@dataclass(frozen=True)
class Fails:
    """Shares of pools in which a gate fails, for each alpha: by BCa alone, by Student-t alone, by the rule."""

    bca: tuple[float, ...]
    student_t: tuple[float, ...]
    rule: tuple[float, ...]


def draw(cell: Cell, rng: np.random.Generator) -> np.ndarray:
    """A pool, shape (n_systems, n_topics)."""
    scores = POPULATIONS[cell.population](rng, (SYSTEMS, cell.topics))
    scores[1, cell.changed :] = scores[0, cell.changed :]
    return scores


def simulate(cell: Cell) -> Fails:
    """How often the gate fails on a cell's pools."""
    place = [cell.topics, cell.changed, zlib.crc32(cell.population.encode())]
    rng = np.random.default_rng([cell.seed, *place])
    failed, draws = np.zeros((3, len(ALPHAS))), Draws(cell.topics)
    for _ in range(cell.simulations):
        found = georisk_differences(
            draw(cell, rng), candidate=0, references=[1], alphas=ALPHAS, replicates=REPLICATES, draws=draws
        ).differences
        for i, difference in enumerate(found):
            bca, student_t = (_fails(difference, method) for method in ("bca", "student_t"))
            failed[:, i] += bca, student_t, bca and student_t
    return Fails(*(tuple(shares.tolist()) for shares in failed / cell.simulations))


def _fails(difference: GeoRiskDifference, method: str) -> bool:
    return difference.interval(method=method, level=LEVEL).upper < -ROUNDING_ERROR


def cells(simulations: int, seed: int) -> list[Cell]:
    """All cells, those of the fewest changes first."""
    kinds = list(POPULATIONS)[:2]
    return [Cell(kind, n, m, simulations, seed) for (n, m), kind in product(SIZES, kinds)]


def pool_table(done: list[tuple[Cell, Fails]]) -> Table:
    """Shares that fail at level 0.95."""
    lines = [row("changed", "topics", "population", "alpha", "BCa", "Student-t", "rule")]
    for cell, of in done:
        for alpha, *shares in zip(ALPHAS, of.bca, of.student_t, of.rule, strict=True):
            lines.append(row(cell.changed, cell.topics, cell.population, f"{alpha:g}", *map(percent, shares)))
    return lines


def all_tables(pool: Executor, *, simulations: int, seed: int) -> dict[str, Table]:
    """The table by the name of its file."""
    every = cells(simulations, seed)
    return {"georisk-few-changes": pool_table(list(zip(every, pool.map(simulate, every), strict=True)))}


def counted(table: str, column: str, simulations: int) -> int | None:
    """On how many pools a column was counted; 0 for those that say which cell it is."""
    return 0 if column in ("changed", "topics", "population", "alpha") else simulations
