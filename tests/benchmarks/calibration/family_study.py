"""How often does a family of gates fail without reason, and see a loss, by ``auto`` and by Holm's method?

A family is some gates on disjoint topics, as slices are, or on the same topics, as measures and baselines are. Each
gate has n topics, of which m changed; its true URisk is 0, but for the first gate of a family that is to see a loss.
Both corrections are those of the package, and so are the p-values of single gates; as in ``few_changes`` what cannot
matter is not computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import stdtr

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.families import Compared, adjusted_by_draws
from pytest_riskguard.gates.kinds import NotSignificantlyRisky
from pytest_riskguard.inference.families import holm
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from tests.benchmarks.calibration.few_changes import bca_p, flip_p, moments
from tests.benchmarks.calibration.populations import (
    BETS,
    MIN_CORRELATION,
    REAL,
    REWEIGHTED,
    SHIFTED,
    Pair,
    pairs_of,
    read_scores,
    weigh,
)
from tests.benchmarks.calibration.tables import Row, Study, places
from tests.shared_data import SHARED

Array = np.ndarray

LEVEL = 0.95
#: The most gates of a family.
MOST = 10
#: How the topics of the gates of a family lie: apart, drawn from one pair of systems or each from its own; or shared.
LIKE, UNLIKE, SAME = "disjoint, alike", "disjoint, unlike", "the same"
#: How many times as large as the mean loss the mean win may be, once URisk is 0.
RATIOS = 0.2, 5.0
#: How far below 0 the loss of one gate is, in standard errors.
LOSS = 4.0
#: Tables of the same topics, each a measure, for gates that share them.
SHARED_TOPICS = (
    ("cranfield_runs/scores_ap.csv", "cranfield_runs/scores_ndcg10.csv", "cranfield_runs/scores_rr.csv"),
    ("web2012/err20.csv", "web2012/ndcg20.csv"),
)
#: So many families in a row are drawn of the same gates, where these share topics.
OF_THE_SAME = 4
#: The fewest topics that a pair's reweighted topics may stand for, and how far shares may follow one gate's scores.
LEAST_EFFECTIVE, MOST_TILTED = 12.0, 20.0
#: Student-t's p-value above which no other is low; the second holds from so many changes on.
PLAUSIBLE, MANY = (0.9, 0.2), 13


@dataclass(frozen=True)
class Cell:
    """Families of one kind; ``loss`` is how many standard errors the first gate's URisk lies below 0."""

    where: str
    kind: str
    gates: int
    topics: int
    changed: int
    alpha: float
    simulations: int
    seed: int
    loss: float = 0.0

    def families(self) -> Iterator[Array]:
        """The differences of changed topics, shape (gates, changed), of each family."""
        words = "".join((self.where, self.kind)).encode()
        rng = np.random.default_rng([self.seed, self.gates, self.topics, self.changed, int(self.alpha), *words])
        found = 0
        while found < self.simulations:
            families = self._same(rng) if self.where == SAME else self._disjoint(rng)
            for family in families[: self.simulations - found]:
                found += 1
                yield family

    def _disjoint(self, rng: np.random.Generator) -> list[Array]:
        pairs = eligible(self.kind, self.alpha)
        drawn = [pairs[int(i)] for i in rng.integers(len(pairs), size=self.gates)]
        drawn = drawn if self.where == UNLIKE else drawn[:1] * self.gates
        rows = [
            pair.draw(self.kind, rng, self.changed, alpha=self.alpha, urisk=0.0, errors=self.loss if i == 0 else 0.0)
            for i, pair in enumerate(drawn)
        ]
        return [] if any(one is None for one in rows) else [np.array(rows)]

    def _same(self, rng: np.random.Generator) -> list[Array]:
        """Some families of the same gates: these take long to choose."""
        together = shared(self.alpha if self.kind == SHIFTED else None)
        columns = together[int(rng.integers(len(together)))]
        d = columns[:, rng.choice(columns.shape[1], self.gates, replace=False)]
        d = d[np.any(d != 0, axis=1)]
        shares = np.full(d.shape[0], 1 / d.shape[0])
        if self.kind == REWEIGHTED:
            found = tilted(weigh(d, self.alpha))
            if found is None:
                return []
            shares = found
        if self.kind != BETS and not all(acceptable(one, shares) for one in d.T):
            return []
        if self.loss:
            x = weigh(d[:, 0], self.alpha)
            below = -self.loss * np.sqrt(np.sum(shares * x**2) / self.changed)
            d = np.column_stack([_moved(d[:, 0], self.alpha, below, shares), d[:, 1:]])
        return [self._drawn(d, shares, rng) for _ in range(OF_THE_SAME)]

    def _drawn(self, d: Array, shares: Array, rng: np.random.Generator) -> Array:
        rows = d[rng.choice(d.shape[0], self.changed, p=shares)]
        if self.kind != BETS:
            return rows.T
        # a fair bet each, the same for all gates as far as chances are equal
        assert not self.loss
        chance, number = 1 / (2 + self.alpha), rng.random((self.changed, 1))
        lost = np.where(rows < 0, number >= 1 - chance, number < chance)
        return np.where(lost, -np.abs(rows), np.abs(rows)).T


