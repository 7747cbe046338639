"""The law of the sum where few topics swing: patterns near the likeliest are counted, the others inverted.

Where a loss is unlikely, as at a high alpha, or almost every topic is what it would likely be, the tilted law is that
of a few swings away from its likeliest pattern. Its characteristic function then hardly fades at high frequencies.
What keeps it up is almost entirely the patterns in which few topics swing: the first terms of a product over topics
of 1 + odds exp(i t move). They are taken out of it and counted one by one; what is left fades.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pytest_riskguard.inference._bootstrap.inversion import ComplexArray, half_integers
from pytest_riskguard.inference._flips.bets import Bets
from pytest_riskguard.inference._flips.bounds import bounds_along, real_sum
from pytest_riskguard.inference._flips.line import Line
from pytest_riskguard.inference._flips.swings import turns
from pytest_riskguard.risk.checks import FloatArray, exact_sum

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


@dataclass(frozen=True)
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


@dataclass(frozen=True)
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
