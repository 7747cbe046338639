"""The mean of exp(i t v) over weighted values, at evenly spaced frequencies, to the last digits."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from pytest_riskguard.inference._bootstrap.inversion import ComplexArray
from pytest_riskguard.risk.checks import FloatArray

#: Angles per block: bounds the memory of long vectors.
BLOCK = 2**18
#: From this many distinct values with small angles their part of the mean of exp(i theta) comes from their moments.
MANY_VALUES = 10_000
SMALL_ANGLE = 2.0
MOMENTS = 36
#: A moment is left out where its part is smaller than this share of the second's.
SMALL_MOMENT = 1e-17
#: Points of the grid for each frequency, about.
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
        result[start : start + rows].real = -2 * _row_sums(weighted, sines)
        result[start : start + rows].imag = 2 * _row_sums(weighted, turned.real)
    return result


def _row_sums(a: FloatArray, b: FloatArray) -> FloatArray:
    # not a matrix product: a threaded one would add in an order that depends on the machine
    return np.asarray(np.einsum("kn,kn->k", a, b))


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
    """``|sum_j w_j exp(2 pi i k u_j)|`` for k = 0 ... frequencies - 1.

    Parameters
    ----------
    turns, weights : array, shape (n_values,)
        u_j, in turns of the circle, anywhere on the line, and w_j, which sum to 1.
    frequencies : int
        How many; about a power of two.

    Returns
    -------
    array, shape (frequencies,)
        Off by less than ``MAGNITUDE_ERROR``.
    """
    size, undoing = _undoing(frequencies)
    grid = np.zeros(size)
    for start in range(0, turns.size, SPREAD_BLOCK):
        some = turns[start : start + SPREAD_BLOCK, None] * size
        points = np.ceil(some - KERNEL_WIDTH / 2) + np.arange(KERNEL_WIDTH)
        spread = _kernel((points - some) * (2 / KERNEL_WIDTH))
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
    """Points of the grid, and one over the transform of the kernel at each frequency."""
    size = 2 ** round(math.log2(FINER * frequencies))
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    angles = np.multiply.outer(np.arange(frequencies) * (math.pi * KERNEL_WIDTH / size), nodes)
    # einsum, not a matrix product: a threaded one would add in an order that depends on the machine
    return size, np.asarray(2 / (KERNEL_WIDTH * np.einsum("kn,n->k", np.cos(angles), weights * _kernel(nodes))))
