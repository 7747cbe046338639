"""Draws with tilted chances: those under which a mean far out in the tail of the bootstrap law is the expected one.

A topic whose score lies y above the mean is drawn exp(theta y) times as often as plainly. Replicates that are as rare
as one in 10^12 plainly are then common, and what is computed about them keeps its digits; by how much they are
likelier is known exactly.

References
----------
H. E. Daniels, "Saddlepoint approximations in statistics", Annals of Mathematical Statistics 25 (1954).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np

from pytest_riskguard.frozen import frozen
from pytest_riskguard.inference._bootstrap.sample import Sample, condensed
from pytest_riskguard.risk.checks import FloatArray, IntArray
from pytest_riskguard.risk.distributions import binomial_reach, gammaln

#: The mass of resamples that draw changed topics more often than is enumerated.
LEFT_OUT = 1e-14
#: With more distinct values than this there are always more vectors, except with a handful of topics.
MAX_VALUES = 16
#: Tilted chances are no smaller.
TINY = 1e-300


@frozen
class Resamples:
    """Every way to draw the changed topics that has any mass, one entry each.

    ``sums`` is what the draws add to n times the most frequent score, in units of x; ``squares`` their squared
    distances from that score, in units of the sample's variance; ``draws`` and ``values`` how often changed topics
    are drawn, and how many different scores they have. ``masses`` sum to 1 within 1e-14.
    """

    sums: FloatArray
    squares: FloatArray
    draws: IntArray
    values: IntArray
    masses: FloatArray


def enumerated_resamples(sample: Sample, *, max_vectors: int, draw: Draw | None = None) -> Resamples | None:
    """Every way to draw the changed topics, or None where there are more than ``max_vectors``.

    Changed topics are those without the most frequent score. Topics with the same score count as one value with a
    larger share. A replicate draws value j c_j times; the counts are multinomial, and only totals that carry all but
    1e-14 of the mass are enumerated. With a ``draw`` chances are tilted, and masses are those of tilted replicates.
    """
    n, counts = sample.n, sample.distinct[1] if draw is None else sample.n * draw.shares
    if counts.size - 1 > MAX_VALUES:
        return None
    moved = np.arange(counts.size) != sample.mode
    offsets, moved_counts = sample.offsets[moved], counts[moved]
    changed = min(float(moved_counts.sum()), float(n))
    max_draws = binomial_reach(n, changed / n, below=LEFT_OUT)
    if math.comb(max_draws + offsets.size, offsets.size) > max_vectors:
        return None
    sums, squares, log_masses = np.zeros(1), np.zeros(1), np.zeros(1)
    draws, values = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for offset, count in zip(offsets, moved_counts, strict=True):
        times = np.arange(max_draws + 1)
        total = np.add.outer(draws, times)
        allowed = total <= max_draws
        log_term = times * math.log(max(float(count), TINY)) - gammaln(times + 1)
        sums = np.add.outer(sums, offset * times)[allowed]
        squares = np.add.outer(squares, (offset / sample.deviation) ** 2 * times)[allowed]
        values = np.add.outer(values, (times > 0).astype(np.int64))[allowed]
        log_masses = np.add.outer(log_masses, log_term)[allowed]
        draws = total[allowed]
    # n!/(n - k)! n^-k times (1 - changed/n)^(n - k): small terms only, so that n = 10^6 loses no digits
    falling = np.concatenate([[0.0], np.cumsum(np.log1p(-np.arange(max_draws) / n))])
    mode_share = float(counts[sample.mode]) / n
    mode = math.log1p(-changed / n) if changed < n / 2 else math.log(max(mode_share, TINY))
    masses = np.exp(log_masses + falling[draws] + (n - draws) * mode)
    return Resamples(sums, squares, draws, values, masses)


#: No chances are tilted further: there a replicate holds nothing but the scores furthest out.
MAX_THETA = 1e4
#: Up to this exponent the mean of exp(theta y) is summed without its largest term taken out.
SMALL_EXPONENT = 30.0
#: Roots are found when they move by no more than this, as a share of their size.
PRECISION, MAX_STEPS = 1e-14, 200


@frozen
class Draw:
    """How one topic of a replicate is drawn.

    ``shares``, shape (n_values,), are the chances of the sample's distinct scores; ``theta`` is the tilt, positive
    towards high scores, in reciprocal standard errors; ``log_norm`` is n log E exp(theta y), y being a score less the
    mean in units of ``sample.total``. ``centre`` and ``spread`` are mean and standard deviation of the sum of n draws
    in these units, 0 and 1 without a tilt.
    """

    shares: FloatArray
    theta: float = 0.0
    log_norm: float = 0.0
    centre: float = 0.0
    spread: float = 1.0

    @classmethod
    def plain(cls, sample: Sample) -> Draw:
        """That of the bootstrap."""
        return cls(sample.distinct[1] / sample.n)

    @property
    def depth(self) -> float:
        """How far out the centre lies: about the normal quantile of the probability beyond it, as a size."""
        return math.sqrt(max(0.0, 2 * (self.theta * self.centre - self.log_norm)))


class Tilts:
    """The tilts of a sample's draws towards one end: ``side`` is 1 for high scores, -1 for low ones.

    They are told apart by their size. Very many scores are condensed where a tilt's place need not be exact.
    """

    def __init__(self, sample: Sample, side: int) -> None:
        self._n, self._side = sample.n, side
        values, counts = sample.distinct
        self._y, self._shares = (values - sample.mean) / sample.total, counts / sample.n

    def draw(self, size: float) -> Draw:
        """The draw by the size of its tilt."""
        return _tilted(self._y, self._shares, self._side * size, self._n)

    def roughly(self, size: float) -> Draw:
        """The same from condensed scores."""
        return _tilted(*self._few, self._side * size, self._n)

    def at_depth(self, depth: float) -> float:
        """The tilt whose centre lies so deep, or the furthest one."""

        def excess(size: float) -> tuple[float, float]:
            draw = self.roughly(size)
            return (draw.depth**2 - depth**2) / 2, size * draw.spread**2

        return self._root(excess)

    def at_centre(self, centre: float) -> float:
        """The tilt whose centre is this value of the standardised sum, or the nearest one."""

        def excess(size: float) -> tuple[float, float]:
            draw = self.roughly(size)
            return self._side * (draw.centre - centre), draw.spread**2

        return self._root(excess)

    @cached_property
    def furthest(self) -> float:
        """The largest tilt: about every second replicate holds nothing but the score furthest out."""
        end, next_to_it = (-1, -2) if self._side > 0 else (0, 1)
        gap, share = abs(float(self._y[end] - self._y[next_to_it])), float(self._shares[end])
        others = math.log(max(self._n * (1 - share) / (share * math.log(2)), math.e))
        return others / gap if others < MAX_THETA * gap else MAX_THETA

    @property
    def scores(self) -> FloatArray:
        """The condensed scores, less the mean, in units of ``sample.total``."""
        return self._few[0]

    @cached_property
    def _few(self) -> tuple[FloatArray, FloatArray]:
        return condensed(self._y, self._shares)

    def _root(self, excess: Callable[[float], tuple[float, float]]) -> float:
        """The size of the tilt at which something that rises with it is 0, or the one nearest to that."""
        high = min(4.0, self.furthest)
        while excess(high)[0] < 0:
            if high >= self.furthest:
                return self.furthest
            high = min(2 * high, self.furthest)
        return root(excess, 0.0, high)


def root(function: Callable[[float], tuple[float, float]], low: float, high: float) -> float:
    """Where a rising function, given with its slope, is 0: Newton's method in a bracket; else the nearer end."""
    x = (low + high) / 2
    for _ in range(MAX_STEPS):
        value, slope = function(x)
        low, high = (low, x) if value > 0 else (x, high)
        following = x - value / slope if slope > 0 else math.nan
        if not low <= following <= high:
            following = (low + high) / 2
        step, x = abs(following - x), following
        if step <= PRECISION * abs(x):
            break
    return x


def _tilted(y: FloatArray, plain: FloatArray, theta: float, n: int) -> Draw:
    inclined = theta * y
    top = float(np.max(inclined))
    if top < SMALL_EXPONENT:
        weights = plain * np.exp(inclined)
        log_mean = math.log1p(float(np.sum(plain * np.expm1(inclined))))
    else:
        weights = plain * np.exp(inclined - top)
        log_mean = top + math.log(float(np.sum(weights)))
    shares = weights / np.sum(weights)
    mean = float(np.sum(shares * y))
    spread = math.sqrt(n * float(np.sum(shares * (y - mean) ** 2)))
    return Draw(shares, theta, n * log_mean, n * mean, spread)