def _moved(d: Array, alpha: float, urisk: float, shares: Array | None = None) -> Array:
    """Differences whose changes have one number added, so that their mean trade-off score is ``urisk``."""
    changed, shares = d != 0, np.full(d.size, 1 / d.size) if shares is None else shares
    reach = float(np.max(np.abs(d))) + abs(urisk) * d.size

    def excess(shift: float) -> float:
        return float(np.sum(shares * weigh(np.where(changed, d + shift, 0.0), alpha))) - urisk

    return np.where(changed, d + brentq(excess, -reach, reach, xtol=1e-12), 0.0)


def tilted(x: Array) -> Array | None:
    """Shares of topics, shape (n_topics,), with which every column's mean is 0: those nearest to equal ones."""
    scale = x / np.sqrt(np.mean(x**2, axis=0))
    found = minimize(
        lambda t: _log_sum(scale @ t),
        np.zeros(x.shape[1]),
        jac=lambda t: _tilt(scale, t) @ scale,
        bounds=[(-MOST_TILTED, MOST_TILTED)] * x.shape[1],
        options={"ftol": 1e-14, "gtol": 1e-7},
    )
    shares = _tilt(scale, found.x)
    right = np.all(np.abs(shares @ scale) < 1e-4) and 1 / np.sum(shares**2) >= LEAST_EFFECTIVE
    return shares if right else None


def _tilt(x: Array, t: Array) -> Array:
    log = x @ t
    weights = np.exp(log - np.max(log))
    return np.asarray(weights / np.sum(weights))


def _log_sum(log: Array) -> float:
    top = float(np.max(log))
    return top + float(np.log(np.sum(np.exp(log - top))))


def acceptable(d: Array, shares: Array | None = None) -> bool:
    """Whether the mean win and the mean loss differ no more than ``RATIOS`` allows."""
    shares = np.ones(d.size) if shares is None else shares
    won, lost = shares[d > 0], shares[d < 0]
    if not (np.sum(won) > 0 and np.sum(lost) > 0):
        return False
    gain, loss = np.sum(won * d[d > 0]) / np.sum(won), -np.sum(lost * d[d < 0]) / np.sum(lost)
    return bool(RATIOS[0] <= gain / loss <= RATIOS[1])


@cache
def eligible(kind: str, alpha: float) -> tuple[Pair, ...]:
    """The real pairs whose wins and losses, once URisk is 0, are alike enough in size."""

    def fits(pair: Pair) -> bool:
        d = pair.differences + (pair.shift(alpha, 0.0) if kind == SHIFTED else 0.0)
        return kind == BETS or (acceptable(d) and (kind == SHIFTED or pair.wins(alpha, 0.0) is not None))

    return tuple(pair for pair in pairs_of(REAL) if fits(pair))


