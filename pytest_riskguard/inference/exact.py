"""Which exact law the bootstrap of a mean has: the front door to enumeration, lattices and inversion."""

from __future__ import annotations

import numpy.typing as npt

from pytest_riskguard.inference.characteristic import smooth_law
from pytest_riskguard.inference.lattice import grid_law, lattice_law
from pytest_riskguard.inference.laws import ConstantLaw, MeanLaw
from pytest_riskguard.inference.sample import Sample
from pytest_riskguard.inference.sparse import enumerated_law


def mean_law(x: npt.ArrayLike | Sample) -> MeanLaw:
    """The bootstrap law of the mean, without simulation: no seed, no replicates, the same for everybody.

    Constant data have one value; few changed topics are enumerated; data on a lattice are convolved there; else the
    characteristic function is inverted where it decays, which it does where many topics changed; where it does not,
    the data are rounded to a grid fine enough that nobody sees it (the law's ``resolution`` says how fine).

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
    step_law = enumerated_law(sample) or lattice_law(sample)
    if step_law is not None:
        return step_law
    return smooth_law(sample) or grid_law(sample)
