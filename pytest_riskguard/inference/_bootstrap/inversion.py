"""F, density and quantiles of many laws at once, each from its characteristic function at a few frequencies."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pytest_riskguard.risk.checks import FloatArray

ComplexArray = npt.NDArray[np.complex128]
BoolArray = npt.NDArray[np.bool_]

#: Angles per block: bounds the memory.
BLOCK = 2**18
#: A root is found when the next step of Newton's method would be this short, in standard errors.
FOUND = 1e-14
#: Steps this short are rounding.
ROUNDING = 1e-13
#: No search starts further out, in standard errors.
FURTHEST_START = 10.0
MOST_STEPS = 100


class Inversion:
    """Sums over frequencies that give F of each of some laws, with as many arguments for each.

    Nothing computed for one law or argument depends, in any bit, on the others it is computed with.

    Parameters
    ----------
    phi : array of complex, shape (n_laws, n_frequencies)
        The characteristic functions at ``(k + 1/2) step``, k = 0, 1, ...
    weighted : array of complex, shape (n_laws, n_frequencies)
        The same, divided by what makes up F of it.
    steps : array, shape (n_laws,)
        Distance of two frequencies.
    """

    def __init__(self, phi: ComplexArray, weighted: ComplexArray, steps: FloatArray) -> None:
        self._phi, self._weighted, self._steps = phi, weighted, steps
        # sums over every second number in memory would be slow
        self._real, self._imag = np.ascontiguousarray(phi.real), np.ascontiguousarray(phi.imag)
        self._real_part, self._imag_part = np.ascontiguousarray(weighted.real), np.ascontiguousarray(weighted.imag)
        self._orders = np.arange(phi.shape[1]) + 0.5

    @classmethod
    def together(cls, inversions: Sequence[Inversion]) -> Inversion:
        """Those of as many frequencies in one."""
        if len(inversions) == 1:
            return inversions[0]
        return cls(
            np.concatenate([each._phi for each in inversions]),
            np.concatenate([each._weighted for each in inversions]),
            np.concatenate([each._steps for each in inversions]),
        )

    def only(self, laws: BoolArray) -> Inversion:
        """Some of the laws."""
        return Inversion(self._phi[laws], self._weighted[laws], self._steps[laws])

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
        angles = (z * self._steps[:, None])[:, :, None] * self._orders
        cosines, sines = np.cos(angles), np.sin(angles)
        # Im and Re of phi exp(-i angle)
        below = 0.5 + _over_frequencies(self._real_part, sines) - _over_frequencies(self._imag_part, cosines)
        density = _over_frequencies(self._real, cosines) + _over_frequencies(self._imag, sines)
        return below, density * (self._steps[:, None] / math.pi)

    def _search(self, p: FloatArray, start: FloatArray) -> FloatArray:
        laws, left, found = self, np.arange(p.shape[0]), np.empty_like(start)
        z = np.clip(start, -FURTHEST_START, FURTHEST_START)
        high = np.repeat(math.pi / self._steps[:, None], p.shape[1], axis=1)
        low, last = -high, np.zeros_like(z)
        searching: BoolArray = np.ones(z.shape, dtype=np.bool_)
        for _ in range(MOST_STEPS):
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
            searching &= (step >= ROUNDING * np.maximum(1.0, np.abs(z))) & (step**3 >= FOUND * last**2)
            last = np.where(newton, step, 0.0)
            busy = np.any(searching, axis=1)
            count = np.count_nonzero(busy)
            if 2 * count <= busy.size:
                found[left] = z
                if not count:
                    return found
                laws, left = laws.only(busy), left[busy]
                p, z, low, high, last = (values[busy] for values in (p, z, low, high, last))
                searching = searching[busy]
        found[left] = z
        return found


def _over_frequencies(terms: FloatArray, turns: FloatArray) -> FloatArray:
    # not a matrix product: a threaded one would add in an order that depends on the machine
    result: FloatArray = np.einsum("lk,lmk->lm", terms, turns)
    return result
