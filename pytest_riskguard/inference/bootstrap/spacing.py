"""Whether values lie on a lattice: all of them multiples of one step."""

from __future__ import annotations

import math

import numpy as np

from pytest_riskguard.risk.checks import FloatArray

#: A value this close to a multiple of the step, in steps, lies on the lattice.
ON_LATTICE = 1e-6


def lattice_step(values: FloatArray) -> float | None:
    """The largest step that all values are multiples of, by Euclid's algorithm; None where there is none."""
    sizes = np.unique(np.abs(values[values != 0]))
    if sizes.size == 0:
        return None
    largest = step = float(sizes[-1])
    tolerance = 1e-9 * largest
    first = 0
    while first < sizes.size:
        # those that are multiples already would leave the step as it is
        off = np.flatnonzero(np.abs(sizes[first:] - np.rint(sizes[first:] / step) * step) > tolerance)
        if off.size == 0:
            break
        first += int(off[0]) + 1
        step = _common_divisor(float(sizes[first - 1]), step, tolerance)
        if step < 4 * tolerance:
            return None
        # the step carries rounding, which every further value would multiply: fit it to the largest value
        step = largest / round(largest / step)
    off = np.abs(sizes / step - np.rint(sizes / step))
    return step if float(np.max(off)) < ON_LATTICE else None


def _common_divisor(a: float, b: float, tolerance: float) -> float:
    while b > tolerance:
        a, b = b, abs(math.remainder(a, b))
    return a
