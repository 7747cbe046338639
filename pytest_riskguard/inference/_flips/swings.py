"""The characteristic function of how far a random sum is from the observed one, at half-integer frequencies.

Every topic either stays as it was observed or swings to the other side, by its size: up if it was a win, down if it
was a loss. The function is the product over topics; topics that cannot swing do not touch it, however large they are.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from pytest_riskguard.frozen import frozen
from pytest_riskguard.inference._bootstrap.inversion import ComplexArray, half_integers
from pytest_riskguard.inference._flips.bets import Bets, Line, bounds_along, real_sum
from pytest_riskguard.risk.checks import FloatArray, IntArray, exact_sum

#: Up to so many topics.
MAX_TOPICS = 2000
#: What is counted: so many topics with the highest odds, of which so many may swing, and two of the others. Of few
#: topics more can be counted, and must be, since the patterns that are left lie further apart.
HEAVY, FEW_TOPICS, HEAVY_OF_FEW = (6, 6), 64, (16, 3)
#: Frequencies, tried one after the other until what may be left out is at most this share of the probability ...
FREQUENCIES, MAX_ERROR = (128, 512, 2048), 3e-4
#: ... or so many times that share where the probability is less than this, or this much of one near 1.
MORE_FAR_OUT, FAR, NEXT_TO_NOTHING = 10, 1e-8, 1e-13
#: From so many topics on patterns lie so close that what is left out can be told from the last frequencies.
MANY_TOPICS = 50
#: Error of a sum over frequencies, as a share of its scale.
ROUNDING = 1e-14
#: Weights of patterns further apart than exp of this are not multiplied.
MAX_LOG = 300.0


def by_few_swings(bets: Bets, line: Line) -> float | None:
    """P(sum >= observed), or a little more; None where too much would be left out."""
    swings = _Swings(bets, line)
    if swings.too_many or swings.span_too_much:
        return None
    counted = swings.counted()
    for count in FREQUENCIES:
        rest = swings.inverted(count)
        most = MAX_ERROR * abs(counted + rest.integral)
        if line.tilt < 0:
            most = max(most, NEXT_TO_NOTHING / line.scale)
        elif line.scale < FAR:
            most *= MORE_FAR_OUT
        if rest.upper - rest.lower <= most:
            return line.other_side + line.scale * (counted + rest.upper)
        if swings.many and rest.left_out <= most:
            return line.other_side + line.scale * (counted + rest.integral + rest.left_out)
    return None


@frozen
class _Topics:
    """How far the sum moves if each topic swings, and the odds that it does."""

    moves: FloatArray
    odds: FloatArray

    def patterns(self, most: int) -> tuple[FloatArray, FloatArray]:
        """Sums and odds of every pattern with at most so many swings."""
        sums, odds, swings = np.zeros(1), np.ones(1), np.zeros(1, dtype=np.int64)
        for move, its_odds in zip(self.moves.tolist(), self.odds.tolist(), strict=True):
            able = swings < most
            sums, odds = np.append(sums, sums[able] + move), np.append(odds, odds[able] * its_odds)
            swings = np.append(swings, swings[able] + 1)
        return sums, odds

    def products(self, angle: float, count: int, most: int) -> tuple[ComplexArray, ComplexArray]:
        """The product of 1 + odds exp(i t move), and its terms with at most so many factors, at each frequency."""
        terms = turns(self.moves * angle, count)
        terms *= self.odds[:, None]
        first = np.zeros((most + 1, count), dtype=np.complex128)
        first[0] = 1
        if most == 2:  # the elementary symmetric polynomial from sums of powers
            first[1] = np.sum(terms, axis=0)
            first[2] = (first[1] ** 2 - np.einsum("ij,ij->j", terms, terms)) / 2
        else:
            for term in terms:
                first[1:] += first[:-1] * term
        terms += 1
        return np.prod(terms, axis=0), np.sum(first, axis=0)

    def squares(self, most: int) -> tuple[float, float]:
        """The same at frequency 0 of squared odds."""
        alike = _Topics(np.zeros(self.odds.size), self.odds**2)
        whole, first = alike.products(0.0, 1, most)
        return float(whole[0].real), float(first[0].real)


@frozen
class _Rest:
    """The part of the patterns that are not counted: about the integral, at most ``left_out`` more; its bounds."""

    integral: float
    left_out: float
    lower: float
    upper: float


class _Swings:
    """Topics in the likeliest pattern, each with how far the sum moves if it swings, and its odds of that.

    A pattern's part in the probability, over the scale, is its tilted probability times exp(-tilt y), where y is how
    far its sum is above what counts; if the tilt is negative, patterns below have it, as a part of the other side's.
    """

    def __init__(self, bets: Bets, line: Line) -> None:
        self._tilt, self._angle = line.tilt, 2 * math.pi / line.period
        moves = np.append(np.repeat(bets.sizes, bets.won), -np.repeat(bets.sizes, bets.lost))
        swing = np.append(np.repeat(line.chances, bets.won), np.repeat(line.complements, bets.lost))
        stay = np.append(np.repeat(line.complements, bets.won), np.repeat(line.chances, bets.lost))
        likely = swing > stay
        #: how far the likeliest pattern's sum lies above what counts
        self._above = exact_sum(np.append(moves[likely], bets.slack))
        moves, swing, stay = (
            np.where(likely, swung, stayed) for swung, stayed in ((-moves, moves), (stay, swing), (swing, stay))
        )
        self._log_likeliest = exact_sum(np.log(stay))
        self._size = moves.size
        heavy, self._most = HEAVY_OF_FEW if moves.size <= FEW_TOPICS else HEAVY
        order = np.lexsort((moves, -swing / stay))
        moves, odds = moves[order], (swing / stay)[order]
        self._heavy = _Topics(moves[:heavy], odds[:heavy])
        ascending = heavy + np.argsort(moves[heavy:], kind="stable")
        self._light = _Topics(moves[ascending], odds[ascending])
        self._widest = float(np.max(np.abs(moves)))

    @property
    def too_many(self) -> bool:
        """Whether there are too many topics."""
        return self._size > MAX_TOPICS

    @property
    def many(self) -> bool:
        """Whether what is left out can be told from the last frequencies."""
        return self._size >= MANY_TOPICS

    @property
    def span_too_much(self) -> bool:
        """Whether the parts of single topics would overflow."""
        return abs(self._tilt) * max(abs(self._above), self._widest) > MAX_LOG

    def counted(self) -> float:
        """The part of patterns in which few topics swing."""
        sums, odds = self._heavy.patterns(self._most)
        moves, above = self._light.moves, self._above + sums
        if self._tilt < 0:  # the same question from the other side, of which the sum asked for is no part
            light = _Topics(-moves[::-1], self._light.odds[::-1])
            return -self._reaching(light, -above, odds, strictly=True)
        return self._reaching(self._light, above, odds, strictly=False)

    def _reaching(self, light: _Topics, above: FloatArray, weights: FloatArray, *, strictly: bool) -> float:
        tilt, moves = abs(self._tilt), light.moves
        parts = light.odds * np.exp(-tilt * moves)
        from_here = np.append(np.cumsum(parts[::-1])[::-1], 0.0)
        side: Literal["left", "right"] = "right" if strictly else "left"
        single = np.searchsorted(moves, -above, side=side)
        pairs = np.searchsorted(moves, -np.add.outer(above, moves), side=side)
        pairs = np.maximum(pairs, np.arange(1, moves.size + 1))
        none = above > 0 if strictly else above >= 0
        sums = none + from_here[single] + np.sum(parts * from_here[pairs], axis=1)
        return float(np.sum(weights * np.exp(self._log_likeliest - tilt * above) * sums))

    def inverted(self, count: int) -> _Rest:
        """The part of all other patterns from so many frequencies."""
        heavy, counted_heavy = self._heavy.products(self._angle, count, self._most)
        light, counted_light = self._light.products(self._angle, count, 2)
        places = half_integers(count)
        t = 1j * self._angle * places
        phi = (heavy * light - counted_heavy * counted_light) * np.exp(self._log_likeliest + t * self._above)
        lower, upper = bounds_along(phi, places, count=count, step=self._tilt * 2 * math.pi / self._angle)
        late = phi[count // 2 :]
        square = max(float(np.mean(late.real**2 + late.imag**2)), self._everywhere)
        near = max(float(np.mean(late.real)), 0.0)
        return _Rest(
            real_sum(phi, np.asarray(self._angle / math.pi / (self._tilt + t))),
            8 * math.sqrt(square / count) / math.pi + near / 2 + ROUNDING,
            lower,
            upper,
        )

    @property
    def _everywhere(self) -> float:
        """The mean of the squared magnitude over all frequencies, where no sizes have a common measure."""
        heavy, counted_heavy = self._heavy.squares(self._most)
        light, counted_light = self._light.squares(2)
        return max(heavy * light - counted_heavy * counted_light, 0.0) * math.exp(2 * self._log_likeliest)


#: Frequencies at a time: the first block is enough for a law that is close to normal, others are wide.
BLOCK, WIDE_BLOCK = 48, 128
#: Angles at a time: bounds the memory.
ANGLES = 2**16
#: With no more angles than this all are computed; else frequencies are tried in single precision before.
MAX_UNTRIED = 2**17
#: Blocks are wide if at least one frequency of so many that were tried has something.
NARROW = 32
#: Frequencies with less than this squared magnitude are passed over. A factor counts no less than the second number,
#: because single precision would make more of it.
NOTHING_SQUARED, MIN_FACTOR = np.float32(1e-26), np.float32(1e-3)
#: So many sizes are tried at once, or more if that is no more than ANGLES; and one frequency of so many, since the
#: magnitude hardly changes over a reciprocal standard deviation, which is that many.
TRIED_AT_ONCE, STRIDE = 16, 4
#: At first so many sizes are tried as leave nothing on average, times this; frequencies are not tried at all if all
#: sizes together hardly do.
ENOUGH, TOO_FEW = 1.3, 0.9
#: From this many entries on, those whose angles are all below the second number have their part from cumulants, of so
#: many orders. The logarithm has its nearest singularity at pi: what is left out is below (0.3 / pi)^14.
MANY_ENTRIES, SMALL_ANGLE, CUMULANTS, CUMULATED_AT_ONCE = 4096, 0.3, 13, 2**14


def _spreads() -> list[list[float]]:
    """Cumulants of a loss with chance p over p (1 - p), as polynomials in w = p (1 - p), highest power first.

    Those of odd orders, from 3 on, have the factor 1 - 2 p besides. Each cumulant is p (1 - p) times the derivative
    of the one before.
    """
    polynomials = [np.array([1.0, 0.0])]
    for order in range(3, CUMULANTS + 1):
        # with y = 1 - 2 p: dw/dp = y, dy/dp = -2, y^2 = 1 - 4 w
        before = polynomials[-1]
        slope = np.polyder(before)
        if order % 2 == 0:
            slope = np.polysub(np.polymul(slope, [-4.0, 1.0]), 2 * before)
        polynomials.append(np.append(slope, 0.0))
    return [[], [], *(polynomial[:-1].tolist() for polynomial in polynomials)]


SPREADS = _spreads()


def characteristic(
    bets: Bets, swing_up: FloatArray, swing_down: FloatArray, angle: float, count: int
) -> ComplexArray:
    """At (k + 1/2) ``angle`` for k = 0 ... count - 1, 0 where it is next to nothing.

    ``swing_up`` and ``swing_down`` are the chances of an entry's wins to become losses, and of its losses to become
    wins.
    """
    width, blocks = _blocks(bets, 2 * swing_up * swing_down, angle, count)
    phi = np.ones((blocks.size, width), dtype=np.complex128)
    rows, few = max(1, ANGLES // width), 0
    if blocks.size == 1 and bets.sizes.size >= MANY_ENTRIES:
        few = int(np.searchsorted(bets.sizes, SMALL_ANGLE / (width * angle)))
        t = angle * half_integers(width)
        phi[0] = _by_cumulants(bets.sizes[:few], swing_up[:few], swing_down[:few], bets.won[:few], bets.lost[:few], t)
    up = few + np.flatnonzero((bets.won[few:] > 0) & (swing_up[few:] > 0))
    down = few + np.flatnonzero((bets.lost[few:] > 0) & (swing_down[few:] > 0))
    angles = np.append(bets.sizes[up], -bets.sizes[down]) * angle
    chances, topics = np.append(swing_up[up], swing_down[down]), np.append(bets.won[up], bets.lost[down])
    for start in range(0, angles.size, rows):
        part = slice(start, start + rows)
        phi *= _product(angles[part], chances[part], topics[part], blocks, width)
    result = np.zeros((blocks[-1] + 1) * width, dtype=np.complex128)
    result.reshape(-1, width)[blocks] = phi
    return np.append(result, np.zeros(max(0, count - result.size)))[:count]


def _blocks(bets: Bets, spread: FloatArray, angle: float, count: int) -> tuple[int, IntArray]:
    """How many frequencies a block has, and the blocks where there may be something: always the first."""
    tried = np.arange(count)
    if bets.sizes.size * count > MAX_UNTRIED:
        # the logarithm of each entry's squared magnitude, on average over frequencies
        logs = np.asarray(2.0 * bets.topics * np.log((1 + np.sqrt(np.maximum(1 - 2 * spread, 0))) / 2))
        if float(np.sum(logs)) < TOO_FEW * math.log(NOTHING_SQUARED):
            tried = np.append(0, _tried(bets, spread, logs, angle, count))
    width = min(count, WIDE_BLOCK if tried.size * NARROW >= count else BLOCK)
    blocks = tried // width
    return width, blocks[np.diff(blocks, prepend=-1) > 0]


def _product(angles: FloatArray, chances: FloatArray, topics: IntArray, blocks: IntArray, width: int) -> ComplexArray:
    """The product of 1 - v + v exp(i (k + 1/2) angle) over entries, for blocks of so many k."""
    turned = turns(angles, width)
    stays = (1 - chances)[:, None]
    product = np.empty((blocks.size, width), dtype=np.complex128)
    factors = np.empty_like(turned)
    bits = int(topics.max()).bit_length()
    for row, block in enumerate(blocks.tolist()):
        shift = chances * np.exp(1j * angles * (block * width)) if block else chances
        np.multiply(turned, shift[:, None], out=factors)
        factors.real += stays
        power = np.prod(factors[topics >> (bits - 1) > 0], axis=0) if bits > 1 else np.prod(factors, axis=0)
        for bit in range(bits - 2, -1, -1):
            power *= power
            power *= np.prod(factors[(topics >> bit & 1) == 1], axis=0)
        product[row] = power
    return product


def _by_cumulants(
    sizes: FloatArray,
    swing_up: FloatArray,
    swing_down: FloatArray,
    won: IntArray,
    lost: IntArray,
    t: FloatArray,
) -> ComplexArray:
    """The product over entries whose angles are small, by the cumulants of a loss."""
    sums = np.zeros(CUMULANTS + 1)
    for start in range(0, sizes.size, CUMULATED_AT_ONCE):
        part = slice(start, start + CUMULATED_AT_ONCE)
        up, down, size = swing_up[part], swing_down[part], sizes[part]
        sums[1] += np.sum(size * (won[part] * up - lost[part] * down))
        spread, tilt = up * down, down - up
        power = (won[part] + lost[part]) * spread * size
        for order in range(2, CUMULANTS + 1):
            power *= size
            sums[order] += np.sum(power * (np.polyval(SPREADS[order], spread) * (tilt if order % 2 else 1.0)))
    logs = np.zeros(t.size, dtype=np.complex128)
    term = np.ones(t.size, dtype=np.complex128)
    for order in range(1, CUMULANTS + 1):
        term *= 1j * t / order
        logs += term * sums[order]
    return np.asarray(np.exp(logs))


def turns(angles: FloatArray, width: int) -> ComplexArray:
    """exp(i (k + 1/2) angle), each the product of a few turns."""
    turned = np.empty((angles.size, width), dtype=np.complex128)
    turned[:, 0] = np.exp(0.5j * angles)
    turn = np.exp(1j * angles)
    done = 1
    while done < width:
        more = min(done, width - done)
        np.multiply(turned[:, :more], turn[:, None], out=turned[:, done : done + more])
        turn = turn * turn
        done += more
    return turned


def _single_turns(angles: FloatArray, numbers: IntArray) -> npt.NDArray[np.complex64]:
    """exp(i (k + 1/2) angle) for evenly spaced numbers k, in single precision."""
    turned = np.empty((angles.size, numbers.size), dtype=np.complex64)
    turned[:, 0] = np.exp(1j * angles * (numbers[0] + 0.5))
    done = 1
    while done < numbers.size:
        more = min(done, numbers.size - done)
        turn = np.exp(1j * angles * (numbers[done] - numbers[0]))  # not a square, which would double the rounding
        np.multiply(turned[:, :more], turn.astype(np.complex64)[:, None], out=turned[:, done : done + more])
        done += more
    return turned


def _tried(bets: Bets, spread: FloatArray, logs: FloatArray, angle: float, count: int) -> IntArray:
    """Frequencies after the first block, one of a few, where there may be something by the largest sizes."""
    left = np.arange(BLOCK + STRIDE // 2, count, STRIDE)
    if not left.size:
        return left
    enough = 1 + int(np.searchsorted(np.cumsum(-logs[::-1]), ENOUGH * -math.log(NOTHING_SQUARED)))
    end = max(0, bets.sizes.size - min(enough, MAX_UNTRIED // left.size))
    tried = slice(end, bets.sizes.size)
    product = _squares(_single_turns(bets.sizes[tried] * angle, left).real, spread[tried], bets.topics[tried])
    while True:
        remains = product > NOTHING_SQUARED
        left, product = left[remains], product[remains]
        if end == 0 or not left.size:
            return left
        tried = slice(max(0, end - max(TRIED_AT_ONCE, ANGLES // left.size)), end)
        turns = np.multiply.outer(bets.sizes[tried] * (angle / (2 * math.pi)), left + 0.5)
        turns -= np.rint(turns)
        cosines = np.cos(turns.astype(np.float32) * np.float32(2 * math.pi))
        product *= _squares(cosines, spread[tried], bets.topics[tried])
        end = tried.start


def _squares(cosines: npt.NDArray[np.float32], spread: FloatArray, topics: IntArray) -> npt.NDArray[np.float32]:
    """The product over entries of 1 - 2 v (1 - v) (1 - cos angle), which is |1 - v + v exp(i angle)|^2."""
    squares = cosines * spread[:, None].astype(np.float32)
    squares += (1 - spread[:, None]).astype(np.float32)
    np.maximum(squares, MIN_FACTOR, out=squares)
    if np.any(topics > 1):
        squares **= topics[:, None].astype(np.float32)
    return np.asarray(np.prod(squares, axis=0))
