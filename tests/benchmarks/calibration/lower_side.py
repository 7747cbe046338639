"""How often does ``not_inferior`` pass a candidate whose true URisk is exactly minus the tolerance?

It should in 2.5% at most. As in ``few_changes`` every data set is n differences, of which m are not 0, and a p-value
is computed only where it can matter: BCa's where Student-t and the flips show the candidate to be good enough, and on
the first data sets of a cell for its own column.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import stdtr

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import NotInferior
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.inference.intervals import upper_p_value
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from tests.benchmarks.calibration.few_changes import LEVEL, moments
from tests.benchmarks.calibration.populations import BETS, REAL, SHIFTED, draw, weigh
from tests.benchmarks.calibration.tables import Table, percent, row
from tests.shared_data import SHARED

Array = np.ndarray

#: On so many data sets of a cell BCa alone is counted.
EVERYTHING = 500
SIZES = (
    (100, 4),
    (100, 6),
    (25, 10),
    (100, 10),
    (250, 10),
    (100, 15),
    (25, 25),
    (50, 25),
    (100, 25),
    (250, 25),
    (50, 50),
    (100, 100),
)
ALPHAS = (0, 1, 5)
TOLERANCES = (0.0, 0.005, 0.02)


@dataclass(frozen=True)
class Cell:
    """Data sets whose true URisk is ``-tolerance``."""

    kind: str
    topics: int
    changed: int
    alpha: float
    tolerance: float
    simulations: int
    seed: int

    def draw(self) -> Array:
        """The differences of changed topics, a row for each data set."""
        place = [self.topics, self.changed, int(10 * self.alpha), int(1e4 * self.tolerance), len(self.kind)]
        rng, shape = np.random.default_rng([self.seed, *place]), (self.simulations, self.changed)
        urisk = -self.tolerance * self.topics / self.changed
        return draw(REAL, self.kind, rng, shape, alpha=self.alpha, urisk=urisk)


@dataclass(frozen=True)
class Passes:
    """Shares of data sets that pass: by BCa alone and with Student-t on the first of them, else on all.

    ``inconclusive`` is the share in which too few topics changed to show it.
    """

    bca: float
    student_t: float
    both: float
    rule: float
    inconclusive: float


def simulate(cell: Cell) -> Passes:
    """How often each rule passes a cell's data sets."""
    d = cell.draw()
    x = weigh(d, cell.alpha)
    means, errors = moments(x, cell.topics)
    excess = means + cell.tolerance - ROUNDING_ERROR
    with np.errstate(divide="ignore", invalid="ignore"):
        student = stdtr(cell.topics - 1, -excess / errors) <= (1 - LEVEL) / 2
    first = np.arange(len(d)) < EVERYTHING
    rulings = [ruling(each, cell) for each in d]
    enough = np.array([not each.too_few_changes for each in rulings])
    maybe = student.copy()
    for i in np.flatnonzero(maybe):
        maybe[i] = rulings[i].changes_show
    bca = np.zeros(len(d), dtype=bool)
    for i in np.flatnonzero(maybe | (first & (excess > 0))):
        bca[i] = bca_shows(x[i], cell)
    return Passes(
        float(np.mean(bca[first])),
        float(np.mean(student)),
        float(np.mean((bca & student)[first])),
        float(np.mean(bca & maybe)),
        1 - float(np.mean(enough)),
    )


def ruling(d: Array, cell: Cell) -> Ruling:
    """The gate's own ruling on a data set."""
    gate = NotInferior("calibration", alpha=cell.alpha, tolerance=cell.tolerance, level=LEVEL)
    differences = np.concatenate([d, np.zeros(cell.topics - d.size)])
    return Ruling(gate, Evidence(differences, np.zeros((0, cell.topics))))


def bca_shows(x: Array, cell: Cell) -> bool:
    """Whether BCa's lower limit is above minus the tolerance."""
    sample = Sample.of(-np.concatenate([x, np.zeros(cell.topics - x.size)]))
    bound = cell.tolerance - ROUNDING_ERROR
    if sample.constant:
        return bool(sample.mean < bound)
    return upper_p_value(sample, method="bca", bound=bound) <= 1 - LEVEL + 1e-12


def cells(simulations: int, seed: int) -> list[Cell]:
    """All cells, those of the fewest changes first."""
    return [
        Cell(kind, n, m, alpha, tolerance, simulations, seed)
        for (n, m), alpha, (kind, tolerance) in product(
            SIZES, ALPHAS, (*product((SHIFTED,), TOLERANCES), (BETS, 0.0))
        )
    ]


def lower_side_table(done: list[tuple[Cell, Passes]]) -> Table:
    """Shares that pass, and that are inconclusive because too few topics changed."""
    lines = [row(*PLACE, "BCa", "Student-t", "BCa and Student-t", "rule", "inconclusive")]
    for cell, of in done:
        place = (cell.changed, cell.topics, cell.alpha, f"{cell.tolerance:g}", cell.kind)
        lines.append(row(*place, *map(percent, (of.bca, of.student_t, of.both, of.rule, of.inconclusive))))
    return lines


PLACE = ("changed", "topics", "alpha", "tolerance", "kind")


def all_tables(pool: Executor, *, simulations: int, seed: int) -> dict[str, Table]:
    """The table by the name of its file; none without the folder ``shared``."""
    if not SHARED.is_dir():
        return {}
    every = cells(simulations, seed)
    return {"not-inferior": lower_side_table(list(zip(every, pool.map(simulate, every), strict=True)))}


def counted(table: str, column: str, simulations: int) -> int | None:
    """On how many data sets a column was counted; 0 for those that say which cell it is."""
    if column in PLACE:
        return 0
    return min(EVERYTHING, simulations) if column in ("BCa", "BCa and Student-t") else simulations
