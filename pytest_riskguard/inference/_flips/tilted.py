"""The law of the sum from its characteristic function, tilted so that the observed sum is near the middle.

With K(z) = sum log(1 - q + q exp(z c)) over sizes c and chances q, P(sum >= L) is the integral of
exp(K(z) - z L) / (2 pi i z) along any line with a positive real part s; with a negative one it is that probability
less 1. On the line where the tilted mean is L, exp(K(s) - s L) is about as small as the probability itself, and what
is left is a characteristic function at a few frequencies: rounding and truncation are a share of the probability,
however small it is. Davies' half-integer frequencies make the integral a sum; what wraps round its period is below
exp(-38).

References
----------
R. B. Davies, "Numerical inversion of a characteristic function", Biometrika 60 (1973).
R. Lugannani, S. Rice, "Saddle point approximation for the distribution of the sum of independent random variables",
Advances in Applied Probability 12 (1980): the line of integration.
S. W. Graham, J. D. Vaaler, "A class of extremal functions for the Fourier transform", Transactions of the American
Mathematical Society 265 (1981): the least function above exp(-x) for x >= 0, 0 below, with no higher frequencies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from pytest_riskguard.inference._bootstrap.inversion import PERIOD, ComplexArray, half_integers
from pytest_riskguard.inference._bootstrap.sample import lattice_step
from pytest_riskguard.inference._flips.bets import Bets
from pytest_riskguard.inference._flips.counting import binomial
from pytest_riskguard.risk.checks import FloatArray, IntArray, exact_sum

#: The line is at least this far from the imaginary axis, in reciprocal standard deviations: what wraps round the
#: period once is below exp(-PERIOD * MIN_TILT).
MIN_TILT = 1.6
#: With a jump of more than 4/3 standard deviations the law has a longer tail, and the period is so many such jumps.
PERIOD_JUMPS = 18.0
#: Newton's steps for the line, each of at most so many reciprocal standard deviations, until they are this short.
MAX_STEPS, MAX_STEP, SHORT_STEP = 100, 4.0, 1e-3
#: Frequencies of the sum. Where it does not converge they are the first number times as many.
FREQUENCIES, MORE = 4096, 4
#: Points of a lattice over the period up to which its law is computed exactly.
MAX_POINTS = 2**17
#: Magnitudes below this, of the tilted characteristic function, are nothing.
NOTHING = 1e-20
#: So many sizes at a time are tried in single precision for frequencies that come to nothing: squared magnitudes.
TRIED_AT_ONCE, NOTHING_SQUARED = 16, 1e-36
#: Error of a sum over frequencies, as a share of its scale.
ROUNDING = 1e-14
#: The sum is used where what it leaves out is at most this share of the probability.
MAX_ERROR = 1e-4
#: Angles per block: bounds the memory.
BLOCK = 2**18


@dataclass(frozen=True)
class Line:
    """The line of integration: its real part, the tilted chances, the tilted spread and exp(K(s) - s L)."""

    tilt: float
    chances: FloatArray
    deviation: float
    scale: float


def inverted(bets: Bets) -> tuple[float, bool]:
    """P(sum >= observed), never below it by more than rounding, and whether it is exact."""
    line = _line(bets)
    step = lattice_step(bets.sizes)
    period = max(PERIOD * line.deviation, PERIOD_JUMPS * float(bets.sizes[-1]))
    if step is not None and period / step <= MAX_POINTS:
        return _on_lattice(bets, step, math.ceil(period / step / 2)), True
    p, error = _smooth(bets, line, period)
    if error > MAX_ERROR * p:
        p = min(p + error, _bound(bets, line, period, MORE * FREQUENCIES))
    else:
        p += error
    return p, False


def _line(bets: Bets) -> Line:
    """Where the tilted mean is the observed sum, or the nearest line that is far enough from the imaginary axis."""
    sizes, odds, observed = bets.sizes, logit(bets.chances), bets.observed
    unit = 1 / float(sizes[-1])
    low, high, tilt = -math.inf, math.inf, 0.0
    for _ in range(MAX_STEPS):
        chances = expit(odds + tilt * sizes)
        excess = float(np.sum(sizes * chances)) - observed
        low, high = (tilt, high) if excess < 0 else (low, tilt)
        variance = float(np.sum(sizes**2 * chances * expit(-odds - tilt * sizes)))
        reach = MAX_STEP / math.sqrt(variance) if variance > 0 else MAX_STEP * unit
        step = min(max(-excess / variance, -reach), reach) if variance > 0 else -math.copysign(reach, excess)
        following = tilt + step
        if not low < following < high:
            following = (low + high) / 2
        step, tilt = following - tilt, following
        if abs(step) * math.sqrt(variance) <= SHORT_STEP:
            break
    least = MIN_TILT / math.sqrt(variance)
    tilt = math.copysign(max(abs(tilt), least), tilt)
    tilted = odds + tilt * sizes
    chances = expit(tilted)
    deviation = math.sqrt(float(np.sum(sizes**2 * chances * expit(-tilted))))
    cumulants = np.logaddexp(0.0, tilted) - np.logaddexp(0.0, odds)
    return Line(tilt, chances, deviation, math.exp(exact_sum(cumulants) - tilt * observed))


def _on_lattice(bets: Bets, step: float, count: int) -> float:
    """Exact on a lattice: its law has that many frequencies, and sums over it are geometric series."""
    bets = bets.on_lattice(step)
    line = _line(bets)
    angle = math.pi / count
    phi = _characteristic(bets, line, angle, count)
    z = line.tilt + 1j * angle * half_integers(count)
    phi = phi * np.exp(-1j * z.imag * bets.observed)
    one_side = line.scale / count * float(np.sum((phi / -np.expm1(-z)).real))
    return one_side + float(line.tilt < 0) + ROUNDING * line.scale


def _smooth(bets: Bets, line: Line, period: float) -> tuple[float, float]:
    """P(sum > observed) + P(=)/2 from a sum that may have converged, and how far P(sum >= observed) may be above."""
    angle = 2 * math.pi / period
    phi = _characteristic(bets, line, angle, FREQUENCIES)
    # what is left out is as large as at the last frequencies computed, or as over all frequencies if that is more;
    # neighbours agree, signs further apart are as good as random
    everywhere = math.exp(-exact_sum(2 * line.chances * (1 - line.chances)))
    square = max(float(np.mean(np.abs(phi[FREQUENCIES // 2 :]) ** 2)), everywhere)
    atom = math.sqrt(everywhere) if bets.offset else _atom(bets, line)
    error = 16 * math.sqrt(square / FREQUENCIES) / math.pi + atom / 2 + ROUNDING
    t = angle * half_integers(FREQUENCIES)
    one_side = 2 / period * float(np.sum((phi * np.exp(-1j * t * bets.observed) / (line.tilt + 1j * t)).real))
    return line.scale * one_side + float(line.tilt < 0), line.scale * error


def _bound(bets: Bets, line: Line, period: float, count: int) -> float:
    """At least P(sum >= observed), whatever the law is at other frequencies.

    exp(-x) where a pattern counts, 0 elsewhere, is replaced by the least function above it, or the largest below
    where the other side's probability is subtracted, whose Fourier transform ends where the frequencies do. It and
    its derivative are known at whole numbers (Graham and Vaaler, 1981): two geometric series give the transform.
    """
    angle = 2 * math.pi / period
    u = half_integers(count) / count
    phi = _characteristic(bets, line, angle, count) * np.exp(-1j * angle * count * u * bets.limit)
    decay = abs(line.tilt) * period / count
    if line.tilt < 0:
        phi = np.conj(phi)
    ratio = np.exp(-decay - 2j * math.pi * u)
    series = (ratio if line.tilt < 0 else 1) / (1 - ratio)
    slopes = decay * (1 / math.expm1(decay) - ratio / (1 - ratio))
    transform = (1 - u) * series + slopes / (2j * math.pi)
    one_side = line.scale * 2 / count * float(np.sum((phi * transform).real))
    margin = 1e-9 * line.scale
    return (1 - one_side if line.tilt < 0 else one_side) + margin


def _atom(bets: Bets, line: Line) -> float:
    """The tilted probability of as many losses among topics of each size as observed: their sum is the same."""
    lost = np.add.reduceat(bets.lost.astype(np.int64), bets.starts)
    mass = 1.0
    for start, repeats, losses in zip(bets.starts.tolist(), bets.repeats.tolist(), lost.tolist(), strict=True):
        masses = binomial(repeats, float(line.chances[start]))
        mass *= float(masses[losses])
        if mass < NOTHING:
            return 0.0
    return mass


def _characteristic(bets: Bets, line: Line, angle: float, count: int) -> ComplexArray:
    """The tilted law's characteristic function at half-integer multiples of an angle, 0 where next to nothing."""
    sizes, chances = bets.sizes[bets.starts], line.chances[bets.starts]
    matters = _matters(sizes, chances, bets.repeats, angle, count)
    t = angle * (matters + 0.5)
    product = np.ones(t.size, dtype=np.complex128)
    width = max(1, BLOCK // max(1, t.size))
    for start in range(0, sizes.size, width):
        block = slice(start, start + width)
        half = np.multiply.outer(t / 2, sizes[block])
        sines = np.sin(half)
        factors = np.empty(half.shape, dtype=np.complex128)
        factors.real = 1 - 2 * chances[block] * sines * sines
        factors.imag = 2 * chances[block] * sines * np.cos(half)
        again = bets.repeats[block] > 1
        if np.any(again):
            factors[:, again] **= bets.repeats[block][again]
        product *= np.prod(factors, axis=1)
    phi = np.zeros(count, dtype=np.complex128)
    phi[matters] = product
    return phi


def _matters(sizes: FloatArray, chances: FloatArray, repeats: IntArray, angle: float, count: int) -> IntArray:
    """Frequencies where the product's magnitude is something, by single-precision factors of the largest sizes."""
    left = np.arange(count)
    t = (angle * (left + 0.5)).astype(np.float32)
    product = np.ones(count, dtype=np.float32)
    spread = (2 * chances * (1 - chances)).astype(np.float32)
    for end in range(sizes.size, 0, -TRIED_AT_ONCE):
        tried = slice(max(end - TRIED_AT_ONCE, 0), end)
        cosines = np.cos(np.multiply.outer(sizes[tried].astype(np.float32), t))
        squares = np.maximum(1 - spread[tried, None] * (1 - cosines), np.float32(0))
        product *= np.prod(squares ** repeats[tried, None].astype(np.float32), axis=0)
        remains = product > NOTHING_SQUARED
        left, t, product = left[remains], t[remains], product[remains]
    return left
