"""Bounds of a probability from its characteristic function at a few frequencies, whatever it is at higher ones.

References
----------
S. W. Graham, J. D. Vaaler, "A class of extremal functions for the Fourier transform", Transactions of the American
Mathematical Society 265 (1981): the least function above exp(-x) for x >= 0, 0 below, with no higher frequencies.
"""

from __future__ import annotations

import math

import numpy as np

from pytest_riskguard.inference._bootstrap.inversion import ComplexArray
from pytest_riskguard.risk.checks import FloatArray

#: Error of the bounds: what of them wraps round the period, measured below 1e-10.
WRAPPED = 1e-9


def bounds_along(phi: ComplexArray, places: FloatArray, *, count: int, step: float) -> tuple[float, float]:
    """The mean of exp(-tilt x) where x >= 0 lies between these, whatever the law is at higher frequencies.

    ``phi`` is the mean of exp(i t x) at t = ``places`` times an angle; the places are 1/2, 3/2, ... below ``count``,
    without those where it is 0. ``step`` is the tilt times 2 pi over the angle. If that is negative, it is the mean
    where x < 0, with a minus sign.

    exp(-x) where a pattern counts, 0 elsewhere, is replaced by the least function above it, or the largest below,
    whose Fourier transform ends where the frequencies do. It and its derivative are known at whole numbers (Graham
    and Vaaler, 1981): two geometric series give the transform. The functions differ by (sin(pi x) / (pi x))^2.
    """
    if step < 0:
        phi = np.conj(phi)
    u = places / count
    decay = abs(step) / count
    ratio = np.exp(-decay - 2j * math.pi * u)
    slopes = decay * (1 / math.expm1(decay) - ratio / (1 - ratio))
    below = 2 / count * real_sum(phi, (1 - u) * ratio / (1 - ratio) + slopes / (2j * math.pi)) - WRAPPED
    above = below + 2 / count * float(np.sum(phi.real * (1 - u))) + 2 * WRAPPED
    # where the tilt is negative the other side's probability is subtracted
    return (below, above) if step > 0 else (-above, -below)


def real_sum(phi: ComplexArray, weights: ComplexArray) -> float:
    """The real part of the sum of products."""
    return float(np.sum(phi.real * weights.real - phi.imag * weights.imag))
