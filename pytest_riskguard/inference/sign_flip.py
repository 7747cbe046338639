"""The sign-flip test of a mean difference: deterministic, exact under exchangeability.

If candidate and baseline are exchangeable, each topic's difference is as likely to have the other sign. The p-value
is the share of sign patterns whose sum is as low as the observed one. It is the same for every alpha, because under
flips URisk increases with the mean difference.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, gammaln

from pytest_riskguard.inference._bootstrap.convolution import points_over
from pytest_riskguard.inference._bootstrap.inversion import PERIOD, frequencies, weights
from pytest_riskguard.inference._bootstrap.sample import lattice_step
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, IntArray, exact_sum, per_topic

#: No p-value is 0: the smallest normal floating-point number.
MIN_P_VALUE = sys.float_info.min
#: Up to this many changed topics all sign patterns are counted, half of the topics against the other half.
MAX_ENUMERATED = 30
#: Points of the grid over 24 standard deviations.
MAX_POINTS = 2**17
#: Error of a probability that comes out of a Fourier transform.
ROUNDING = 1e-14
#: Values of phi below this are too small to change any probability.
MIN_PHI = 1e-20
#: The p-value is the same at every alpha, so gates ask for it again: the last few are kept, of up to so many topics.
MAX_KEPT, MAX_KEPT_TOPICS = 8, 10_000
#: How many frequencies the inversion has; between these bounds at most this many angles are computed.
MIN_FREQUENCIES, MAX_FREQUENCIES, MAX_ANGLES = 48, 4096, 2**18
#: The inversion is used if what it leaves out moves a probability by no more than this.
MAX_ERROR = 1e-5
#: This many of the largest changes are taken out of the inversion and enumerated, if they keep it from converging.
LARGE_CHANGES = (0, 4, 8)
#: From this many sizes on, with angles up to this, cosines come from sums of powers.
MANY_SIZES, SMALL_ANGLE = 10_000, 0.25
#: From this many sizes on, frequencies whose product of cosines falls below the third number are found beforehand, so
#: many sizes at a time as the second says. Single precision moves a cosine near zero by a few powers of ten at most.
MIN_TRIED, TRIED_AT_ONCE, NOTHING = 96, 16, 1e-32
#: log cos(theta) = -theta^2/2 - theta^4/12 - ...
LOG_COSINE = (1 / 2, 1 / 12, 1 / 45, 17 / 2520, 31 / 14175)


@dataclass(frozen=True)
class SignFlip:
    """A one-sided p-value: the smaller, the less a mean this low looks like chance.

    ``exact`` says whether every sign pattern was counted (enumeration, or convolution on a lattice); else the law was
    inverted, with half of the observed pattern's atom and the inversion's error added to keep the p-value valid.
    """

    p_value: float
    exact: bool


def sign_flip(differences: npt.ArrayLike) -> SignFlip:
    """P(sum of randomly signed differences <= observed sum), for candidate minus baseline.

    Unchanged topics do not matter; with none changed p is 1. ValueError with no topic, a second axis, or a value that
    is not finite.
    """
    d = np.sort(per_topic(differences, name="differences"))
    d = d[np.abs(d) > ROUNDING_ERROR]
    return _sign_flip(d) if d.size > MAX_KEPT_TOPICS else _kept_sign_flip(d.tobytes())


@lru_cache(maxsize=MAX_KEPT)
def _kept_sign_flip(d: bytes) -> SignFlip:
    return _sign_flip(np.frombuffer(d))


def _sign_flip(d: FloatArray) -> SignFlip:
    """The test of differences in ascending order, without those that are rounding."""
    if d.size == 0:
        return SignFlip(1.0, True)
    observed, sizes = exact_sum(d), np.sort(np.abs(d))
    if sizes[-1] - sizes[0] <= ROUNDING_ERROR * sizes[-1]:
        return SignFlip(max(float(bdtr(np.count_nonzero(d > 0), d.size, 0.5)), MIN_P_VALUE), True)
    if d.size <= MAX_ENUMERATED:
        return SignFlip(_enumerated(sizes, observed), True)
    p, exact = _transformed(d, sizes, observed)
    # Hoeffding's bound holds for every law of signs and is sharper than rounding in the far tail
    bound = math.exp(-((observed / math.sqrt(exact_sum(sizes**2))) ** 2) / 2) if observed < 0 else 1.0
    return SignFlip(max(min(p, bound, 1.0), MIN_P_VALUE), exact)


def _transformed(d: FloatArray, sizes: FloatArray, observed: float) -> tuple[float, bool]:
    step = lattice_step(sizes)
    norm = math.sqrt(exact_sum(sizes**2))
    if step is not None and PERIOD * norm / step <= MAX_POINTS:
        return _convolved(sizes, observed, step) + ROUNDING, True
    for large in LARGE_CHANGES:
        inverted = _inverted(sizes[: sizes.size - large], _sums(sizes[sizes.size - large :]), observed)
        if inverted is not None:
            return inverted + _atom(d) / 2, False
    return _convolved(sizes, observed, PERIOD * norm / MAX_POINTS) + ROUNDING, False


def _sums(sizes: FloatArray) -> FloatArray:
    """The sums of all sign patterns."""
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums - size, sums + size])
    return sums


def _enumerated(sizes: FloatArray, observed: float) -> float:
    """Both halves' sums are listed; for each of one half, those of the other that keep the total low are counted."""
    half = sizes.size // 2
    first, second = np.sort(_sums(sizes[:half])), np.sort(_sums(sizes[half:]))
    limit = observed + ROUNDING_ERROR * exact_sum(sizes)
    count = int(np.searchsorted(second, limit - first, side="right").sum())
    return float(count / 2.0**sizes.size)


