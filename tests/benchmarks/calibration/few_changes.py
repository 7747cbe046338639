"""How often does a gate fail without reason, and see a real loss, by the number of topics that changed?

Every data set is n differences, of which m are not 0, with a true URisk of 0 (or of some standard errors below). For
each the p-values of BCa, Student-t and the break-even flips are those of the package; from them come the rule of
``method: auto`` and the rules that it was compared with.

What cannot matter is not computed: a p-value counts as 1 where the mean is not well below 0, and after the first data
sets of a cell BCa is computed only where Student-t or the flips leave the rule a chance to fail.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from pytest_riskguard.inference.break_even import break_even
from pytest_riskguard.inference.intervals import upper_p_value
from pytest_riskguard.inference.sample import Sample
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from tests.benchmarks.calibration.populations import REAL, SHIFTED, draw, weigh
from tests.benchmarks.calibration.tables import Row, Study, places

Array = np.ndarray

LEVEL = 0.95
#: Levels that the rule alone is counted at.
LOWER_LEVEL, HIGHER_LEVELS = 0.9, (0.99, 0.999)
#: On so many data sets of a cell everything is computed: BCa alone and the lower level are counted on them.
EVERYTHING = 1000
#: Where Student-t's p-value is above this, no other is low; the second holds from so many changes on.
PLAUSIBLE, MANY = (0.9, 0.5), 50
#: How far below 0 a loss is that a gate should see, in standard errors of the data set.
LOSS = 3.0


@dataclass(frozen=True)
class Cell:
    """Data sets of one kind; ``loss`` is how many standard errors the true URisk lies below 0."""

    source: str
    kind: str
    topics: int
    changed: int
    alpha: float
    simulations: int
    seed: int
    loss: float = 0.0

    def draw(self) -> Array:
        """The differences of changed topics, a row for each data set."""
        words = "".join((self.source, self.kind)).encode()
        rng = np.random.default_rng([self.seed, self.topics, self.changed, int(10 * self.alpha), *words])
        shape = self.simulations, self.changed
        return draw(self.source, self.kind, rng, shape, alpha=self.alpha, errors=self.loss)


@dataclass(frozen=True)
class PValues:
    """Two-sided p-values of each data set; those of BCa are 1 where they do not matter."""

    bca: Array
    student_t: Array
    flips: Array

    @property
    def rule(self) -> Array:
        """The smallest ``1 - level`` at which a gate of method ``auto`` fails."""
        return np.maximum(self.bca, np.minimum(self.student_t, self.flips))

    def rules(self) -> dict[str, Array]:
        """The rule and those it was compared with, by the words of the tables."""
        return {
            "Student-t": self.student_t,
            "flips": self.flips,
            "rule": self.rule,
            "BCa and Student-t": np.maximum(self.bca, self.student_t),
            "BCa and flips": np.maximum(self.bca, self.flips),
            "Student-t or flips": np.minimum(self.student_t, self.flips),
        }


def moments(x: Array, topics: int) -> tuple[Array, Array]:
    """Mean and standard error of each row, to which topics that did not change add zeros."""
    means = x.sum(axis=1) / topics
    squares = np.maximum((x * x).sum(axis=1) - topics * means**2, 0.0)
    return means, np.sqrt(squares / (topics - 1) / topics)


def p_values(cell: Cell) -> PValues:
    """The p-values of every data set of a cell."""
    d = cell.draw()
    x = weigh(d, cell.alpha)
    means, errors = moments(x, cell.topics)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(errors > 0, (means + ROUNDING_ERROR) / errors, np.sign(means) * math.inf)
    student = np.where(means < 0, 2 * stdtr(cell.topics - 1, t), 1.0)
    flips, bca = np.ones(means.size), np.ones(means.size)
    for i in np.flatnonzero(student < PLAUSIBLE[int(cell.changed >= MANY)]):
        flips[i] = flip_p(d[i], cell.alpha)
    matters = (np.arange(means.size) < EVERYTHING) | (np.minimum(student, flips) <= 1 - LEVEL)
    for i in np.flatnonzero((student < PLAUSIBLE[0]) & matters):
        bca[i] = bca_p(x[i], cell.topics)
    return PValues(bca, student, flips)


def flip_p(d: Array, alpha: float) -> float:
    """Twice the p-value of the break-even flips, at most 1."""
    sizes = np.abs(d[np.abs(d) > ROUNDING_ERROR])
    lost = d[np.abs(d) > ROUNDING_ERROR] < 0
    return min(1.0, 2 * break_even(sizes, (1 + alpha) * sizes, lost).p_value)


def bca_p(x: Array, topics: int) -> float:
    """The smallest ``1 - level`` at which BCa's upper limit of these scores and zeros lies below 0."""
    sample = Sample.of(np.concatenate([x, np.zeros(topics - x.size)]))
    if sample.constant:
        return float(not sample.mean < -ROUNDING_ERROR)
    return upper_p_value(sample, method="bca", bound=-ROUNDING_ERROR)


def fails(p: Array, level: float) -> float:
    """The share of data sets that fail at a level."""
    return float(np.mean(p <= 1 - level + 1e-12))


def simulate(cell: Cell) -> list[Row]:
    """Shares that fail at level 0.95 by each rule, and by the rule at the other levels."""
    p = p_values(cell)
    place: dict[str, object] = {"changed": cell.changed, "topics": cell.topics}
    bca = fails(p.bca[:EVERYTHING], LEVEL)
    if cell.loss:
        shares = {"BCa": bca, "Student-t": fails(p.student_t, LEVEL), "rule": fails(p.rule, LEVEL)}
        return [("losses-seen", {**place, "alpha": cell.alpha, **shares})]
    place |= {"data": cell.source, "kind": cell.kind, "alpha": cell.alpha, "BCa": bca}
    place |= {rule: fails(each, LEVEL) for rule, each in p.rules().items()}
    place[f"rule at {LOWER_LEVEL}"] = fails(p.rule[:EVERYTHING], LOWER_LEVEL)
    return [("few-changes", place | {f"rule at {of}": f"{100 * fails(p.rule, of):.2f}" for of in HIGHER_LEVELS})]


def cells(simulations: int, seed: int) -> list[Cell]:
    """Cells with a true URisk of 0, then such with a loss."""
    zero = [
        Cell(row["data"], row["kind"], row["topics"], row["changed"], row["alpha"], simulations, seed)
        for row in places("few-changes")
    ]
    seen = [
        Cell(REAL, SHIFTED, row["topics"], row["changed"], row["alpha"], simulations, seed, LOSS)
        for row in places("losses-seen")
    ]
    return [*zero, *seen]


PLACE = ("changed", "topics", "data", "kind", "alpha")
STUDIES = {
    "few-changes": Study(
        cells, simulate, 10_000, PLACE, fewer={"BCa": EVERYTHING, f"rule at {LOWER_LEVEL}": EVERYTHING}
    )
}
