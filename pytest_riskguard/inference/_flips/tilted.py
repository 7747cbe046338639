"""The law of the sum from its characteristic function, tilted so that the observed sum is near the middle.

With K(z) = sum log(1 - q + q exp(z c)) over sizes c and chances q, P(sum >= L) is the integral of
exp(K(z) - z L) / (2 pi i z) along any line with a positive real part s; with a negative one it is that probability
less 1. On the line where the tilted mean is L, exp(K(s) - s L) is about as small as the probability itself, and what
is left is a characteristic function at a few frequencies: rounding and truncation are a share of the probability,
however small it is. Davies' half-integer frequencies make the integral a sum; what wraps round its period is below
exp(-38).

References
----------
R. B. Davies, "Numerical inversion of a characteristic function", Biometrika 60 (1973).
R. Lugannani, S. Rice, "Saddle point approximation for the distribution of the sum of independent random variables",
Advances in Applied Probability 12 (1980): the line of integration.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from pytest_riskguard.frozen import frozen
from pytest_riskguard.inference._bootstrap.inversion import PERIOD, ComplexArray
from pytest_riskguard.inference._bootstrap.sample import lattice_step
from pytest_riskguard.inference._flips.bets import (
    Bets,
    bounds_along,
    counted,
    counted_without_each,
    line_of,
    real_sum,
)
from pytest_riskguard.inference._flips.swings import by_few_swings, characteristic
from pytest_riskguard.risk.checks import BoolArray, FloatArray, IntArray
from pytest_riskguard.risk.distributions import expit, logit

#: Where inversion does not converge, 2 to this power patterns are counted.
MAX_COUNTED_INSTEAD = 34
#: Frequencies where some do not suffice, with at most so many angles.
MAX_FREQUENCIES, MAX_ANGLES = 2**15, 2**22
#: Bounds further apart than this, as a share of the probability, are too wide where a topic has more than so much of
#: the variance: both its outcomes are computed apart, for at most so many such topics.
TOO_WIDE, DOMINATING, MAX_APART = 2e-3, 0.2, 4


def at_least_observed(bets: Bets, *, apart: int = 0) -> tuple[float, bool]:
    """P(sum >= observed), and whether it is exact; so many topics have been taken apart already."""
    if bets.total - bets.short <= bets.rounding:
        return 1.0, True
    if bets.short < -bets.rounding:
        return 0.0, True
    if bets.short <= bets.rounding:
        matter = bets.sizes > bets.rounding
        return math.exp(float(np.sum(bets.topics[matter] * np.log(bets.chances[matter])))), True
    if bets.sizes.size == 1:
        from scipy.special import bdtrc

        losses = math.ceil(bets.limit / float(bets.sizes[0]))
        return float(bdtrc(losses - 1, int(bets.topics[0]), float(bets.chances[0]))), True
    by_counting = counted(bets)
    if by_counting is not None:
        return by_counting, True
    inversion = Inversion(bets)
    if inversion.other_side_is_nothing:
        return 1.0, True
    by_inversion = None if inversion.cannot_converge else inversion.inverted()
    if by_inversion is not None and by_inversion.converged:
        return by_inversion.safe, by_inversion.exact
    by_counting = counted(bets, MAX_COUNTED_INSTEAD)
    if by_counting is not None:
        return by_counting, True
    by_few_swings = inversion.by_few_swings()
    if by_few_swings is not None:
        return by_few_swings, False
    more = Inversion(bets, max(FREQUENCIES, min(MAX_FREQUENCIES, MAX_ANGLES // bets.sizes.size)))
    by_inversion, (lower, upper) = more.inverted(), more.bounds()
    if by_inversion.converged:
        return by_inversion.safe, False
    variances = bets.chances * (1 - bets.chances) * bets.sizes**2
    largest = int(np.argmax(variances))
    dominating = variances[largest] > DOMINATING * np.sum(bets.topics * variances)
    if upper - lower > TOO_WIDE * upper and dominating and apart < MAX_APART:
        chance = float(bets.chances[largest])
        if_lost, exact = at_least_observed(bets.without(largest, loses=True), apart=apart + 1)
        if_won, exact_too = at_least_observed(bets.without(largest, loses=False), apart=apart + 1)
        return chance * if_lost + (1 - chance) * if_won, exact and exact_too
    return upper, False


def at_least_observed_without(bets: Bets, sizes: FloatArray, chances: FloatArray, lost: BoolArray) -> FloatArray:
    """P(sum >= observed) without one topic, for several: each is one of the bets, with its size, chance and outcome.

    NaN where that has to be computed on its own.
    """
    p = np.full(sizes.size, np.nan)
    if bets.total - bets.short <= bets.rounding or bets.short <= bets.rounding:
        return p
    by_counting = counted_without_each(bets, MAX_COUNTED_INSTEAD)
    if by_counting is not None:
        for k, entry in enumerate(bets.entries_of(sizes, chances).tolist()):
            if entry >= 0:
                p[k] = by_counting[0 if lost[k] else 1][entry]
        return p
    # without a topic the others may lie on a lattice, if either half of the sizes does
    halves = (bets.sizes[::2], bets.sizes[1::2])
    if lattice_step(bets.sizes) is None and any(lattice_step(half) is not None for half in halves):
        return p
    inversion = Inversion(bets)
    if inversion.cannot_converge:
        return p
    for k in range(sizes.size):
        rest = inversion.without(float(sizes[k]), float(chances[k]), lost=bool(lost[k]))
        if rest is not None and rest.converged:
            p[k] = rest.safe
    return p


#: Frequencies of the sum at first.
FREQUENCIES = 4096
#: Points of a lattice over the period up to which its law is computed exactly.
MAX_POINTS = 2**17
#: Error of a sum over frequencies, as a share of its scale.
ROUNDING = 1e-14
#: The line serves the law without one topic as well if its size is at most this many standard deviations and its
#: factor's squared magnitude no less than this.
NARROW, MIN_FACTOR = 0.5, 0.05
#: What is less than this share of 1 is nothing.
NOTHING = 1e-17
#: A sum has converged if what it leaves out is at most this share of the probability.
MAX_ERROR = 3e-4


@frozen
class Inverted:
    """P(sum >= observed), at most ``error`` too small, and whether that is small enough."""

    p: float
    error: float
    converged: bool
    exact: bool

    @property
    def safe(self) -> float:
        """The probability with the error added."""
        return self.p + self.error


class Inversion:
    """The integral along the line for bets with chances below 1, where the sum asked for is no extreme one."""

    def __init__(self, bets: Bets, count: int = FREQUENCIES) -> None:
        self._step = lattice_step(bets.sizes)
        self._bets = bets = bets if self._step is None else bets.on_lattice(self._step)
        self._line = line = line_of(bets)
        self._exact = self._step is not None and line.period <= MAX_POINTS
        count = math.ceil(line.period / 2) if self._exact else count
        self._angle = math.pi / count if self._exact else 2 * math.pi / line.period
        self._count = count

    @property
    def other_side_is_nothing(self) -> bool:
        """Whether the probability is 1 up to rounding: Chernoff's bound of the other side's says so."""
        return self._line.tilt < 0 and self._line.scale < NOTHING

    @property
    def cannot_converge(self) -> bool:
        """Whether more is left out than may be, whatever the integral is, which is at most 1."""
        return not self._exact and self._line.scale > 0 and self._error(self._everywhere, 0.0) > MAX_ERROR

    def by_few_swings(self) -> float | None:
        """P(sum >= observed) where it cannot converge because few topics swing; None where that is no reason."""
        return by_few_swings(self._bets, self._line) if self._step is None else None

    def inverted(self) -> Inverted:
        """P(sum >= observed)."""
        return self._integrated(self._phi, self._everywhere, self._line.scale)

    def without(self, size: float, chance: float, *, lost: bool) -> Inverted | None:
        """The same without one topic, along the same line; None where the line or the division is unfit."""
        if self._step is not None:
            size = round(size / self._step)
        if size * PERIOD > NARROW * self._line.period:
            return None
        odds = logit(chance) + self._line.tilt * size
        swing, stay = float(expit(-odds if lost else odds)), float(expit(odds if lost else -odds))
        factors = 1 - swing + swing * np.exp((-size if lost else size) * self._turns)
        squares = factors.real**2 + factors.imag**2
        if float(np.min(squares, initial=1.0)) < MIN_FACTOR:
            return None
        ratio = math.log(chance if lost else 1 - chance) - math.log(stay)
        scale = math.exp(self._line.log_scale - ratio)
        return self._integrated(self._phi / factors, self._everywhere * math.exp(2 * swing * stay), scale)

    def bounds(self) -> tuple[float, float]:
        """P(sum >= observed) lies between these, whatever the law is at higher frequencies."""
        line, step = self._line, self._line.tilt * 2 * math.pi / self._angle
        places = self._alive.astype(np.float64) + 0.5
        lower, upper = bounds_along(self._phi * self._shifted, places, count=self._count, step=step)
        return line.other_side + line.scale * lower, line.other_side + line.scale * upper

    def _integrated(self, phi: ComplexArray, everywhere: float, scale: float) -> Inverted:
        integral = self._angle / math.pi * real_sum(phi, self._weights)
        left_out = 0.0 if self._exact else self._left_out(phi, everywhere)
        return Inverted(
            self._line.other_side + scale * integral,
            scale * (left_out + ROUNDING),
            converged=left_out <= MAX_ERROR * abs(integral) or scale == 0,
            exact=self._exact,
        )

    def _left_out(self, phi: ComplexArray, everywhere: float) -> float:
        """How much the sum over frequencies may be too small, before it is scaled.

        It has half of the patterns whose sum is the observed one, or so close to it that only higher frequencies tell
        them apart: these are the mean of phi at the last frequencies. What else is left out is as large as at these,
        or as over all frequencies if that is more, with signs as good as random. The factor is for heavy tails: in
        1,400 laws of 16 to 30 topics that were counted too, at most 5.6 was needed where it nearly converged.
        """
        first = self._count // 2
        late = slice(int(np.searchsorted(self._alive, first)), None)
        near = float(np.sum((phi[late] * self._shifted[late]).real)) / (self._count - first)
        squares = float(np.sum(phi[late].real ** 2 + phi[late].imag ** 2)) / (self._count - first)
        return self._error(max(squares, everywhere), near)

    def _error(self, square: float, near: float) -> float:
        return 8 * math.sqrt(square / self._count) / math.pi + max(near, 0.0) / 2

    @cached_property
    def _everywhere(self) -> float:
        """The mean of the squared magnitude over all frequencies, where no sizes have a common measure."""
        return math.exp(-2 * float(np.sum(self._bets.topics * self._line.chances * self._line.complements)))

    @cached_property
    def _values(self) -> tuple[IntArray, ComplexArray]:
        """Frequencies where the characteristic function is something, mostly few, and what it is there."""
        line = self._line
        if line.scale == 0:  # and so is the probability, or that of the other side
            return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.complex128)
        phi = characteristic(self._bets, line.chances, line.complements, self._angle, self._count)
        alive = np.flatnonzero(phi)
        return alive, phi[alive]

    @property
    def _alive(self) -> IntArray:
        return self._values[0]

    @property
    def _phi(self) -> ComplexArray:
        return self._values[1]

    @cached_property
    def _turns(self) -> ComplexArray:
        return np.asarray(1j * self._angle * (self._alive + 0.5))

    @cached_property
    def _shifted(self) -> ComplexArray:
        return np.asarray(np.exp(self._turns * self._bets.slack))

    @cached_property
    def _weights(self) -> ComplexArray:
        # on a lattice sums are geometric series, elsewhere integrals
        z = self._line.tilt + self._turns
        return np.asarray(self._shifted / (z if self._step is None else -np.expm1(-z)))
