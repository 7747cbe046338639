"""Intervals and p-values of the difference of two GeoRisks, from draws and from the jackknife.

The intervals are those of ``intervals``, for a difference in place of a mean: percentile and BCa from the draws, the
latter with its acceleration from the jackknife, and Student-t with the jackknife's standard error.

References
----------
B. Efron, "Better bootstrap confidence intervals", Journal of the American Statistical Association 82 (1987);
R. Benham, B. Carterette, A. Moffat, J. S. Culpepper, "Taking risks with confidence", ADCS 2019, Eq. 5-7.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from pytest_riskguard.inference._bootstrap.laws import DrawnLaw
from pytest_riskguard.inference.intervals import Interval, adjusted, bias_correction, critical_value
from pytest_riskguard.risk.checks import FloatArray, mean

METHODS = ("student_t", "percentile", "bca")
#: Levels are searched in steps of 1 over this: 1 minus such a step is a floating-point number.
STEPS = 2**53


@dataclass(frozen=True, eq=False)
class GeoRiskDifference:
    """GeoRisk of the candidate less that of a reference, at one alpha.

    Attributes
    ----------
    reference : int or "median"
        Row of the pool, or the median GeoRisk of all systems but the candidate.
    alpha : float
    estimate : float
        Below 0 where the candidate is riskier.
    left_out : array, shape (n_topics,)
        The same with each topic left out.
    law : DrawnLaw
        The same in each replicate.
    """

    reference: int | str
    alpha: float
    estimate: float
    left_out: FloatArray
    law: DrawnLaw

    @property
    def constant(self) -> bool:
        """Whether the difference is the same in every replicate: all limits are then the estimate."""
        return self.law.constant

    @cached_property
    def _influence(self) -> FloatArray:
        influence: FloatArray = mean(self.left_out) - self.left_out
        return influence

    @cached_property
    def standard_error(self) -> float:
        """By the jackknife."""
        n = self.left_out.size
        return math.sqrt((n - 1) / n * math.fsum(self._influence**2))

    @cached_property
    def acceleration(self) -> float:
        """BCa's a, by the jackknife: sum L^3 / (6 (sum L^2)^1.5) (ADCS 2019, Eq. 6); 0 without variation."""
        largest = float(np.max(np.abs(self._influence)))
        if largest == 0:
            return 0.0
        unit = self._influence / largest
        return float(math.fsum(unit**3) / (6 * math.fsum(unit**2) ** 1.5))

    @cached_property
    def bias(self) -> float:
        """BCa's w: replicates that equal the estimate count half."""
        return bias_correction(self.law.mid_cdf(self.law.centre))

    def interval(self, *, method: str = "bca", level: float = 0.95) -> Interval:
        """The two-sided interval of the difference.

        Parameters
        ----------
        method : {"student_t", "percentile", "bca"}
        level : float
            Confidence, in (0, 1). Any number of levels share the draws.

        Raises
        ------
        ValueError
            An unknown method; a level outside (0, 1), or so high that not even one replicate lies beyond a limit.
        """
        self._check(method, level)
        return Interval(method, level, *self._limits(method, level))

    def p_value(self, *, method: str = "bca", bound: float = 0.0) -> float:
        """The smallest ``1 - level`` at which the interval's upper limit lies below a bound.

        Found by looking at the interval itself, so the two never disagree: for every level that ``interval`` takes,
        its upper limit is below the bound exactly where the p-value is at most ``1 - level``.

        Parameters
        ----------
        method : {"student_t", "percentile", "bca"}
        bound : float
            In units of GeoRisk.

        Returns
        -------
        float
            From 0 to 1, and 1 where no level suffices. Draws cannot show less than 2 over their number. Without
            variation it is 0 or 1.
        """
        self._check(method, 0.5)
        if self.constant:
            return float(not self.estimate < bound)
        return _smallest_significance(
            lambda level: self._limits(method, level)[1] < bound,
            at_least=1 if method == "student_t" else math.ceil(STEPS * 2 / self.law.size),
        )

    def resolution(self, *, method: str = "bca", level: float = 0.95) -> float:
        """How far other draws would move a limit: four standard deviations of it, in standard errors."""
        self._check(method, level)
        if method == "student_t" or self.constant:
            return 0.0
        size, moved = self.law.size, 0.0
        for p in self._probabilities(method, level):
            error = math.sqrt(p * (1 - p) / size)
            if method == "bca":  # the bias correction is drawn too, and moves the probability twice
                shift = 2 * math.sqrt(math.pi / 2 / size)
                error = math.hypot(error, shift * _normal_density(p))
            limit = self.law.quantile(p)
            moved = max(moved, *(abs(self.law.quantile(p + side * error) - limit) for side in (-4, 4)))
        return moved / (self.standard_error if self.standard_error > 0 else self.law.deviation)

    def _limits(self, method: str, level: float) -> tuple[float, float]:
        if self.constant:
            return self.estimate, self.estimate
        if method == "student_t":
            half = critical_value(self.left_out.size, level=level) * self.standard_error
            return self.estimate - half, self.estimate + half
        lower, upper = self._probabilities(method, level)
        return self.law.quantile(lower), self.law.quantile(upper)

    def _probabilities(self, method: str, level: float) -> tuple[float, float]:
        """At whose quantiles the limits lie."""
        lower, upper = (1 - level) / 2, (1 + level) / 2
        if method == "percentile":
            return lower, upper
        return adjusted(lower, self.bias, self.acceleration), adjusted(upper, self.bias, self.acceleration)

    def _check(self, method: str, level: float) -> None:
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, got {level!r}")
        # 1 - (1 - 2/size) may be a last digit below 2/size
        if method != "student_t" and not self.constant and (1 - level) * self.law.size < 2 - 1e-6:
            raise ValueError(
                f"level {level!r} needs at least {math.ceil(2 / (1 - level))} replicates, there are {self.law.size}"
            )


def _smallest_significance(fails: Callable[[float], bool], *, at_least: int) -> float:
    """The smallest ``1 - level`` at which a test fails that fails at every lower level too, on a grid of 2^-53."""
    low, high = at_least, STEPS - 1
    if low > high or not fails(1 - high / STEPS):
        return 1.0
    while low < high:
        middle = (low + high) // 2
        if fails(1 - middle / STEPS):
            high = middle
        else:
            low = middle + 1
    return low / STEPS


def _normal_density(p: float) -> float:
    """Of the standard normal law at its quantile of p."""
    z = float(ndtri(p))
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi) if math.isfinite(z) else 0.0
