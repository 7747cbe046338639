"""F, density and quantiles of several distributions, each from its characteristic function at a few frequencies.

Distributions are standardised: arguments are in standard errors, frequencies in reciprocal standard errors. Each is
put on a circle of ``PERIOD`` standard errors and inverted with Davies' half-integer formula; Bennett's inequality
bounds the aliasing for any data: 3.5e-17 within 6 standard errors at this period. Products are summed by einsum: a
matrix product with several threads would add in an order that depends on the machine.

References
----------
R. B. Davies, "Numerical inversion of a characteristic function", Biometrika 60 (1973).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pytest_riskguard.risk.checks import BoolArray, FloatArray

ComplexArray = npt.NDArray[np.complex128]

#: A law is computed on a circle of this many standard errors.
PERIOD = 24.0
STEP = 2 * math.pi / PERIOD
#: Angles per block: bounds the memory.
BLOCK = 2**18
#: Angles per block where roots are searched, each of which needs its sine and cosine too.
SEARCHED_BLOCK = 2**16
#: A root is found when the next step of Newton's method would be this short, in standard errors.
CONVERGED = 1e-14
#: Steps this short are rounding.
ROUNDING = 1e-13
#: No search starts further out, in standard errors.
MAX_START = 10.0
MAX_ITERATIONS = 100
#: If at least this many distinct values have small angles, their part of the mean of exp(i theta) is by moments.
MANY_VALUES = 10_000
SMALL_ANGLE = 2.0
MOMENTS = 36
#: A moment is left out where its part is smaller than this share of the second's.
SMALL_MOMENT = 1e-17
#: The grid has about this many points for each frequency.
FINER = 4
#: Grid points that a draw is spread over, and how sharply.
KERNEL_WIDTH = 10
SHARPNESS = 2.3 * KERNEL_WIDTH
#: Spreading moves the magnitude of the characteristic function of one draw by at most this.
MAGNITUDE_ERROR = 3e-8
#: Nodes of the kernel's transform.
NODES = 40
#: Draws spread at a time: bounds the memory.
SPREAD_BLOCK = 2**15


def half_integers(count: int) -> FloatArray:
    """1/2, 3/2, ..."""
    return np.arange(count, dtype=np.float64) + 0.5


def frequencies(count: int) -> FloatArray:
    """The first of Davies' frequencies: half-integer multiples of ``STEP``."""
    return half_integers(count) * STEP


def weights(count: int) -> FloatArray:
    """What phi at these frequencies is divided by in the sum that gives F."""
    return math.pi * half_integers(count)


