"""The exact bootstrap law of a mean on a lattice, by the fast Fourier transform of the law of one draw.

Scores on a grid (P@10, scores rounded to four decimals, multiples of 1/3) have sums on a grid: the law is a step
function with few atoms and comes out exactly. Data on no grid that are too sparse for the smooth path are rounded to
a very fine grid first. A second transform gives the mean of what rounding took from the replicates on each point, and
the point moves there: where all of them are one atom it lies exactly where that atom does.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pytest_riskguard.inference.characteristic import PERIOD
from pytest_riskguard.inference.laws import StepLaw
from pytest_riskguard.inference.sample import SAME_ATOM, Sample
from pytest_riskguard.risk.checks import FloatArray

#: Grid points over 24 standard errors, at the most for a lattice and always for rounded data.
MOST_POINTS = 2**17
#: A value this close to a multiple of the step, in steps, lies on the lattice.
ON_LATTICE = 1e-6
#: Masses below this are rounding of the transform, not atoms.
NO_MASS = 1e-18
#: Points with less mass than this stay where the grid has them: rounding of the transform would move them.
MOVED_MASS = 1e-13
#: Of a transform, as a share of the largest weight.
TRANSFORM_ERROR = 1e-15
#: The replicates that may move further than a grid law's resolution says.
UNCOVERED = 1e-9

IntArray = npt.NDArray[np.int64]
ComplexArray = npt.NDArray[np.complex128]


def lattice_law(sample: Sample) -> StepLaw | None:
    """The exact law of data on a lattice, or None where they lie on none that is coarse enough."""
    step = lattice_step(sample.offsets)
    width = PERIOD * sample.deviation * math.sqrt(sample.n)
    if step is None or width / step > MOST_POINTS:
        return None
    return _law(sample, "lattice", np.rint(sample.offsets / step).astype(np.int64), step)


def grid_law(sample: Sample) -> StepLaw:
    """The law of the data rounded to a grid of 2^17 points over 24 standard errors, each point moved to its mean.

    A replicate draws topic j c_j times, so rounding by r_j moves its sum by sum c_j r_j. By Bernstein's inequality
    that lies within some t of its own mean for all but 1e-9 of the replicates, and so does the mean of those on one
    point: ``resolution`` is 2 t. What was measured is a tenth of that at the most, mostly far less.
    """
    offsets, (_, counts) = sample.offsets, sample.distinct
    total = sample.deviation * math.sqrt(sample.n)
    step = PERIOD * total / MOST_POINTS
    indices = np.rint(offsets / step).astype(np.int64)
    residuals = offsets - indices * step
    drift = math.fsum(counts * residuals)
    spread = residuals - drift / sample.n
    third = math.log(2 / UNCOVERED) * float(np.max(np.abs(spread))) / 3
    within = third + math.sqrt(third**2 + 2 * math.log(2 / UNCOVERED) * math.fsum(counts * spread**2))
    return _law(sample, "grid", indices, step, resolution=2 * within / total, residuals=residuals)


def lattice_step(values: FloatArray) -> float | None:
    """The largest step that all values are multiples of, by Euclid's algorithm; None where there is none."""
    sizes = np.unique(np.abs(values[values != 0]))
    if sizes.size == 0:
        return None
    tolerance = 1e-9 * float(sizes[-1])
    step = float(sizes[-1])
    for size in sizes:
        step = _common_divisor(float(size), step, tolerance)
        if step < 4 * tolerance:
            return None
    # the step itself carries rounding: fit it to the largest value, then every value must be a multiple
    step = float(sizes[-1]) / round(float(sizes[-1]) / step)
    off = np.abs(sizes / step - np.rint(sizes / step))
    return step if float(np.max(off)) < ON_LATTICE else None


def _common_divisor(a: float, b: float, tolerance: float) -> float:
    while b > tolerance:
        a, b = b, abs(math.remainder(a, b))
    return a


def _law(
    sample: Sample,
    kind: str,
    indices: IntArray,
    step: float,
    *,
    resolution: float = SAME_ATOM,
    residuals: FloatArray | None = None,
) -> StepLaw:
    """The law of the sum of n draws of ``indices * step``, with ``residuals`` on top where there are any."""
    _, counts = sample.distinct
    n, shares = sample.n, counts / sample.n
    points = _points(PERIOD * sample.deviation * math.sqrt(n) / step)
    middle = points // 2
    first = int(np.sum(indices * counts.astype(np.int64))) - middle

    def of_one_draw(weights: FloatArray) -> ComplexArray:
        return np.fft.rfft(np.bincount(indices % points, weights, minlength=points))

    def in_order(transform: ComplexArray) -> FloatArray:
        # point k belongs to every sum congruent to k; the window of 24 standard errors about the mean holds them all
        return np.roll(np.fft.irfft(transform, points), -(first % points))

    draw = of_one_draw(shares)
    others = _power(draw, n - 1)
    masses = np.maximum(in_order(others * draw), 0.0)
    seen = masses > NO_MASS
    seen[middle] = True
    atoms, masses = np.flatnonzero(seen), masses[seen]
    sums = (first + atoms.astype(np.float64)) * step
    if residuals is not None:
        taken = n * in_order(others * of_one_draw(shares * residuals))[seen]
        sums += _mean_taken(taken, masses, most=float(np.max(counts * np.abs(residuals))))
    means = sample.means(sums / n)
    order = np.argsort(means, kind="stable")
    centre = float(means[np.searchsorted(atoms, middle)])
    return StepLaw(kind, means[order], masses[order], sample, centre=centre, resolution=resolution)


def _mean_taken(taken: FloatArray, masses: FloatArray, *, most: float) -> FloatArray:
    """What rounding took on the average of a point's replicates; 0 where it is rounding of the transform."""
    clear = (masses > MOVED_MASS) & (np.abs(taken) > TRANSFORM_ERROR * most)
    mean: FloatArray = np.divide(taken, masses, out=np.zeros(taken.size), where=clear)
    return mean


def _points(width: float) -> int:
    return int(2 ** max(8, math.ceil(math.log2(max(width, 1.0)) - 1e-9)))


def _power(base: ComplexArray, exponent: int) -> ComplexArray:
    """By repeated squaring: exact in the order of operations, no branch of the logarithm to choose."""
    result = base.copy()
    for bit in bin(exponent)[3:]:
        result *= result
        if bit == "1":
            result *= base
    return result
