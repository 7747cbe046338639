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
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, logit

from pytest_riskguard.inference._bootstrap.inversion import PERIOD, ComplexArray
from pytest_riskguard.inference._bootstrap.sample import lattice_step
from pytest_riskguard.inference._flips.bets import Bets
from pytest_riskguard.inference._flips.bounds import bounds_along, real_sum
from pytest_riskguard.inference._flips.few_swings import by_few_swings
from pytest_riskguard.inference._flips.line import line_of
from pytest_riskguard.inference._flips.swings import characteristic
from pytest_riskguard.risk.checks import IntArray

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


@dataclass(frozen=True)
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
