"""How often is one of several equally good systems found significantly riskier than another? A simulation.

System 0 is the candidate, system 1 the reference. They are exchangeable on the topics that changed and the same on
the others, so that the true difference of their GeoRisks is 0. Counted is how often the upper limit of
GeoRisk(candidate) - GeoRisk(reference) lies below 0: nominally in 2.5% of the pools. By the gate's rule BCa and
Student-t must both fail.

Intervals are those of the package with 2,000 replicates, fewer than it takes. Scores of a topic share a difficulty m
drawn from Beta(1.2, 2) and are Beta(10 m, 10 (1 - m)) for each system (the study's population), Beta(m, 1 - m) with
heavier tails, or m moved by a normal number of deviation 0.1 and clipped to [0, 1].
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from pytest_riskguard.inference.georisk import georisk_differences
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from tests.benchmarks.calibration.tables import Row, Study, places

LEVEL = 0.95
ALPHAS = (1.0, 5.0, 10.0)
REPLICATES = 2000
#: So many data sets are drawn from one generator.
BATCH = 250
#: Systems of pools in which few topics changed, and their alphas.
FEW = 5
OF_FEW: tuple[float, ...] = (1.0, 5.0)
METHODS = {"BCa": "bca", "Student-t": "student_t"}


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
    changed: int | None = None

    def pools(self) -> Iterator[np.ndarray]:
        """Scores, shape (n_systems, n_topics)."""
        draw = POPULATIONS[self.population]
        start = [20240704 + self.seed, list(POPULATIONS).index(self.population), self.systems, self.topics]
        if self.changed is not None:
            start = [self.seed, self.topics, self.changed, zlib.crc32(self.population.encode())]
        rng = np.random.default_rng(start)
        for number in range(self.simulations):
            if self.changed is None and number % BATCH == 0:
                rng = np.random.default_rng([*start, number // BATCH])
            scores = draw(rng, (self.systems, self.topics))
            if self.changed is not None:
                scores[1, self.changed :] = scores[0, self.changed :]
            yield scores


def simulate(cell: Cell) -> list[Row]:
    """The share of a cell's pools that each method fails at each alpha."""
    alphas, methods = OF_FEW, METHODS
    if cell.changed is None:
        alphas, methods = ALPHAS, {"percentile": "percentile", **METHODS}
    fails = np.zeros((cell.simulations, len(alphas), len(methods)), dtype=bool)
    for number, scores in enumerate(cell.pools()):
        found = georisk_differences(scores, candidate=0, references=[1], alphas=alphas, replicates=REPLICATES)
        for (i, one), (j, method) in product(enumerate(found.differences), enumerate(methods.values())):
            fails[number, i, j] = one.interval(method=method, level=LEVEL).upper < -ROUNDING_ERROR
    rows: list[Row] = []
    for i, alpha in enumerate(alphas):
        shares = dict(zip(methods, fails[:, i].mean(axis=0).tolist(), strict=True))
        place: dict[str, object] = {"population": cell.population, "topics": cell.topics, "systems": cell.systems}
        if cell.changed is None:
            rows.append(("georisk", {**place, "alpha": f"{alpha:g}", **shares}))
            continue
        place = {"changed": cell.changed, "topics": cell.topics, "population": cell.population, "alpha": f"{alpha:g}"}
        rows.append(("georisk-few-changes", {**place, **shares, "rule": float(np.mean(fails[:, i].all(axis=1)))}))
    return rows


def pools(simulations: int, seed: int) -> list[Cell]:
    """Pools in which every topic changes."""
    found = dict.fromkeys((row["population"], row["topics"], row["systems"]) for row in places("georisk"))
    return [Cell(*place, simulations, seed) for place in found]


def few_changes(simulations: int, seed: int) -> list[Cell]:
    """Pools in which some do."""
    rows = places("georisk-few-changes")
    found = dict.fromkeys((row["population"], row["topics"], row["changed"]) for row in rows)
    return [Cell(kind, n, FEW, simulations, seed, changed=m) for kind, n, m in found]


PLACE = ("changed", "population", "topics", "systems", "alpha")
STUDIES = {
    "georisk": Study(few_changes, simulate, 1000, PLACE),
    "pools": Study(pools, simulate, 6000, PLACE),
}
