"""Changed topics as bets, in an order of their own, so that nothing computed from them depends on that of topics."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np

from pytest_riskguard.frozen import frozen
from pytest_riskguard.inference._bootstrap.inversion import PERIOD, ComplexArray
from pytest_riskguard.risk.checks import ROUNDING_ERROR, BoolArray, FloatArray, IntArray, exact_sum
from pytest_riskguard.risk.distributions import expit, log_expit, logit

#: The line is at least this far from the imaginary axis, in reciprocal standard deviations: what wraps round the
#: period once is below exp(-PERIOD * MIN_TILT).
MIN_TILT = 1.6
#: For a normal law that makes exp(K(s) - s L) at most exp(1.28); more than exp(3) costs digits, and the period is
#: made longer instead.
MAX_LOG_SCALE = 3.0
#: With a size of more than 4/3 standard deviations the law has a longer tail, and the period is so many such sizes.
PERIOD_SIZES = 18.0
#: A topic this unlikely to swing, for all that its size matters, does not widen the period.
NEVER = 1e-20
#: Newton's steps for the line, each of at most so many reciprocal standard deviations, or of the largest size if that
#: is less, until the mean is this close.
MAX_STEPS, MAX_STEP, CLOSE = 200, 4.0, 0.1


@frozen
class Line:
    """The line: its real part, tilted chances and their complements, the period, the logarithm of exp(K(s) - s L)."""

    tilt: float
    chances: FloatArray
    complements: FloatArray
    period: float
    log_scale: float

    @property
    def scale(self) -> float:
        """exp(K(s) - s L)."""
        return math.exp(self.log_scale)

    @property
    def other_side(self) -> float:
        """What has to be added to the integral."""
        return float(self.tilt < 0)


def line_of(bets: Bets) -> Line:
    """The line where the tilted mean is the observed sum, or one that is far enough from the imaginary axis."""
    odds = logit(bets.chances)
    tilt, deviation = _saddle(bets, odds)
    least = MIN_TILT / deviation
    line = _line(bets, odds, math.copysign(max(abs(tilt), least), tilt))
    # a law with a long tail grows too much on the way there
    while line.log_scale > MAX_LOG_SCALE and least > abs(tilt):
        least /= 2
        line = _line(bets, odds, math.copysign(max(abs(tilt), least), tilt))
    return line


def _line(bets: Bets, odds: FloatArray, tilt: float) -> Line:
    tilted = odds + tilt * bets.sizes
    chances, complements = expit(tilted), expit(-tilted)
    spread = chances * complements
    deviation = math.sqrt(float(np.sum(bets.topics * bets.sizes * bets.sizes * spread)))
    largest = float(np.max(bets.sizes, where=spread > NEVER, initial=0.0))
    period = max(PERIOD * deviation, PERIOD_SIZES * largest, PERIOD * MIN_TILT / abs(tilt))
    # the probability of the observed pattern over its tilted one
    ratio = float(np.sum(bets.won * (np.log1p(-bets.chances) - log_expit(-tilted))))
    ratio += float(np.sum(bets.lost * (np.log(bets.chances) - log_expit(tilted))))
    return Line(tilt, chances, complements, period, ratio + tilt * bets.slack)


def _saddle(bets: Bets, odds: FloatArray) -> tuple[float, float]:
    """The tilt by Newton's method, which need not be exact, and the law's standard deviation there."""
    weighted = bets.topics * bets.sizes
    low, high, tilt, chances = -math.inf, math.inf, 0.0, bets.chances
    for _ in range(MAX_STEPS):
        wins = weighted * (1 - chances)
        # how far the tilted mean is above the sum that is asked for
        excess = bets.short - float(np.sum(wins))
        variance = float(np.sum(wins * bets.sizes * chances))
        deviation = math.sqrt(variance)
        if abs(excess) <= CLOSE * deviation:
            break
        low, high = (tilt, high) if excess < 0 else (low, tilt)
        following = tilt
        if variance > 0:
            reach = MAX_STEP / min(deviation, float(bets.sizes[-1]))
            following -= max(min(excess / variance, reach), -reach)
        if not low < following < high:
            following = (low + high) / 2
        tilt = following
        chances = expit(odds + tilt * bets.sizes)
    return tilt, deviation


#: Error of the bounds: what of them wraps round the period, measured below 1e-10.
WRAPPED = 1e-9


def bounds_along(phi: ComplexArray, places: FloatArray, *, count: int, step: float) -> tuple[float, float]:
    """The mean of exp(-tilt x) where x >= 0 lies between these, whatever the law is at higher frequencies.

    ``phi`` is the mean of exp(i t x) at t = ``places`` times an angle; the places are 1/2, 3/2, ... below ``count``,
    without those where it is 0. ``step`` is the tilt times 2 pi over the angle. If that is negative, it is the mean
    where x < 0, with a minus sign.

    exp(-x) where a pattern counts, 0 elsewhere, is replaced by the least function above it, or the largest below,
    whose Fourier transform ends where the frequencies do. It and its derivative are known at whole numbers (Graham
    and Vaaler, 1981): two geometric series give the transform. The functions differ by (sin(pi x) / (pi x))^2.
    """
    if step < 0:
        phi = np.conj(phi)
    u = places / count
    decay = abs(step) / count
    ratio = np.exp(-decay - 2j * math.pi * u)
    slopes = decay * (1 / math.expm1(decay) - ratio / (1 - ratio))
    below = 2 / count * real_sum(phi, (1 - u) * ratio / (1 - ratio) + slopes / (2j * math.pi)) - WRAPPED
    above = below + 2 / count * float(np.sum(phi.real * (1 - u))) + 2 * WRAPPED
    # where the tilt is negative the other side's probability is subtracted
    return (below, above) if step > 0 else (-above, -below)


def real_sum(phi: ComplexArray, weights: ComplexArray) -> float:
    """The real part of the sum of products."""
    return float(np.sum(phi.real * weights.real - phi.imag * weights.imag))


#: Up to 2 to this power patterns are counted at once: so many topics with sizes of their own.
MAX_COUNTED = 30
#: Each half may list this many times the sums of an even split, which one entry of many topics can make impossible.
UNEVEN = 4


def counted(bets: Bets, max_counted: int = MAX_COUNTED) -> float | None:
    """P(sum >= observed), by counting; None with more patterns than 2 to the power given."""
    halves = _halves(bets, max_counted)
    return None if halves is None else float(np.sum(_reaching(bets, _listed(bets, halves[0]), halves[1])[::-1]))


def counted_without_each(bets: Bets, max_counted: int) -> tuple[FloatArray, FloatArray] | None:
    """P(sum >= observed) without one topic of each entry: a loss, and a win; None with too many patterns.

    That is the probability given that the topic is what it was observed to be, so one count serves all topics. NaN
    where an entry has none.
    """
    halves = _halves(bets, max_counted)
    if halves is None:
        return None
    without_a_loss, without_a_win = (np.full(bets.sizes.size, np.nan) for _ in range(2))
    for entries, others in (halves, halves[::-1]):
        listed = _listed(bets, entries)
        reaching, patterns = _reaching(bets, listed, others), listed.patterns
        for entry in entries:
            topics, chance = int(bets.topics[entry]), float(bets.chances[entry])
            patterns, losses = np.divmod(patterns, topics + 1)
            share = losses / topics
            if bets.lost[entry]:
                without_a_loss[entry] = np.sum((reaching * share)[::-1]) / chance
            if bets.won[entry]:
                without_a_win[entry] = np.sum((reaching * (1 - share))[::-1]) / (1 - chance)
    return without_a_loss, without_a_win


@frozen
class _Listed:
    """Every sum of some entries in ascending order, its probability, and its pattern.

    A pattern is one number: that of the losses of each entry, the first entry's being its last digit.
    """

    sums: FloatArray
    masses: FloatArray
    patterns: IntArray


def _reaching(bets: Bets, listed: _Listed, others: list[int]) -> FloatArray:
    """The probability of each listed pattern together with those of the other entries that reach the observed sum."""
    rest = _listed(bets, others)
    # added up from the highest sum on, so that small probabilities keep their digits
    at_least = np.append(np.cumsum(rest.masses[::-1])[::-1], 0.0)
    reached = np.searchsorted(rest.sums, bets.limit - listed.sums[::-1])[::-1]
    return np.asarray(listed.masses * at_least[reached])


def _halves(bets: Bets, max_counted: int) -> tuple[list[int], list[int]] | None:
    """The entries, shared out so that both halves have about as many patterns; None if these are too many."""
    ways = bets.topics + 1
    if np.sum(np.log2(ways)) > max_counted:
        return None
    halves: tuple[list[int], list[int]] = ([], [])
    listed = [1, 1]
    for entry in np.argsort(-ways, kind="stable").tolist():
        half = int(listed[1] < listed[0])
        halves[half].append(entry)
        listed[half] *= int(ways[entry])
    return halves if max(listed) <= UNEVEN * 2 ** (max_counted / 2) else None


def _listed(bets: Bets, entries: list[int]) -> _Listed:
    sums, masses, patterns, ways = np.zeros(1), np.ones(1), np.zeros(1, dtype=np.int64), 1
    for entry in entries:
        losses = np.arange(int(bets.topics[entry]) + 1)
        sums = np.add.outer(losses * bets.sizes[entry], sums).ravel()
        order = np.argsort(sums, kind="stable")  # which merges what is in order already
        sums = sums[order]
        masses = np.multiply.outer(binomial(losses.size - 1, float(bets.chances[entry])), masses).ravel()[order]
        patterns = np.add.outer(losses * ways, patterns).ravel()[order]
        ways *= losses.size
    return _Listed(sums, masses, patterns)


def binomial(topics: int, chance: float) -> FloatArray:
    """The probabilities of 0, 1, ... losses among topics with the same chance."""
    if topics == 1:
        return np.array([1 - chance, chance])
    most_likely = min(topics, int((topics + 1) * chance))
    losses = np.arange(1, topics + 1)
    ratios = (topics + 1 - losses) / losses * (chance / (1 - chance))
    up = np.cumprod(ratios[most_likely:])
    down = np.cumprod(1 / ratios[:most_likely][::-1])[::-1]
    masses = np.concatenate([down, np.ones(1), up])
    return np.asarray(masses / np.sum(masses))


#: Topics that all together move the sum by at most this share of rounding are losses for sure.
NEGLIGIBLE = 0.01
#: A sum this far above a point of a lattice, in steps, is that point.
ALMOST = 1e-3


@frozen
class Bets:
    """Each topic loses ``size`` with its chance, else nothing, independently of the others.

    Topics with the same size and chance are one entry, with the numbers ``won`` and ``lost`` of those observed to be
    wins and losses; entries ascend by size. The question is how likely a sum is that reaches the observed one less
    ``offset``; sums closer than ``rounding`` are the same.
    """

    sizes: FloatArray
    chances: FloatArray
    won: IntArray
    lost: IntArray
    rounding: float
    offset: float = 0.0

    @classmethod
    def of(cls, sizes: FloatArray, chances: FloatArray, lost: BoolArray, *, offset: float = 0.0) -> Bets:
        """Sort and merge; sizes and chances above 0, chances at most 1.

        A size closer than rounding to the next lower one is that one; chances are the same where all are that close.
        """
        rounding = ROUNDING_ERROR * exact_sum(sizes)
        # together such topics are much less than rounding
        sure = (chances >= 1) | (sizes * sizes.size <= NEGLIGIBLE * rounding)
        if np.any(sure):
            offset += exact_sum(sizes[sure & ~lost])
            sizes, chances, lost = sizes[~sure], chances[~sure], lost[~sure]
        if sizes.size == 0:
            return cls(sizes, chances, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), rounding, offset)
        order = np.argsort(sizes)
        sizes, chances, lost = sizes[order], chances[order], lost[order]
        other = np.append(True, np.diff(sizes) > ROUNDING_ERROR * sizes[-1])
        sizes = sizes[np.maximum.accumulate(np.where(other, np.arange(sizes.size), 0))]
        if float(np.ptp(chances)) <= ROUNDING_ERROR * float(np.min(chances)):
            chances = np.full(sizes.size, float(np.min(chances)))
        elif not np.all(other):
            order = np.lexsort((chances, sizes))
            chances, lost = chances[order], lost[order]
            other[1:] |= np.diff(chances) != 0
        starts = np.flatnonzero(other)
        losses = np.add.reduceat(lost.astype(np.int64), starts)
        topics = np.diff(starts, append=sizes.size)
        return cls(sizes[starts], chances[starts], topics - losses, losses, rounding, offset)

    @cached_property
    def topics(self) -> IntArray:
        """How many topics each entry has."""
        return self.won + self.lost

    @cached_property
    def total(self) -> float:
        """The sum if every topic is a loss."""
        return exact_sum(self.topics * self.sizes)

    @cached_property
    def short(self) -> float:
        """How far the sum that is asked for falls short of the total."""
        return exact_sum(np.append(self.won * self.sizes, self.offset))

    @property
    def slack(self) -> float:
        """How far below the observed sum those lie that count."""
        return self.offset + self.rounding

    @cached_property
    def limit(self) -> float:
        """Sums from here on count."""
        return exact_sum(np.append(self.lost * self.sizes, [-self.offset, -self.rounding]))

    def on_lattice(self, step: float) -> Bets:
        """The same in whole numbers of steps; a sum between two points needs the upper one."""
        offset = float(math.floor(self.offset / step + ALMOST))
        return replace(self, sizes=np.rint(self.sizes / step), offset=offset, rounding=0.0)

    def entries_of(self, sizes: FloatArray, chances: FloatArray) -> IntArray:
        """The entries of topics that the bets were made of; -1 for one that counts as lost for sure."""
        # a size is that of its entry or a little more, and of entries with one size the chance decides
        upper = np.searchsorted(self.sizes, sizes, side="right")
        entries = np.full(sizes.size, -1)
        for k in np.flatnonzero(upper).tolist():
            same = np.flatnonzero(self.sizes[: upper[k]] == self.sizes[upper[k] - 1])
            entries[k] = same[np.argmin(np.abs(self.chances[same] - chances[k]))]
        return entries

    def without(self, entry: int, *, loses: bool) -> Bets:
        """One topic of an entry less, which is known to be a loss or a win."""
        one = np.zeros(self.sizes.size, dtype=np.int64)
        one[entry] = 1
        was_lost = bool(self.lost[entry] > 0)
        changed = float(self.sizes[entry]) * (int(loses) - int(was_lost))
        some = self.topics > one
        won, lost = (self.won, self.lost - one) if was_lost else (self.won - one, self.lost)
        return Bets(self.sizes[some], self.chances[some], won[some], lost[some], self.rounding, self.offset + changed)
