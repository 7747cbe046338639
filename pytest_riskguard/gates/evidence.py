"""The evidence for a gate's rule: differences over topics, and how they become the scores whose mean is judged.

Three things can come between the two: the trade-off (what a loss costs), the baseline's own noise (what replicates
lose against it, subtracted topic by topic), and the topics' weights. Topics that hang together, such as variants of
one query, are one unit: estimates count topics, but what varies independently is the cluster.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np

from pytest_riskguard.data.measures import span
from pytest_riskguard.errors import DataError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.alignment import Aligned
from pytest_riskguard.risk.checks import ROUNDING_ERROR, BoolArray, FloatArray, IntArray, exact_sum
from pytest_riskguard.risk.tradeoff import tradeoff

#: What units win, what they lose, and which lost.
Bets = tuple[FloatArray, FloatArray, BoolArray]
#: Weights are uneven if they leave fewer effective topics than this ...
EVEN = 50.0
#: ... and less than this share of all topics.
NEARLY_ALL = 0.9


@frozen(eq=False)
class Evidence:
    """Differences over topics with everything that turns them into trade-off scores.

    ``differences`` (n_topics,) up to 1e-12 count as 0; ``noise`` (n_replicates, n_topics) is each replicate minus the
    baseline; of ``weights`` (n_topics,) only the ratios matter; ``kind`` is the trade-off. ``clusters`` (n_topics,)
    numbers each topic's cluster from 0, without gaps; None where every topic stands for itself. A topic can lose
    at most ``largest_loss``, infinity where that is not known.
    """

    differences: FloatArray
    noise: FloatArray
    weights: FloatArray | None = None
    kind: str = "linear"
    clusters: IntArray | None = None
    largest_loss: float = math.inf

    @classmethod
    def between(cls, aligned: Aligned, *, tradeoff: str) -> Evidence:
        """What two systems differ by; ``DataError`` (``bad_scores``) where the smooth trade-off is not defined."""
        candidate, baseline, *replicates = (system.values for system in aligned.systems)
        noise = np.array([_differences(values, baseline) for values in replicates]).reshape(-1, baseline.size)
        differences, measure = _differences(candidate, baseline), aligned.baseline.measure
        if tradeoff == "smooth":
            sizes = np.max(np.abs(np.vstack([differences, noise])), axis=0)
            worst = int(np.argmax(sizes))
            if sizes[worst] > 1:
                raise DataError(
                    f"scores of topic {aligned.candidate.topics[worst]!r} differ by {sizes[worst]:g}; the smooth "
                    "trade-off is for differences up to 1 (tradeoff: linear takes any)",
                    reason="bad_scores",
                )
        reach = math.inf if measure is None else span(measure)
        if np.max(baseline, initial=0.0) > reach * (1 + ROUNDING_ERROR):  # beyond its bounds, as percentages are
            reach = math.inf
        return cls(differences, noise, aligned.weights, tradeoff, aligned.clusters, reach)

    @classmethod
    def of(cls, differences: FloatArray, *, kind: str = "linear") -> Evidence:
        """Differences alone: neither noise nor weights."""
        return cls(differences, np.zeros((0, differences.size)), kind=kind)

    @property
    def n(self) -> int:
        """How many topics."""
        return self.differences.size

    @cached_property
    def units(self) -> int:
        """How many clusters, or topics where there are none: what varies independently."""
        return self.n if self.clusters is None else int(np.max(self.clusters, initial=-1)) + 1

    @property
    def counts_alike(self) -> bool:
        """Whether every topic is a unit of its own, with the weight of any other: scores are then parts, by topic."""
        return self.weights is None and self.clusters is None

    @property
    def noisy(self) -> bool:
        """Whether the baseline's own noise is subtracted."""
        return len(self.noise) > 0

    @cached_property
    def effective(self) -> float:
        """How many units of equal weight would say as much: Kish's effective sample size, (sum w)^2 / sum w^2.

        A cluster has the weight of all its topics.
        """
        weights = self._by_unit(self._relative)
        return float(self.n) if self.counts_alike else exact_sum(weights) ** 2 / exact_sum(weights**2)

    @property
    def uneven(self) -> bool:
        """Whether the weights leave so few topics that the bootstrap alone is not to be trusted."""
        return not self.counts_alike and self.effective < min(EVEN, NEARLY_ALL * self.units)

    def effective_topics(self, alpha: float) -> float | None:
        """How many independent topics would give the estimate's variance; None without clusters or variation.

        That is the number of topics over the design effect, which is the variance of the estimate by clusters over
        that by topics: L. Kish, "Survey Sampling" (1965), section 5.4.
        """
        if self.clusters is None or self.units < 2:
            return None
        by_topic = replace(self, clusters=None).scores(alpha)
        by_cluster = self.scores(alpha)
        of_mean = float(np.var(by_cluster, ddof=1)) / self.units
        return float(np.var(by_topic, ddof=1)) / of_mean if of_mean > 0 else None

    def moved(self, alpha: float) -> BoolArray:
        """Which topics contribute to the estimate at this alpha: those that changed beyond the baseline's noise."""
        moved: BoolArray = (self._excess(alpha) if self.noisy else self.differences) != 0
        return moved

    def changed(self, alpha: float) -> int:
        """How many topics moved."""
        return int(np.count_nonzero(self.moved(alpha)))

    def parts(self, alpha: float) -> FloatArray:
        """Each topic's part in the estimate, times the number of topics: their mean is the estimate.

        At alpha 0 these are plain differences, whatever the trade-off.
        """
        return self.weighed(self._excess(alpha))

    def _excess(self, alpha: float) -> FloatArray:
        """Trade-off scores minus the mean of the replicates' trade-off scores."""
        x = self._traded(self.differences, alpha)
        if not self.noisy:
            return x
        x = x - np.sum([self._traded(row, alpha) for row in self.noise], axis=0) / len(self.noise)
        # where candidate and noise are the same, what rounding leaves is not a change
        return np.where(np.abs(x) > ROUNDING_ERROR * (1 + alpha), x, 0.0)

    def stakes(self, alpha: float) -> Bets:
        """What each unit that moved adds to the parts if it wins, takes from them if it loses, and whether it lost.

        The sizes are those observed: a topic that lost has the loss that it has, and the gain of a win as large.
        Where noise is subtracted, size is that of the excess, of which a loss counts 1 + alpha times; likewise for
        clusters, which win or lose as a whole: their size is that of the sum of their topics' parts. The more wins
        and losses balance within a cluster, the less does its loss outweigh a gain as large: there is nothing left
        for alpha to weigh where it wins and loses as much.
        """
        if self.clusters is not None:
            return _bets(self.sums(alpha), 1 + alpha * self._one_sided(alpha))
        moved = self.moved(alpha)
        if not np.any(moved):
            return np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.bool_)
        if self.noisy:
            gains, losses, lost = _bets(self._excess(alpha), np.full(self.n, 1 + alpha))
        else:
            lost = self.differences[moved] < 0
            sizes = np.abs(self.differences[moved])
            gains, losses = self._traded(sizes, alpha), -self._traded(-sizes, alpha)
        relative = self._relative[moved]
        return gains * relative, losses * relative, lost

    def _one_sided(self, alpha: float) -> FloatArray:
        """How far the topics of each cluster went one way: from 0, wins and losses alike, to 1, one of them alone."""
        parts = self.parts(alpha)
        won, lost = self._by_unit(np.maximum(parts, 0.0)), self._by_unit(np.maximum(-parts, 0.0)) / (1 + alpha)
        return np.abs(won - lost) / np.maximum(won + lost, np.finfo(np.float64).tiny)

    def weighed(self, values: FloatArray) -> FloatArray:
        """Values per topic times the topic's weight, in weights whose mean is 1."""
        return values * self._relative

    def mean(self, values: FloatArray) -> float:
        """The mean over topics, weighted where there are weights."""
        return exact_sum(self.weighed(values)) / self.n

    @cached_property
    def _relative(self) -> FloatArray:
        weights = np.ones(self.n) if self.weights is None else self.weights
        weights = weights / np.max(weights)  # a sum of the largest floats would overflow
        relative: FloatArray = weights / (exact_sum(weights) / self.n)
        return relative

    def estimate(self, alpha: float) -> float:
        """URisk at this alpha, weighted if there are weights, minus the baseline's own if there are replicates."""
        return exact_sum(self.parts(alpha)) / self.n

    def noise_estimate(self, alpha: float) -> float | None:
        """The mean URisk of the baseline's replicates against it; None without replicates."""
        if not self.noisy:
            return None
        return math.fsum(self.mean(self._traded(row, alpha)) for row in self.noise) / len(self.noise)

    def scores(self, alpha: float) -> FloatArray:
        """The vector that every interval is computed from; its mean is the estimate.

        Without weights these are the parts. A weighted mean is a ratio, so its variation is that of its
        jackknife: leaving topic i out moves it by w_i (x_i - mean)/(sum w - w_i). The vector has these moves,
        times n - 1, around the mean: topics that all score the same do not vary, and equal weights change
        nothing. With clusters, w_i and w_i x_i are sums over a cluster's topics, and the vector has an entry for
        each cluster: its mean where all are of one size.
        """
        if self.counts_alike:
            return self.parts(alpha)
        count, size = self.units, self.n / self.units
        mean = self.estimate(alpha)
        parts, weights = self.sums(alpha) / size, self._by_unit(self._relative) / size
        if np.all(weights == 1):
            return parts
        moves = (parts - mean * weights) * (count - 1) / np.maximum(count - weights, 1e-9)
        return mean + (moves - exact_sum(moves) / count)

    def sums(self, alpha: float) -> FloatArray:
        """What all topics of a unit have in parts together."""
        sums = self._by_unit(self.parts(alpha))
        # where topics of a cluster cancel out, what rounding leaves is not a change
        return sums if self.clusters is None else np.where(np.abs(sums) > ROUNDING_ERROR * (1 + alpha), sums, 0.0)

    def _by_unit(self, values: FloatArray) -> FloatArray:
        """Sums over the topics of each cluster; the values themselves without clusters."""
        if self.clusters is None:
            return values
        return np.bincount(self.clusters, values, minlength=self.units).astype(np.float64, copy=False)

    def without(self, places: IntArray | int) -> Evidence:
        """The evidence without these topics."""
        return self.only(np.delete(np.arange(self.n), places))

    def only(self, places: IntArray) -> Evidence:
        """The evidence on these topics alone."""
        return replace(
            self,
            differences=self.differences[places],
            noise=self.noise[:, places],
            weights=None if self.weights is None else self.weights[places],
            clusters=None if self.clusters is None else np.unique(self.clusters[places], return_inverse=True)[1],
        )

    def _traded(self, differences: FloatArray, alpha: float) -> FloatArray:
        return tradeoff(differences, kind="linear" if alpha == 0 else self.kind, alpha=alpha)


def _differences(candidate: FloatArray, baseline: FloatArray) -> FloatArray:
    differences = candidate - baseline
    # rounding is not a change: otherwise 1 + alpha would multiply it and add steps to the bootstrap distribution
    return np.where(np.abs(differences) > ROUNDING_ERROR, differences, 0.0)


def _bets(sums: FloatArray, ratios: FloatArray) -> Bets:
    """Gains, losses and which lost, of sums in which a loss counts so many times; those that are 0 are left out."""
    sums, ratios = sums[sums != 0], ratios[sums != 0]
    lost = sums < 0
    gains = np.where(lost, -sums / ratios, sums)
    return gains, ratios * gains, lost
