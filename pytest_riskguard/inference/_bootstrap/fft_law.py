"""The bootstrap law of a mean by the fast Fourier transform of the law of one draw.

Scores on a lattice (P@10, scores rounded to two decimals, multiples of 1/3) have sums on that lattice: the law is a
step function and comes out exactly.

Where scores lie on no lattice and too few changed to invert their law, they are rounded to a fine grid. A second
transform gives the mean of what rounding took from the replicates on each point, and the point moves there: a point
with one atom lies exactly where that atom does. Two replicates are known without any rounding and are atoms of their
own: the one without any changed topic, which decides a gate where few topics changed, and the one with every topic
once, which is the sample itself.
"""

from __future__ import annotations

import numpy as np

from pytest_riskguard.inference._bootstrap.convolution import Rounded, grid_atoms, lattice_atoms
from pytest_riskguard.inference._bootstrap.inversion import PERIOD
from pytest_riskguard.inference._bootstrap.laws import StepLaw
from pytest_riskguard.inference._bootstrap.sample import Sample

#: A lattice with at most this many points over 24 standard errors has its own law: the steps of a finer one move
#: limits by less than 24/2^16 = 3.7e-4 standard errors, so its law is inverted. Where few topics changed, inversion
#: fails and single resamples have much mass: there finer lattices, up to the second number, keep their own law,
#: because on a grid the resamples with the sample's own mean would not all stay at that mean.
MAX_LATTICE_POINTS, MAX_SPARSE_LATTICE_POINTS = 2**15, 2**17


def lattice_law(sample: Sample, *, max_points: int = MAX_LATTICE_POINTS) -> StepLaw | None:
    """The exact law of data on a lattice, or None where they lie on none that is coarse enough."""
    if sample.step is None or PERIOD * sample.total / sample.step > max_points:
        return None
    atoms = lattice_atoms(sample, sample.step)
    means = sample.means(atoms.sums / sample.n)
    return StepLaw("lattice", means[:-1], atoms.masses[:-1], sample, centre=float(means[-1]))


def grid_law(sample: Sample) -> StepLaw:
    """The law of the data rounded to a grid, each point moved to the mean of its replicates; see ``Rounded``."""
    grid = Rounded.of(sample)
    atoms = grid_atoms(grid)
    means = sample.means(atoms.sums / sample.n)
    order = np.argsort(means, kind="stable")
    return StepLaw(
        "grid", means[order], atoms.masses[order], sample, centre=float(means[1]), resolution=grid.resolution
    )
