"""The exact bootstrap law of a mean where few topics changed: every way to draw the changed topics, enumerated."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import bdtr, gammaln

from pytest_riskguard.inference.laws import SAME_ATOM, StepLaw
from pytest_riskguard.inference.sample import Sample

#: The mass of resamples that draw changed topics more often than is enumerated.
LEFT_OUT = 1e-14
#: So many vectors of counts are enumerated at the most.
MOST_VECTORS = 60_000


def enumerated_law(sample: Sample) -> StepLaw | None:
    """The exact law, or None where there are too many ways to draw the changed topics.

    Topics with the same score count as one value with a larger share. A replicate draws value j c_j times; the
    counts are multinomial, and only totals that carry all but 1e-14 of the mass are enumerated.
    """
    values, counts = sample.distinct
    moved = values != 0
    values, shares = values[moved], counts[moved] / sample.n
    changed = float(shares.sum())
    most_draws = _most_draws(sample.n, changed)
    if math.comb(most_draws + values.size, values.size) > MOST_VECTORS:
        return None
    sums, draws, log_masses = np.zeros(1), np.zeros(1, dtype=np.intp), np.zeros(1)
    for value, share in zip(values, shares, strict=True):
        times = np.arange(most_draws + 1)
        total = np.add.outer(draws, times)
        allowed = total <= most_draws
        log_term = times * math.log(share) - gammaln(times + 1)
        sums = np.add.outer(sums, value * times)[allowed]
        log_masses = np.add.outer(log_masses, log_term)[allowed]
        draws = total[allowed]
    rest = sample.n - draws
    unchanged = 1 - changed if values.size < sample.distinct[0].size else 0.0
    log_rest = np.where(rest == 0, 0.0, rest * math.log(unchanged) if unchanged > 0 else -np.inf)
    masses = np.exp(gammaln(sample.n + 1) - gammaln(rest + 1) + log_rest + log_masses)
    order = np.argsort(sums, kind="stable")
    means, masses = sums[order] / sample.n, masses[order]
    starts = np.flatnonzero(np.diff(means, prepend=-np.inf) > SAME_ATOM * sample.scale)
    atoms = means[starts]
    atoms[np.abs(atoms) <= SAME_ATOM * sample.scale] = 0.0
    return StepLaw("enumerated", atoms, np.add.reduceat(masses, starts), sample, centre=sample.mean)


def _most_draws(n: int, share: float) -> int:
    draws = np.arange(n + 1)
    enough = 1 - bdtr(draws, n, min(share, 1.0)) < LEFT_OUT if share < 1 else draws == n
    return int(draws[enough][0])
