"""The studentized bootstrap of a mean: the law of T*, exact where that is possible.

References
----------
R. Benham, B. Carterette, A. Moffat, J. S. Culpepper, "Taking risks with confidence", ADCS 2019, Eq. 4.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pytest_riskguard.inference._bootstrap.enumeration import enumerated_resamples
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.inference._bootstrap.studentized_inversion import inverted_law
from pytest_riskguard.inference._bootstrap.studentized_laws import (
    MirroredLaw,
    StudentizedLaw,
    WeightedLaw,
    leans_left,
    vary,
)
from pytest_riskguard.inference._bootstrap.studentized_replicates import replicated_law
from pytest_riskguard.rounding import ROUNDING_ERROR

#: More than for the mean, whose law has other ways when there are many: what takes as long as drawing replicates.
MOST_VECTORS = 400_000
#: What rounding leaves of a variance of which nothing is known, as a share of the squares it came from.
LEAST_VARIANCE = 1e-15


def studentized_law(x: npt.ArrayLike | Sample) -> StudentizedLaw:
    """The law of T* = (mean* - mean)/SE* over replicates that vary.

    Where few topics changed, or few there are, every resample is enumerated; where many changed, the joint
    characteristic function of the sum and the sum of squares is inverted; where that takes too many frequencies,
    replicates are drawn, the same ones for everybody. Of data and their mirror image only one is worked on, so that
    their laws mirror each other.

    Parameters
    ----------
    x : array, shape (n_topics,)
        Trade-off scores that vary, at least two.

    Raises
    ------
    ValueError
        Fewer than two topics, a second axis, a value that is not finite; or the scores are constant, so that no
        replicate has a standard error.
    """
    sample = x if isinstance(x, Sample) else Sample.of(x)
    if sample.constant:
        raise ValueError("x must vary for its mean to be studentized, got a constant")
    enumerated = enumerated_t_law(sample)
    if enumerated is not None:
        return enumerated
    if leans_left(sample):
        return MirroredLaw(_turned_law(Sample.of(-sample.x)))
    return _turned_law(sample)


def _turned_law(sample: Sample) -> StudentizedLaw:
    return inverted_law(sample) or replicated_law(sample)


def enumerated_t_law(sample: Sample) -> WeightedLaw | None:
    """The exact law, or None where there are too many resamples."""
    resamples = enumerated_resamples(sample, most=MOST_VECTORS)
    if resamples is None:
        return None
    n, unit = sample.n, sample.deviation
    usual = float(sample.distinct[0][sample.usual])
    added = resamples.sums / (n * unit)
    squares = resamples.squares / n
    variances = np.maximum(squares - added**2, LEAST_VARIANCE * squares)
    varied = (resamples.values > 1) | ((resamples.values == 1) & (resamples.draws < n))
    varied &= vary(sample, usual + added * unit, variances)
    moved = added[varied] + (usual - sample.mean) / unit
    moved[np.abs(moved) * math.sqrt(n) <= ROUNDING_ERROR] = 0.0  # the sample's own mean, but for rounding
    return WeightedLaw(
        "enumerated",
        math.sqrt(n - 1) * moved / np.sqrt(variances[varied]),
        resamples.masses[varied],
        resolution=ROUNDING_ERROR,
        no_variation=math.fsum(resamples.masses[~varied]),
    )
