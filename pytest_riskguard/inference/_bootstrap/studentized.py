"""The studentized bootstrap of a mean: the law of T*, exact where that is possible.

References
----------
R. Benham, B. Carterette, A. Moffat, J. S. Culpepper, "Taking risks with confidence", ADCS 2019, Eq. 4.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.inference._bootstrap.studentized_enumeration import enumerated_law
from pytest_riskguard.inference._bootstrap.studentized_inversion import inverted_law
from pytest_riskguard.inference._bootstrap.studentized_laws import (
    MirroredLaw,
    StudentizedLaw,
    leans_left,
)
from pytest_riskguard.inference._bootstrap.studentized_replicates import replicated_law

#: Intervals and p-values need the law of the same scores: the last laws are kept, of samples with at most this many
#: topics. A law of drawn replicates takes some megabytes.
MAX_KEPT_LAWS, MAX_KEPT_TOPICS = 4, 10_000


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
    return _law(sample) if sample.n > MAX_KEPT_TOPICS else _kept_law(sample.x.tobytes())


@lru_cache(maxsize=MAX_KEPT_LAWS)
def _kept_law(x: bytes) -> StudentizedLaw:
    return _law(Sample(np.frombuffer(x)))


def _law(sample: Sample) -> StudentizedLaw:
    enumerated = enumerated_law(sample)
    if enumerated is not None:
        return enumerated
    if leans_left(sample):
        return MirroredLaw(_turned_law(Sample.of(-sample.x)))
    return _turned_law(sample)


def _turned_law(sample: Sample) -> StudentizedLaw:
    return inverted_law(sample) or replicated_law(sample)
