"""How often does a year of harmless changes raise a false alarm: of a budget's looks, and of ``no_drift``?

Each look is at a change of its own whose true URisk is 0, so a year of L looks has a false alarm with probability
1 - (1 - q)^L, where q is that of one look at the level that the budget leaves it. If all changes of a year are like
one pair of runs, fewer years have one. p-values are those of ``Ruling.p_value_of_look`` without BCa's, which could
only make them larger. Pairs in which few topics hold nearly all of the change are left out: see ``usable``.

Releases are differences from the run that ``no_drift`` compares with. They grow: each moves some topics further, and
what it does not move stays. Or, as if systems were drawn anew each time, half of the variance is common to all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import stdtr

from pytest_riskguard.gates.ruling import LOSSES_WEIGH, STRETCH, STRETCHED_BELOW, stretched
from pytest_riskguard.inference.many_looks import share_of_next_look
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from tests.benchmarks.calibration.few_changes import bca_p, fails, flip_p, moments
from tests.benchmarks.calibration.populations import BETS, REAL, REWEIGHTED, SHIFTED, Pair, pairs_of, weigh
from tests.benchmarks.calibration.tables import Table, percent, row
from tests.shared_data import SHARED

Array = np.ndarray

LEVEL = 0.95
#: Looks of a year for which the docs promise a share of years, and for which they promise a number of false alarms.
BOUNDED, EXPECTED = (20, 50), (100, 200, 1000)
BET_SIZES = ((50, 16), (50, 50))
#: Pairs are left out in which (mean |d|)^2 is less than this part of the mean of d^2.
SPREAD = 0.2
SIZES = ((50, 12), (50, 16), (50, 25), (50, 50), (100, 100))
#: How much larger than the probability itself Chernoff's bound of it may be, and above which p-value of Student-t no
#: break-even test is asked: with a single change far larger than all others that is 0.32.
CHERNOFF, PLAUSIBLE = 15.0, 0.35
#: The tilts by which Chernoff's bound is sought, in units of one over the standard deviation.
TILTS = (1.5, 2.5, 3.5, 5.0, 8.0, 14.0, 30.0)
#: Releases of a year, the levels that the rule is asked at, and years; at level 0.95 Student-t alone is counted.
RELEASES, DRIFT_LEVELS, YEARS = 26, (0.99, 0.995, 0.998), 1_000
GROW, HALF_COMMON = "grows", "half common"


def highest_p(looks: int) -> float:
    """The two-sided p-value at which one of so many looks fails."""
    return (1 - LEVEL) * share_of_next_look(0, looks=looks)


def usable(kind: str, alpha: float) -> list[Pair]:
    """The pairs that such changes are drawn from: those in which few topics hold nearly all of it are left out.

    There every rule fails far too often, in some pairs at one look in two: most samples lack the one large win that
    the small losses are to be set off against.
    """
    found = []
    for pair in pairs_of(REAL):
        d, weights = pair.differences, None
        if kind == SHIFTED:
            d = d + pair.shift(alpha, 0.0)
        if kind == REWEIGHTED:
            if (wins := pair.wins(alpha, 0.0)) is None:
                continue
            weights = np.where(d > 0, wins / np.mean(d > 0), (1 - wins) / np.mean(d < 0))
        if np.average(np.abs(d), weights=weights) ** 2 >= SPREAD * np.average(d**2, weights=weights):
            found.append(pair)
    return found


@dataclass(frozen=True)
class Cell:
    """Harmless changes of one kind."""

    topics: int
    changed: int
    kind: str
    alpha: float
    simulations: int
    seed: int

    def rng(self) -> np.random.Generator:
        """A generator of its own."""
        place = [self.topics, self.changed, int(10 * self.alpha)]
        return np.random.default_rng([self.seed, *place, *self.kind.encode()])

    def drawn(self) -> Iterator[Array]:
        """Differences of changed topics, a row for each data set, those of a pair together."""
        rng, pairs = self.rng(), usable(self.kind, self.alpha)
        for pair, count in zip(pairs, rng.multinomial(self.simulations, [1 / len(pairs)] * len(pairs)), strict=True):
            if count == 0:
                continue
            d = pair.draw(self.kind, rng, count * self.changed, alpha=self.alpha, urisk=0.0, errors=0.0)
            assert d is not None
            yield d.reshape(count, self.changed)


@dataclass(frozen=True)
class Low:
    """The p-values that may be low, and how many data sets there were."""

    p_values: Array
    count: int

    def fails(self, looks: int) -> float:
        """How likely one of so many looks fails."""
        return np.count_nonzero(self.p_values <= highest_p(looks) * (1 + 1e-12)) / self.count

    def years(self, looks: int) -> float:
        """The share of years of so many looks with a false alarm."""
        return float(-math.expm1(looks * math.log1p(-self.fails(looks))))


def student_t_p(x: Array, topics: int) -> Array:
    """Student-t's two-sided p-values of scores of changed topics, a row for each data set; 1 for means above 0."""
    means, errors = moments(x, topics)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(errors > 0, (means + ROUNDING_ERROR) / errors, np.sign(means) * math.inf)
    p, low = np.ones(len(x)), np.flatnonzero(t < 0)
    p[low] = 2 * stdtr(topics - 1, t[low])
    return p


