"""How probable a mean below a bound is by the Bayesian bootstrap, exactly: no draw, no seed.

The Bayesian bootstrap weighs topics at random where the bootstrap draws them: the weights of n topics are uniform
over all weights that add up to 1, Dirichlet(1, ..., 1). What comes out is a posterior probability, not a p-value: it
says how probable a mean below the bound is, given these scores and no prior opinion on what scores there are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pytest_riskguard.risk.checks import FloatArray, exact_sum, per_topic

ComplexArray = npt.NDArray[np.complex128]

#: The step of the integration is halved, from this one on, until halving changes no more than this share of the
#: result: each halving squares the error, so that what is left is far below rounding.
FIRST_STEP, ALIKE = 1 / 4, 1e-7
#: ... but not below this step.
SMALLEST_STEP = 1e-3
#: The integration ends where a term is less than this share of the first.
NEGLIGIBLE = 1e-18
#: How close the contour comes to where the integrand is smallest, as a share of the integrand's width there.
CLOSE = 0.05
#: The most numbers that are computed at a time, and the most points of the contour.
AT_ONCE, MOST_POINTS = 2**16, 12
#: Excesses below this share of the largest count as 0, so that no square underflows.
VANISHING = 1e-100
#: How many factors are multiplied before their logarithm is taken: their product never overflows.
TOGETHER = 8


def bayesian_bootstrap(scores: npt.ArrayLike, *, below: float = 0.0, weights: npt.ArrayLike | None = None) -> float:
    """P(mean < ``below``) by the Bayesian bootstrap.

    Parameters
    ----------
    scores : array, shape (n_topics,)
        What the mean is of, for URisk the trade-off scores, in units of the measure.
    below : float
        The bound, in the same units; ``-tolerance`` for URisk.
    weights : array, shape (n_topics,), optional
        Weights of the topics in the mean, at least 0 and not all 0; only their ratios matter. Default: equal weights.

    Returns
    -------
    float
        Between 0 and 1; 0 where no score with a weight is below the bound, 1 where some are and none is above it.
        To about 12 digits for up to a few thousand topics, and 9 for millions.

    Raises
    ------
    ValueError
        No topic, a second axis, a value that is not finite, weights of another shape, below 0 or all 0.

    Notes
    -----
    Dirichlet weights are exponential variables E_i over their sum, so the probability is that of sum(E_i a_i) < 0,
    a_i = w_i (x_i - below). That sum has the transform prod 1/(1 - s a_i), whose poles are real. It is inverted along
    a hyperbola through the saddle point that follows the path of steepest descent, by the trapezoidal rule, which
    converges exponentially there. Either tail keeps its digits, however small it is.

    References
    ----------
    D. B. Rubin, "The Bayesian Bootstrap", Annals of Statistics 9(1), 1981, 130-134.
    H. E. Daniels, "Saddlepoint Approximations in Statistics", Annals of Mathematical Statistics 25(4), 1954, 631-650.
    """
    excesses = _excesses(scores, below, weights)
    if excesses.values.size == 0 or excesses.values[0] > 0:
        return 0.0
    if excesses.values[-1] < 0:
        return 1.0
    # only the tail beyond 0 as seen from the mean is computed, so that no digits cancel
    if exact_sum(excesses.counts * excesses.values) >= 0:
        return _tail(excesses)
    return 1.0 - _tail(_Excesses(-excesses.values[::-1], excesses.counts[::-1]))


class _Excesses(NamedTuple):
    """Distinct excesses over the bound other than 0, ascending, and how many topics have each."""

    values: FloatArray
    counts: FloatArray

    def sum(self, each: FloatArray) -> float:
        """The sum over topics of what each distinct excess contributes."""
        return float(np.sum(self.counts * each))


def _excesses(scores: npt.ArrayLike, below: float, weights: npt.ArrayLike | None) -> _Excesses:
    """Scores minus the bound, weighted, the largest 1; checked."""
    if not math.isfinite(below):
        raise ValueError(f"below must be finite, got {below!r}")
    excess = per_topic(scores, name="scores") - below
    if weights is not None:
        relative = per_topic(weights, name="weights")
        if relative.shape != excess.shape:
            raise ValueError(f"weights must have the shape of scores {excess.shape}, got {relative.shape}")
        if np.any(relative < 0) or not np.any(relative):
            raise ValueError("weights must be at least 0, and one of them above 0")
        excess = excess * (relative / np.max(relative))
    largest = float(np.max(np.abs(excess)))
    values, counts = np.unique(excess / (largest or 1.0), return_counts=True)
    matters = np.abs(values) > VANISHING
    return _Excesses(values[matters], counts[matters].astype(np.float64))


@dataclass(frozen=True)
class _Factors:
    """The factors 1 - z y of the integrand's inverse: those of one topic each, and those of several alike."""

    single: FloatArray
    alike: FloatArray
    counts: FloatArray

    @classmethod
    def of(cls, y: FloatArray, counts: FloatArray) -> _Factors:
        """Rows of single factors, filled up with factors of 1, are multiplied column by column."""
        single = y[counts == 1]
        filled = np.append(single, np.zeros(-single.size % TOGETHER))
        return cls(filled.reshape(TOGETHER, -1), y[counts > 1], counts[counts > 1])

    def log(self, z: ComplexArray) -> ComplexArray:
        """The logarithm of the product of all factors, at each point z."""
        products = 1 - z[:, None] * self.single[0]
        for row in self.single[1:]:
            products *= 1 - z[:, None] * row
        several = self.counts * np.log(1 - z[:, None] * self.alike)
        total: ComplexArray = np.sum(np.log(products), axis=1) + np.sum(several, axis=1)
        return total


