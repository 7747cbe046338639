"""Whether a baseline is an odd yardstick for a candidate: it is close to the pool, and far from the candidate."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_riskguard.pool_study.bias import correlations
from pytest_riskguard.risk.checks import FloatArray, per_topic

#: Fewer other systems say nothing about what is usual.
FEWEST_OTHERS = 3
#: Correlations above this are those of variants of one system; how much above does not matter here.
VARIANT = 0.95
#: A difference of Fisher's z that counts as large: the q of J. Cohen, "Statistical power analysis for the behavioral
#: sciences", 2nd edition 1988, chapter 4.
LARGE = 0.5
#: Standard errors that the difference must exceed as well.
ERRORS = 2.0
#: Of the other systems no larger a share may correlate as little as the candidate does.
HARDLY_ANY = 0.1


@dataclass(frozen=True)
class YardstickFit:
    """How the candidate's scores follow the baseline's over topics, beside those of other systems.

    Attributes
    ----------
    correlation : float or None
        Of candidate and baseline over topics; None where one of them scores the same on every topic.
    others : int
        Other systems whose correlation with the baseline exists.
    median, lowest : float or None
        Of the correlations of those others with the baseline; None without any.
    distance, needed : float or None
        How far the candidate's Fisher z lies below that of the median, and how far is far; None where the
        correlation does not exist, for fewer than three others, and for fewer than four topics.
    odd : bool
        Whether the candidate correlates far less with the baseline than the pool does.
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

    URisk charges a candidate for every topic that moves, and topics move the more, the less two systems correlate. A
    baseline that most systems follow and the candidate does not is harder on the candidate than on them (ECIR 2014),
    whatever either is worth. Four things must hold before it is called odd:

    - at least three other systems correlate with the baseline somehow, or nothing is known of what is usual;
    - the candidate's Fisher z, ``atanh(r)``, lies 0.5 or more below that of their median, Cohen's "large". On that
      scale sampling errors are the same at every r, and 0.95 against 0.87 is as far as 0.5 against 0.05;
    - it also lies two standard errors below, ``2 sqrt(2 / (n_topics - 3))``: that of a difference of two independent
      correlations, so it is too careful for these, which share a baseline. This asks for more than 0.5 below 35
      topics;
    - no more than a tenth of the others correlate as little, for then it is not alone in it.

    Correlations above 0.95 count as 0.95: they are those of variants of one system, and a pool of near copies of the
    baseline shall not make every other system odd. So no candidate at 0.87 or above is ever odd.

    Parameters
    ----------
    candidate, baseline : array, shape (n_topics,)
        Scores in units of the measure.
    others : array, shape (n_others, n_topics)
        The pool without both of them; it may be empty.

    Raises
    ------
    ValueError
        Shapes that do not fit, a value that is not finite.
    """
    candidate, baseline = per_topic(candidate, name="candidate"), per_topic(baseline, name="baseline")
    pool = np.asarray(others, dtype=np.float64)
    pool = pool.reshape(0, baseline.size) if pool.size == 0 else pool
    if candidate.shape != baseline.shape or pool.ndim != 2 or pool.shape[1] != baseline.size:
        raise ValueError(
            f"candidate, baseline and others differ in topics: {candidate.shape}, {baseline.shape}, {pool.shape}"
        )
    found = correlations(np.vstack([baseline, candidate, pool]))[0]
    return fit_of(float(found[1]), found[2:], topics=baseline.size)


def fit_of(correlation: float, others: FloatArray, *, topics: int) -> YardstickFit:
    """The same from correlations with the baseline: the candidate's, and those of the others; NaN is none."""
    known = others[~np.isnan(others)]
    median = float(np.median(known)) if known.size else None
    lowest = float(np.min(known)) if known.size else None
    missing = math.isnan(correlation)
    if missing or median is None or known.size < FEWEST_OTHERS or topics <= 3:
        return YardstickFit(None if missing else correlation, known.size, median, lowest, None, None, odd=False)
    distance = _fisher(median) - _fisher(correlation)
    needed = max(LARGE, ERRORS * math.sqrt(2 / (topics - 3)))
    alone = np.count_nonzero(known <= correlation) <= HARDLY_ANY * known.size
    odd = bool(distance >= needed and alone)
    return YardstickFit(correlation, known.size, median, lowest, distance, needed, odd)


def _fisher(correlation: float) -> float:
    """Fisher's z, without telling variants of one system apart, whichever way they vary."""
    return math.atanh(min(max(correlation, -VARIANT), VARIANT))
