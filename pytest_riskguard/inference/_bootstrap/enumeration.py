"""The exact bootstrap law of a mean where few topics changed: every way to draw the changed topics, enumerated."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import bdtrc, gammaln

from pytest_riskguard.inference._bootstrap.laws import StepLaw
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.risk.checks import FloatArray

IntArray = npt.NDArray[np.int64]

#: The mass of resamples that draw changed topics more often than is enumerated.
LEFT_OUT = 1e-14
#: So many vectors of counts are enumerated at the most.
MOST_VECTORS = 60_000
#: With more distinct values than this there are always more vectors, save for a handful of topics.
MOST_VALUES = 16


@dataclass(frozen=True)
class Resamples:
    """Every way to draw the changed topics that has any mass, one entry each.

    Attributes
    ----------
    sums : array, shape (n_resamples,)
        What the draws add to a replicate of n usual scores, in units of x.
    squares : array, shape (n_resamples,)
        Sum of squared distances of the draws from the usual score, in units of the sample's variance.
    draws, values : array of int, shape (n_resamples,)
        How often changed topics are drawn, and how many different scores among them.
    masses : array, shape (n_resamples,)
        Probabilities; they sum to 1 but for 1e-14.
    """

    sums: FloatArray
    squares: FloatArray
    draws: IntArray
    values: IntArray
    masses: FloatArray


def enumerated_resamples(sample: Sample, *, most: int = MOST_VECTORS) -> Resamples | None:
    """Every way to draw the changed topics, or None where there are more than ``most``.

    Changed means other than the most frequent score, 0 where few topics changed. Topics with the same score count as
    one value with a larger share. A replicate draws value j c_j times; the counts are multinomial, and only totals
    that carry all but 1e-14 of the mass are enumerated.
    """
    n, (_, counts) = sample.n, sample.distinct
    if counts.size - 1 > MOST_VALUES:
        return None
    moved = np.arange(counts.size) != sample.usual
    offsets, times_held = sample.offsets[moved], counts[moved]
    changed = float(times_held.sum())
    most_draws = _most_draws(n, changed / n)
    if math.comb(most_draws + offsets.size, offsets.size) > most:
        return None
    sums, squares, log_masses = np.zeros(1), np.zeros(1), np.zeros(1)
    draws, values = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for offset, held in zip(offsets, times_held, strict=True):
        times = np.arange(most_draws + 1)
        total = np.add.outer(draws, times)
        allowed = total <= most_draws
        log_term = times * math.log(held) - gammaln(times + 1)
        sums = np.add.outer(sums, offset * times)[allowed]
        squares = np.add.outer(squares, (offset / sample.deviation) ** 2 * times)[allowed]
        values = np.add.outer(values, (times > 0).astype(np.int64))[allowed]
        log_masses = np.add.outer(log_masses, log_term)[allowed]
        draws = total[allowed]
    # n!/(n - k)! n^-k times (1 - changed/n)^(n - k): small terms only, so that n = 10^6 loses no digits
    falling = np.concatenate([[0.0], np.cumsum(np.log1p(-np.arange(most_draws) / n))])
    masses = np.exp(log_masses + falling[draws] + (n - draws) * math.log1p(-changed / n))
    return Resamples(sums, squares, draws, values, masses)


def enumerated_law(sample: Sample) -> StepLaw | None:
    """The exact law of the mean, or None where there are too many ways to draw the changed topics."""
    resamples = enumerated_resamples(sample)
    if resamples is None:
        return None
    order = np.argsort(resamples.sums, kind="stable")
    means, masses = resamples.sums[order] / sample.n, resamples.masses[order]
    starts = np.flatnonzero(np.diff(means, prepend=-np.inf) > sample.same)
    return StepLaw(
        "enumerated", sample.means(means[starts]), np.add.reduceat(masses, starts), sample, centre=sample.mean
    )


def _most_draws(n: int, share: float) -> int:
    """How often changed topics are drawn at the most, but for a negligible share of resamples."""
    draws = np.arange(n + 1)
    return int(np.argmax(bdtrc(draws, n, share) < LEFT_OUT))
