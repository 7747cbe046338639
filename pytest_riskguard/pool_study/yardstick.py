"""Whether a baseline is an odd yardstick for a candidate: close to the other systems, far from the candidate."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_riskguard.pool_study.bias import correlations
from pytest_riskguard.risk.checks import FloatArray, per_topic

#: With fewer other systems it is unknown which correlation is usual.
MIN_OTHERS = 3
#: Larger correlations, those of variants of one system, count as this one.
MAX_CORRELATION = 0.95
#: The smallest distance in Fisher's z that counts: a large q in J. Cohen, "Statistical power analysis for the
#: behavioral sciences", 2nd edition 1988, chapter 4.
MIN_DISTANCE = 0.5
#: The smallest distance in standard errors.
MIN_STANDARD_ERRORS = 2.0
#: The largest share of the other systems that may correlate as little as the candidate does.
MAX_SHARE_AS_FAR = 0.1


@dataclass(frozen=True)
class YardstickFit:
    """How well the candidate's scores follow the baseline's over topics, compared with other systems.

    ``correlation`` is that of candidate and baseline over topics; None where one of them scores the same on every
    topic. ``median`` and ``lowest`` are those of the ``others`` systems that have a correlation with the baseline;
    None without any. ``distance`` is how far the candidate's Fisher z lies below that of the median, and
    ``needed`` what counts as far; None without a correlation, three others and four topics. ``odd`` is whether the
    candidate correlates far less with the baseline than the others do.
    """

    correlation: float | None
    others: int
    median: float | None
    lowest: float | None
    distance: float | None
    needed: float | None
    odd: bool


def yardstick_fit(candidate: npt.ArrayLike, baseline: npt.ArrayLike, others: npt.ArrayLike) -> YardstickFit:
    """Whether the candidate correlates far less with its baseline than a pool of systems does.

    URisk charges a candidate for every topic that gets worse, and the less two systems correlate, the more topics do.
    So a baseline that most systems follow and the candidate does not is harder on the candidate (ECIR 2014), however
    good it is. The baseline is odd if all of this holds:

    - at least three other systems have a correlation with the baseline, which shows what is usual;
    - the candidate's Fisher z, ``atanh(r)``, lies at least 0.5 below that of their median, "large" in Cohen's terms.
      On this scale sampling errors are the same at every r, and 0.95 against 0.87 is as far as 0.5 against 0.05;
    - it also lies at least two standard errors below, ``2 sqrt(2 / (n_topics - 3))``, which is more than 0.5 below 35
      topics. This is for independent correlations, so it is cautious: these share a baseline;
    - at most a tenth of the others correlate as little as the candidate.

    Correlations above 0.95, those of variants of one system, count as 0.95, so that near copies of the baseline do
    not make every other system odd. A candidate at 0.87 or above is never odd. ValueError with shapes that do not fit
    or a value that is not finite.

    Parameters
    ----------
    candidate, baseline : array, shape (n_topics,)
        Scores in units of the measure.
    others : array, shape (n_others, n_topics)
        The pool without candidate and baseline; it may be empty.
    """
    candidate, baseline = per_topic(candidate, name="candidate"), per_topic(baseline, name="baseline")
    pool = np.asarray(others, dtype=np.float64)
    pool = pool.reshape(0, baseline.size) if pool.size == 0 else pool
    if candidate.shape != baseline.shape or pool.ndim != 2 or pool.shape[1] != baseline.size:
        raise ValueError(
            f"candidate, baseline and others differ in topics: {candidate.shape}, {baseline.shape}, {pool.shape}"
        )
    with_baseline = correlations(np.vstack([baseline, candidate, pool]))[0]
    return fit_from_correlations(float(with_baseline[1]), with_baseline[2:], topics=baseline.size)


def fit_from_correlations(correlation: float, others: FloatArray, *, topics: int) -> YardstickFit:
    """``yardstick_fit`` from the correlations of candidate and others with the baseline; NaN where there is none."""
    known = others[~np.isnan(others)]
    median = float(np.median(known)) if known.size else None
    lowest = float(np.min(known)) if known.size else None
    undefined = math.isnan(correlation)
    if undefined or median is None or known.size < MIN_OTHERS or topics <= 3:
        return YardstickFit(None if undefined else correlation, known.size, median, lowest, None, None, odd=False)
    distance = _fisher(median) - _fisher(correlation)
    needed = max(MIN_DISTANCE, MIN_STANDARD_ERRORS * math.sqrt(2 / (topics - 3)))
    as_far = np.count_nonzero(known <= correlation)
    odd = bool(distance >= needed and as_far <= MAX_SHARE_AS_FAR * known.size)
    return YardstickFit(correlation, known.size, median, lowest, distance, needed, odd)


def _fisher(correlation: float) -> float:
    """Fisher's z of a correlation, limited to 0.95 in size."""
    return math.atanh(min(max(correlation, -MAX_CORRELATION), MAX_CORRELATION))
