"""Where simulated differences come from: many pairs of systems whose true URisk is made 0, or any other value.

Real pairs are runs of the collections under ``shared/data`` whose scores correlate by at least 0.6 and differ on at
least 12 topics. Copula pairs follow Urbano and Nagler: each system has its own distribution of scores, and a Gaussian
copula ties the two together; scores are beta distributed, or rounded to tenths as those of P@10.

References
----------
J. Urbano, T. Nagler, "Stochastic simulation of test collections: evaluation scores", SIGIR 2018.
"""

import csv
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import beta

from pytest_riskguard.risk.checks import ROUNDING_ERROR
from tests.shared_data import SHARED

Array = np.ndarray

#: Per-topic scores under ``shared/data``: a row for each topic, a column for each system.
SCORES = (
    "cranfield_runs/scores_ap.csv",
    "cranfield_runs/scores_ndcg10.csv",
    "cranfield_runs/scores_rr.csv",
    "web2012/err20.csv",
    "web2012/ndcg20.csv",
    "web2012_runs/scores_map.csv",
    "web2012_runs/scores_ndcg_cut_20.csv",
    "web2012_runs/scores_recip_rank.csv",
)
REAL, CONTINUOUS, LATTICE = "real pairs", "copula, continuous", "copula, P@10"
MIN_CORRELATION, MIN_CHANGED = 0.6, 12
#: Pairs of a copula, and topics that stand for all topics there are.
COPULA_PAIRS, COPULA_TOPICS = 40, 20_000
#: What is done to a pair's differences so that its URisk is what the cell asks for.
#: Fair bets at alpha 0 are differences that are symmetric about 0.
SHIFTED, REWEIGHTED, BETS = "shifted", "reweighted", "fair bets"
#: Bets whose losses are larger than their wins, or the other way round: the win over the loss of each.
RATIOS = {
    BETS: 1.0,
    "losses 3 times wins": 1 / 3,
    "losses 10 times wins": 1 / 10,
    "wins 3 times losses": 3.0,
    "wins 10 times losses": 10.0,
}


def weigh(d: Array, alpha: float) -> Array:
    """Trade-off scores of differences: a loss counts 1 + alpha times."""
    return np.where(d < 0, (1 + alpha) * d, d)


class Pair:
    """The differences of two systems on the topics that changed, and how they are drawn for a true URisk.

    Attributes
    ----------
    differences : array
        Candidate minus baseline on every topic that changed; data sets draw from them with replacement.
    """

    def __init__(self, differences: Array) -> None:
        self.differences = differences
        self._shifts: dict[tuple[float, float], float] = {}

    @cached_property
    def sizes(self) -> Array:
        return np.abs(self.differences)

    def shift(self, alpha: float, urisk: float) -> float:
        """What must be added to every difference for a mean trade-off score of ``urisk``."""
        if (alpha, urisk) not in self._shifts:
            reach = float(np.max(self.sizes)) + abs(urisk)

            def excess(shift: float) -> float:
                return float(np.mean(weigh(self.differences + shift, alpha))) - urisk

            self._shifts[alpha, urisk] = float(brentq(excess, -reach, reach, xtol=1e-12))
        return self._shifts[alpha, urisk]

    def below(self, alpha: float, errors: float, count: int) -> float:
        """The mean trade-off score of so many changed topics that puts URisk so many standard errors below 0.

        The standard error is that of the pair shifted to a URisk of 0, where most topics do not change.
        """
        scores = weigh(self.differences + self.shift(alpha, 0.0), alpha)
        return -errors * float(np.sqrt(np.mean(scores**2) / count))

    def wins(self, alpha: float, urisk: float) -> float | None:
        """The share of wins, drawn among the pair's own, that makes ``urisk`` the mean; None if no share does."""
        scores = weigh(self.differences, alpha)
        if not (np.any(scores > 0) and np.any(scores < 0)):
            return None
        gain, loss = float(np.mean(scores[scores > 0])), float(np.mean(scores[scores < 0]))
        return (urisk - loss) / (gain - loss) if loss < urisk < gain else None

    def draw(
        self, kind: str, rng: np.random.Generator, count: int, *, alpha: float, urisk: float, errors: float
    ) -> Array | None:
        """So many differences of changed topics, with a mean trade-off score of ``urisk``; None where none has it.

        With ``errors``, the mean is so many standard errors below 0 instead.
        """
        d = self.differences
        urisk = self.below(alpha, errors, count) if errors else urisk
        if kind == SHIFTED:
            return np.asarray(rng.choice(d, count) + self.shift(alpha, urisk))
        if kind == REWEIGHTED:
            share = self.wins(alpha, urisk)
            if share is None:
                return None
            return np.where(rng.random(count) < share, rng.choice(d[d > 0], count), rng.choice(d[d < 0], count))
        sizes, ratio = rng.choice(self.sizes, count), RATIOS[kind]
        wins, losses = sizes * min(ratio, 1.0), sizes / max(ratio, 1.0)  # the larger of the two is the pair's own
        gain = float(np.mean(wins))
        chance = (gain - urisk) / (gain + (1 + alpha) * float(np.mean(losses)))  # of a loss
        return np.where(rng.random(count) < chance, -losses, wins) if 0 < chance < 1 else None