def may_be_low(d: Array, alpha: float, p: float, student_t: Array) -> Array:
    """The places of data sets that may have a one-sided break-even p-value this low, given those of Student-t."""
    places = np.flatnonzero(student_t <= PLAUSIBLE)
    for tilts, near in ((TILTS[2:3], 3.0), (TILTS, 0.0)):  # one tilt first, which nearly all are far from already
        places = places[_chernoff(d[places], alpha, tilts) <= math.log(CHERNOFF * p) + near]
    return places


def _chernoff(d: Array, alpha: float, tilts: Sequence[float]) -> Array:
    """The logarithm of an upper bound of each break-even p-value, the least by these tilts."""
    chance, sizes, lost = 1 / (2 + alpha), (2 + alpha) * np.abs(d), -weigh(d, alpha).sum(axis=1)
    spread = np.sqrt(chance * (1 - chance) * np.sum(sizes**2, axis=1))
    lowest = np.zeros(len(d))
    for steps in tilts:
        tilt = (steps / np.maximum(spread, 1e-300))[:, None]
        moved = np.minimum(tilt * sizes, 700.0)
        grown = np.log1p(chance * np.expm1(moved))
        lowest = np.minimum(lowest, np.sum(grown - chance * moved, axis=1) - tilt[:, 0] * lost)
    return np.where(lost > 0, lowest, 0.0)


def look_p(d: Array, topics: int, alpha: float, *, highest: float) -> Array:
    """p-values of looks at data sets, without those that are above ``highest``."""
    student_t = student_t_p(weigh(d, alpha), topics)
    if alpha < LOSSES_WEIGH:
        places = np.flatnonzero(student_t <= highest)
        return np.array([max(student_t[i], stretched(flip_p(d[i], alpha))) for i in places])
    unstretched = STRETCHED_BELOW * (highest / STRETCHED_BELOW) ** (1 / STRETCH)
    return np.array([stretched(flip_p(d[i], alpha)) for i in may_be_low(d, alpha, unstretched / 2, student_t)])


def low_p_values(cell: Cell) -> Low:
    """The low p-values of a cell."""
    found, count = [np.zeros(0)], 0
    for d in cell.drawn():
        found.append(look_p(d, cell.topics, cell.alpha, highest=highest_p(BOUNDED[0])))
        count += len(d)
    return Low(np.concatenate(found), count)


def cells(simulations: int, seed: int) -> list[Cell]:
    """Cells of the table of years."""
    asked = [*product(SIZES, (SHIFTED, REWEIGHTED), (0.0, 1.0)), *product(BET_SIZES, (BETS,), (0.0,))]
    every = [Cell(n, m, kind, alpha, simulations, seed) for (n, m), kind, alpha in asked]
    return sorted(every, key=lambda cell: (cell.topics, cell.changed, cell.alpha))


PLACE = ("topics", "changed", "kind", "alpha")


def _place(cell: Cell) -> tuple[object, ...]:
    return cell.topics, cell.changed, cell.kind, f"{cell.alpha:g}"


def year_table(done: list[tuple[Cell, Low]]) -> Table:
    """Shares of years with a false alarm, and numbers of false alarms to expect."""
    years, numbers = [f"years of {looks}" for looks in BOUNDED], [f"alarms in {looks}" for looks in EXPECTED]
    lines = [row(*PLACE, *years, *numbers)]
    for cell, low in done:
        shares = [f"{100 * low.years(looks):.2f}" for looks in BOUNDED]
        lines.append(row(*_place(cell), *shares, *(f"{looks * low.fails(looks):.3f}" for looks in EXPECTED)))
    return lines


