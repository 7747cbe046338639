"""The law of T* from the joint characteristic function of a replicate's sum and sum of squares.

With y = (x - mean)/sd (divisor n), a replicate has u = mean*(y), m = mean*(y^2) and
T* = sqrt(n - 1) u/sqrt(m - u^2), which rises with u/sqrt(m): T* <= q where u <= c sqrt(m), c = q/sqrt(n - 1 + q^2).
The pair (u, m) is a mean of n draws, so its characteristic function is known exactly. Weighted losses make u and m
all but proportional; m is therefore written as 1 + slope u + rest, with a rest that is uncorrelated to u. For a given
rest, T* <= q means that u is below a root of a quadratic; there the law of u is inverted by Davies' half-integer
formula, and the results are added up over the rest, whose density comes from a Fourier transform.

References
----------
R. B. Davies, "Numerical inversion of a characteristic function", Biometrika 60 (1973).
"""

from __future__ import annotations

import itertools
import math
from functools import cached_property

import numpy as np

from pytest_riskguard.frozen import frozen
from pytest_riskguard.inference._bootstrap.inversion import PERIOD, STEP, ComplexArray, half_integers
from pytest_riskguard.inference._bootstrap.sample import Sample, condensed
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, exact_sum
from pytest_riskguard.risk.distributions import ndtr, ndtri

FIRST_FREQUENCIES = 64
#: At most this many pairs of frequencies, of the sum times of the rest.
MAX_PAIRS = 2**16
#: How far the last quarter of frequencies may move F: to count as converged, to be accepted when no more are allowed,
#: and before inversion is given up.
CONVERGED, MAX_MOVED, DIVERGED = 1e-7, 1e-6, 1e-3
#: How far smoothing over the law's atoms may move F: about as far as draws are off in the tails.
MAX_ATOM_ERROR = 2.5e-6
#: Statistics at which F is checked.
CHECKED_STATISTICS = (-5.0, -3.0, -1.5, 0.0, 1.5, 3.0, 5.0)
#: Densities of the rest, and its standard deviation, are rounding below these.
MIN_DENSITY = 1e-14
MIN_REST = 1e-10
#: The levels of the limits at which F is checked as well.
LEVELS = (0.0005, 0.025, 0.975, 0.9995)
MAX_STEPS = 200
#: Probabilities are resolved down to this many times what is left out.
RESOLVED = 100
MAX_STATISTIC = 1e9
#: Smaller probabilities count as this.
MIN_PROBABILITY = 1e-15


def inverted_law(sample: Sample) -> InvertedLaw | None:
    """The law by inversion, or None where it does not converge within 2^16 pairs of frequencies.

    The frequencies of the sum or of the rest are doubled, whichever still move F. Where few topics changed, phi may
    rise again beyond them, so such samples are refused first.
    """
    if atom_error(sample) > MAX_ATOM_ERROR:
        return None
    pair = Pair(sample)
    rows = columns = FIRST_FREQUENCIES
    while True:
        law = InvertedLaw(sample, pair, pair.phi(rows, columns))
        by_rows, by_columns = law.moved_by_last()
        moved = by_rows + by_columns
        if not moved < DIVERGED:
            return None
        if by_rows > CONVERGED / 2 and by_rows >= by_columns:
            rows *= 2
        elif by_columns > CONVERGED / 2:
            columns *= 2
        if moved <= CONVERGED or rows * columns > MAX_PAIRS:
            return law if moved <= MAX_MOVED and law.rises(moved) else None


def atom_error(sample: Sample) -> float:
    """About how far F is off where the first frequencies do not tell the law's atoms apart.

    The chance c that two replicates draw the same topics is the mean of |phi|^2 over all frequencies, and the mean
    mass of an atom. At a value, F misses half of each atom that is too close to it for frequencies to resolve:
    about c times the density times that distance, in the mean square. Counts of topics are taken as independent
    Poisson numbers, except that of the most frequent score, which follows from the others.
    """
    from scipy.special import ive

    counts, times = np.unique(np.delete(sample.distinct[1], sample.mode), return_counts=True)
    chance = math.exp(exact_sum(times * np.log(ive(0, 2 * counts))))
    return math.sqrt(chance * PERIOD / (2 * FIRST_FREQUENCIES) / math.sqrt(2 * math.pi))


