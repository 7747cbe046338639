"""The law of T* from draws, where it cannot be computed: deterministic, and most precise where limits lie.

Of plain replicates one in two thousand lies beyond a 99.9 % limit. So most are drawn with the topics' chances tilted
towards those that make T* large, or small, and every replicate is weighted by how much likelier it would have been
without the tilt, which is that of the likeliest way for T* to become large: its saddlepoint. A fifth are plain draws,
so that no weight exceeds 5 by much, and no data can make the law much worse than one from these alone.

References
----------
M. V. Johns, "Importance sampling for bootstrap confidence intervals", Journal of the American Statistical Association
83 (1988); A. B. Owen and Y. Zhou, "Safe and effective importance sampling", Journal of the American Statistical
Association 95 (2000), for the weights of a mixture.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from pytest_riskguard.frozen import frozen
from pytest_riskguard.inference._bootstrap.laws import WeightedLaw, vary
from pytest_riskguard.inference._bootstrap.replicates import words
from pytest_riskguard.inference._bootstrap.sample import Sample, condensed
from pytest_riskguard.risk.checks import BoolArray, FloatArray, IntArray, exact_sum
from pytest_riskguard.risk.distributions import ndtri

#: How far out draws are centred, as normal quantiles: 0 (plain draws), and about those of 95 % and 99.9 % limits.
CENTRES = (0.0, -3.3, -2.0, 2.0, 3.3)
#: Replicates are drawn in this many parts: bounds the memory.
PARTS = 16
#: Replicates for each part and centre: 2^18.3 in all, fewer where there is much to draw for each.
MAX_ROWS = 4096
MIN_ROWS = 32
MAX_DRAWS = 2**26
#: Draws held at once: bounds the memory, and lets what is used repeatedly fit into the processor's cache.
BLOCK = 2**16
#: The chance of a topic is a multiple of one over this number, the larger one where there are many topics.
SLOTS = (2**16, 2**18)
MANY_TOPICS = 512
#: A score with more than this chance is not drawn: a replicate has it where it has no other.
MAX_DRAWN_SHARE = 0.75
#: With more topics than the first number, only the second number of topics, furthest out, are drawn one by one.
MAX_TOPICS, MAX_SINGLE = 4096, 256
#: The smallest variance that is more than rounding, as a share of the mean square that it is computed from.
MIN_VARIANCE = 1e-13
#: How often slope and bend are fitted to each other. An inexact fit does no harm: weights hold for any tilt.
BENDS, BISECTIONS = 6, 40
#: Bisections this close to the root, as a share of it, compute the divergence; secants have to come closer.
NEAR_ROOT, SECANTS = 1e-10, 30
#: Logarithms beyond this overflow; a spread of y^2 below this is rounding; controls this close are collinear.
MAX_LOG, NO_SPREAD, COLLINEAR = 700.0, 1e-9, 1e-10


def replicated_law(sample: Sample) -> WeightedLaw:
    """The law of T* from drawn replicates that vary."""
    values, counts = sample.distinct
    y = (values - sample.mean) / sample.deviation
    plain = counts / sample.n
    few, shares = condensed(y, plain)
    tilts = []
    for centre in CENTRES:
        slope, bend = _tilt(few, shares, centre, sample.n)
        tilts.append(_Tilt(slope, bend, _log_norm(slope, y - bend * y**2, plain)))
    urns = [_Urn(sample, y, tilt.chances(y, plain)) for tilt in tilts]
    draws = max(urn.expected_draws for urn in urns)
    rows = int(min(MAX_ROWS, max(MIN_ROWS, MAX_DRAWS / (draws * PARTS * len(tilts)))))

    statistics = np.empty((PARTS, len(tilts), rows))
    weights = np.empty_like(statistics)
    spread = math.sqrt(max(0.0, exact_sum(plain * y**4) - 1))
    for part in range(PARTS):
        drawn = [urn.replicates(rows, chunk=part * len(urns) + k) for k, urn in enumerate(urns)]
        means, squares, variances = (np.stack(kind) for kind in zip(*drawn, strict=True))
        with np.errstate(divide="ignore", invalid="ignore"):
            statistics[part] = math.sqrt(sample.n - 1) * means / np.sqrt(variances)
        totals = sample.n * means, sample.n * squares
        ratios = [np.exp(np.minimum(tilt.log_ratio(*totals, sample.n), MAX_LOG)) for tilt in tilts]
        u = math.sqrt(sample.n) * means
        v = math.sqrt(sample.n) * (squares - 1) / max(spread, NO_SPREAD)
        weights[part] = _weights(np.stack(ratios), np.stack([u, u**2 - 1, v]))
    varied = np.isfinite(statistics)
    return WeightedLaw("replicates", statistics[varied], weights[varied])


@frozen
class _Tilt:
    """Chances proportional to exp(slope (y - bend y^2)) times the plain ones."""

    slope: float
    bend: float
    log_norm: float

    def log_ratio(self, sums: FloatArray, squares: FloatArray, n: int) -> FloatArray:
        """Logarithm of how much likelier a replicate of n draws is with the tilt than without it."""
        return self.slope * (sums - self.bend * squares) - n * self.log_norm

    def chances(self, y: FloatArray, plain: FloatArray) -> FloatArray:
        return plain * np.exp(self.log_ratio(y, y**2, 1))


def _weights(ratios: FloatArray, centred: FloatArray) -> FloatArray:
    """Weights: how much likelier each replicate is by plain chances than by those of all centres mixed; calibrated.

    ``ratios``, shape (n_centres, ...), are how much likelier each replicate is by each centre's chances than plainly;
    ``centred``, shape (n_controls, ...), are control variates. In plain draws the means of both are known: 1 and 0.
    Regression on both makes these come out exactly and changes the weights as little as it can, in proportion to
    their squares.
    """
    weights: FloatArray = ratios.shape[0] / np.sum(ratios, axis=0)
    controls = (np.concatenate([ratios, centred]) * weights).reshape(ratios.shape[0] + centred.shape[0], -1)
    goals = np.append(np.ones(ratios.shape[0]), np.zeros(centred.shape[0])) * weights.size
    # not a matrix product: a threaded one would add in an order that depends on the machine
    products = np.einsum("ik,jk->ij", controls, controls)
    missed = goals - np.sum(controls, axis=1)
    factors = np.linalg.lstsq(products, missed, rcond=COLLINEAR)[0]
    change = np.einsum("i,ik->k", factors, controls).reshape(weights.shape)
    return np.asarray(weights * np.maximum(1 + change, 0.0))


def _tilt(y: FloatArray, plain: FloatArray, centre: float, n: int) -> tuple[float, float]:
    """The likeliest chances under which T* is large, as far from the plain ones as a normal quantile is from 0.

    The likeliest have the least Kullback-Leibler divergence K from the plain chances, and a tail at n K = z^2/2 has
    about the probability of the normal one beyond z. T* is a function of u/sqrt(m), u and m being the means of y and
    y^2, so its saddlepoint has chances in proportion to exp(slope (y - bend y^2)) where bend = u/(2 m).
    """
    if centre == 0:
        return 0.0, 0.0
    bend = 0.0
    for _ in range(BENDS):
        shape = y - bend * y**2
        slope = _slope(shape, plain, math.copysign(1.0, centre), centre**2 / (2 * n))
        chances = plain * np.exp(slope * shape - _log_norm(slope, shape, plain))
        used, bend = bend, float(np.sum(chances * y) / (2 * np.sum(chances * y**2)))
    return slope, used


def _slope(shape: FloatArray, plain: FloatArray, sign: float, goal: float) -> float:
    """The slope at which the divergence, which rises with it, reaches the goal; a large one if it never does.

    Found by bisection. Its answers are known beforehand, except next to the root, once secants have found that.
    """

    def excess(slope: float) -> float:
        return _divergence(sign * slope, shape, plain) - goal

    low, high = 0.0, 1.0
    while (above := excess(high)) < 0 and high < 2.0**20:
        high *= 2
    below, over = (0.0, math.inf) if above < 0 else _bracket(excess, high, above, precision=NEAR_ROOT * goal)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if middle <= below or (middle < over and excess(middle) < 0):
            low = middle
        else:
            high = middle
    return sign * low


def _bracket(excess: Callable[[float], float], high: float, above: float, *, precision: float) -> tuple[float, float]:
    """A narrow bracket of the root below ``high``, where the excess is ``above``; a wide one if none is found."""
    low, below, side = 0.0, excess(0.0), 0
    root = high
    for _ in range(SECANTS):
        # the divergence is nearly the square of the slope
        root = math.sqrt(low**2 + (high**2 - low**2) * below / (below - above))
        miss = excess(root)
        if abs(miss) <= precision:
            break
        # an end that stays twice counts for half, or it might stay for ever (the Illinois rule)
        if miss > 0:
            high, above, below, side = root, miss, below / 2 if side > 0 else below, 1
        else:
            low, below, above, side = root, miss, above / 2 if side < 0 else above, -1
    narrow = root * (1 - NEAR_ROOT), root * (1 + NEAR_ROOT)
    return narrow if excess(narrow[0]) < 0 < excess(narrow[1]) else (0.0, math.inf)


def _divergence(slope: float, shape: FloatArray, plain: FloatArray) -> float:
    inclined = slope * shape
    top = float(inclined.max())
    log_norm = top + math.log(float((plain * np.exp(inclined - top)).sum()))
    chances = plain * np.exp(inclined - log_norm)
    return float(slope * (chances * shape).sum()) - log_norm


def _log_norm(slope: float, shape: FloatArray, plain: FloatArray) -> float:
    top = float(np.max(slope * shape))
    return top + math.log(float(np.sum(plain * np.exp(slope * shape - top))))


class _Urn:
    """Topics to be drawn with given chances, and the sums that their replicates have.

    Sums are taken of distances from the most frequent score, or the middle one where no score occurs twice, so that
    replicates without a topic that lies far out keep all their digits. Where it saves time, some scores are not drawn
    one by one: the most frequent one, which adds nothing; and in a long vector all but those furthest out: given
    how many of the others are drawn, their sum and sum of squares are normal.
    """

    def __init__(self, sample: Sample, y: FloatArray, chances: FloatArray) -> None:
        _, counts = sample.distinct
        self.sample, self.n = sample, sample.n
        origin = sample.mode if counts[sample.mode] > 1 else y.size // 2
        self._origin, self._y_origin = float(sample.distinct[0][origin]), float(y[origin])
        distances = (sample.distinct[0] - sample.distinct[0][origin]) / sample.deviation
        single = _singles(distances, counts, origin, chances)
        self._share = float(np.sum(chances[single]))
        self._bulk = None if np.all(single) else _Bulk(distances[~single], chances[~single])
        self.expected_draws = max(1.0, sample.n * self._share)
        if self._bulk is not None:
            from scipy.special import bdtr

            most = min(sample.n, math.ceil(sample.n * self._share + 10 * math.sqrt(sample.n * self._share) + 50))
            self._below = np.rint(bdtr(np.arange(most), sample.n, self._share) * 2.0**32)
        # ascending scores share the slots by their cumulated chances, so that roundings cancel in every sum
        slots = SLOTS[int(np.count_nonzero(single)) > MANY_TOPICS]
        edges = np.rint(np.cumsum(chances[single]) / self._share * slots).astype(np.int64)
        self._slots = np.repeat(distances[single], np.diff(edges, prepend=0))

    def replicates(self, rows: int, *, chunk: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means of y and y^2 and variances of y over the draws of each replicate; 0 where they do not vary."""
        if self._bulk is None:
            sums, squares = self._all_singly(rows, chunk)
        else:
            sums, squares = self._some_singly(rows, chunk, self._bulk)
        sums, squares = sums / self.n, squares / self.n
        variances = squares - sums**2
        variances[variances <= MIN_VARIANCE * squares] = 0.0
        means = self._origin + sums * self.sample.deviation
        variances[~vary(self.sample, means, variances)] = 0.0
        return self._y_origin + sums, self._y_origin**2 + 2 * self._y_origin * sums + squares, variances

    def _all_singly(self, rows: int, chunk: int) -> tuple[FloatArray, FloatArray]:
        drawn = self._draws(rows * self.n, chunk).reshape(rows, self.n)
        sums, squares = np.empty(rows), np.empty(rows)
        step = max(1, BLOCK // self.n)
        for start in range(0, rows, step):
            distances = self._slots.take(drawn[start : start + step], mode="clip")
            sums[start : start + step] = np.einsum("ij->i", distances)
            squares[start : start + step] = np.einsum("ij,ij->i", distances, distances)
        return sums, squares

    def _some_singly(self, rows: int, chunk: int, bulk: _Bulk) -> tuple[FloatArray, FloatArray]:
        """The number of single draws is binomial; those are drawn, and the others come as two sums."""
        first = words(chunk, 3 * -(-rows // 2)).view("<u4").reshape(3, -1)[:, :rows]
        single_draws = np.searchsorted(self._below, first[0], side="right")
        ends = np.cumsum(single_draws)
        drawn = self._draws(int(ends[-1]), chunk, after=3 * -(-rows // 2))
        distances = np.append(self._slots.take(drawn, mode="clip"), 0.0)
        # reduceat takes the one element at its start where a replicate has none
        some = single_draws > 0
        sums = np.where(some, np.add.reduceat(distances, ends - single_draws), 0.0)
        squares = np.where(some, np.add.reduceat(distances**2, ends - single_draws), 0.0)
        normal = ndtri((first[1:] + 0.5) / 2.0**32) if bulk.varies else np.zeros((2, rows))
        other_sums, other_squares = bulk.sums(self.n - single_draws, normal)
        return sums + other_sums, squares + other_squares

    def _draws(self, count: int, chunk: int, *, after: int = 0) -> npt.NDArray[np.unsignedinteger]:
        """Slots drawn, from the words of a chunk that come after the first ``after``."""
        if self._slots.size == SLOTS[0]:
            return words(chunk, after + -(-count // 4))[after:].view("<u2")[:count]
        return words(chunk, after + -(-count // 2))[after:].view("<u4")[:count] >> np.uint32(14)


def _singles(distances: FloatArray, counts: FloatArray, origin: int, chances: FloatArray) -> BoolArray:
    """Which distinct scores are drawn one by one; at least one."""
    changed = np.arange(distances.size) != origin
    if np.sum(counts[changed]) <= MAX_TOPICS:
        return changed if chances[origin] > MAX_DRAWN_SHARE else np.ones(changed.size, dtype=np.bool_)
    furthest = np.argsort(-np.abs(distances), kind="stable")
    single = np.zeros(changed.size, dtype=np.bool_)
    single[furthest[: max(1, int(np.count_nonzero(np.cumsum(counts[furthest]) <= MAX_SINGLE)))]] = True
    return single


class _Bulk:
    """Scores drawn so often that their sum and sum of squares are normal, or that are all the same."""

    def __init__(self, distances: FloatArray, chances: FloatArray) -> None:
        shares = chances / np.sum(chances)
        squares = distances**2
        self._mean, self._square = float(np.sum(shares * distances)), float(np.sum(shares * squares))
        from_mean, from_square = distances - self._mean, squares - self._square
        self._deviation = math.sqrt(float(np.sum(shares * from_mean**2)))
        covariance = float(np.sum(shares * from_mean * from_square))
        self._along = covariance / self._deviation if self._deviation > 0 else 0.0
        self._across = math.sqrt(max(0.0, float(np.sum(shares * from_square**2)) - self._along**2))

    @property
    def varies(self) -> bool:
        """Whether the sums over a given number of draws vary."""
        return self._deviation > 0 or self._across > 0

    def sums(self, draws: IntArray, normal: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Sums over the given numbers of draws, from two standard normal numbers for each replicate."""
        root = np.sqrt(draws)
        sums = draws * self._mean + root * self._deviation * normal[0]
        squares = draws * self._square + root * (self._along * normal[0] + self._across * normal[1])
        # a variance cannot be negative
        return sums, np.maximum(squares, sums**2 / np.maximum(draws, 1))
