"""The bootstrap law of a mean where nothing else fits: few changed topics, on no lattice, too many to enumerate.

The scores are rounded to a fine grid, on which the law comes out of one transform. A second transform gives the mean
of what rounding took from the replicates on each point, and the point moves there: where all of them are one atom it
lies exactly where that atom does. Two replicates are known without any rounding and are atoms of their own: the one
that draws no changed topic, which decides a gate where few topics changed, and the one that draws every topic once,
which is the sample's own mean.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln, xlogy

from pytest_riskguard.inference.bootstrap.characteristic import PERIOD
from pytest_riskguard.inference.bootstrap.lattice import NO_MASS, Convolution, multiples
from pytest_riskguard.inference.bootstrap.laws import StepLaw
from pytest_riskguard.inference.bootstrap.sample import Sample
from pytest_riskguard.risk.checks import FloatArray

#: Grid points over 24 standard errors.
POINTS = 2**16
#: Points with less mass than this stay where the grid has them: rounding of the transform would move them.
MOVED_MASS = 1e-13
#: Rounding of a transform, as a share of the largest weight.
TRANSFORM_ERROR = 1e-15
#: The replicates that may move further than the law's resolution says.
UNCOVERED = 1e-9


def grid_law(sample: Sample) -> StepLaw:
    """The law of the data rounded to a grid of 2^16 points over 24 standard errors, each point moved to its mean.

    A replicate draws topic j c_j times, so rounding by r_j moves its sum by sum c_j r_j. By Bernstein's inequality
    that lies within some t of its own mean for all but 1e-9 of the replicates, and so does the mean of those on one
    point: ``resolution`` is 2 t. What was measured is a tenth of that at the most, mostly far less.
    """
    offsets, (_, counts) = sample.offsets, sample.distinct
    step = PERIOD * sample.total / POINTS
    indices = multiples(sample, step)
    residuals = offsets - indices * step
    spread = residuals - math.fsum(counts * residuals) / sample.n
    third = math.log(2 / UNCOVERED) * float(np.max(np.abs(spread))) / 3
    within = third + math.sqrt(third**2 + 2 * math.log(2 / UNCOVERED) * math.fsum(counts * spread**2))

    convolution = Convolution(sample, indices, step)
    masses = convolution.masses()
    taken = convolution.expected(counts / sample.n * residuals)
    known, known_masses = _known_replicates(sample)
    for total, mass, index in zip(known, known_masses, (0, convolution.first + convolution.middle), strict=True):
        point = index - convolution.first
        if 0 <= point < convolution.points:
            masses[point] = max(masses[point] - mass, 0.0)
            taken[point] -= mass * (total - index * step)
    seen = np.flatnonzero(masses > NO_MASS)
    masses, taken = masses[seen], taken[seen]
    clear = (masses > MOVED_MASS) & (np.abs(taken) > TRANSFORM_ERROR * float(np.max(counts * np.abs(residuals))))
    sums = (seen + float(convolution.first)) * step
    sums += np.divide(taken, masses, out=np.zeros(seen.size), where=clear)

    means = sample.means(np.concatenate([known, sums]) / sample.n)
    order = np.argsort(means, kind="stable")
    return StepLaw(
        "grid",
        means[order],
        np.concatenate([known_masses, masses])[order],
        sample,
        centre=float(means[1]),
        resolution=2 * within / sample.total,
    )


def _known_replicates(sample: Sample) -> tuple[FloatArray, FloatArray]:
    """Sums, less n times the usual score, and masses: of no changed topic, and of the sample's own scores."""
    n, (_, counts) = sample.n, sample.distinct
    unchanged = n * math.log1p(-(n - float(counts[sample.usual])) / n)
    own = float(gammaln(n + 1)) - math.fsum(gammaln(counts + 1)) + math.fsum(xlogy(counts, counts / n))
    return np.array([0.0, math.fsum(counts * sample.offsets)]), np.exp([unchanged, own])