class Pair:
    """The sum of y, and that of the rest: y^2 less its regression on y; both of unit variance.

    m = 1 + slope u + spread/sqrt(n) times the rest.
    """

    def __init__(self, sample: Sample) -> None:
        values, counts = sample.distinct
        self.n = sample.n
        self.y, self.shares = condensed((values - sample.mean) / sample.deviation, counts / sample.n)
        self.slope = exact_sum(self.shares * self.y**3)
        rest = self.y**2 - 1 - self.slope * self.y
        self.spread = math.sqrt(exact_sum(self.shares * rest**2))
        # with two values only the rest is rounding
        self._rest = rest / self.spread if self.spread > MIN_REST else np.zeros_like(rest)

    def phi(self, rows: int, columns: int) -> ComplexArray:
        """The characteristic function of the two standardised sums, shape (1 + rows, 2 columns + 1).

        Rows are frequencies of the sum: 0 and the first half-integer multiples of the step. Columns are those of the
        rest: multiples from -columns to columns.
        """
        first = np.append(0.0, half_integers(rows)) * STEP / math.sqrt(self.n)
        second = np.arange(-columns, columns + 1) * STEP / math.sqrt(self.n)
        turned = np.exp(1j * np.multiply.outer(first, self.y)) * self.shares
        # not a matrix product: a threaded one would add in an order that depends on the machine
        draw = np.einsum("kj,lj->kl", turned, np.exp(1j * np.multiply.outer(second, self._rest)))
        return np.asarray(draw**self.n)


@frozen
class _End:
    """Where a tail begins in which F is not resolved: a statistic, its normal score, and the slope from there."""

    statistic: float
    score: float
    slope: float


