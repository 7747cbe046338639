"""Every way to draw the changed topics of a sample, where few changed, or there are few."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtrc, gammaln

from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.inference._bootstrap.tilting import Draw
from pytest_riskguard.risk.checks import FloatArray, IntArray

#: The mass of resamples that draw changed topics more often than is enumerated.
LEFT_OUT = 1e-14
#: With more distinct values than this there are always more vectors, except with a handful of topics.
MAX_VALUES = 16
#: Tilted chances are no smaller.
TINY = 1e-300


@dataclass(frozen=True)
class Resamples:
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


def enumerated_resamples(sample: Sample, *, max_vectors: int, draw: Draw | None = None) -> Resamples | None:
    """Every way to draw the changed topics, or None where there are more than ``max_vectors``.

    Changed topics are those without the most frequent score. Topics with the same score count as one value with a
    larger share. A replicate draws value j c_j times; the counts are multinomial, and only totals that carry all but
    1e-14 of the mass are enumerated. With a ``draw`` chances are tilted, and masses are those of tilted replicates.
    """
    n, counts = sample.n, sample.distinct[1] if draw is None else sample.n * draw.shares
    if counts.size - 1 > MAX_VALUES:
        return None
    moved = np.arange(counts.size) != sample.mode
    offsets, moved_counts = sample.offsets[moved], counts[moved]
    changed = min(float(moved_counts.sum()), float(n))
    max_draws = int(np.argmax(bdtrc(np.arange(n + 1), n, changed / n) < LEFT_OUT))
    if math.comb(max_draws + offsets.size, offsets.size) > max_vectors:
        return None
    sums, squares, log_masses = np.zeros(1), np.zeros(1), np.zeros(1)
    draws, values = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for offset, count in zip(offsets, moved_counts, strict=True):
        times = np.arange(max_draws + 1)
        total = np.add.outer(draws, times)
        allowed = total <= max_draws
        log_term = times * math.log(max(float(count), TINY)) - gammaln(times + 1)
        sums = np.add.outer(sums, offset * times)[allowed]
        squares = np.add.outer(squares, (offset / sample.deviation) ** 2 * times)[allowed]
        values = np.add.outer(values, (times > 0).astype(np.int64))[allowed]
        log_masses = np.add.outer(log_masses, log_term)[allowed]
        draws = total[allowed]
    # n!/(n - k)! n^-k times (1 - changed/n)^(n - k): small terms only, so that n = 10^6 loses no digits
    falling = np.concatenate([[0.0], np.cumsum(np.log1p(-np.arange(max_draws) / n))])
    mode_share = float(counts[sample.mode]) / n
    mode = math.log1p(-changed / n) if changed < n / 2 else math.log(max(mode_share, TINY))
    masses = np.exp(log_masses + falling[draws] + (n - draws) * mode)
    return Resamples(sums, squares, draws, values, masses)
