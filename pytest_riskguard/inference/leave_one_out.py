"""The upper limit with each topic left out: who carries the verdict."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from pytest_riskguard.inference.characteristic import (
    PERIOD,
    STEP,
    SmoothLaw,
    converged,
    frequencies,
)
from pytest_riskguard.inference.exact import mean_law
from pytest_riskguard.inference.intervals import critical_value, interval
from pytest_riskguard.inference.sample import Sample
from pytest_riskguard.risk.checks import FloatArray, per_topic

IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]

#: Beyond this many topics a single matrix of angles would be too large: topics are taken in groups.
GROUP = 512


def leave_one_out_upper(
    x: npt.ArrayLike, *, method: str, level: float, indices: npt.ArrayLike | None = None
) -> FloatArray:
    """Upper limits of ``interval(np.delete(x, i), ...)``.

    Where the law is smooth the sums over topics are shared and one term is taken out; elsewhere each distinct value
    is left out in turn.

    Parameters
    ----------
    x : array, shape (n_topics,)
        Trade-off scores, at least three.
    method, level
        As for ``interval``.
    indices : array of int, shape (k,), optional
        Which topics to leave out, one at a time; default all.

    Returns
    -------
    array, shape (k,)
        In units of x.

    Raises
    ------
    ValueError
        Fewer than three topics, and what ``interval`` refuses.
    """
    x = per_topic(x, name="x", at_least=3)
    chosen = np.arange(x.size) if indices is None else np.asarray(indices, dtype=np.intp)
    values, where = np.unique(x[chosen], return_inverse=True)
    if method == "student_t":
        return _student_t(x, values, level)[where]
    upper = np.full(values.size, np.nan)
    law = mean_law(x)
    if isinstance(law, SmoothLaw):
        for start in range(0, values.size, GROUP):
            upper[start : start + GROUP] = _smooth(x, law, values[start : start + GROUP], method, level)
    ordered = np.sort(x)
    for k in np.flatnonzero(np.isnan(upper)):
        position = int(np.searchsorted(ordered, values[k]))
        upper[k] = interval(np.delete(ordered, position), method=method, level=level).upper
    return upper[where]


def _student_t(x: FloatArray, values: FloatArray, level: float) -> FloatArray:
    n = x.size - 1
    centred = x - math.fsum(x) / x.size
    left = values - math.fsum(x) / x.size
    means = -left / n
    squares = math.fsum(centred**2) - left**2
    variance = np.maximum(squares / n - means**2, 0.0) * n / (n - 1)
    upper: FloatArray = math.fsum(x) / x.size + means + critical_value(n, level=level) * np.sqrt(variance / n)
    # no variation is left: the mean alone, as ``interval`` says
    flat = variance <= (1e-12 * np.max(np.abs(x))) ** 2
    return np.where(flat, math.fsum(x) / x.size + means, upper)


def _smooth(x: FloatArray, law: SmoothLaw, values: FloatArray, method: str, level: float) -> FloatArray:
    """Limits by the full sample's frequencies; NaN where they do not suffice for what is left."""
    full = Sample.of(x)
    n = full.n - 1
    unit = full.deviation * math.sqrt(full.n)
    shares, counts = full.distinct
    shares = (shares - full.mean) / unit
    left = (values - full.mean) / unit
    t = frequencies(0, law.frequencies)
    angles = np.multiply.outer(t, shares)
    total_real = -2 * np.sum(np.sin(angles / 2) ** 2 * counts, axis=1)
    total_imag = np.sum(np.sin(angles) * counts, axis=1)
    out = np.multiply.outer(left, t)
    real = (total_real + 2 * np.sin(out / 2) ** 2) / n
    imag = (total_imag - np.sin(out)) / n
    phi = np.exp(n * np.log1p(real + 1j * imag))

    centre = -left  # the sum of what is left, in units of the full sample's
    moments = [math.fsum(counts * shares**power) - left**power for power in (1, 2, 3)]
    mean = moments[0] / n
    squares = moments[1] - n * mean**2
    cubes = moments[2] - 3 * mean * moments[1] + 2 * n * mean**3
    acceleration = cubes / (6 * squares**1.5)

    search = _Search(phi, t)
    p = np.full(values.size, (1 + level) / 2)
    if method == "bca":
        bias = ndtri(search.cdf(centre))
        shifted = bias + ndtri(p)
        denominator = 1 - acceleration * shifted
        with np.errstate(divide="ignore", invalid="ignore"):
            p = np.where(denominator > 0, ndtr(bias + shifted / denominator), np.nan)
    good = converged(np.abs(phi)) & np.isfinite(p) & (p > 0) & (p < 1) & (squares > 0.05 * moments[1])
    quantiles = np.full(values.size, np.nan)
    if np.any(good):
        start = centre[good] + np.sqrt(squares[good]) * ndtri(p[good])
        quantiles[good] = search.only(good).quantile(p[good], start)
    return np.asarray((full.mean * n + unit * quantiles) / n)


class _Search:
    """Cdf and quantiles of many laws at once: one row of phi each, in units of the full sample's sum."""

    def __init__(self, phi: npt.NDArray[np.complex128], t: FloatArray) -> None:
        self.phi, self.t = phi, t
        self.orders = math.pi * (np.arange(t.size) + 0.5)

    def only(self, rows: BoolArray) -> _Search:
        return _Search(self.phi[rows], self.t)

    def _turned(self, z: FloatArray) -> npt.NDArray[np.complex128]:
        turned: npt.NDArray[np.complex128] = self.phi * np.exp(-1j * np.multiply.outer(z, self.t))
        return turned

    def cdf(self, z: FloatArray) -> FloatArray:
        return np.clip(0.5 - np.sum(self._turned(z).imag / self.orders, axis=1), 0.0, 1.0)

    def quantile(self, p: FloatArray, start: FloatArray) -> FloatArray:
        low, high = np.full(p.size, -PERIOD / 2), np.full(p.size, PERIOD / 2)
        z = np.clip(start, -10.0, 10.0)
        for _ in range(100):
            turned = self._turned(z)
            excess = 0.5 - np.sum(turned.imag / self.orders, axis=1) - p
            density = STEP / math.pi * np.sum(turned.real, axis=1)
            high = np.where(excess > 0, z, high)
            low = np.where(excess > 0, low, z)
            with np.errstate(divide="ignore", invalid="ignore"):
                following = z - excess / density
            outside = ~((following > low) & (following < high))
            following = np.where(outside, (low + high) / 2, following)
            moved = np.max(np.abs(following - z))
            z = following
            if moved < 1e-13:
                break
        return z
