"""F, density and quantiles of many laws at once, each from its characteristic function at a few frequencies.

Laws are standardised: arguments are in standard errors, frequencies in reciprocal standard errors. Each law is put on
a circle of ``PERIOD`` standard errors and inverted with Davies' half-integer formula; Bennett's inequality bounds the
aliasing for any data: 3.5e-17 within 6 standard errors at this period.

References
----------
R. B. Davies, "Numerical inversion of a characteristic function", Biometrika 60 (1973).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pytest_riskguard.risk.checks import FloatArray

ComplexArray = npt.NDArray[np.complex128]
BoolArray = npt.NDArray[np.bool_]

#: A law is computed on a circle of this many standard errors.
PERIOD = 24.0
STEP = 2 * math.pi / PERIOD
#: Angles per block: bounds the memory.
BLOCK = 2**18
#: A root is found when the next step of Newton's method would be this short, in standard errors.
CONVERGED = 1e-14
#: Steps this short are rounding.
ROUNDING = 1e-13
#: No search starts further out, in standard errors.
MAX_START = 10.0
MAX_ITERATIONS = 100


def half_integers(count: int) -> FloatArray:
    """1/2, 3/2, ..."""
    halves: FloatArray = np.arange(count, dtype=np.float64) + 0.5
    return halves


def frequencies(count: int) -> FloatArray:
    """The first of Davies' frequencies: half-integer multiples of ``STEP``."""
    result: FloatArray = half_integers(count) * STEP
    return result


def weights(count: int) -> FloatArray:
    """What phi at these frequencies is divided by in the sum that gives F."""
    result: FloatArray = math.pi * half_integers(count)
    return result


class Inversion:
    """Sums over frequencies that give F of each of some laws, with as many arguments for each.

    Nothing computed for one law or argument depends, in any bit, on the others it is computed with.

    Parameters
    ----------
    phi : array of complex, shape (n_laws, n_frequencies)
        The characteristic functions of the standardised laws at ``frequencies(n_frequencies)``.
    """

    def __init__(self, phi: ComplexArray) -> None:
        self._phi = phi
        # sums over every second number in memory would be slow
        self._real, self._imag = np.ascontiguousarray(phi.real), np.ascontiguousarray(phi.imag)
        weighted = phi / weights(phi.shape[1])
        self._real_part, self._imag_part = np.ascontiguousarray(weighted.real), np.ascontiguousarray(weighted.imag)
        self._orders = half_integers(phi.shape[1])

    @classmethod
    def together(cls, inversions: Sequence[Inversion]) -> Inversion:
        """Several with the same number of frequencies in one."""
        if len(inversions) == 1:
            return inversions[0]
        return cls(np.concatenate([inversion._phi for inversion in inversions]))

    def only(self, laws: BoolArray) -> Inversion:
        """Some of the laws."""
        return Inversion(self._phi[laws])

    def cdf(self, z: FloatArray) -> FloatArray:
        """F at arguments of shape (n_laws, n_arguments)."""
        return np.clip(self._cdf_and_density(z)[0], 0.0, 1.0)

    def cdf_at_zero(self) -> float:
        """F of the first law at 0, where no angle needs turning."""
        return min(1.0, max(0.0, 0.5 - float(np.sum(self._imag_part[0]))))

    def quantiles(self, p: FloatArray, start: FloatArray) -> FloatArray:
        """Where F is p, shapes (n_laws, n_arguments), by Newton's method in a bracket that holds the answer."""
        rows = max(1, BLOCK // (self._orders.size * max(1, p.shape[1])))
        if p.shape[0] <= rows:
            return self._search(p, start)
        parts = []
        for first in range(0, p.shape[0], rows):
            block = np.zeros(p.shape[0], dtype=np.bool_)
            block[first : first + rows] = True
            parts.append(self.only(block)._search(p[block], start[block]))
        return np.concatenate(parts)

    def _cdf_and_density(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        angles = (z * STEP)[:, :, None] * self._orders
        cosines, sines = np.cos(angles), np.sin(angles)
        # Im and Re of phi exp(-i angle)
        below = 0.5 + _over_frequencies(self._real_part, sines) - _over_frequencies(self._imag_part, cosines)
        density = _over_frequencies(self._real, cosines) + _over_frequencies(self._imag, sines)
        return below, density * (STEP / math.pi)

    def _search(self, p: FloatArray, start: FloatArray) -> FloatArray:
        laws, left, roots = self, np.arange(p.shape[0]), np.empty_like(start)
        z = np.clip(start, -MAX_START, MAX_START)
        high = np.full(z.shape, math.pi / STEP)
        low, last = -high, np.zeros_like(z)
        searching: BoolArray = np.ones(z.shape, dtype=np.bool_)
        for _ in range(MAX_ITERATIONS):
            below, density = laws._cdf_and_density(z)
            excess = below - p
            high = np.where(excess > 0, z, high)
            low = np.where(excess > 0, low, z)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                following = z - excess / density
            newton = (following >= low) & (following <= high)
            following = np.where(newton, following, (low + high) / 2)
            step = np.abs(following - z)
            z = np.where(searching, following, z)
            # Newton's steps shrink quadratically: the next is to this one as the square of this to the last
            searching &= (step >= ROUNDING * np.maximum(1.0, np.abs(z))) & (step**3 >= CONVERGED * last**2)
            last = np.where(newton, step, 0.0)
            busy = np.any(searching, axis=1)
            count = np.count_nonzero(busy)
            if 2 * count <= busy.size:
                roots[left] = z
                if not count:
                    return roots
                laws, left = laws.only(busy), left[busy]
                p, z, low, high, last = (values[busy] for values in (p, z, low, high, last))
                searching = searching[busy]
        roots[left] = z
        return roots


def _over_frequencies(terms: FloatArray, turns: FloatArray) -> FloatArray:
    # not a matrix product: a threaded one would add in an order that depends on the machine
    result: FloatArray = np.einsum("lk,lmk->lm", terms, turns)
    return result