# --------------------------------------------------------------------------------------------------------------------
# Drift
# --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DriftCell:
    """Years of releases; each moves this share of the topics."""

    topics: int
    moved: float
    how: str
    kind: str
    simulations: int
    seed: int

    def years(self) -> Iterator[Array]:
        """The differences from the fixed run at each release of a year, shape (RELEASES, n_topics)."""
        rng = np.random.default_rng([self.seed, self.topics, int(100 * self.moved), *(self.how + self.kind).encode()])
        pairs = usable(self.kind, 0.0)
        for _ in range(self.simulations):
            pair = pairs[int(rng.integers(len(pairs)))]
            d = pair.draw(self.kind, rng, (RELEASES + 1) * self.topics, alpha=0.0, urisk=0.0, errors=0.0)
            assert d is not None
            common, own = np.split(d.reshape(RELEASES + 1, self.topics), [1])
            own = np.where(rng.random(own.shape) < self.moved, own, 0.0)
            yield np.cumsum(own, axis=0) if self.how == GROW else own + common


@dataclass(frozen=True)
class Lowest:
    """The lowest p-value of each year: of the ordinary rule (1 if none is low), and of Student-t alone."""

    rule: Array
    student_t: Array


def drift_p_values(cell: DriftCell) -> Lowest:
    """The lowest p-values of years at alpha 0."""
    lowest, by_student_t, highest = np.ones(cell.simulations), np.ones(cell.simulations), 1 - min(DRIFT_LEVELS)
    for year, d in enumerate(cell.years()):
        student_t = student_t_p(d, cell.topics)
        by_student_t[year] = student_t.min()
        maybe = np.union1d(np.flatnonzero(student_t <= highest), may_be_low(d, 0.0, highest / 2, student_t))
        for i in maybe[np.argsort(student_t[maybe])]:
            witness = min(student_t[i], flip_p(d[i], 0.0))
            if witness < min(highest * (1 + 1e-12), lowest[year]):
                lowest[year] = min(lowest[year], max(witness, bca_p(d[i], cell.topics)))
    return Lowest(lowest, by_student_t)


def drift_cells(simulations: int, seed: int) -> list[DriftCell]:
    """Releases that move few topics or all."""
    grow = [
        DriftCell(n, moved, GROW, kind, simulations, seed)
        for (n, moved), kind in product(((50, 0.25), (100, 0.1)), (SHIFTED, REWEIGHTED))
    ]
    return [*grow, DriftCell(50, 1.0, HALF_COMMON, SHIFTED, simulations, seed)]


def drift_table(done: list[tuple[DriftCell, Lowest]]) -> Table:
    """Shares of years with a false alarm, by the level of the gate."""
    lines = [
        row(
            *("topics", "moved by a release", "the difference", "kind", "Student-t at 0.95"),
            *(f"rule at {level:g}" for level in DRIFT_LEVELS),
        )
    ]
    for cell, p in done:
        shares = [fails(p.student_t, LEVEL), *(fails(p.rule, level) for level in DRIFT_LEVELS)]
        lines.append(row(cell.topics, percent(cell.moved), cell.how, cell.kind, *map(percent, shares)))
    return lines


def years_of_looks(pool: Executor, *, simulations: int, seed: int) -> dict[str, Table]:
    """The table of years by the name of its file; none without the folder ``shared``, as of the others."""
    if not SHARED.is_dir():
        return {}
    every = cells(simulations, seed)
    return {"year": year_table(list(zip(every, pool.map(low_p_values, every), strict=True)))}


def drifting(pool: Executor, *, simulations: int, seed: int) -> dict[str, Table]:
    """The table of ``no_drift``."""
    if not SHARED.is_dir():
        return {}
    every = drift_cells(simulations, seed)
    return {"no-drift": drift_table(list(zip(every, pool.map(drift_p_values, every), strict=True)))}


def counted(table: str, column: str, simulations: int) -> int | None:
    """On how many data sets a column was counted: 0 if it names the cell, None if it holds no share."""
    if column in (*PLACE, "moved by a release", "the difference"):
        return 0
    return simulations if table == "no-drift" else None
