"""How the bootstrap law of a mean, or of a studentized mean, is computed: its distribution over resamples.

References
----------
R. Benham, B. Carterette, A. Moffat, J. S. Culpepper, "Taking risks with confidence", ADCS 2019, Eq. 4.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pytest_riskguard.inference._bootstrap.enumeration import enumerated_mean_law, enumerated_studentized_law
from pytest_riskguard.inference._bootstrap.fft_law import (
    MAX_SPARSE_LATTICE_POINTS,
    few_values_law,
    grid_law,
    lattice_law,
)
from pytest_riskguard.inference._bootstrap.inversion_law import smooth_law
from pytest_riskguard.inference._bootstrap.laws import MeanLaw, MirroredLaw, StepLaw, StudentizedLaw, leans_left
from pytest_riskguard.inference._bootstrap.sample import Sample

#: Interval, p-value, diagnostics and charts need the law of the same scores, and gates that differ in alpha look for
#: alpha* through the same laws, so the last laws are kept, for samples with at most this many topics. A law takes up
#: to a megabyte, a studentized law of drawn replicates a few.
MAX_KEPT_LAWS, MAX_KEPT_STUDENTIZED_LAWS, MAX_KEPT_TOPICS = 32, 4, 10_000
#: Of larger samples only the last law is kept, with its sample: to compare a million scores would take time as well.
_LAST_LARGE: list[tuple[Sample, MeanLaw]] = []


def mean_law(x: npt.ArrayLike | Sample) -> MeanLaw:
    """The bootstrap law of the mean, without simulation: no seed, no replicates, the same for everyone.

    Where few topics changed, all resamples are enumerated. Scores on a lattice so coarse that steps matter have an
    exact step function. Otherwise the characteristic function is inverted where it decays, as it does where many
    topics changed; where it does not, scores are rounded to a fine grid (``resolution`` says how fine). ValueError
    with fewer than two topics, a second axis, or a value that is not finite.
    """
    sample = Sample.of(x)
    if sample.n <= MAX_KEPT_TOPICS:
        return _kept_mean_law(sample.x.tobytes())
    for known, law in _LAST_LARGE:
        if known is sample:
            return law
    law = _mean(sample)
    _LAST_LARGE[:] = [(sample, law)]
    return law


@lru_cache(maxsize=MAX_KEPT_LAWS)
def _kept_mean_law(x: bytes) -> MeanLaw:
    return _mean(Sample(np.frombuffer(x)))


def _mean(sample: Sample) -> MeanLaw:
    if sample.constant:
        return StepLaw("constant", np.array([sample.mean]), np.ones(1), sample, centre=sample.mean, resolution=0.0)
    law = enumerated_mean_law(sample) or lattice_law(sample)
    if law is not None:
        return law
    smooth = smooth_law(sample)
    if smooth is None:
        lattice = lattice_law(sample, max_points=MAX_SPARSE_LATTICE_POINTS)
        return lattice or few_values_law(sample) or grid_law(sample)
    if sample.step is not None:  # the lattice is too fine for its steps to matter: the law runs through their middle
        smooth.resolution = max(smooth.resolution, sample.step / (2 * sample.total))
    return smooth


def studentized_law(x: npt.ArrayLike | Sample) -> StudentizedLaw:
    """The law of T* = (mean* - mean)/SE* over replicates that vary.

    Where few topics changed, or there are few, every resample is enumerated; where many changed, the joint
    characteristic function of the sum and the sum of squares is inverted; where that takes too many frequencies,
    replicates are drawn, the same ones for everybody. Scores and their mirror image share a computation, so that
    their laws mirror each other. ValueError like ``mean_law``, and for constant scores, which have no standard error.
    """
    sample = Sample.of(x)
    if sample.constant:
        raise ValueError("x must vary for its mean to be studentized, got a constant")
    return _studentized(sample) if sample.n > MAX_KEPT_TOPICS else _kept_studentized_law(sample.x.tobytes())


@lru_cache(maxsize=MAX_KEPT_STUDENTIZED_LAWS)
def _kept_studentized_law(x: bytes) -> StudentizedLaw:
    return _studentized(Sample(np.frombuffer(x)))


def _studentized(sample: Sample) -> StudentizedLaw:
    enumerated = enumerated_studentized_law(sample)
    if enumerated is not None:
        return enumerated
    from pytest_riskguard.inference._bootstrap.studentized_inversion import inverted_law
    from pytest_riskguard.inference._bootstrap.studentized_replicates import replicated_law

    mirrored = leans_left(sample)
    chosen = Sample.of(-sample.x) if mirrored else sample
    law = inverted_law(chosen) or replicated_law(chosen)
    return MirroredLaw(law) if mirrored else law
