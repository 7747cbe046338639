"""Which exact law the bootstrap of a mean has: the front door to enumeration, lattices and inversion."""

from __future__ import annotations

import numpy.typing as npt

from pytest_riskguard.inference._bootstrap.enumeration import enumerated_law
from pytest_riskguard.inference._bootstrap.fft_law import grid_law, lattice_law
from pytest_riskguard.inference._bootstrap.inversion_law import smooth_law
from pytest_riskguard.inference._bootstrap.laws import ConstantLaw, MeanLaw
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.inference._bootstrap.stepped import stepped_law


def mean_law(x: npt.ArrayLike | Sample) -> MeanLaw:
    """The bootstrap law of the mean, without simulation: no seed, no replicates, the same for everybody.

    Constant data have one value; few changed topics are enumerated; data on a lattice have their steps counted or
    inverted there; else the characteristic function is inverted where it decays, which it does where many topics
    changed; where it does not, the data are rounded to a grid fine enough that nobody sees it (the law's
    ``resolution`` says how fine).

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
    if sample.constant:
        return ConstantLaw(sample.mean)
    law = enumerated_law(sample) or stepped_law(sample) or lattice_law(sample)
    if law is not None:
        return law
    smooth = smooth_law(sample)
    if smooth is None:
        return grid_law(sample)
    if sample.step is not None:  # too fine for its own law, so the smooth one runs through the middle of its steps
        smooth.resolution = max(smooth.resolution, sample.step / (2 * sample.total))
    return smooth