@cache
def shared(alpha: float | None = None) -> tuple[Array, ...]:
    """For each candidate its differences from all systems like it in all measures, shape (n_topics, n_gates).

    With ``alpha`` those of each column are shifted until their URisk is 0.
    """
    if alpha is not None:
        return tuple(np.column_stack([_moved(d, alpha, 0.0) for d in columns.T]) for columns in shared())
    found = []
    for tables in SHARED_TOPICS:
        scores = [read_scores(SHARED / "data" / name) for name in tables]
        for i in range(scores[0].shape[1]):
            columns = [
                np.where(np.abs(d := of[:, i] - of[:, j]) > ROUNDING_ERROR, d, 0.0)
                for of in scores
                for j in range(of.shape[1])
                if j != i and np.corrcoef(of[:, i], of[:, j])[0, 1] >= MIN_CORRELATION
            ]
            columns = [d for d in columns if 2 * np.count_nonzero(d) >= d.size]
            if len(columns) >= MOST:
                found.append(np.column_stack(columns))
    return tuple(found)


def simulate(cell: Cell) -> list[Row]:
    """Shares of families in which a watched gate fails by each correction.

    All gates are watched, or the one that loses where there is one.
    """
    gate = NotSignificantlyRisky("g", alpha=float(cell.alpha), level=LEVEL, tolerance=0.0, on_churn="fail")
    d = np.array(list(cell.families()))
    watched, failed = np.arange(cell.gates) < (1 if cell.loss else cell.gates), np.zeros(2)
    for family, least in zip(d, least_p_values(d, cell), strict=True):
        if not np.any(least[watched] <= 1 - LEVEL):  # no correction fails it
            continue
        drawn = by_draws([gate] * cell.gates, family, cell)
        p = least.copy()
        able = (holm(least) <= 1 - LEVEL) | (watched & (True if drawn is None else drawn <= 1 - LEVEL))
        for i in np.flatnonzero((least <= 1 - LEVEL) & able):
            p[i] = max(p[i], bca_p(weigh(family[i], cell.alpha), cell.topics))
        by_holm = holm(p)
        by_auto = by_holm if drawn is None else np.maximum(p, drawn)
        failed += [bool(np.any(by[watched] <= 1 - LEVEL)) for by in (by_holm, by_auto)]
    place: dict[str, object] = {"to see": "a loss" if cell.loss else "nothing", "topics are": cell.where}
    place |= {"topics": cell.topics, "changed": cell.changed, "kind": cell.kind, "alpha": cell.alpha}
    shares = dict(zip(("Holm", "auto"), (failed / cell.simulations).tolist(), strict=True))
    return [("families", {**place, "gates": cell.gates, **shares})]


def by_draws(gates: Sequence[NotSignificantlyRisky], family: Array, cell: Cell) -> Array | None:
    """Twice the p-values of the draws that the package chooses, where it chooses some."""
    evidence = [Evidence.of(np.concatenate([d, np.zeros(cell.topics - d.size)])) for d in family]
    compared = [Compared(_topics(cell, i), None, one) for i, one in enumerate(evidence)]
    found = adjusted_by_draws(gates, [0.0] * cell.gates, compared)
    return None if found is None else found[1]


@cache
def _names(gate: int, topics: int) -> tuple[str, ...]:
    return tuple(f"{gate}-{topic:04d}" for topic in range(topics))


def _topics(cell: Cell, gate: int) -> tuple[str, ...]:
    return _names(0 if cell.where == SAME else gate, cell.topics)


def least_p_values(d: Array, cell: Cell) -> Array:
    """What the p-value of each gate is at least, shape (families, gates): Student-t's, or that of the flips."""
    rows = d.reshape(-1, d.shape[2])
    x = weigh(rows, cell.alpha)
    means, errors = moments(x, cell.topics)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(errors > 0, means / errors, 0.0)
    student = np.where(means < 0, 2 * stdtr(cell.topics - 1, t), 1.0)
    flips = np.ones(means.size)
    for i in np.flatnonzero(student < PLAUSIBLE[int(d.shape[2] >= MANY)]):
        flips[i] = flip_p(rows[i], cell.alpha)
    return np.minimum(student, flips).reshape(d.shape[:2])


def cells(simulations: int, seed: int) -> list[Cell]:
    """The cells of the table."""
    found = []
    for row in places("families"):
        size = (row["gates"], row["topics"], row["changed"], row["alpha"])
        loss = LOSS if row["to see"] == "a loss" else 0.0
        found.append(Cell(row["topics are"], row["kind"], *size, simulations, seed, loss))
    return found


PLACE = ("to see", "topics are", "topics", "changed", "kind", "alpha", "gates")
STUDIES = {"families": Study(cells, simulate, 4000, PLACE)}
