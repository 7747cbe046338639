"""The exact bootstrap law of a mean on a fine lattice, by inversion: for rounded scores of many changed topics.

The law of scores rounded to three or four decimals has tens of thousands of steps, but its characteristic function is
negligible at all but some hundred frequencies. With the weights of a lattice (see ``Comb``) these give every step
exactly, at the cost of a smooth law.
"""

from __future__ import annotations

import math

import numpy as np

from pytest_riskguard.inference._bootstrap.fft_law import IntArray, multiples, on_visible_lattice, points_over
from pytest_riskguard.inference._bootstrap.inversion import ComplexArray
from pytest_riskguard.inference._bootstrap.inversion_law import (
    FAR_DENSITY,
    FIRST_FREQUENCIES,
    NEGLIGIBLE,
    PERIOD,
    STEP,
    Comb,
    SmoothLaw,
    affordable,
    frequencies_needed,
    negligible_or_power,
    small_between,
    standard_phi,
)
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.risk.checks import FloatArray
from pytest_riskguard.rounding import ROUNDING_ERROR

#: With fewer points the transform of the whole law is the cheaper way.
FEWEST_POINTS = 2**12
#: Frequencies looked at first: one of so many.
GLANCE = 8
#: A root this close above an atom, in steps, is that atom: what rounding of F makes of an atom that it just reaches.
AT_ATOM = 1e-7


class SteppedLaw(SmoothLaw):
    """F is known half-way between any two atoms, exactly but for what is left out."""

    kind = "lattice"

    def __init__(self, sample: Sample, phi: ComplexArray, comb: Comb, *, left_out: float, step: float) -> None:
        super().__init__(sample, phi, comb, left_out=left_out)
        self.resolution = max(ROUNDING_ERROR, left_out / FAR_DENSITY)
        #: between two atoms, in standard errors and in units of x
        self.spacing = step / sample.total
        self._apart = step / sample.n
        _, counts = sample.distinct
        self._own = int(np.sum(multiples(sample, step) * counts.astype(np.int64)))
        self.centre = float(self._atoms(np.zeros(1))[0])

    def _atoms(self, steps: FloatArray) -> FloatArray:
        """The means so many steps from the sample's own."""
        return self._sample.means((self._own + steps) * self._apart)

    def _up_to(self, *steps: int) -> FloatArray:
        return self._standard_cdf((np.array(steps) + 0.5) * self.spacing)

    def _steps(self, value: float) -> int:
        """How far the last atom not above this value is from the sample's own mean."""
        return math.floor((value - self.centre + self._sample.same) / self._apart)

    def cdf(self, value: float) -> float:
        """P(mean <= value); atoms within 1e-12 standard errors are one."""
        return float(self._up_to(self._steps(value))[0])

    def mid_cdf(self, value: float) -> float:
        """P(mean < value) + P(mean = value)/2."""
        steps = self._steps(value)
        on_atom = abs(self.centre + steps * self._apart - value) <= self._sample.same
        return float(np.mean(self._up_to(steps - 1 if on_atom else steps, steps)))

    def values(self, roots: FloatArray) -> FloatArray:
        """The smallest atoms at which F reaches what the curve through its mid-points reaches at the roots."""
        return np.clip(self._atoms(steps_up(roots, self.spacing)), self._least, self._most)


def steps_up(roots: FloatArray, spacing: float) -> FloatArray:
    """The atoms, in steps, that F first reaches a level at, from where the curve through its mid-points does."""
    steps: FloatArray = np.ceil(roots / spacing - 0.5 - AT_ATOM)
    return steps


def stepped_law(sample: Sample) -> SteppedLaw | None:
    """The exact law of data on a fine lattice, or None where the transform of the whole law is as good.

    Unlike that of a smooth law, |phi| is known at once for every frequency there is: one transform of the counts.
    Most often one of every eighth frequency is enough.
    """
    if sample.step is None or not on_visible_lattice(sample):
        return None
    points = points_over(PERIOD * sample.total / sample.step)
    if points < FEWEST_POINTS:
        return None
    comb = Comb(2 * math.pi * sample.total / (points * sample.step), points)
    needed, left_out = math.ceil(FIRST_FREQUENCIES * STEP / comb.step), NEGLIGIBLE[0]
    indices = multiples(sample, sample.step)
    # every so many frequencies of a transform are the transform of the data on a circle so many times smaller
    glance = _sizes(sample, indices, points // GLANCE)[(needed - 2) // GLANCE :]
    if not small_between(glance, GLANCE * comb.step, sample.n):
        size = negligible_or_power(_sizes(sample, indices, points), sample.n)
        orders = np.arange(1, size.size + 1) / points
        needed, left_out = frequencies_needed(size / (points * np.sin(math.pi * np.minimum(orders, 0.5))))
    if needed > min(affordable(sample), points // 2):
        return None
    return SteppedLaw(sample, standard_phi(sample, comb, needed), comb, left_out=left_out, step=sample.step)


def _sizes(sample: Sample, indices: IntArray, points: int) -> FloatArray:
    """|phi| of one draw on a circle of so many steps."""
    shares = np.bincount(indices % points, sample.distinct[1] / sample.n, minlength=points)
    return np.asarray(np.abs(np.fft.rfft(shares)))