def _convolved(sizes: FloatArray, observed: float, step: float) -> float:
    """On a grid of this step the sum's characteristic function is a product of cosines, inverted by one FFT.

    Where sizes had to be rounded, every sum that rounding may have moved past the observed one is counted.
    """
    indices, counts = np.unique(np.rint(sizes / step), return_counts=True)
    norm = math.sqrt(exact_sum(counts * indices**2))
    points = points_over(PERIOD * norm)
    circle = np.cos(2 * math.pi / points * np.arange(points))
    phi = np.ones(points // 4 + 1)
    visible = np.arange(phi.size)
    # largest sizes first: no cosine exceeds 1, so where phi is already negligible the others are skipped
    for index, times in zip(indices[::-1], counts[::-1], strict=True):
        cosines = circle[visible * int(index) & (points - 1)]
        phi[visible] *= cosines if times == 1 else cosines**times
        visible = visible[np.abs(phi[visible]) > MIN_PHI]
    # half a turn further on, each cosine is the same except for the sign at an odd index
    mirrored = phi[-2::-1] if np.sum(counts * indices) % 2 == 0 else -phi[-2::-1]
    phi = np.concatenate([phi, mirrored])
    masses = np.fft.irfft(phi, points)
    # masses[k] belongs to every sum congruent to k; the window of 24 standard deviations holds them all
    sums = np.arange(points)
    sums = np.where(sums > points // 2, sums - points, sums)
    moved = exact_sum(np.abs(np.rint(sizes / step) - sizes / step))
    return exact_sum(masses[sums <= observed / step + moved + 1e-3])


def _inverted(sizes: FloatArray, shifts: FloatArray, observed: float) -> float | None:
    """P(sum + shift < observed) + P(=)/2 over equally likely shifts, plus the error; None where that is too large.

    Davies' inversion of prod cos(t d_j/||d||).
    """
    norm = math.sqrt(exact_sum(sizes**2))
    phi = _product_of_cosines(sizes / norm)
    # what is left out is as large as at the last frequencies computed, or as over all frequencies if that is more
    # (the mean of a squared cosine is 1/2); neighbours agree, signs further apart are as good as random
    square = max(float(np.mean(phi[phi.size // 2 :] ** 2)), 0.5**sizes.size)
    error = 16 * math.sqrt(square / phi.size) / math.pi
    if error > MAX_ERROR:
        return None
    visible = np.flatnonzero(np.abs(phi) > ROUNDING)
    phi = phi[: int(visible[-1]) + 1]
    t = frequencies(phi.size)
    z = (observed - shifts) / norm
    below = 0.5 + np.sum(np.sin(np.multiply.outer(z, t)) * (phi / weights(phi.size)), axis=1)
    below = np.where(np.abs(z) >= PERIOD / 2, z > 0, np.clip(below, 0.0, 1.0))
    return exact_sum(below) / z.size + error + ROUNDING


def _product_of_cosines(unit: FloatArray) -> FloatArray:
    sizes, counts = np.unique(unit, return_counts=True)
    t = frequencies(min(MAX_FREQUENCIES, max(MIN_FREQUENCIES, MAX_ANGLES // sizes.size)))
    if sizes.size >= MANY_SIZES and t[-1] * sizes[-1] <= SMALL_ANGLE:
        logs = [c * t ** (2 * k) * np.sum(counts * sizes ** (2 * k)) for k, c in enumerate(LOG_COSINE, start=1)]
        return np.asarray(np.exp(-np.sum(logs, axis=0)))
    matters = _matters(t, sizes, counts)
    t, product = t[matters], np.zeros(t.size)
    product[matters] = 1.0
    for start in range(0, sizes.size, MAX_FREQUENCIES):
        part, times = sizes[start : start + MAX_FREQUENCIES], counts[start : start + MAX_FREQUENCIES]
        once = times == 1
        product[matters] *= np.prod(np.cos(np.multiply.outer(t, part[once])), axis=1)
        product[matters] *= np.prod(np.cos(np.multiply.outer(t, part[~once])) ** times[~once], axis=1)
    return product


def _matters(t: FloatArray, sizes: FloatArray, counts: IntArray) -> IntArray:
    """Frequencies whose cosines multiply to more than nothing, by single-precision cosines of the largest sizes."""
    left = np.arange(t.size)
    if sizes.size < MIN_TRIED:
        return left
    single, product = t.astype(np.float32), np.ones(t.size, dtype=np.float32)
    for end in range(sizes.size, 0, -TRIED_AT_ONCE):
        tried = slice(max(end - TRIED_AT_ONCE, 0), end)
        cosines = np.cos(np.multiply.outer(sizes[tried].astype(np.float32), single))
        product *= np.prod(np.abs(cosines) ** counts[tried, None].astype(np.float32), axis=0)
        remains = product > NOTHING
        left, single, product = left[remains], single[remains], product[remains]
    return left


def _atom(d: FloatArray) -> float:
    """The share of sign patterns with the observed sum where equal sizes alone make sums equal."""
    order = np.argsort(np.abs(d), kind="stable")
    sizes, won = np.abs(d)[order], (d > 0)[order]
    starts = np.flatnonzero(np.diff(sizes, prepend=-np.inf) > ROUNDING_ERROR * sizes[-1])
    counts = np.diff(starts, append=sizes.size)
    wins = np.add.reduceat(won.astype(np.float64), starts)
    ways = gammaln(counts + 1) - gammaln(wins + 1) - gammaln(counts - wins + 1)
    return math.exp(exact_sum(ways) - d.size * math.log(2))
