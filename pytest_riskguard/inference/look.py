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

#: Frequencies looked at, and points of the grid: four for each of them.
FREQUENCIES = 4098
POINTS = 2**14
#: Grid points that a draw is spread over, and how sharply.
WIDTH = 10
SHARPNESS = 2.3 * WIDTH
#: What spreading moves the size of the characteristic function of one draw by, at the most.
LOOK_ERROR = 3e-8
#: Nodes of the kernel's transform.
NODES = 40
#: Draws spread at a time: bounds the memory.
BLOCK = 2**15


def sizes(positions: FloatArray, weights: FloatArray) -> FloatArray:
    """``|sum_j w_j exp(2 pi i k u_j / POINTS)|`` for k = 0 ... FREQUENCIES - 1.

    Parameters
    ----------
    positions, weights : array, shape (n_values,)
        u_j, in points of the grid, anywhere on the line, and w_j, which sum to 1.

    Returns
    -------
    array, shape (FREQUENCIES,)
        Off by less than ``LOOK_ERROR``.
    """
    grid = np.zeros(POINTS)
    for start in range(0, positions.size, BLOCK):
        some = positions[start : start + BLOCK]
        nearest = np.ceil(some - WIDTH / 2)
        points = nearest[:, None] + np.arange(WIDTH)
        away = (points - some[:, None]) * (2 / WIDTH)
        spread = _kernel(away) * weights[start : start + BLOCK, None]
        grid += np.bincount(points.astype(np.int64).ravel() % POINTS, spread.ravel(), minlength=POINTS)
    transform = np.fft.rfft(grid)[:FREQUENCIES]
    result: FloatArray = np.sqrt(transform.real**2 + transform.imag**2) * _undoing()
    return result


def _kernel(away: FloatArray) -> FloatArray:
    return np.asarray(np.exp(SHARPNESS * (np.sqrt(np.maximum(1 - away**2, 0.0)) - 1)))


@lru_cache(maxsize=1)
def _undoing() -> FloatArray:
    """One over the transform of the kernel."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    angles = np.multiply.outer(np.arange(FREQUENCIES) * (math.pi * WIDTH / POINTS), nodes)
    # einsum, not a matrix product: a threaded one would add in an order that depends on the machine
    return np.asarray(2 / (WIDTH * np.einsum("kn,n->k", np.cos(angles), weights * _kernel(nodes))))