class InvertedLaw:
    """F is a sum over frequencies of u for each value of the rest; ``phi`` is as ``Pair.phi`` gives it.

    Probabilities of less than 100 times what is left out are not resolved; there F goes on as a straight line on the
    normal scale, so that limits and p-values agree.
    """

    kind = "inverted"

    def __init__(self, sample: Sample, pair: Pair, phi: ComplexArray) -> None:
        self._sample, self._pair, self._phi = sample, pair, phi
        self.left_out = 0.0
        self._known: dict[float, float] = {}
        self._kept_ends: dict[int, _End] = {}

    @property
    def frequencies(self) -> tuple[int, int]:
        """How many frequencies were enough for the sum, and for the rest."""
        return self._phi.shape[0] - 1, self._phi.shape[1] // 2

    @cached_property
    def _by_rest(self) -> tuple[FloatArray, FloatArray, ComplexArray]:
        """Where the rest lies, its masses there, and the terms of Davies' sum there."""
        rows, columns = self.frequencies
        points = 3 * columns
        padded = np.zeros((rows + 1, points), dtype=np.complex128)
        padded[:, : columns + 1] = self._phi[:, columns:]
        padded[:, points - columns :] = self._phi[:, :columns]
        by_rest = np.fft.fft(padded, axis=1) / points
        masses = by_rest[0].real
        seen = np.flatnonzero(np.abs(masses) > MIN_DENSITY)  # ringing puts some a little below 0: that cancels
        rest = PERIOD * np.fft.fftfreq(points)[seen] * self._pair.spread / math.sqrt(self._sample.n)
        terms = by_rest[1:, seen] / (math.pi * half_integers(rows))[:, None]
        return np.asarray(rest), masses[seen], terms

    def _raw(self, t: float) -> float:
        """F as the sum gives it, which may be a little outside [0, 1]; values are kept."""
        if t not in self._known:
            self._known[t] = self._computed(t)
        return self._known[t]

    def _computed(self, t: float) -> float:
        n, slope = self._sample.n, self._pair.slope
        rest, masses, terms = self._by_rest
        c = t / math.hypot(math.sqrt(n - 1), t)
        # u^2 = c^2 (1 + rest + slope u) with u of the sign of c; a rest too low for a root has no mass
        half = c * c * slope / 2
        root = np.sqrt(np.maximum(half * half + c * c * (1 + rest), 0.0))
        z = (half + math.copysign(1.0, c) * root) * math.sqrt(n)
        z = np.clip(z, -PERIOD / 2, PERIOD / 2)
        turn = np.exp(-1j * STEP * z)
        total = terms[-1].copy()
        for row in terms[-2::-1]:  # Horner's scheme in exp(-i step z)
            total *= turn
            total += row
        total *= np.exp(-0.5j * STEP * z)
        return float(np.sum(masses)) / 2 - float(np.sum(total.imag))

    def cdf(self, t: float) -> float:
        """P(T* <= t)."""
        p = self._raw(t)
        if 2 * self._smallest < p < 1 - 2 * self._smallest:
            return p
        end = self._end(1 if p > 0.5 else -1)
        if (t > end.statistic) == (p > 0.5):
            return float(ndtr(end.score + (t - end.statistic) * end.slope))
        return min(1.0, max(0.0, p))

    def quantile(self, p: float) -> float:
        """The value whose cdf is p."""
        score = float(ndtri(p))
        if self._smallest <= p <= 1 - self._smallest:
            return self._root(score)
        end = self._end(1 if score > 0 else -1)
        return min(max(end.statistic + (score - end.score) / end.slope, -MAX_STATISTIC), MAX_STATISTIC)

    @property
    def _smallest(self) -> float:
        """The smallest probability that is resolved."""
        return max(RESOLVED * self.left_out, MIN_PROBABILITY)

    def _end(self, side: int) -> _End:
        """Where F is too small, or too near to 1, for what is left out, and how it goes on from there."""
        if side not in self._kept_ends:
            score = side * -float(ndtri(self._smallest))
            before = side * -float(ndtri(10 * self._smallest))
            statistic = self._root(score)
            distance = max(side * (statistic - self._root(before)), ROUNDING_ERROR)
            self._kept_ends[side] = _End(statistic, score, side * (score - before) / distance)
        return self._kept_ends[side]

    def _root(self, goal: float) -> float:
        """Where F is the normal probability of a score.

        Found by secants on the normal scale, where F is all but a straight line, in a bracket that holds the root.
        """

        def excess(t: float) -> float:
            return float(ndtri(min(max(self._raw(t), MIN_PROBABILITY), 1 - MIN_PROBABILITY))) - goal

        low = max((t for t in CHECKED_STATISTICS if excess(t) <= 0), default=CHECKED_STATISTICS[0])
        high = min((t for t in CHECKED_STATISTICS if excess(t) >= 0), default=CHECKED_STATISTICS[-1])
        while (below := excess(low)) > 0 and low > -MAX_STATISTIC:
            low *= 2
        while (above := excess(high)) < 0 and high < MAX_STATISTIC:
            high *= 2
        for step in range(MAX_STEPS):
            t = (low * above - high * below) / (above - below) if step % 4 < 3 and below < above else (low + high) / 2
            miss = excess(t)
            if abs(miss) < ROUNDING_ERROR or high - low < ROUNDING_ERROR * max(1.0, abs(t)):
                break
            # the end that stays counts for half, or it might stay for ever (the Illinois rule)
            if miss > 0:
                high, above, below = t, miss, below / 2
            else:
                low, below, above = t, miss, above / 2
        return t

    def moved_by_last(self) -> tuple[float, float]:
        """How far at most the last quarter of frequencies of the sum moves F, and how far that of the rest."""
        rows, columns = self.frequencies
        fewer_rows = InvertedLaw(self._sample, self._pair, self._phi[: 1 + 3 * rows // 4])
        kept = slice(columns // 4, 2 * columns + 1 - columns // 4)
        fewer_columns = InvertedLaw(self._sample, self._pair, self._phi[:, kept])
        by_rows, by_columns = (
            max(abs(self._raw(t) - law._raw(t)) for t in CHECKED_STATISTICS) for law in (fewer_rows, fewer_columns)
        )
        return by_rows, by_columns

    def rises(self, moved: float) -> bool:
        """Whether F rises, as a distribution function must, or falls no more than the last frequencies moved it."""
        self.left_out = moved
        statistics = sorted((*CHECKED_STATISTICS, *(self._root(float(ndtri(p))) for p in LEVELS)))
        heights = [self._raw(t) for t in statistics]
        return all(following >= height - moved for height, following in itertools.pairwise(heights))
