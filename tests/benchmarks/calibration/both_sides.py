"""How often does ``equivalent`` pass a candidate whose true mean difference is exactly the tolerance, on either side?

It should in 2.5% at most. Data sets are those of ``lower_side`` at alpha 0, shifted down or up. The gate's own ruling
is asked only where Student-t shows it.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import stdtrit

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import Equivalent
from pytest_riskguard.gates.ruling import Ruling
from tests.benchmarks.calibration.few_changes import LEVEL, moments
from tests.benchmarks.calibration.populations import REAL, SHIFTED, draw
from tests.benchmarks.calibration.tables import Table, percent, row
from tests.shared_data import SHARED

Array = np.ndarray

SIZES = ((100, 6), (25, 10), (100, 10), (250, 10), (25, 25), (100, 25), (250, 25), (50, 50), (100, 100), (250, 250))
TOLERANCES = (0.01, 0.02, 0.05)
PLACE = ("changed", "topics", "tolerance", "true mean")


@dataclass(frozen=True)
class Cell:
    """Data sets whose true mean difference is the tolerance, on this ``side`` of 0 (-1 or 1)."""

    topics: int
    changed: int
    tolerance: float
    side: int
    simulations: int
    seed: int

    @property
    def mean(self) -> float:
        """The true mean difference."""
        return self.side * self.tolerance

    def draw(self) -> Array:
        """The differences of changed topics, a row for each data set."""
        place = [self.topics, self.changed, int(1e4 * self.tolerance), self.side + 1]
        rng, shape = np.random.default_rng([self.seed, *place]), (self.simulations, self.changed)
        return draw(REAL, SHIFTED, rng, shape, alpha=0, urisk=self.mean * self.topics / self.changed)


@dataclass(frozen=True)
class Passes:
    """Shares of data sets that pass: by Student-t alone, and by the gate."""

    student_t: float
    rule: float


def simulate(cell: Cell) -> Passes:
    """How often each rule passes a cell's data sets."""
    d = cell.draw()
    means, errors = moments(d, cell.topics)
    student_t = np.abs(means) + stdtrit(cell.topics - 1, (1 + LEVEL) / 2) * errors < cell.tolerance
    rule = [ruling(each, cell).passes for each in d[student_t]]
    return Passes(float(np.mean(student_t)), sum(rule) / len(d))


def ruling(d: Array, cell: Cell) -> Ruling:
    """The gate's own ruling on a data set."""
    gate = Equivalent("calibration", tolerance=cell.tolerance, level=LEVEL)
    differences = np.concatenate([d, np.zeros(cell.topics - d.size)])
    return Ruling(gate, Evidence(differences, np.zeros((0, cell.topics))))


def cells(simulations: int, seed: int) -> list[Cell]:
    """All cells, those of the fewest changes first."""
    return [
        Cell(n, m, tolerance, side, simulations, seed)
        for (n, m), tolerance, side in product(SIZES, TOLERANCES, (-1, 1))
    ]


def both_sides_table(done: list[tuple[Cell, Passes]]) -> Table:
    """Shares that pass."""
    lines = [row(*PLACE, "Student-t", "rule")]
    for cell, of in done:
        place = (cell.changed, cell.topics, f"{cell.tolerance:g}", f"{cell.mean:+g}")
        lines.append(row(*place, *map(percent, (of.student_t, of.rule))))
    return lines


def all_tables(pool: Executor, *, simulations: int, seed: int) -> dict[str, Table]:
    """The table by the name of its file; none without the folder ``shared``."""
    if not SHARED.is_dir():
        return {}
    every = cells(simulations, seed)
    return {"equivalent": both_sides_table(list(zip(every, pool.map(simulate, every), strict=True)))}


def counted(table: str, column: str, simulations: int) -> int | None:
    """On how many data sets a column was counted; 0 for those that say which cell it is."""
    return 0 if column in PLACE else simulations
