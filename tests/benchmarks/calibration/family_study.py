"""How often does a family of gates fail without reason, and see a loss, by ``auto`` and by Holm's method?

A family is some gates on disjoint topics, as slices are, or on the same topics, as measures and baselines are. Each
gate has n topics, of which m changed; its true URisk is 0, but for the first gate of a family that is to see a loss.
"""

from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np
from scipy.optimize import brentq, minimize

from pytest_riskguard.gates.families import adjusted_by_draws
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.inference.families import holm
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from tests.benchmarks.calibration.few_changes import of_changes
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
from tests.benchmarks.calibration.tables import Place, Study
from tests.shared_data import SHARED
from tests.strict import gate_of

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


def families(place: Place, rng: np.random.Generator, count: int) -> Iterator[Array]:
    """The differences of changed topics, shape (gates, changed), of each family."""
    found, loss = 0, LOSS if place["to see"] == "a loss" else 0.0
    draw = same_topics if place["topics are"] == SAME else apart
    while found < count:
        for family in draw(place, rng, loss)[: count - found]:
            found += 1
            yield family


def apart(place: Place, rng: np.random.Generator, loss: float) -> list[Array]:
    """A family on disjoint topics; none where the pairs do not allow it."""
    gates: int = place["gates"]
    alpha, changed = float(place["alpha"]), place["changed"]
    pairs = eligible(place["kind"], alpha)
    drawn = [pairs[i] for i in rng.integers(len(pairs), size=gates).tolist()]
    drawn = drawn if place["topics are"] == UNLIKE else drawn[:1] * gates
    rows = [
        pair.draw(place["kind"], rng, changed, alpha=alpha, urisk=0.0, errors=loss if i == 0 else 0.0)
        for i, pair in enumerate(drawn)
    ]
    return [] if any(one is None for one in rows) else [np.array(rows)]


def same_topics(place: Place, rng: np.random.Generator, loss: float) -> list[Array]:
    """Some families of the same gates on the same topics: these take long to choose."""
    kind, alpha, changed = place["kind"], float(place["alpha"]), place["changed"]
    together = shared(alpha if kind == SHIFTED else None)
    columns = together[int(rng.integers(len(together)))]
    d = columns[:, rng.choice(columns.shape[1], place["gates"], replace=False)]
    d = d[np.any(d != 0, axis=1)]
    shares = np.full(d.shape[0], 1 / d.shape[0])
    if kind == REWEIGHTED:
        found = tilted(weigh(d, alpha))
        if found is None:
            return []
        shares = found
    if kind != BETS and not all(acceptable(one, shares) for one in d.T):
        return []
    if loss:
        x = weigh(d[:, 0], alpha)
        below = -loss * np.sqrt(np.sum(shares * x**2) / changed)
        d = np.column_stack([_moved(d[:, 0], alpha, below, shares), d[:, 1:]])
    drawn = [d[rng.choice(d.shape[0], changed, p=shares)] for _ in range(OF_THE_SAME)]
    if kind == BETS:  # a fair bet each, the same for all gates as far as chances are equal
        chance = 1 / (2 + alpha)
        numbers = rng.random((OF_THE_SAME, changed, 1))
        lost = [np.where(d < 0, n >= 1 - chance, n < chance) for d, n in zip(drawn, numbers, strict=True)]
        drawn = [np.where(one, -np.abs(d), np.abs(d)) for one, d in zip(lost, drawn, strict=True)]
    return [rows.T for rows in drawn]


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


def simulate(place: Place, rng: np.random.Generator, count: int) -> Mapping[str, object]:
    """Shares of families in which a watched gate fails by each correction.

    All gates are watched, or the one that loses where there is one.
    """
    gates = [gate_of("g", alpha=float(place["alpha"]))] * place["gates"]
    watched = slice(0, 1 if place["to see"] == "a loss" else None)
    failed = {"holm": 0, "auto": 0}
    for family in families(place, rng, count):
        evidence = [of_changes(d, place["topics"]) for d in family]
        rulings = [Ruling(gate, one) for gate, one in zip(gates, evidence, strict=True)]
        p = [ruling.p_value for ruling in rulings]
        if min(p[watched]) > 1 - LEVEL:  # no correction fails it
            continue
        names = [0 if place["topics are"] == SAME else i for i in range(len(gates))]
        topics = [_topics(i, place["topics"]) for i in names]
        by_holm = holm(p).tolist()
        drawn = adjusted_by_draws(rulings, p, topics=topics, measures=[None] * len(gates))
        for by, adjusted in {"holm": by_holm, "auto": by_holm if drawn is None else drawn[1].tolist()}.items():
            failed[by] += any(one <= 1 - LEVEL for one in adjusted[watched])
    return {"Holm": failed["holm"] / count, "auto": failed["auto"] / count}


@cache
def _topics(gate: int, topics: int) -> tuple[str, ...]:
    return tuple(f"{gate}-{topic:04d}" for topic in range(topics))


STUDIES = {"families": Study(simulate, 4000, 7)}
