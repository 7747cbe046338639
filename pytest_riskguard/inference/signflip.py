"""The sign-flip test of a mean difference: deterministic, exact under exchangeability.

If candidate and baseline are exchangeable, each topic's difference is as likely to have the other sign. The p-value
is the share of sign patterns whose sum is as low as the observed one. It is the same for every alpha, for under
flips URisk is an increasing function of the mean difference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_riskguard.inference.characteristic import (
    MOST_FREQUENCIES,
    PERIOD,
    converged,
    frequencies,
)
from pytest_riskguard.inference.lattice import MOST_POINTS, lattice_step
from pytest_riskguard.risk.checks import FloatArray, per_topic
from pytest_riskguard.risk.paired import CHANGED

#: Up to this many changed topics all sign patterns are counted.
MOST_ENUMERATED = 20
#: Sums this close, as a share of the sum of sizes, are one.
SAME_SUM = 1e-12
ANGLES = 2**20


@dataclass(frozen=True)
class SignFlip:
    """A one-sided p-value: the smaller, the less a mean this low looks like chance.

    ``exact`` says whether every sign pattern was counted (enumeration, or convolution on a lattice); else the law was
    inverted, with half of the observed pattern's atom added so that the p-value is valid.
    """

    p_value: float
    exact: bool


def sign_flip(differences: npt.ArrayLike) -> SignFlip:
    """P(sum of randomly signed differences <= observed sum).

    Parameters
    ----------
    differences : array, shape (n_topics,)
        Candidate minus baseline. Unchanged topics do not matter; with none changed p is 1.

    Raises
    ------
    ValueError
        No topic, a second axis, a value that is not finite.
    """
    d = np.sort(per_topic(differences, name="differences"))
    d = d[np.abs(d) > CHANGED]
    if d.size == 0:
        return SignFlip(1.0, True)
    observed, sizes = math.fsum(d), np.sort(np.abs(d))
    if d.size <= MOST_ENUMERATED:
        return SignFlip(_enumerated(sizes, observed), True)
    step = lattice_step(sizes)
    norm = math.sqrt(math.fsum(sizes**2))
    if step is not None and PERIOD * norm / step <= MOST_POINTS:
        return SignFlip(_convolved(sizes, observed, step), True)
    inverted = _inverted(sizes / norm, observed / norm)
    if inverted is None:
        return SignFlip(_convolved(sizes, observed, PERIOD * norm / MOST_POINTS), False)
    return SignFlip(min(1.0, max(inverted, 0.0) + 0.5 ** (d.size + 1)), False)


def _sums(sizes: FloatArray) -> FloatArray:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums - size, sums + size])
    return sums


def _enumerated(sizes: FloatArray, observed: float) -> float:
    """Both halves' sums are listed; for each of one half, the other's that stay low enough are counted."""
    half = sizes.size // 2
    first, second = _sums(sizes[:half]), np.sort(_sums(sizes[half:]))
    limit = observed + SAME_SUM * math.fsum(sizes)
    count = int(np.searchsorted(second, limit - first, side="right").sum())
    return float(count / 2.0**sizes.size)


def _convolved(sizes: FloatArray, observed: float, step: float) -> float:
    """On a grid of this step the sum's characteristic function is a product of cosines, inverted by one FFT."""
    indices = np.rint(sizes / step)
    norm = math.sqrt(math.fsum(indices**2))
    points = int(2 ** max(8, math.ceil(math.log2(PERIOD * norm) - 1e-9)))
    angle = 2 * math.pi * np.arange(points // 2 + 1) / points
    phi = np.ones(angle.size)
    for index in indices:
        phi *= np.cos(angle * index)
    masses = np.fft.irfft(phi, points)
    # masses[k] belongs to every sum congruent to k; the window of 24 standard deviations holds them all
    sums = np.arange(points)
    sums = np.where(sums > points // 2, sums - points, sums)
    reach = observed / step + 0.5
    return float(min(1.0, max(math.fsum(masses[sums <= reach]), 0.5**sizes.size)))


def _inverted(unit: FloatArray, observed: float) -> float | None:
    """Davies' inversion of prod cos(t d_j/||d||): P(<) + P(=)/2, or None where it does not converge."""
    phi = np.empty(0)
    size = 48
    most = min(MOST_FREQUENCIES, max(512, ANGLES // unit.size))
    while True:
        t = frequencies(phi.size, size)
        phi = np.concatenate([phi, np.prod(np.cos(np.multiply.outer(t, unit)), axis=1)])
        if converged(np.abs(phi)):
            break
        if size >= most:
            return None
        size = min(2 * size, most)
    if abs(observed) >= PERIOD / 2:
        return float(observed > 0)
    orders = np.arange(phi.size) + 0.5
    return 0.5 + math.fsum(phi * np.sin(frequencies(0, phi.size) * observed) / (math.pi * orders))
