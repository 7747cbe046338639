"""The bootstrap law of a mean from its characteristic function, where many topics changed.

The mean of n draws with replacement is an n-fold convolution, so its characteristic function is known exactly; it
is inverted with Davies' half-integer formula. Bennett's inequality bounds the aliasing for any data: 3.5e-17 within
6 standard errors at the period used here.

References
----------
R. B. Davies, "Numerical inversion of a characteristic function", Biometrika 60 (1973).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from pytest_riskguard.inference._bootstrap.characteristic_function import (
    MAGNITUDE_ERROR,
    magnitudes,
    mean_exponential_less_one,
)
from pytest_riskguard.inference._bootstrap.inversion import ComplexArray, Inversion
from pytest_riskguard.inference._bootstrap.laws import MeanLaw
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.risk.checks import FloatArray

#: The law is computed on a circle of this many standard errors.
PERIOD = 24.0
STEP = 2 * math.pi / PERIOD
FIRST_FREQUENCIES = 48
MOST_FREQUENCIES = 4096
#: What may be left out of F: the least of these that few frequencies suffice for, the last at any price.
NEGLIGIBLE = (1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7)
FEW_FREQUENCIES = 1024
#: Angles computed at the most: bounds the time spent on data that decay late.
MOST_ANGLES = 2**20
#: Density of the standard normal law at the 99.9 % limits: what turns an error of F into one of a quantile.
FAR_DENSITY = 0.00178
#: exp of this is nothing beside all that may be left out.
NOTHING = -80.0
#: Frequencies at which |phi| is looked at, one step apart, beforehand.
LOOKED_AT = MOST_FREQUENCIES + 2
#: So many steps apart before that.
GLANCE = 4
#: With |phi| no larger than this wherever it is left out, F moves by less than the least of ``NEGLIGIBLE``: weights
#: from the first frequency left out on add up to less than 4.
SMALL_PHI = 2e-14
#: More distinct values than this are rounded to so many points before |phi| is looked at.
MANY_VALUES_TO_LOOK_AT = 2**13
SCAN_POINTS = 2**16
#: Where that rounding hides more than this of log|phi|, the look is taken as it is.
SMALL_BLUR = 4.0
#: No search starts further out, in standard errors.
FURTHEST_START = 8.0


@dataclass(frozen=True)
class Comb:
    """Where phi is taken and with what weights it makes up F.

    Davies' frequencies are the half-integer multiples of ``step``, in reciprocal standard errors. On a lattice with
    ``points`` atoms in one period phi repeats itself, and the weights of its repetitions add up in closed form: the
    sum of (-1)^m/(k + 1/2 + m points) over all m is pi/(points sin(pi (k + 1/2)/points)). Half-way between two atoms
    F then is that of the steps themselves.
    """

    step: float = STEP
    points: int | None = None

    @property
    def period(self) -> float:
        """In standard errors."""
        return 2 * math.pi / self.step

    def frequencies(self, count: int) -> FloatArray:
        """The first of them."""
        frequencies: FloatArray = (np.arange(count, dtype=np.float64) + 0.5) * self.step
        return frequencies

    def weights(self, count: int) -> FloatArray:
        """What phi is divided by in the sum that gives F."""
        orders: FloatArray = math.pi * (np.arange(count, dtype=np.float64) + 0.5)
        return orders if self.points is None else np.asarray(self.points * np.sin(orders / self.points))


class SmoothLaw:
    """Phi is known at enough frequencies; cdf, density and quantiles are sums over them.

    ``left_out`` bounds how far the other frequencies move F, ``resolution`` what that does to a 99.9 % limit. Steps
    too fine for these frequencies are smoothed over. Rounded scores with a few others among them have steps that
    ``resolution`` does not know of; limits were off by up to 3e-4 standard errors (50 topics, three decimals).
    """

    kind = "smooth"

    def __init__(self, sample: Sample, phi: ComplexArray, comb: Comb, *, left_out: float) -> None:
        self.comb, self.phi = comb, phi
        self._sample = sample
        self.centre = self._mean = sample.mean
        self._scale = sample.scale
        self._least, self._most = float(sample.x[0]), float(sample.x[-1])
        self.left_out = left_out
        #: never below what was measured on real vectors
        self.resolution = max(2.3e-6, left_out / FAR_DENSITY)

    @property
    def frequencies(self) -> int:
        """How many frequencies were enough."""
        return self.phi.size

    @cached_property
    def inversion(self) -> Inversion:
        """The sums over frequencies."""
        weights = self.comb.weights(self.phi.size)
        return Inversion(self.phi[None, :], self.phi[None, :] / weights, np.array([self.comb.step]))

    def _standard_cdf(self, z: FloatArray) -> FloatArray:
        half = self.comb.period / 2
        inside: FloatArray = self.inversion.cdf(z[None, :])[0]
        if float(np.max(np.abs(z))) < half:
            return inside
        return np.where(np.abs(z) < half, inside, np.where(z > 0, 1.0, 0.0))

    def cdf(self, value: float) -> float:
        """P(mean <= value)."""
        z = (value - self._mean) / self._scale
        return float(self._standard_cdf(np.array([z]))[0]) if z else self.inversion.cdf_at_zero()

    def mid_cdf(self, value: float) -> float:
        """The same: a smooth law has no atoms that matter."""
        return self.cdf(value)

    def quantile(self, p: float) -> float:
        """The value whose cdf is p; never beyond the scores themselves."""
        return float(self.quantiles(np.array([p]))[0])

    def quantiles(self, p: FloatArray) -> FloatArray:
        """The quantile of each of these probabilities, shape (n_probabilities,)."""
        found: FloatArray = quantiles_of([self], p[None, :])[0]
        return found

    def known(self, p: FloatArray) -> FloatArray:
        """The probabilities, but those in the far tails, where F is lost in what is left out, at its edge."""
        least = 10 * self.left_out
        return np.clip(p, least, 1 - least)

    def start(self, p: FloatArray) -> FloatArray:
        """Where to look for quantiles, in standard errors: the normal ones, corrected for skewness and tails."""
        return self._sample.normal_corrected(np.clip(ndtri(p), -FURTHEST_START, FURTHEST_START))

    def values(self, roots: FloatArray) -> FloatArray:
        """Quantiles in units of x from those of the standardised mean."""
        return np.clip(self._mean + self._scale * roots, self._least, self._most)


def quantiles_of(laws: Sequence[MeanLaw], p: FloatArray) -> FloatArray:
    """Quantiles of several laws, with one search for all that are inverted: to the bit those of ``law.quantiles``.

    Parameters
    ----------
    laws : sequence of MeanLaw
        Any kinds.
    p : array, shape (n_laws, n_probabilities)
        Probabilities, a row for each law.

    Returns
    -------
    array, shape (n_laws, n_probabilities)
        In units of x.
    """
    found = np.empty(p.shape)
    alike: dict[int, list[int]] = {}
    for row, law in enumerate(laws):
        if isinstance(law, SmoothLaw):
            alike.setdefault(law.frequencies, []).append(row)
        else:
            found[row] = law.quantiles(p[row])
    for rows in alike.values():
        inverted = [law for law in (laws[row] for row in rows) if isinstance(law, SmoothLaw)]
        inversion = Inversion.together([law.inversion for law in inverted])
        known = np.stack([law.known(p[row]) for row, law in zip(rows, inverted, strict=True)])
        start = np.stack([law.start(p[row]) for row, law in zip(rows, inverted, strict=True)])
        for row, law, roots in zip(rows, inverted, inversion.quantiles(known, start), strict=True):
            found[row] = law.values(roots)
    return found


def standard_phi(sample: Sample, comb: Comb, count: int) -> ComplexArray:
    """Phi of the standardised mean at the first frequencies of a comb."""
    values, counts = sample.distinct
    y = (values - sample.mean) / sample.total
    added = mean_exponential_less_one(comb.step, count, y, counts / sample.n)
    phi: ComplexArray = np.exp(sample.n * np.log1p(added))
    return phi


def affordable(sample: Sample) -> int:
    """How many frequencies may be computed before another way is the cheaper one."""
    return min(MOST_FREQUENCIES, max(FEW_FREQUENCIES, MOST_ANGLES // sample.distinct[0].size))


def smooth_law(sample: Sample) -> SmoothLaw | None:
    """The law by inversion, or None where phi does not become negligible within the frequencies allowed.

    |phi| is looked at beforehand. Looking only at the last frequencies in hand is not enough: where all but a few
    topics lie on a lattice, |phi| falls to nothing and rises again. One FFT shows all of it, and where it never falls
    (few changed topics) or falls too late (one topic far out), no frequency is computed in vain.
    """
    needed, left_out = FIRST_FREQUENCIES, NEGLIGIBLE[0]
    if not _falls_at_once(sample):
        size = _look(sample)
        # beyond the look |phi| is as in its last half, and phases are as good as random
        half = LOOKED_AT // 2
        beyond = 4 * math.sqrt(float(np.sum(size[half:] ** 2)) / half / LOOKED_AT) / math.pi
        if beyond > 0:
            size = np.append(size, np.zeros(LOOKED_AT - size.size))
        needed, left_out = frequencies_needed(size / (math.pi * np.arange(1, size.size + 1)), beyond=beyond)
    if needed > affordable(sample):
        return None
    return SmoothLaw(sample, standard_phi(sample, Comb(), needed), Comb(), left_out=left_out)


def _falls_at_once(sample: Sample) -> bool:
    """Whether |phi| is negligible at all frequencies but the first, up to the last that may be needed.

    Seen at every fourth of them, from just below the first that is left out; a bound, but for very many values, which
    are rounded first.
    """
    positions, weights = _rounded_if_many(sample)
    sizes = magnitudes(positions * GLANCE, weights, LOOKED_AT // GLANCE + 1)[(FIRST_FREQUENCIES - 2) // GLANCE :]
    return small_between(sizes + MAGNITUDE_ERROR, GLANCE * STEP, sample.n)


def small_between(sizes: FloatArray, apart: float, n: int) -> bool:
    """Whether |phi| is negligible at and between frequencies so far apart, from the size of phi of one draw there.

    The square of that size is E cos(t D), D the difference of two draws; its curvature is -E D^2 = -2/n or more, in
    reciprocal standard errors. So between two of the frequencies it lies no more than (apart/2)^2/n above the larger
    of its values there.
    """
    largest = float(np.max(sizes)) ** 2 + (apart / 2) ** 2 / n
    return n / 2 * math.log(largest) < math.log(SMALL_PHI)


def frequencies_needed(terms: FloatArray, *, beyond: float = 0.0) -> tuple[int, float]:
    """How many frequencies carry all of F that matters, and how far those left out move F at the most.

    ``terms`` are the largest parts that frequencies 0, 1, 2, ... steps can have in F, ``beyond`` those after them.
    """
    left_out = np.cumsum(terms[::-1])[::-1] + beyond
    for negligible in NEGLIGIBLE:
        # half-integer frequencies lie between those looked at: one to either side
        needed = max(FIRST_FREQUENCIES, int(np.count_nonzero(left_out > negligible)) + 1)
        if needed <= FEW_FREQUENCIES:
            break
    return needed, negligible


def _look(sample: Sample) -> FloatArray:
    """An upper estimate of |phi| at frequencies 0, 1, 2, ... steps, up to the last at which it is not negligible."""
    positions, weights = _rounded_if_many(sample)
    hidden: float | FloatArray = 0.0
    if positions.size < sample.offsets.size:
        # rounding blurs each changed topic's angle by up to pi k / points and so hides this much at most on average
        changed = sample.n - float(sample.distinct[1][sample.usual])
        hidden = changed * (math.pi * np.arange(LOOKED_AT) / SCAN_POINTS) ** 2 / 6
        # in a long vector it exceeds what is sought; there phi is all but normal, and has long decayed
        hidden = np.where(hidden < SMALL_BLUR, hidden, 0.0)
    return negligible_or_power(magnitudes(positions, weights, LOOKED_AT) + MAGNITUDE_ERROR, sample.n, hidden)


def _rounded_if_many(sample: Sample) -> tuple[FloatArray, FloatArray]:
    """Scores on the circle of one period, in turns, and the share of topics that have them."""
    turns, weights = sample.offsets / (PERIOD * sample.total), sample.distinct[1] / sample.n
    if turns.size <= MANY_VALUES_TO_LOOK_AT:
        return turns, weights
    shares = np.bincount(np.rint(turns * SCAN_POINTS).astype(np.int64) % SCAN_POINTS, weights, SCAN_POINTS)
    held = np.flatnonzero(shares)
    return held / SCAN_POINTS, np.asarray(shares[held], dtype=np.float64)


def negligible_or_power(size: FloatArray, n: int, hidden: float | FloatArray = 0.0) -> FloatArray:
    """``size**n exp(hidden)``, at most 1, cut off after the last that is not negligible; negligible ones are 0."""
    seen = np.flatnonzero(size > math.exp((NOTHING - SMALL_BLUR) / n))
    powers = np.zeros(int(seen[-1]) + 1 if seen.size else 1)
    more = hidden if isinstance(hidden, float) else hidden[seen]
    powers[seen] = np.minimum(np.exp(n * np.log(size[seen]) + more), 1.0)
    return powers
