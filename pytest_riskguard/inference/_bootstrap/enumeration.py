"""Exact laws where few topics changed, or there are few: every way to draw the changed ones, enumerated.

The law of a mean is enumerated as well, because that takes only 0.1 to 0.4 ms. A grid that is fine enough takes 3 ms;
on one that is as fast, limits are off by up to 4e-3 standard errors where changes have nearly the same size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtrc, gammaln

from pytest_riskguard.inference._bootstrap.laws import StepLaw, WeightedLaw, vary
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, IntArray, stable_order

#: The mass of resamples that draw changed topics more often than is enumerated.
LEFT_OUT = 1e-14
#: At most this many vectors of counts are enumerated, which takes as long as the law of another kind would.
MAX_MEAN_VECTORS, MAX_STUDENTIZED_VECTORS = 60_000, 400_000
#: With more distinct values than this there are always more vectors, except with a handful of topics.
MAX_VALUES = 16
#: A variance is at least this share of the mean square that it is computed from: less would be rounding.
MIN_VARIANCE = 1e-15


def enumerated_mean_law(sample: Sample) -> StepLaw | None:
    """The exact law of the mean, or None where there are too many resamples."""
    resamples = _enumerated_resamples(sample, max_vectors=MAX_MEAN_VECTORS)
    if resamples is None:
        return None
    order = stable_order(resamples.sums)
    means, masses = resamples.sums[order] / sample.n, resamples.masses[order]
    starts = np.flatnonzero(np.diff(means, prepend=-np.inf) > sample.same)
    atoms, masses = sample.means(means[starts]), np.add.reduceat(masses, starts)
    return StepLaw("enumerated", atoms, masses, sample, centre=sample.mean)


def enumerated_studentized_law(sample: Sample) -> WeightedLaw | None:
    """The exact law of T*, or None where there are too many resamples."""
    resamples = _enumerated_resamples(sample, max_vectors=MAX_STUDENTIZED_VECTORS)
    if resamples is None:
        return None
    n, unit = sample.n, sample.deviation
    mode = float(sample.distinct[0][sample.mode])
    added = resamples.sums / (n * unit)
    squares = resamples.squares / n
    variances = np.maximum(squares - added**2, MIN_VARIANCE * squares)
    varied = (resamples.values > 1) | ((resamples.values == 1) & (resamples.draws < n))
    varied &= vary(sample, mode + added * unit, variances)
    moved = added[varied] + (mode - sample.mean) / unit
    moved[np.abs(moved) * math.sqrt(n) <= ROUNDING_ERROR] = 0.0  # the sample's own mean, up to rounding
    return WeightedLaw(
        "enumerated",
        math.sqrt(n - 1) * moved / np.sqrt(variances[varied]),
        resamples.masses[varied],
    )


@dataclass(frozen=True)
class _Resamples:
    """Every way to draw the changed topics that has any mass, one entry each.

    ``sums`` is what the draws add to n times the most frequent score, in units of x; ``squares`` their squared
    distances from that score, in units of the sample's variance; ``draws`` and ``values`` how often changed topics
    are drawn, and how many different scores they have. ``masses`` sum to 1 within 1e-14.
    """

    sums: FloatArray
    squares: FloatArray
    draws: IntArray
    values: IntArray
    masses: FloatArray


def _enumerated_resamples(sample: Sample, *, max_vectors: int) -> _Resamples | None:
    """Every way to draw the changed topics, or None where there are more than ``max_vectors``.

    Changed topics are those without the most frequent score. Topics with the same score count as one value with a
    larger share. A replicate draws value j c_j times; the counts are multinomial, and only totals that carry all but
    1e-14 of the mass are enumerated.
    """
    n, (_, counts) = sample.n, sample.distinct
    if counts.size - 1 > MAX_VALUES:
        return None
    moved = np.arange(counts.size) != sample.mode
    offsets, moved_counts = sample.offsets[moved], counts[moved]
    changed = float(moved_counts.sum())
    max_draws = int(np.argmax(bdtrc(np.arange(n + 1), n, changed / n) < LEFT_OUT))
    if math.comb(max_draws + offsets.size, offsets.size) > max_vectors:
        return None
    sums, squares, log_masses = np.zeros(1), np.zeros(1), np.zeros(1)
    draws, values = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for offset, count in zip(offsets, moved_counts, strict=True):
        times = np.arange(max_draws + 1)
        total = np.add.outer(draws, times)
        allowed = total <= max_draws
        log_term = times * math.log(count) - gammaln(times + 1)
        sums = np.add.outer(sums, offset * times)[allowed]
        squares = np.add.outer(squares, (offset / sample.deviation) ** 2 * times)[allowed]
        values = np.add.outer(values, (times > 0).astype(np.int64))[allowed]
        log_masses = np.add.outer(log_masses, log_term)[allowed]
        draws = total[allowed]
    # n!/(n - k)! n^-k times (1 - changed/n)^(n - k): small terms only, so that n = 10^6 loses no digits
    falling = np.concatenate([[0.0], np.cumsum(np.log1p(-np.arange(max_draws) / n))])
    masses = np.exp(log_masses + falling[draws] + (n - draws) * math.log1p(-changed / n))
    return _Resamples(sums, squares, draws, values, masses)
