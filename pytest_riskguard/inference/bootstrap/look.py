"""A look at the size of a characteristic function at all frequencies that might be needed, by one small transform.

Draws lie anywhere, a transform wants them on a grid: each is spread over the grid points beside it by a smooth kernel
whose own transform is known and divided out again (a non-uniform fast Fourier transform).

References
----------
A. H. Barnett, J. Magland, L. af Klinteberg, "A parallel nonuniform fast Fourier transform library based on an
exponential of semicircle kernel", SIAM Journal on Scientific Computing 41 (2019), Eq. 1.8 and section 3.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from pytest_riskguard.risk.checks import FloatArray

#: Points of the grid for each frequency, about.
FINER = 4
#: Grid points that a draw is spread over, and how sharply.
WIDTH = 10
SHARPNESS = 2.3 * WIDTH
#: What spreading moves the size of the characteristic function of one draw by, at the most.
LOOK_ERROR = 3e-8
#: Nodes of the kernel's transform.
NODES = 40
#: Draws spread at a time: bounds the memory.
BLOCK = 2**15


def sizes(turns: FloatArray, weights: FloatArray, frequencies: int) -> FloatArray:
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
        Off by less than ``LOOK_ERROR``.
    """
    size, undoing = _undoing(frequencies)
    grid = np.zeros(size)
    for start in range(0, turns.size, BLOCK):
        some = turns[start : start + BLOCK, None] * size
        points = np.ceil(some - WIDTH / 2) + np.arange(WIDTH)
        spread = _kernel((points - some) * (2 / WIDTH))
        spread *= weights[start : start + BLOCK, None]
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
    angles = np.multiply.outer(np.arange(frequencies) * (math.pi * WIDTH / size), nodes)
    # einsum, not a matrix product: a threaded one would add in an order that depends on the machine
    return size, np.asarray(2 / (WIDTH * np.einsum("kn,n->k", np.cos(angles), weights * _kernel(nodes))))
