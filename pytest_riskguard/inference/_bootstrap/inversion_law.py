"""The bootstrap law of a mean from its characteristic function, where many topics changed.

The mean of n draws with replacement is an n-fold convolution, so its characteristic function phi is known exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from pytest_riskguard.inference._bootstrap.inversion import (
    MAGNITUDE_ERROR,
    PERIOD,
    STEP,
    ComplexArray,
    Inversion,
    magnitudes,
    mean_exponential_less_one,
)
from pytest_riskguard.inference._bootstrap.laws import ComputedLaw, MeanLaw
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.risk.checks import FloatArray
from pytest_riskguard.risk.distributions import ndtri

#: How many frequencies F is made of.
MIN_FREQUENCIES, MAX_FREQUENCIES = 48, 4096
#: How far the frequencies left out may move F: the smallest of these for which ``FEW_FREQUENCIES`` are enough, else
#: the last.
NEGLIGIBLE = (1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7)
FEW_FREQUENCIES = 1024
#: At most this many angles are computed: bounds the time spent on data whose phi decays late.
MAX_ANGLES = 2**20
#: Density of the standard normal distribution at the 99.9 % limits: turns an error of F into one of a quantile.
FAR_DENSITY = 0.00178
#: |phi| is checked beforehand at this many frequencies one step apart; before that at every fourth of them.
CHECKED_FREQUENCIES = MAX_FREQUENCIES + 2
COARSE_STEPS = 4
#: If |phi| is no larger than this at all frequencies left out, they move F by less than the first of ``NEGLIGIBLE``:
#: their weights add up to less than 4.
SMALL_PHI = 2e-14
#: Where log|phi| is below this, phi is negligible beside all that may be left out.
NEGLIGIBLE_LOG = -80.0
#: More distinct values than this are rounded, to the second number of points, before |phi| is checked.
MAX_EXACT_VALUES = 2**13
ROUNDED_POINTS = 2**16
#: Where that rounding hides more than this of log|phi|, the check makes no allowance for it.
MAX_HIDDEN = 4.0
#: The far tails begin at so many times what is left out, but between these probabilities.
PRECISE, MIN_EDGE, MAX_EDGE = 1e6, 1e-7, 1e-4
#: No search starts further out, in standard errors.
MAX_START = 8.0


class SmoothLaw(ComputedLaw):
    """A law whose phi is known at enough frequencies; cdf, density and quantiles are sums over them.

    ``left_out`` bounds how far the other frequencies move F, ``resolution`` what that does to a 99.9 % limit. Steps
    too fine for these frequencies are smoothed over. Where some scores are rounded and others are not, ``resolution``
    leaves out these steps; limits were off by up to 3e-4 standard errors (50 topics, three decimals).
    """

    kind = "smooth"

    def __init__(self, sample: Sample, phi: ComplexArray, *, left_out: float) -> None:
        super().__init__(sample, edge=min(max(PRECISE * left_out, MIN_EDGE), MAX_EDGE), smooth=True)
        self.phi, self.left_out = phi, left_out
        self.centre = sample.mean
        #: never below what was measured on real vectors
        self.resolution = max(2.3e-6, left_out / FAR_DENSITY)

    @property
    def frequencies(self) -> int:
        """How many frequencies were enough."""
        return self.phi.size

    @cached_property
    def inversion(self) -> Inversion:
        """The sums over frequencies."""
        return Inversion(self.phi[None, :])

    def cdf(self, value: float) -> float:
        """P(mean <= value)."""
        z = (value - self.centre) / self._sample.scale
        if z == 0:
            return self.inversion.cdf_at_zero()
        if abs(z) >= PERIOD / 2:
            return float(z > 0)
        return float(self.inversion.cdf(np.array([[z]]))[0, 0])

    def mid_cdf(self, value: float) -> float:
        """The same as ``cdf``: a smooth law has no atoms that matter."""
        return self.cdf(value)

    def _share(self, value: float, *, inclusive: bool) -> float:  # noqa: ARG002 - there are no atoms
        return self.cdf(value)

    def _values(self, p: FloatArray) -> FloatArray:
        return self.values(self.inversion.quantiles(p[None, :], self.start(p)[None, :])[0])

    def start(self, p: FloatArray) -> FloatArray:
        """Where to look for quantiles, in standard errors: the normal ones, corrected for skewness and tails."""
        return self._sample.normal_corrected(np.clip(ndtri(p), -MAX_START, MAX_START))

    def values(self, roots: FloatArray) -> FloatArray:
        """Quantiles in units of x from those of the standardised mean."""
        x = self._sample.x
        return np.clip(self.centre + self._sample.scale * roots, x[0], x[-1])


def quantiles_of(laws: Sequence[MeanLaw], z: FloatArray) -> FloatArray:
    """Quantiles of several laws at normal scores of shape (n_laws, n_scores), in units of x.

    All inverted laws share a search; the results are to the bit those of ``law.at_scores``.
    """
    quantiles = np.empty(z.shape)
    rows_by_frequencies: dict[int, list[int]] = {}
    for row, law in enumerate(laws):
        if isinstance(law, SmoothLaw):
            rows_by_frequencies.setdefault(law.frequencies, []).append(row)
        else:
            quantiles[row] = law.at_scores(z[row])
    for rows in rows_by_frequencies.values():
        inverted = [law for law in (laws[row] for row in rows) if isinstance(law, SmoothLaw)]
        inversion = Inversion.together([law.inversion for law in inverted])
        near = np.stack([law.near(z[row]) for row, law in zip(rows, inverted, strict=True)])
        start = np.stack([law.start(p) for p, law in zip(near, inverted, strict=True)])
        for row, law, roots in zip(rows, inverted, inversion.quantiles(near, start), strict=True):
            quantiles[row] = law.extended(z[row], law.values(roots))
    return quantiles


def smooth_law(sample: Sample) -> SmoothLaw | None:
    """The law by inversion, or None where phi does not become negligible within the frequencies allowed.

    |phi| is checked beforehand. Checking only the last frequencies computed is not enough: where all but a few topics
    lie on a lattice, |phi| falls to nothing and rises again. One FFT shows all of it, and where it never falls (few
    changed topics) or falls too late (one topic far out), no time is lost on computing phi.
    """
    needed, left_out = MIN_FREQUENCIES, NEGLIGIBLE[0]
    if not _falls_at_once(sample):
        needed, left_out = _frequencies_needed(sample)
    affordable = min(MAX_FREQUENCIES, max(FEW_FREQUENCIES, MAX_ANGLES // sample.distinct[0].size))
    if needed > affordable:
        return None
    values, counts = sample.distinct
    y = (values - sample.mean) / sample.total
    phi: ComplexArray = np.exp(sample.n * np.log1p(mean_exponential_less_one(STEP, needed, y, counts / sample.n)))
    return SmoothLaw(sample, phi, left_out=left_out)


def _falls_at_once(sample: Sample) -> bool:
    """Whether |phi| is negligible at all frequencies but the first, up to the last that may be needed.

    Every fourth of them is computed, from just below the first that is left out, and gives a bound, except that very
    many values are rounded first. For one draw |phi|^2 is E cos(t D), D the difference of two draws; its curvature is
    -E D^2 = -2/n or more, in reciprocal standard errors. So between two frequencies it lies no more than
    (their distance/2)^2/n above the larger of its values there.
    """
    positions, weights = _rounded_if_many(sample)
    of_one_draw = magnitudes(positions * COARSE_STEPS, weights, CHECKED_FREQUENCIES // COARSE_STEPS + 1)
    largest = float(np.max(of_one_draw[(MIN_FREQUENCIES - 2) // COARSE_STEPS :])) + MAGNITUDE_ERROR
    square = largest**2 + (COARSE_STEPS * STEP / 2) ** 2 / sample.n
    return sample.n / 2 * math.log(square) < math.log(SMALL_PHI)


def _frequencies_needed(sample: Sample) -> tuple[int, float]:
    """How many frequencies carry all of F that matters, and how far those left out move F at most."""
    phi = _checked_magnitudes(sample)
    # beyond those checked |phi| is as in their last half, and phases are as good as random
    half = CHECKED_FREQUENCIES // 2
    beyond = 4 * math.sqrt(float(np.sum(phi[half:] ** 2)) / half / CHECKED_FREQUENCIES) / math.pi
    if beyond > 0:
        phi = np.append(phi, np.zeros(CHECKED_FREQUENCIES - phi.size))
    largest_parts = phi / (math.pi * np.arange(1, phi.size + 1))
    left_out = np.cumsum(largest_parts[::-1])[::-1] + beyond
    for negligible in NEGLIGIBLE:
        # half-integer frequencies lie between those checked: one to either side
        needed = max(MIN_FREQUENCIES, int(np.count_nonzero(left_out > negligible)) + 1)
        if needed <= FEW_FREQUENCIES:
            break
    return needed, negligible


def _checked_magnitudes(sample: Sample) -> FloatArray:
    """An upper estimate of |phi| at frequencies 0, 1, 2, ... steps; it ends with the last that is not negligible."""
    positions, weights = _rounded_if_many(sample)
    hidden = np.zeros(CHECKED_FREQUENCIES)
    if positions.size < sample.offsets.size:
        # rounding blurs each changed topic's angle by up to pi k / points and so hides this much at most on average
        changed = sample.n - float(sample.distinct[1][sample.mode])
        hidden = changed * (math.pi * np.arange(CHECKED_FREQUENCIES) / ROUNDED_POINTS) ** 2 / 6
        # in a long vector this exceeds what is sought; there phi is all but normal, and has long decayed
        hidden = np.where(hidden < MAX_HIDDEN, hidden, 0.0)
    of_one_draw = magnitudes(positions, weights, CHECKED_FREQUENCIES) + MAGNITUDE_ERROR
    matter = np.flatnonzero(of_one_draw > math.exp((NEGLIGIBLE_LOG - MAX_HIDDEN) / sample.n))
    phi = np.zeros(int(matter[-1]) + 1 if matter.size else 1)
    phi[matter] = np.minimum(np.exp(sample.n * np.log(of_one_draw[matter]) + hidden[matter]), 1.0)
    return phi


def _rounded_if_many(sample: Sample) -> tuple[FloatArray, FloatArray]:
    """Scores as turns of the circle of one period, and the share of topics that have each."""
    turns, shares = sample.offsets / (PERIOD * sample.total), sample.distinct[1] / sample.n
    if turns.size <= MAX_EXACT_VALUES:
        return turns, shares
    points = np.rint(turns * ROUNDED_POINTS).astype(np.int64) % ROUNDED_POINTS
    rounded = np.bincount(points, shares, ROUNDED_POINTS)
    occupied = np.flatnonzero(rounded)
    return occupied / ROUNDED_POINTS, np.asarray(rounded[occupied], dtype=np.float64)