def _tail(excesses: _Excesses) -> float:
    """P(sum < 0) of excesses of both signs whose sum is at least 0."""
    at, width = _saddle(excesses)
    # the pole of 1/s at 0 is a factor like the others, 1 - (s - at) y with y = -1/at
    y = np.append(width * excesses.values / (1 - at * excesses.values), -width / at)
    counts = np.append(excesses.counts, 1.0)
    factors, bend = _Factors.of(y, counts), float(np.sum(counts * y * y * y)) * 2 / 3
    step = FIRST_STEP
    total = 0.5 + _sum(factors, bend, start=step, step=step)
    while True:
        between = _sum(factors, bend, start=step / 2, step=step)
        step, total, change = step / 2, total + between, abs(total - between)
        if change <= ALIKE * abs(total) or step < SMALLEST_STEP:
            break
    log_height = -excesses.sum(np.log1p(-at * excesses.values)) - math.log(-at / width)
    return min(1.0, math.exp(log_height) * total * step / math.pi)


def _sum(factors: _Factors, bend: float, *, start: float, step: float) -> float:
    """The sum of the integrand over its height at u = start, start + step, ..., z = i sinh(u) + bend (cosh(u) - 1).

    ``bend`` is a third of the skewness: near 0 the path is that of steepest descent, where nothing oscillates.
    """
    points = min(MOST_POINTS, max(1, AT_ONCE // max(factors.single.shape[1], factors.alike.size)))
    terms: list[float] = []
    while True:
        u = start + step * np.arange(len(terms), len(terms) + points)
        z = 1j * np.sinh(u) + bend * (np.cosh(u) - 1)
        values = (np.cosh(u) - 1j * bend * np.sinh(u)) * np.exp(-factors.log(z))
        terms += values.real.tolist()
        if abs(values[-1]) < NEGLIGIBLE:
            return math.fsum(terms)


def _saddle(excesses: _Excesses) -> tuple[float, float]:
    """Where on the negative axis, right of all poles, prod 1/(1 - s a_i) / -s is smallest, and how wide it is there.

    Its log is convex: Newton's method, which halves the bracket where it would leave it.
    """
    values = excesses.values
    lowest, highest = 1 / float(values[0]), 0.0
    drift, square = exact_sum(excesses.counts * values), excesses.sum(values * values)
    at = -(drift + math.sqrt(drift * drift + 4 * square)) / (2 * square)  # exact for many small excesses
    while True:
        if not lowest < at < highest:
            at = (lowest + highest) / 2
        y = values / (1 - at * values)
        slope, width = excesses.sum(y) - 1 / at, 1 / math.sqrt(excesses.sum(y * y) + 1 / (at * at))
        if abs(slope) * width <= CLOSE:
            return at, width
        lowest, highest = (lowest, at) if slope > 0 else (at, highest)
        at -= slope * width * width
