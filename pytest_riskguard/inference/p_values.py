"""From intervals to p-values: the level at which an upper limit falls below a bound.

Each formula is that of the interval in ``intervals``, solved for the level: test and interval never disagree.
"""

from __future__ import annotations

import math

import numpy.typing as npt
from scipy.special import ndtr, ndtri, stdtr

from pytest_riskguard.inference.bootstrap.exact import mean_law
from pytest_riskguard.inference.bootstrap.laws import MeanLaw
from pytest_riskguard.inference.bootstrap.sample import Sample
from pytest_riskguard.inference.bootstrap.studentized import studentized_law
from pytest_riskguard.inference.intervals import bias_correction


def upper_p_value(x: npt.ArrayLike, *, method: str, bound: float = 0.0) -> float:
    """The smallest ``1 - level`` at which the interval's upper limit lies below a bound.

    Parameters
    ----------
    x : array, shape (n_topics,)
        Trade-off scores, in units of the measure; at least two.
    method : {"student_t", "basic", "studentized", "percentile", "bca"}
    bound : float
        In units of x.

    Returns
    -------
    float
        From 0 to 1, and 1 where no level suffices. Constant data, whose limits are all their mean, have 0 or 1.

    Raises
    ------
    ValueError
        An unknown method, and what ``intervals`` refuses.
    """
    if method not in _TAILS:
        raise ValueError(f"method must be one of {', '.join(_TAILS)}, got {method!r}")
    sample = Sample.of(x)
    if sample.constant:
        return float(not sample.mean < bound)
    return min(2 * _TAILS[method](sample, bound), 1.0)


def _student_t(sample: Sample, bound: float) -> float:
    return float(stdtr(sample.n - 1, (sample.mean - bound) / sample.standard_error))


def _studentized(sample: Sample, bound: float) -> float:
    return studentized_law(sample).cdf((sample.mean - bound) / sample.standard_error)


def _basic(sample: Sample, bound: float) -> float:
    law = mean_law(sample)
    return law.cdf(2 * law.centre - bound)


def _percentile(sample: Sample, bound: float) -> float:
    return 1 - _below(mean_law(sample), bound)


def _bca(sample: Sample, bound: float) -> float:
    law, a = mean_law(sample), sample.acceleration
    below, bias = _below(law, bound), bias_correction(law.mid_cdf(law.centre))
    if not 0 < below < 1:
        return 1 - below
    if not math.isfinite(bias):  # every adjusted level is then an end of the law
        return float(bias > 0)
    distance = float(ndtri(below)) - bias
    stretch = 1 + a * distance
    if stretch <= 0:
        return float(distance < 0)
    return float(ndtr(bias - distance / stretch))


def _below(law: MeanLaw, value: float) -> float:
    """P(mean < value)."""
    return min(max(2 * law.mid_cdf(value) - law.cdf(value), 0.0), 1.0)


_TAILS = {
    "student_t": _student_t,
    "basic": _basic,
    "studentized": _studentized,
    "percentile": _percentile,
    "bca": _bca,
}
