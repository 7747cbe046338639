"""Functions of the normal, Student's t and the binomial law that nearly every gate needs.

They are equal to those of ``scipy.special`` with the same names to 1e-13 of their size or so, and need only numpy:
importing ``scipy.special`` takes longer than scoring two runs of 250 queries. What is rarer is imported where it is
used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

#: From this many numbers on, one after the other takes longer than importing ``scipy.special``.
MANY = 200_000
#: The logarithm of gamma(a + 1/2)/gamma(a)/sqrt(a) is minus the sum of these over a, a^3, a^5, ...: Stirling's
#: series, to rounding from LARGE on.
HALF_STEP = (1 / 8, -1 / 192, 1 / 640, -17 / 14336, 31 / 18432)
LARGE = 40.0
#: With more degrees of freedom the continued fraction loses digits, and beyond such quantiles Newton's method may
#: overflow: ``scipy.special`` takes over.
MANY_DEGREES, TINY_TAIL = 10_000, 1e-15
#: Below FAR, and below exp(LEAST_LOG), numbers lose digits: ``scipy.special`` takes over there, too.
FAR, LEAST_LOG = -30.0, -690.0
#: Terms of a continued fraction; Newton's steps.
MAX_TERMS, MAX_STEPS = 10_000, 100

ROOT_2 = math.sqrt(2)
_INVERSE = NormalDist().inv_cdf


def ndtr(x: npt.ArrayLike) -> FloatArray:
    """The probability that a standard normal number is at most x."""
    x = np.asarray(x, dtype=np.float64)
    return _each(math.erfc, "erfc", x / -ROOT_2) / 2


def ndtri(p: npt.ArrayLike) -> FloatArray:
    """The inverse of ``ndtr``; infinite at 0 and 1."""
    p = np.asarray(p, dtype=np.float64)
    inside = (p > 0) & (p < 1)
    values = np.where(p == 0, -math.inf, np.where(p == 1, math.inf, math.nan))
    values[inside] = _each(_INVERSE, "ndtri", p[inside])
    return np.asarray(values)


def log_ndtr(x: float) -> float:
    """The logarithm of ``ndtr``, however far out."""
    if x > FAR:
        return math.log(math.erfc(-x / ROOT_2) / 2)
    from scipy import special

    return float(special.log_ndtr(x))


def ndtri_exp(y: float) -> float:
    """The inverse of ``log_ndtr``."""
    if y == 0:
        return math.inf
    if y > -1:
        return -float(ndtri(-math.expm1(y)))
    if y > LEAST_LOG or y == -math.inf:
        return float(ndtri(math.exp(y)))
    from scipy import special

    return float(special.ndtri_exp(y))


def stdtr(freedom: float, t: float) -> float:
    """The probability that Student's t is at most this."""
    if freedom > MANY_DEGREES:
        from scipy import special

        return float(special.stdtr(freedom, t))
    tail = _student_tail(freedom, abs(t))
    return tail if t < 0 else 1 - tail


@cache
def stdtrit(freedom: float, p: float) -> float:
    """The inverse of ``stdtr``."""
    tail = min(p, 1 - p)
    if freedom > MANY_DEGREES or tail < TINY_TAIL:
        from scipy import special

        return float(special.stdtrit(freedom, p))
    t, low, high = -_INVERSE(tail), 0.0, math.inf
    for _ in range(MAX_STEPS):
        beyond = _student_tail(freedom, t)
        low, high = (t, high) if beyond > tail else (low, t)
        # Newton's method for the logarithm, which bends less
        log_density = _log_half_step(freedom / 2) - (freedom + 1) / 2 * math.log1p(t * t / freedom)
        density = math.exp(log_density) / math.sqrt(math.pi * freedom)
        following = t + math.log(beyond / tail) * beyond / density
        if not low <= following <= high:
            following = (low + high) / 2 if high < math.inf else 2 * t + 1
        if abs(following - t) <= 1e-15 * t:
            break
        t = following
    return -t if p < 0.5 else t


def _each(function: Callable[[float], float], name: str, x: FloatArray) -> FloatArray:
    if x.size < MANY:
        return np.array(list(map(function, x.ravel().tolist()))).reshape(x.shape)
    from scipy import special

    return np.asarray(getattr(special, name)(x))


def _log_half_step(a: float) -> float:
    """The logarithm of gamma(a + 1/2)/gamma(a)."""
    if a < LARGE:
        return math.log(math.gamma(a + 0.5) / math.gamma(a))
    return math.log(a) / 2 - sum(term / a ** (2 * place + 1) for place, term in enumerate(HALF_STEP))


def _student_tail(freedom: float, t: float) -> float:
    """The probability that Student's t is beyond t >= 0: half the incomplete beta function at (freedom/2, 1/2)."""
    a, square = freedom / 2, t * t
    if math.isinf(square):
        return 0.0
    x, rest = freedom / (freedom + square), square / (freedom + square)
    log_beta = math.log(math.pi) / 2 - _log_half_step(a)
    front = math.exp(-a * math.log1p(square / freedom) - log_beta) * math.sqrt(rest)
    if x < (a + 1) / (a + 2.5):
        return front * _fraction(a, 0.5, x) / a / 2
    return 0.5 - front * _fraction(0.5, a, rest)


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method (NIST DLMF, 8.17.22)."""
    numerator, denominator = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = denominator
    for m in range(1, MAX_TERMS):
        before = value
        for factor in (
            m * (b - m) / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            denominator = 1 / (1 + factor * x * denominator)
            numerator = 1 + factor * x / numerator
            value *= numerator * denominator
        if abs(value - before) <= 1e-16 * abs(value):
            break
    return value
