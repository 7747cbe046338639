"""A long vector by fewer values that have the same moments, for smooth functions summed over its topics."""

from __future__ import annotations

import numpy as np

from pytest_riskguard.risk.checks import FloatArray

#: With more distinct values than this they are put into cells: so many by value and so many by rank.
MANY_VALUES, CELLS = 2048, 512


def condensed(y: FloatArray, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fewer values with the same share, mean, variance and third moment, cell by cell; short vectors as they are.

    What sums over topics see of a cell beyond these moments is of the fourth order in its width, and cells are narrow
    both in value and in rank: one topic far out does not make those of the others wide. Quantiles of T* were found to
    move by 1e-7.

    Parameters
    ----------
    y : array, shape (n_values,)
        Ascending and distinct.
    shares : array, shape (n_values,)
        How often each occurs; any positive numbers.

    Returns
    -------
    values, shares : array
        In no particular order; two of them for each cell.
    """
    if y.size <= MANY_VALUES:
        return y, shares
    width = (y[-1] - y[0]) / CELLS
    cells = np.floor((y - y[0]) / width) * CELLS + np.arange(y.size) * CELLS // y.size
    starts = np.flatnonzero(np.diff(cells, prepend=-1.0))
    held = np.add.reduceat(shares, starts)
    where = np.cumsum(np.diff(cells, prepend=cells[0]) != 0)
    mean = np.add.reduceat(shares * y, starts) / held
    off = y - mean[where]
    deviation = np.sqrt(np.add.reduceat(shares * off**2, starts) / held)
    cubes = np.add.reduceat(shares * off**3, starts) / held
    half = np.divide(cubes, 2 * deviation**3, out=np.zeros_like(cubes), where=deviation > 0)
    root = np.sqrt(1 + half**2)
    low, high = mean + deviation * (half - root), mean + deviation * (half + root)
    return np.concatenate([low, high]), np.concatenate(
        [held * (root + half) / (2 * root), held * (root - half) / (2 * root)]
    )