def draw(
    source: str,
    kind: str,
    rng: np.random.Generator,
    shape: tuple[int, int],
    *,
    alpha: float,
    urisk: float = 0.0,
    errors: float = 0.0,
) -> Array:
    """Data sets as rows, each from a pair of its own; only the topics that changed."""
    pairs = pairs_of(source)
    rows: list[Array] = []
    while len(rows) < shape[0]:
        row = pairs[int(rng.integers(len(pairs)))].draw(kind, rng, shape[1], alpha=alpha, urisk=urisk, errors=errors)
        if row is not None:
            rows.append(row)
    return np.array(rows)


@cache
def pairs_of(source: str) -> tuple[Pair, ...]:
    """The pairs of a source; the real ones need the folder ``shared``."""
    return tuple(Pair(d) for d in (_real_pairs() if source == REAL else _copula_pairs(source)))


def _real_pairs() -> Iterator[Array]:
    for name in SCORES:
        scores = read_scores(SHARED / "data" / name)
        for i in range(scores.shape[1]):
            for j in range(i):
                one, other = scores[:, i], scores[:, j]
                d = one - other
                d = d[np.abs(d) > ROUNDING_ERROR]
                if d.size >= MIN_CHANGED and np.corrcoef(one, other)[0, 1] >= MIN_CORRELATION:
                    yield d


def read_scores(path: Path) -> Array:
    """The numbers of a table whose first row is a header and whose first column names the topics."""
    with path.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file, strict=True)
    return np.array([[float(cell) for cell in row[1:]] for row in rows])


def _copula_pairs(source: str) -> Iterator[Array]:
    for one, other in _copula_scores():
        d = np.round(np.round(one, 1) - np.round(other, 1), 1) if source == LATTICE else one - other
        yield d[np.abs(d) > ROUNDING_ERROR]


@cache
def _copula_scores() -> tuple[tuple[Array, Array], ...]:
    """The scores of pairs of systems, the same for both sources: quantiles of beta distributions take long."""
    rng, pairs = np.random.default_rng(20180627), []
    for _ in range(COPULA_PAIRS):
        mean, concentration, correlation = rng.uniform(0.15, 0.6), rng.uniform(1.5, 6), rng.uniform(0.8, 0.98)
        means = mean, mean * rng.uniform(0.9, 1.1)
        concentrations = concentration, concentration * rng.uniform(0.8, 1.25)
        normal = rng.standard_normal((2, COPULA_TOPICS))
        normal[1] = correlation * normal[0] + np.sqrt(1 - correlation**2) * normal[1]
        one, other = (
            beta.ppf(ndtr(z), m * c, (1 - m) * c) for z, m, c in zip(normal, means, concentrations, strict=True)
        )
        pairs.append((one, other))
    return tuple(pairs)
