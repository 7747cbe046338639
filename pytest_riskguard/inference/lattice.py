"""The exact bootstrap law of a mean on a lattice, by the fast Fourier transform of the law of one draw.

Scores on a grid (P@10, scores rounded to four decimals, multiples of 1/3) have sums on a grid: the law is a step
function with few atoms and comes out exactly. Data on no grid that are too sparse for the smooth path are rounded to
a very fine grid first; that law is exact for the rounded data, and how far the rounding moves a sum is known.
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

IntArray = npt.NDArray[np.int64]


def lattice_law(sample: Sample) -> StepLaw | None:
    """The exact law of data on a lattice, or None where they lie on none that is coarse enough."""
    step = lattice_step(sample.offsets)
    width = PERIOD * sample.deviation * math.sqrt(sample.n)
    if step is None or width / step > MOST_POINTS:
        return None
    return _law(sample, "lattice", np.rint(sample.offsets / step).astype(np.int64), step, SAME_ATOM)


def grid_law(sample: Sample) -> StepLaw:
    """The exact law of the data rounded to a grid of 2^17 points over 24 standard errors.

    A replicate draws topic j c_j times, so rounding by r_j moves its sum by sum c_j r_j: on average by sum r_j, with
    variance below sum r_j^2. ``resolution`` is the first plus six roots of the second.
    """
    offsets, (_, counts) = sample.offsets, sample.distinct
    total = sample.deviation * math.sqrt(sample.n)
    step = PERIOD * total / MOST_POINTS
    indices = np.rint(offsets / step).astype(np.int64)
    moved = indices * step - offsets
    drift = abs(math.fsum(counts * moved)) + 6 * math.sqrt(math.fsum(counts * moved**2))
    return _law(sample, "grid", indices, step, drift / total)


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


def _law(sample: Sample, kind: str, indices: IntArray, step: float, resolution: float) -> StepLaw:
    _, counts = sample.distinct
    n = sample.n
    own = int(np.sum(indices * counts.astype(np.int64)))
    points = _points(PERIOD * sample.deviation * math.sqrt(n) / step)
    transform = np.fft.rfft(np.bincount(indices % points, counts / n, minlength=points))
    masses = np.fft.irfft(_power(transform, n), points)
    # masses[k] belongs to every sum congruent to k; the window of 24 standard errors about the mean holds them all
    first = own - points // 2
    masses = np.roll(masses, -(first % points))
    atoms = np.flatnonzero(masses > NO_MASS)
    return StepLaw(
        kind,
        sample.means((first + atoms.astype(np.float64)) * (step / n)),
        masses[atoms],
        sample,
        centre=float(sample.means(np.array([own * (step / n)]))[0]),
        resolution=resolution,
    )


def _points(width: float) -> int:
    return int(2 ** max(8, math.ceil(math.log2(max(width, 1.0)) - 1e-9)))


def _power(base: npt.NDArray[np.complex128], exponent: int) -> npt.NDArray[np.complex128]:
    """By repeated squaring: exact in the order of operations, no branch of the logarithm to choose."""
    result = base.copy()
    for bit in bin(exponent)[3:]:
        result *= result
        if bit == "1":
            result *= base
    return result