class Inversion:
    """Sums over frequencies that give F of several laws, at as many arguments for each.

    ``phi``, shape (n_laws, n_frequencies), are the characteristic functions of the standardised laws at
    ``frequencies(n_frequencies)``. Results for a law are the same to the bit whatever other laws share the call.
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
        """One inversion of all laws of several, which must have the same number of frequencies."""
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
        """F of the first law at 0."""
        return min(1.0, max(0.0, 0.5 - float(np.sum(self._imag_part[0]))))

    def quantiles(self, p: FloatArray, start: FloatArray) -> FloatArray:
        """Where F is p, shapes (n_laws, n_arguments), by Newton's method in a bracket that holds the answer."""
        rows = max(1, SEARCHED_BLOCK // (self._orders.size * max(1, p.shape[1])))
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
        terms = "lk,lmk->lm"
        below = 0.5 + np.einsum(terms, self._real_part, sines) - np.einsum(terms, self._imag_part, cosines)
        density = np.einsum(terms, self._real, cosines) + np.einsum(terms, self._imag, sines)
        return below, density * (STEP / math.pi)

    def _search(self, p: FloatArray, start: FloatArray) -> FloatArray:
        laws, remaining, roots = self, np.arange(p.shape[0]), np.empty_like(start)
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
            # Newton's steps shrink quadratically: next/this is about the square of this/last
            searching &= (step >= ROUNDING * np.maximum(1.0, np.abs(z))) & (step**3 >= CONVERGED * last**2)
            last = np.where(newton, step, 0.0)
            busy = np.any(searching, axis=1)
            count = np.count_nonzero(busy)
            if 2 * count <= busy.size:
                roots[remaining] = z
                if not count:
                    return roots
                laws, remaining = laws.only(busy), remaining[busy]
                p, z, low, high, last = (values[busy] for values in (p, z, low, high, last))
                searching = searching[busy]
        roots[remaining] = z
        return roots


def mean_exponential_less_one(step: float, count: int, values: FloatArray, weights: FloatArray) -> ComplexArray:
    """``mean(exp(i t v)) - 1`` over weighted values at frequencies (k + 1/2) step, without cancellation."""
    if values.size >= MANY_VALUES:
        t: FloatArray = (np.arange(count, dtype=np.float64) + 0.5) * step
        small = np.abs(values) * float(t[-1]) <= SMALL_ANGLE
        count_of_small = np.count_nonzero(small)
        if count_of_small == values.size:
            return _by_moments(t, values, weights)
        if count_of_small >= MANY_VALUES:
            by_moments = _by_moments(t, values[small], weights[small])
            return by_moments + _by_turns(step, count, values[~small], weights[~small])
    return _by_turns(step, count, values, weights)


def _by_turns(step: float, count: int, values: FloatArray, weights: FloatArray) -> ComplexArray:
    result = np.empty(count, dtype=np.complex128)
    rows = min(count, max(1, BLOCK // values.size))
    first = _half_turns(step, rows, values)
    for start in range(0, count, rows):
        turned = first[: count - start]
        if start:
            turned = turned * _turn(values * (start * step / 2))
        sines = np.ascontiguousarray(turned.imag)
        weighted = sines * weights
        # 1 - cos = 2 sin^2 and sin = 2 sin cos of half the angle
        result[start : start + rows].real = -2 * np.einsum("kn,kn->k", weighted, sines)
        result[start : start + rows].imag = 2 * np.einsum("kn,kn->k", weighted, turned.real)
    return result


def _half_turns(step: float, count: int, values: FloatArray) -> ComplexArray:
    """``exp(i t v / 2)`` at frequencies (k + 1/2) step, each the product of a few turns."""
    turn = _turn(values * (step / 2))
    turns = np.empty((count, values.size), dtype=np.complex128)
    turns[0] = _turn(values * (step / 4))
    done = 1
    while done < count:
        more = min(done, count - done)
        np.multiply(turns[:more], turn, out=turns[done : done + more])
        turn = turn * turn
        done += more
    return turns


def _turn(angles: FloatArray) -> ComplexArray:
    turn = np.empty(angles.size, dtype=np.complex128)
    turn.real, turn.imag = np.cos(angles), np.sin(angles)
    return turn


def _by_moments(t: FloatArray, values: FloatArray, weights: FloatArray) -> ComplexArray:
    scale = float(np.max(np.abs(values)))
    angles = t * scale
    largest = float(angles[-1])
    unit = values / scale
    power = weights.copy()
    result = np.zeros(t.size, dtype=np.complex128)
    factor = np.ones(t.size, dtype=np.complex128)
    for order in range(1, MOMENTS):
        if order > 2 and 2 * largest ** (order - 2) < SMALL_MOMENT * math.factorial(order):
            break
        power *= unit
        factor *= 1j * angles / order
        result += factor * np.sum(power)
    return result


def magnitudes(turns: FloatArray, weights: FloatArray, frequencies: int) -> FloatArray:
    """``|sum_j w_j exp(2 pi i k u_j)|`` for k = 0 ... frequencies - 1, off by less than ``MAGNITUDE_ERROR``.

    u_j are turns of the circle, of any size; w_j sum to 1; the number of frequencies is about a power of two.
    """
    size, undoing = _undoing(frequencies)
    grid = np.zeros(size)
    for start in range(0, turns.size, SPREAD_BLOCK):
        positions = turns[start : start + SPREAD_BLOCK, None] * size
        points = np.ceil(positions - KERNEL_WIDTH / 2) + np.arange(KERNEL_WIDTH)
        spread = _kernel((points - positions) * (2 / KERNEL_WIDTH))
        spread *= weights[start : start + SPREAD_BLOCK, None]
        # a power of two: the remainder is the last bits
        grid += np.bincount(points.astype(np.int64).ravel() & (size - 1), spread.ravel(), size)
    transform = np.fft.rfft(grid)[:frequencies]
    result: FloatArray = np.sqrt(transform.real**2 + transform.imag**2)
    result *= undoing
    return result


def _kernel(away: FloatArray) -> FloatArray:
    height = 1 - away * away
    np.maximum(height, 0.0, out=height)
    np.sqrt(height, out=height)
    height -= 1
    height *= SHARPNESS
    return np.asarray(np.exp(height, out=height))


@lru_cache(maxsize=4)
def _undoing(frequencies: int) -> tuple[int, FloatArray]:
    """How many points the grid has, and the reciprocal of the kernel's transform at each frequency."""
    size = 2 ** round(math.log2(FINER * frequencies))
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    angles = np.multiply.outer(np.arange(frequencies) * (math.pi * KERNEL_WIDTH / size), nodes)
    return size, np.asarray(2 / (KERNEL_WIDTH * np.einsum("kn,n->k", np.cos(angles), weights * _kernel(nodes))))
