"""Which law the bootstrap of a mean has: one on a lattice, an inverted one, or one on a fine grid."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pytest_riskguard.inference._bootstrap.fft_law import grid_law, lattice_law
from pytest_riskguard.inference._bootstrap.inversion_law import smooth_law
from pytest_riskguard.inference._bootstrap.laws import ConstantLaw, MeanLaw
from pytest_riskguard.inference._bootstrap.sample import Sample

#: Interval, p-value, diagnostics and charts need the law of the same scores: the last laws are kept, of samples with
#: at most this many topics.
MAX_KEPT_LAWS, MAX_KEPT_TOPICS = 8, 10_000


def mean_law(x: npt.ArrayLike | Sample) -> MeanLaw:
    """The bootstrap law of the mean, without simulation: no seed, no replicates, the same for everybody.

    Constant data have one value. Data on a lattice coarse enough for its steps to matter have them computed. Else the
    characteristic function is inverted where it decays, which it does where many topics changed; where it does not,
    the data are rounded to a fine grid (the law's ``resolution`` says how fine).

    Parameters
    ----------
    x : array, shape (n_topics,)
        Trade-off scores, at least two.

    Raises
    ------
    ValueError
        Fewer than two topics, a second axis, a value that is not finite.
    """
    sample = x if isinstance(x, Sample) else Sample.of(x)
    return _law(sample) if sample.n > MAX_KEPT_TOPICS else _kept_law(sample.x.tobytes())


@lru_cache(maxsize=MAX_KEPT_LAWS)
def _kept_law(x: bytes) -> MeanLaw:
    return _law(Sample(np.frombuffer(x)))


def _law(sample: Sample) -> MeanLaw:
    if sample.constant:
        return ConstantLaw(sample.mean)
    law = lattice_law(sample)
    if law is not None:
        return law
    smooth = smooth_law(sample)
    if smooth is None:
        return grid_law(sample)
    if sample.step is not None:  # the lattice is too fine for its steps to matter: the law runs through their middle
        smooth.resolution = max(smooth.resolution, sample.step / (2 * sample.total))
    return smooth
