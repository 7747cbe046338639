"""The law of T* = (mean* - mean)/SE* over resamples that vary, for the studentized interval (ADCS 2019, Eq. 4).

SE* is the standard error that the resample itself has. Where few topics changed, or there are few, every resample is
enumerated. Elsewhere replicates are drawn, from one fixed stream. Of plain ones, one in two thousand lies beyond a
99.9 % limit, so most are drawn with the topics' chances moved towards those that make T* large, or small, and every
replicate is weighted by how much likelier it would have been with plain chances. A fifth are plain draws, so that no
weight exceeds 5 by much, and no data can make the law much worse than one from these alone.

References
----------
R. Benham, B. Carterette, A. Moffat, J. S. Culpepper, "Taking risks with confidence", ADCS 2019; M. V. Johns,
"Importance sampling for bootstrap confidence intervals", Journal of the American Statistical Association 83 (1988);
A. B. Owen and Y. Zhou, "Safe and effective importance sampling", Journal of the American Statistical Association 95
(2000), for the weights of a mixture.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pytest_riskguard.distributions import ndtri
from pytest_riskguard.inference.replicates import next_words, stream
from pytest_riskguard.inference.sample import Sample
from pytest_riskguard.inference.sum_law import binomial, enumerated
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, IntArray

#: So many ways to draw the changed topics are enumerated.
MAX_VECTORS = 400_000
#: A variance that is less than this share of the mean square that it is computed from is rounding.
MIN_VARIANCE = 1e-14
#: How far out draws are centred, as normal quantiles: 0 (plain draws), and about those of 95 % and 99.9 % limits.
CENTRES = (0.0, -3.3, -2.0, 2.0, 3.3)
#: Replicates are drawn in so many parts, which bounds the memory; those of a part and centre, and all draws.
PARTS, MAX_ROWS, MIN_ROWS, MAX_DRAWS = 16, 2**14, 32, 2**25
#: The chance of a topic is a multiple of one over this number: one of 16 random bits.
SLOTS = 2**16
#: With more topics than the first number, only the second number of topics, furthest out, are drawn one by one.
MAX_TOPICS, MAX_SINGLE = 4096, 256
#: Logarithms beyond this overflow.
MAX_LOG = 700.0
#: Probabilities this close are the same, and statistics, as a share of their size where that exceeds 1.
REACHED, SAME_STATISTIC = 1e-13, 1e-9
#: So many of the last laws are kept.
MAX_KEPT = 4


class StudentizedLaw:
    """A law of weighted atoms; ``side`` -1 says that they are those of -T*."""

    def __init__(self, statistics: FloatArray, weights: FloatArray, *, side: int = 1) -> None:
        order = np.argsort(statistics, kind="stable")[::side]
        self._atoms, cumulated = side * statistics[order], np.cumsum(weights[order])
        self._cumulated = cumulated / cumulated[-1]

    def cdf(self, t: float) -> float:
        """P(T* <= t); statistics within 1e-9 are the same."""
        count = int(np.searchsorted(self._atoms, t + SAME_STATISTIC * max(1.0, abs(t)), side="right"))
        return float(self._cumulated[count - 1]) if count else 0.0

    def quantiles(self, p: npt.ArrayLike) -> FloatArray:
        """The smallest atoms whose cdf reaches these probabilities."""
        places = np.searchsorted(self._cumulated, np.maximum(np.asarray(p) - REACHED, REACHED), side="left")
        return np.asarray(self._atoms[np.minimum(places, self._atoms.size - 1)])


def studentized_law(sample: Sample) -> StudentizedLaw:
    """The law of T* of scores that vary. Scores and their mirror image share draws, so that their laws mirror."""
    return _kept_law(sample.x.tobytes())


@lru_cache(maxsize=MAX_KEPT)
def _kept_law(x: bytes) -> StudentizedLaw:
    sample = Sample(np.frombuffer(x))
    sides = sample.x - sample.mean + (sample.x - sample.mean)[::-1]
    uneven = sides[np.flatnonzero(sides)]
    side = -1 if uneven.size and uneven[0] < 0 else 1  # -1 for exactly one of a sample and its image
    chosen = Sample.of(side * sample.x)
    return StudentizedLaw(*(_enumerated(chosen) or _drawn(chosen)), side=side)


def _enumerated(sample: Sample) -> tuple[FloatArray, FloatArray] | None:
    """Statistics and probabilities of every resample, or None where there are too many."""
    distances = sample.sums.values[0, 1:] / sample.deviation
    rows = np.stack([distances, distances**2])
    found = enumerated(sample.sums.chances[0], rows, sample.n, most=MAX_VECTORS)
    if found is None:
        return None
    (sums, squares), masses = found
    statistics = _statistics(sample, sample.mode, sums, squares)
    varied = np.isfinite(statistics)
    return statistics[varied], masses[varied]


def _statistics(sample: Sample, origin: float, sums: FloatArray, squares: FloatArray) -> FloatArray:
    """T* from the sums of the n distances from an origin, and of their squares, in standard deviations.

    NaN where a replicate does not vary by more than the rounding of its scores.
    """
    n = sample.n
    means = sums / n
    variances = np.maximum(squares / n - means**2, 0.0)
    # scores that span s have a variance of s^2/(2 n) at least
    spans, sizes = np.sqrt(2 * n * variances) * sample.deviation, np.abs(origin + means * sample.deviation)
    varied = (variances > MIN_VARIANCE * squares / n) & (spans > ROUNDING_ERROR * np.maximum(1.0, sizes))
    moved = means + (origin - sample.mean) / sample.deviation
    moved[np.abs(moved) * math.sqrt(n) <= ROUNDING_ERROR] = 0.0  # the sample's own mean, up to rounding
    return np.where(varied, math.sqrt(n - 1) * moved / np.sqrt(np.where(varied, variances, 1.0)), np.nan)


def _drawn(sample: Sample) -> tuple[FloatArray, FloatArray]:
    """Statistics and weights of drawn replicates that vary.

    With chances in proportion to exp(s y - (s y)^2/2) the mean of y, a standardised score, is about s, and T* about
    s sqrt(n): the first terms of 1 + s y, which gives the likeliest chances of such a T* (empirical likelihood).
    """
    values, counts = sample.distinct
    y, plain, n = (values - sample.mean) / sample.deviation, counts / sample.n, sample.n
    slopes = np.array(CENTRES)[:, None] / math.sqrt(n)
    chances = plain * np.exp(slopes * y - (slopes * y) ** 2 / 2)
    norms = np.sum(chances, axis=1, keepdims=True)
    urns = [_Urn(sample, y, each) for each in chances / norms]
    rows = int(
        min(MAX_ROWS, max(MIN_ROWS, MAX_DRAWS / (max(urn.expected_draws for urn in urns) * PARTS * len(urns))))
    )
    statistics = np.empty((PARTS, len(urns), rows))
    weights = np.empty_like(statistics)
    for part in range(PARTS):
        drawn = [urn.replicates(rows, chunk=part * len(urns) + k) for k, urn in enumerate(urns)]
        sums, squares = (np.stack(kind) for kind in zip(*drawn, strict=True))
        origin, own = urns[0].origin, urns[0].y_origin
        statistics[part] = _statistics(sample, origin, sums, squares)
        of_y, of_squares = n * own + sums, n * own**2 + 2 * own * sums + squares
        # how much likelier each is by plain chances than by those of all centres mixed
        s, logs = slopes[:, :, None], n * np.log(norms)[:, :, None]
        weights[part] = 1 / np.mean(np.exp(np.minimum(s * of_y - s**2 / 2 * of_squares - logs, MAX_LOG)), axis=0)
    varied = np.isfinite(statistics)
    return statistics[varied], weights[varied]


class _Urn:
    """Topics to be drawn with given chances, and the sums that their replicates have.

    Sums are taken of distances from the most frequent score, or the middle one where no score occurs twice, so that
    replicates without a topic that lies far out keep all their digits. That score, which adds nothing, is not drawn
    one by one; nor are in a long vector all but those furthest out: given how many of the others are drawn, their sum
    and sum of squares are normal.
    """

    def __init__(self, sample: Sample, y: FloatArray, chances: FloatArray) -> None:
        values, counts = sample.distinct
        self.n = sample.n
        origin = int(np.argmax(counts)) if np.max(counts) > 1 else y.size // 2
        self.origin, self.y_origin = float(values[origin]), float(y[origin])
        distances = (values - values[origin]) / sample.deviation
        single = np.arange(values.size) != origin
        if np.sum(counts[single]) > MAX_TOPICS:
            furthest = np.argsort(-np.abs(distances), kind="stable")
            single[furthest[max(1, int(np.count_nonzero(np.cumsum(counts[furthest]) <= MAX_SINGLE))) :]] = False
        share = float(np.sum(chances[single]))
        self.expected_draws = max(1.0, sample.n * share)
        most = min(sample.n, math.ceil(self.expected_draws + 10 * math.sqrt(self.expected_draws) + 50))
        self._below = np.rint(np.cumsum(binomial(sample.n, min(share, 1 - 1e-16), most=most - 1)) * 2.0**32)
        # ascending scores share the slots by their cumulated chances, so that roundings cancel in every sum
        edges = np.rint(np.cumsum(chances[single]) / share * SLOTS).astype(np.int64)
        self._slots = np.repeat(distances[single], np.diff(edges, prepend=0))
        self._bulk = _Bulk(distances[~single], chances[~single])

    def replicates(self, rows: int, *, chunk: int) -> tuple[FloatArray, FloatArray]:
        """The sums of distances and of their squares over the draws of each replicate."""
        generator = stream(chunk)
        first = next_words(generator, 3 * -(-rows // 2)).view("<u4").reshape(3, -1)[:, :rows]
        single = np.searchsorted(self._below, first[0], side="right")  # how many single draws is binomial
        ends = np.cumsum(single)
        drawn = next_words(generator, -(-int(ends[-1]) // 4)).view("<u2")[: ends[-1]]
        distances = np.append(self._slots.take(drawn, mode="clip"), 0.0)
        # reduceat takes the one element at its start where a replicate has none
        sums, squares = (
            np.where(single > 0, np.add.reduceat(terms, ends - single), 0.0) for terms in (distances, distances**2)
        )
        other_sums, other_squares = self._bulk.sums(self.n - single, (first[1:] + 0.5) / 2.0**32)
        return sums + other_sums, squares + other_squares


class _Bulk:
    """Scores drawn so often that their sum and sum of squares are normal, or that are all the same."""

    def __init__(self, distances: FloatArray, chances: FloatArray) -> None:
        shares, squares = chances / np.sum(chances), distances**2
        self._mean, self._square = float(np.sum(shares * distances)), float(np.sum(shares * squares))
        from_mean, from_square = distances - self._mean, squares - self._square
        self._deviation = math.sqrt(float(np.sum(shares * from_mean**2)))
        covariance = float(np.sum(shares * from_mean * from_square))
        self._along = covariance / self._deviation if self._deviation > 0 else 0.0
        self._across = math.sqrt(max(0.0, float(np.sum(shares * from_square**2)) - self._along**2))

    def sums(self, draws: IntArray, uniform: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Sums over the given numbers of draws, from two uniform numbers for each replicate."""
        if self._deviation == self._across == 0:
            return np.asarray(draws * self._mean), np.asarray(draws * self._square)
        normal, root = ndtri(uniform), np.sqrt(draws)
        sums = draws * self._mean + root * self._deviation * normal[0]
        squares = draws * self._square + root * (self._along * normal[0] + self._across * normal[1])
        # a variance cannot be negative
        return np.asarray(sums), np.asarray(np.maximum(squares, sums**2 / np.maximum(draws, 1)))
