"""The upper limit with each topic left out: on which topics the verdict depends."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pytest_riskguard.inference._bootstrap.choice import mean_law
from pytest_riskguard.inference._bootstrap.fft_law import MAX_LATTICE_POINTS
from pytest_riskguard.inference._bootstrap.inversion import (
    PERIOD,
    STEP,
    Inversion,
    frequencies,
    mean_exponential_less_one,
)
from pytest_riskguard.inference._bootstrap.inversion_law import SmoothLaw
from pytest_riskguard.inference._bootstrap.sample import Sample, lattice_step
from pytest_riskguard.inference.intervals import critical_value, interval
from pytest_riskguard.risk.checks import ROUNDING_ERROR, BoolArray, FloatArray, exact_sum, per_topic
from pytest_riskguard.risk.distributions import ndtr, ndtri

#: Angles per group of topics: bounds the memory.
ANGLES = 2**16
#: What is left must keep this share of the sum of squares, or cancellation shows.
REMAINING = 0.05
#: Limits this far in the tail are left to the law itself, which knows where it ends.
SAFE_TAIL = 1e-6


def leave_one_out_upper(
    x: npt.ArrayLike, *, method: str, level: float, indices: npt.ArrayLike | None = None
) -> FloatArray:
    """Upper limits of ``interval(np.delete(x, i), ...)``, in units of x, for each index i: all topics by default.

    Where the law is inverted the sums over topics are shared and one term is taken out; elsewhere each distinct value
    is left out in turn. ValueError with fewer than three topics, and what ``interval`` refuses.
    """
    x = per_topic(x, name="x", at_least=3)
    chosen = np.arange(x.size) if indices is None else np.asarray(indices, dtype=np.intp)
    values, where = np.unique(x[chosen], return_inverse=True)
    full = Sample.of(x)
    upper = np.full(values.size, np.nan)
    if not full.constant and 0 < level < 1:
        if method == "student_t":
            upper = _student_t(full, values, level)
        elif method in ("percentile", "bca"):
            upper = _by_inversion(full, values, method, level)
    for k in np.flatnonzero(np.isnan(upper)):
        position = int(np.searchsorted(full.x, values[k]))
        upper[k] = interval(np.delete(full.x, position), method=method, level=level).upper
    return upper[where]


def _student_t(full: Sample, values: FloatArray, level: float) -> FloatArray:
    """NaN where nearly all variation leaves with the topic, because the shared sums would cancel there."""
    n = full.n - 1
    removed = values - full.mean
    total = exact_sum(full.centred**2)
    variance = (total - removed**2 * full.n / n) / (n - 1)
    safe = variance * n > REMAINING * total
    safe &= total > n * (1e3 * ROUNDING_ERROR * max(1.0, float(np.max(np.abs(full.x))))) ** 2
    half = critical_value(n, level=level) * np.sqrt(np.where(safe, variance, np.nan) / n)
    return full.mean - removed / n + half


def _by_inversion(full: Sample, values: FloatArray, method: str, level: float) -> FloatArray:
    """Limits by the full sample's frequencies; NaN where the rest has, or may have, a law of another kind."""
    upper = np.full(values.size, np.nan)
    law = mean_law(full)
    # leaving out a topic multiplies the part of phi that is cut off by up to about 40
    if not isinstance(law, SmoothLaw) or law.left_out > ROUNDING_ERROR:
        return upper
    shared = np.flatnonzero(~_may_have_steps(full, values))
    rows = max(1, ANGLES // law.frequencies)
    for start in range(0, shared.size, rows):
        group = shared[start : start + rows]
        upper[group] = _smooth(full, law, values[group], method, level)
    return upper


def _may_have_steps(full: Sample, values: FloatArray) -> BoolArray:
    """Whether the rest may lie on a lattice whose steps matter, say if the only score off a lattice is left out.

    Whatever topic is left out, one of two halves of the distinct values stays whole, and the rest lies on no coarser
    lattice than that half.
    """
    even, odd = full.distinct[0][::2], full.distinct[0][1::2]
    remaining = 1 - ((values - full.mean) / full.total) ** 2 * full.n / (full.n - 1)
    width = PERIOD * full.total * np.sqrt(np.maximum(remaining, 0.0))

    def visible_steps(half: FloatArray) -> BoolArray:
        step = lattice_step(half - half[0])
        if step is None:
            return np.zeros(values.size, dtype=np.bool_)
        return np.asarray(width / step <= MAX_LATTICE_POINTS)

    return np.where(np.isin(values, odd), visible_steps(even), visible_steps(odd))


def _smooth(full: Sample, law: SmoothLaw, values: FloatArray, method: str, level: float) -> FloatArray:
    n, unit = full.n - 1, full.total
    distinct, counts = full.distinct
    distinct, removed = (distinct - full.mean) / unit, (values - full.mean) / unit
    t = frequencies(law.frequencies)
    total = full.n * mean_exponential_less_one(STEP, law.frequencies, distinct, counts / full.n)
    angles = np.multiply.outer(removed, t)
    rest = (total + 2 * np.sin(angles / 2) ** 2 - 1j * np.sin(angles)) / n
    phi = np.exp(n * np.log1p(rest))

    # the rest's own mean is -removed/n; its squares and cubes about that follow from those of the whole
    squares = np.sum(counts * distinct**2) - removed**2 * full.n / n
    third = np.sum(counts * distinct**3) - removed**3
    cubes = third + 3 * removed / n * (np.sum(counts * distinct**2) - removed**2) - 2 * removed**3 / n**2
    safe = squares > REMAINING
    squares = np.where(safe, squares, 1.0)
    inversion = Inversion(phi)
    p = np.full(values.size, (1 + level) / 2)
    if method == "bca":
        bias = ndtri(inversion.cdf(-removed[:, None])[:, 0])
        shifted = bias + ndtri(p)
        denominator = 1 - cubes / (6 * squares**1.5) * shifted
        safe &= denominator > 0
        p = ndtr(bias + shifted / np.where(safe, denominator, 1.0))
    safe &= (p > SAFE_TAIL) & (p < 1 - SAFE_TAIL)
    upper = np.full(values.size, np.nan)
    if not np.any(safe):
        return upper
    start = -removed[safe] + np.sqrt(squares[safe]) * ndtri(p[safe])
    roots = inversion.only(safe).quantiles(p[safe, None], start[:, None])[:, 0]
    upper[safe] = (full.mean * n + unit * roots) / n
    return upper
