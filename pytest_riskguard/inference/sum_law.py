"""The law of a sum of independent discrete variables: what a bootstrap mean and a sum of bets have in common.

Variables come in kinds: those of one kind are alike. The mean of n draws from a sample is a sum of n variables of one
kind, whose values are the scores; a sum of bets has a kind for each size, with the values 0 and that size.

The law is computed in one of two ways. *Enumerated*: every way in which the variables can turn out, where these are
few. *On a circle*: the characteristic function phi, the product over variables, at all frequencies that count, and
the fast Fourier transform, which gives the probability of each point; exactly on a lattice, else on a fine grid. A
value off the grid is split among three points with its mean and its square, so that what rounding does is of the
third order in the step. Where phi is nothing long before the last frequency there is no more to see of the law. Where
it is not, single sums have much mass: a probability is then asked for a little further out, so that it errs upwards,
and the largest bets are given by their patterns, so that the others' sum, and its grid, are narrow.

Probabilities far out drown in the rounding of such sums. There the variables are tilted: a value v gets exp(theta v)
times its chance, with theta so that the sum asked for is the expected one. That law is computed instead, and each of
its probabilities turned back into the plain one.

References
----------
R. B. Davies, "Numerical inversion of a characteristic function", Biometrika 60 (1973).
H. E. Daniels, "Saddlepoint approximations in statistics", Annals of Mathematical Statistics 25 (1954).
P. S. Kornya, "Distribution of aggregate claims in the individual risk theory model", Transactions of the Society of
Actuaries 35 (1983): bets by the powers of their odds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from pytest_riskguard.distributions import log_ndtr, ndtr, ndtri, ndtri_exp
from pytest_riskguard.frozen import frozen
from pytest_riskguard.risk.checks import FloatArray, IntArray

ComplexArray = npt.NDArray[np.complex128]

#: A law is computed on a circle of so many standard deviations (Bennett's inequality: within 6 of the mean, what
#: wraps round is below 4e-17 for any bootstrap), that of bets, whose far tails are tilted, of fewer; or where a rare
#: value is far out, of so many such values besides.
PERIOD, BETS_PERIOD, VALUES_IN_PERIOD, RARE = 24.0, 12.0, 5.0, 1e-10
#: Points of the circle. Where fewer draws than this are not of the most frequent value, single sums have mass that
#: no coarse grid shows; half of the points show it down to the second number, of draws and of values.
GRID_POINTS, FEW, VERY_FEW = 2**16, 25, 12
#: Points that are tried first, of means by how many draws they may have, and of bets.
COARSE, COARSE_BETS = {2**13: 256, 2**14: 4096}, 2**12
#: Ways of one kind's variables to turn out that are enumerated, and the mass of those left out.
MAX_VECTORS, LEFT_OUT = 60_000, 1e-13
#: The far tails begin at this probability.
FAR = 1e-8
#: A probability this close below a level has reached it: sums of masses carry rounding; in a far tail, as a share.
REACHED, FAR_REACHED = 1e-13, 1e-10
#: The logarithm of the least mass for which the sum in which nothing is drawn keeps a step of its own.
OWN_STEP = -20.0
#: A value this close to a multiple of the step, in steps, lies on the lattice.
ON_LATTICE = 1e-6
#: Patterns of bets that are counted at once, in powers of 2.
COUNTED = 28
#: Points of the circle of bets; odds of theirs whose powers soon are nothing; the logarithm of a mean square of
#: phi that is little beside a probability; patterns of the largest bets that stay open at once.
BETS_POINTS, MAX_ODDS, LAST_TERM, ALIKE, MAX_PATTERNS, MISSED = (2**14, 0.6, 1e-13, -18.4, 512, 1e-6)
#: What high frequencies may add to a probability; magnitudes of phi that are nothing; so many frequencies are
#: multiplied together.
LITTLE, NOTHING, BLOCK = 1e-11, 1e-16, 64
#: No tilt is larger, in reciprocal standard deviations, or in reciprocal steps of a lattice; a tilt need not be
#: exact: so close, in standard deviations.
MAX_TILT, MAX_STEEP, CLOSE, MAX_STEPS = 1e12, 60.0, 0.1, 60
#: So many angles are held at once; so many kinds of few bets are listed together.
MAX_ANGLES, TOGETHER = 2**18, 4
#: So many values may be halved; ways with a smaller logarithm count for nothing.
FEW_VALUES, LEAST_LOG = 8, -16.0
#: With more values than this there are always too many vectors; tilted chances are no smaller.
MAX_ENUMERATED, TINY = 16, 1e-300
#: Tilts of far tails for each doubling of the tilt; a tail's law ends so many standard deviations above its mean, and
#: is little moved by rounding where masses have grown by exp of no more than this.
RUNGS, WINDOW, MAX_GROWTH = 4, 6.0, 23.0
#: More distinct values than this are put into cells by ``condensed``: so many cells by value, and as many by rank.
MAX_VALUES, CELLS = 4096, 1024
#: Exponents beyond this overflow.
MAX_EXPONENT = 600.0


@frozen(eq=False)
class Tilt:
    """The chances of each value under a tilt; K(theta); mean and standard deviation of the sum under it."""

    theta: float
    chances: FloatArray
    log_norm: float
    mean: float
    deviation: float


@frozen(eq=False)
class Steps:
    """P(S <= s), or its lower tail: piecewise linear through (sums, below), both ascending; a jump is two points.

    The values of ``below`` are probabilities over exp(``log_unit``). Sums within ``same`` are the same. Masses are
    spread over a ``width``, which is all there is to see of the law where that is ``settled``.
    """

    sums: FloatArray
    below: FloatArray
    same: float
    log_unit: float = 0.0
    width: float = 0.0
    settled: bool = True

    def share(self, values: npt.ArrayLike, *, inclusive: bool) -> FloatArray:
        """P(S <= value), or P(S < value), over exp(``log_unit``)."""
        edges = np.add(values, self.same if inclusive else -self.same)
        return np.asarray(np.interp(edges, self.sums, self.below, left=0.0))

    def quantiles(self, shares: FloatArray | float) -> FloatArray:
        """The smallest sums up to which lie these shares."""
        return np.asarray(np.interp(shares, self.below, self.sums))


class SumLaw:
    """The law of S, the sum of independent variables.

    Parameters
    ----------
    values, chances : array, shape (n_kinds, n_values)
        The values of a variable of each kind, the first of which is 0, and their probabilities.
    times : array, shape (n_kinds,)
        How many variables each kind has.
    same : float
        Sums this close are the same.
    """

    def __init__(self, values: FloatArray, chances: FloatArray, times: FloatArray, *, same: float) -> None:
        self.values, self.chances, self.times, self.same = values, chances, times, same
        self._one = times.size == 1
        self._tails: dict[int, Steps] = {}

    @cached_property
    def mirrored(self) -> SumLaw:
        """The law of -S."""
        law = SumLaw(-self.values, self.chances, self.times, same=self.same)
        law.__dict__ |= {"mirrored": self, "step": self.step}
        return law

    @cached_property
    def plain(self) -> Tilt:
        """No tilt."""
        return self.tilted(0.0)

    @cached_property
    def steps(self) -> Steps:
        """The whole law but for its far tails."""
        return self._steps(self.plain)

    @cached_property
    def step(self) -> float | None:
        """The step of the lattice that all values lie on; None where they lie on none."""
        return lattice_step(self.values.ravel())

    def tilted(self, theta: float) -> Tilt:
        """The variables tilted by theta, in reciprocal units of the sum."""
        exponents = theta * self.values
        top = np.max(exponents, axis=1, keepdims=True)
        weights = self.chances * np.exp(exponents - top)
        norms = np.sum(weights, axis=1, keepdims=True)
        chances = weights / norms
        means = np.sum(chances * self.values, axis=1)
        variances = np.sum(chances * (self.values - means[:, None]) ** 2, axis=1)
        log_norm = float(np.sum(self.times * (np.log(norms) + top)[:, 0])) if theta else 0.0
        return Tilt(theta, chances, log_norm, float(self.times @ means), math.sqrt(float(self.times @ variances)))

    # the distribution, with both tails

    @cached_property
    def mid(self) -> float:
        """P(S < E S) + P(S = E S)/2."""
        return sum(self._share(self.plain.mean, inclusive=inclusive) for inclusive in (False, True)) / 2

    def _share(self, value: float, *, inclusive: bool) -> float:
        """P(S <= value), or P(S < value)."""
        if self.by_vectors is None:
            return float(self.steps.share(value, inclusive=inclusive))
        return self.by_vectors.share(value + (self.same if inclusive else -self.same))

    @cached_property
    def by_vectors(self) -> HalvedVectors | None:
        """Where few values are drawn, but too often to list all ways: a grid shows single sums only to its step."""
        drawn = float(self.times[0] * (1 - self.chances[0, 0]))
        if not self._one or not self.steps.width or max(self.values.shape[1] - 1, drawn) > FEW_VALUES + 0.5:
            return None
        return HalvedVectors(self.values[0], self.chances[0], int(self.times[0]))

    def score(self, value: float, *, inclusive: bool = True) -> float:
        """The normal quantile of P(S <= value), or of P(S < value), which keeps the digits of both tails."""
        share = self._share(value, inclusive=inclusive)
        if FAR < share < 1 - FAR:
            return float(ndtri(share))
        if share > 0.5:
            return -ndtri_exp(self.mirrored._log_below(-value, inclusive=not inclusive))
        return ndtri_exp(self._log_below(value, inclusive=inclusive))

    def at_scores(self, z: FloatArray) -> FloatArray:
        """The smallest sums whose ``score`` reaches these."""
        edge = -float(ndtri(FAR))
        found = self.steps.quantiles(np.maximum(ndtr(np.clip(z, -edge, edge)) - REACHED, REACHED))
        for place in np.flatnonzero(np.abs(z) > edge).tolist():
            law = self if z[place] < 0 else self.mirrored
            found[place] = math.copysign(1.0, -z[place]) * law._lower(-abs(float(z[place])), found_by=self)
        return found

    @cached_property
    def _end(self) -> tuple[float, float]:
        """The least sum, and the logarithm of its probability."""
        least = np.argmin(self.values, axis=1)
        rows = np.arange(least.size)
        logs = np.log(self.chances[rows, least])
        return float(self.times @ self.values[rows, least]), float(self.times @ logs)

    def _log_below(self, value: float, *, inclusive: bool) -> float:
        """Log P(S <= value), or log P(S < value), in the lower far tail."""
        end, log_share = self._end
        if value <= end + self.same:
            return log_share
        steps = self._tail(self._root(lambda tilt: (tilt.mean - value) / (tilt.deviation or TINY)))
        share = float(steps.share(value, inclusive=inclusive))
        return max(math.log(share) + steps.log_unit if share > 0 else -math.inf, log_share)

    def _lower(self, z: float, *, found_by: SumLaw) -> float:
        """The quantile at a low normal score; of the mirror image where another law asks for its high one."""
        end, log_end = self._end
        log_share = log_ndtr(z) + (-FAR_REACHED if found_by is self else FAR_REACHED)
        if log_share < log_end:
            return end
        # by Chernoff's bound for the tail that begins at the mean
        steps = self._tail(
            self._root(lambda tilt: -z - math.sqrt(2 * max(tilt.theta * tilt.mean - tilt.log_norm, 0.0)))
        )
        return float(steps.quantiles(math.exp(log_share - steps.log_unit)))

    def _tail(self, tilt: Tilt) -> Steps:
        # one of few tilts, so that limits and p-values, asked for one without the other, come from the same law
        step = round(RUNGS * math.log2(max(-tilt.theta * self.plain.deviation, 2.0**-60)))
        if step not in self._tails:
            self._tails[step] = self._steps(self.tilted(-(2.0 ** (step / RUNGS)) / self.plain.deviation))
        return self._tails[step]

    def _root(self, excess: Callable[[Tilt], float], *, side: int = -1) -> Tilt:
        """The tilt, by default towards low sums, at which an excess, in standard deviations, falls to about 0."""
        unit = 1 / self.plain.deviation
        most = MAX_TILT * unit if self.step is None else min(MAX_TILT * unit, MAX_STEEP / self.step)
        size, low, high = 0.0, 0.0, most
        for _ in range(MAX_STEPS):
            tilt = self.tilted(side * size) if size else self.plain
            missing = excess(tilt)
            if abs(missing) < CLOSE or (missing > 0 and size == most):
                break
            low, high = (size, high) if missing > 0 else (low, size)
            # Newton's step, which must not go too far at once
            size = min(size + min(missing / (tilt.deviation or math.inf), max(size, unit)), most)
            if not low < size <= high:
                size = (low + high) / 2
        return tilt

    # as steps

    def _steps(self, tilt: Tilt, *, fine: bool = True) -> Steps:
        found = None
        if self._one:
            found = enumerated(tilt.chances[0], self.values[:, 1:], int(self.times[0]), most=MAX_VECTORS)
        if found is None:
            sums, masses, width, settled = self._on_circle(tilt, fine=fine)
        else:
            order, width, settled = np.argsort(found[0][0], kind="stable"), 0.0, True
            sums, masses = found[0][0][order], found[1][order]
        unit = tilt.log_norm - tilt.theta * tilt.mean
        if tilt.theta:
            # masses of tilted sums as plain ones, over exp of the unit; further from the tail rounding would be all
            window = max(WINDOW * tilt.deviation, MAX_GROWTH / abs(tilt.theta))
            end = int(np.searchsorted(sums, tilt.mean + window, side="right"))
            sums, masses = sums[:end], masses[:end]
            masses *= np.exp(np.clip(-tilt.theta * (sums - tilt.mean), -MAX_EXPONENT, MAX_EXPONENT))
        below = np.cumsum(masses, out=masses)
        if not tilt.theta:
            below /= below[-1]
        # values are split with masses below 0 beside larger ones
        if self._one:  # rounding that has grown must not come to the tail
            grown = tilt.mean + MAX_GROWTH / abs(tilt.theta) if tilt.theta else math.inf
            below[: np.searchsorted(sums, grown)].sort(kind="stable")
        elif width:
            before, here, after = below[:-2], below[1:-1], below[2:]
            below[1:-1] = np.clip(after, np.minimum(before, here), np.maximum(before, here))
        np.maximum(below, 0.0, out=below)
        if tilt.theta or not self._one:
            np.maximum.accumulate(below, out=below)
        if not width:
            return Steps(np.repeat(sums, 2), np.append(0.0, np.repeat(below, 2)[:-1]), self.same, unit)
        sums += width / 2
        log_none = float(self.times[0]) * math.log(tilt.chances[0, 0] or 5e-324)
        if self._one and log_none > OWN_STEP and sums[-1] > 0:
            # nothing drawn is a step of its own; of the mass in its cell, the rest lies where the values do
            cell, none = int(np.searchsorted(sums, 0.0)), math.exp(log_none + tilt.theta * tilt.mean)
            negative, positive = bool(np.any(self.values < 0)), bool(np.any(self.values > 0))
            rest = max(below[cell] - below[cell - 1] - none, 0.0)
            up_to = below[cell - 1] + rest * negative / (negative + positive)
            sums = np.concatenate([sums[:cell], [0.0, 0.0], sums[cell:]])
            below = np.concatenate([below[:cell], [up_to, up_to + none], below[cell:]])
        return Steps(sums, below, self.same, unit, width, settled)

    def period(self, tilt: Tilt) -> float:
        """How long the circle is on which the tilted law lies."""
        likely = self.times[:, None] * tilt.chances * (1 - tilt.chances) > RARE
        widest = float(np.max(np.abs(self.values), where=likely, initial=0.0))
        length = (PERIOD if self._one else BETS_PERIOD) * tilt.deviation
        return max(length, length / 2 + VALUES_IN_PERIOD * widest)

    def _on_circle(self, tilt: Tilt, *, fine: bool) -> tuple[FloatArray, FloatArray, float, bool]:
        """Sums and masses in a window about the mean; over which width a mass is spread; whether that is settled."""
        period = self.period(tilt)
        drawn = self.times[0] * (1 - tilt.chances[0, 0])
        few = self._one and drawn < FEW
        most = GRID_POINTS if self._one else BETS_POINTS
        step, width, settled = self.step, 0.0, True
        if step is not None and period <= (2 * most if self._one else most) * step:
            points = max(2 ** math.ceil(math.log2(period / step) - 1e-9), 16)
            phi = self.phi(tilt, step, points)
        else:
            # a coarse grid is enough where phi is nothing long before its end
            if self._one:
                coarse = [points for points, draws in COARSE.items() if self.times[0] <= draws and not few]
                if VERY_FEW <= drawn < 2 * FEW and self.values.size > VERY_FEW:
                    most //= 2
            else:
                coarse = [COARSE_BETS] if self.alike(tilt) <= ALIKE else []
            for points in [*coarse, most] if fine else coarse:
                phi = self.phi(tilt, period / points, points)
                rest = np.abs(phi[points // 8 :])
                if self._one:
                    settled = bool(np.sum(rest) <= LITTLE * math.pi * points / 8)
                else:
                    settled = float(np.mean(rest**2)) <= math.exp(ALIKE)
                if settled:
                    break
            step = width = period / points
        if width and not self._one:
            # what a tilt adds to each point's mass is taken off over its width
            half, turns = tilt.theta * step / 2 + 1e-300, _half_turns(points)
            sinh = math.sinh(half) * turns.real + 1j * math.cosh(half) * turns.imag
            phi *= sinh / (half - 1j * math.pi / points * np.arange(phi.size))
        first = round(tilt.mean / step) - points // 2
        masses = np.roll(np.fft.irfft(phi, points), -(first % points))
        return np.arange(first, first + points) * step, masses if width else np.maximum(masses, 0.0), width, settled

    def phi(self, tilt: Tilt, step: float, points: int) -> ComplexArray:
        """The characteristic function on a circle of so many steps, conjugate, 0 where it is nothing."""
        if self._one:
            return _of_one_kind(self.values[0] / step, tilt.chances[0], int(self.times[0]), points)
        return _of_bets(self.values[:, 1] / step, tilt.chances, self.times, points)

    # bets: kinds with two values, of which the second is above 0

    def reaching(self, value: float) -> float:
        """P(S >= value), or a little more."""
        if value <= self.same:
            return 1.0
        most = float(self.times @ self.values[:, 1])
        if value >= most - self.same:
            return math.exp(float(np.sum(self.times * np.log(self.chances[:, 1])))) * (value <= most + self.same)
        logs = np.log2(self.times + 1)
        p = self._counted(value, np.argsort(-logs, kind="stable")) if np.sum(logs) <= COUNTED else self._beyond(value)
        return min(p, 1.0)

    def _counted(self, value: float, kinds: IntArray) -> float:
        """By the patterns of each half."""
        (sums, masses), (other_sums, other_masses) = self._listed(kinds[::2]), self._listed(kinds[1::2])
        # added up from the highest sum on, so that small probabilities keep their digits
        at_least = np.append(np.cumsum(other_masses[::-1])[::-1], 0.0)
        return float(masses @ at_least[np.searchsorted(other_sums, value - self.same - sums)])

    def _listed(self, kinds: IntArray) -> tuple[FloatArray, FloatArray]:
        """Sum and probability of every pattern of these kinds, by sum: ordered ones are sought faster."""
        sums, masses = np.zeros(1), np.ones(1)
        for kind in kinds.tolist():
            losses = np.arange(int(self.times[kind]) + 1)
            sums = np.add.outer(sums, losses * self.values[kind, 1]).ravel()
            masses = np.multiply.outer(masses, binomial(losses.size - 1, float(self.chances[kind, 1]))).ravel()
        order = np.argsort(sums, kind="stable")
        return sums[order], masses[order]

    def _beyond(self, value: float) -> float:
        """From the tail that begins at the value, under the tilt that makes it the expected one."""
        few = self._condensed
        side = 1 if value > few.plain.mean else -1
        tilt = few._root(lambda tilt: side * (value - tilt.mean) / (tilt.deviation or TINY), side=side)
        law, p, sums, masses = self, 0.0, np.zeros(1), np.ones(1)
        steps = few._towards(side, tilt, fine=False) if few.alike(tilt) <= ALIKE else None
        if steps is None or not steps.settled:
            p, sums, masses, law = self._parted(value)
            if not (sums.size and law.times.size):
                return p
            steps = law._towards(side, tilt)
        points = sums - value if side > 0 else value - sums
        # so far beyond a sum nothing is missed of what it has
        blur = steps.width / 64 if steps.settled else 2 * steps.width
        share = steps.share(points + side * blur, inclusive=side > 0) * math.exp(steps.log_unit)
        p += float(masses @ (share if side > 0 else 1 - share))
        return p * (1 + MISSED) if steps.width else p

    @cached_property
    def _condensed(self) -> SumLaw:
        """The same of fewer kinds, where chances are equal and sizes very many."""
        if np.ptp(self.chances[:, 1]) > LEFT_OUT:
            return self
        sizes, times = condensed(self.values[:, 1], self.times)
        chances = np.repeat(self.chances[:1], sizes.size, axis=0)
        return SumLaw(np.column_stack([np.zeros(sizes.size), sizes]), chances, times, same=self.same)

    def _towards(self, side: int, tilt: Tilt, *, fine: bool = True) -> Steps:
        """The tail on a side, which for the upper one is that of the mirror image, under this tilt."""
        law = self.mirrored if side > 0 else self
        return law._steps(law.tilted(-abs(tilt.theta)), fine=fine)

    def _parted(self, value: float) -> tuple[float, FloatArray, FloatArray, SumLaw]:
        """By patterns of the largest bets, until none is open or they are many: the others' sum is narrower.

        The probability of those that reach the value; sums and masses of the open ones; the law of the others.
        """
        order = np.argsort(-self.values[:, 1], kind="stable")
        others = np.append(np.cumsum((self.times * self.values[:, 1])[order][::-1])[::-1], 0.0)
        parted = int(np.count_nonzero(self.values[:, 1] >= value - self.same))  # each of them suffices
        none = float(np.sum((self.times * np.log(self.chances[:, 0]))[order[:parted]]))
        sums, masses, p = np.zeros(1), np.full(1, math.exp(none)), -math.expm1(none)
        together = TOGETHER if np.max(self.times) < TOGETHER else 1
        while 0 < sums.size <= MAX_PATTERNS and parted < order.size:
            kinds = order[parted : parted + together]
            more, their_masses = self._listed(kinds)
            parted += kinds.size
            sums = np.add.outer(sums, more).ravel()
            masses = np.multiply.outer(masses, their_masses).ravel()
            reached = sums >= value - self.same
            p += float(np.sum(masses[reached]))
            undecided = ~reached & (sums + others[parted] >= value - self.same)
            sums, masses = sums[undecided], masses[undecided]
        rest = order[parted:]
        return p, sums, masses, SumLaw(self.values[rest], self.chances[rest], self.times[rest], same=self.same)

    def alike(self, tilt: Tilt) -> float:
        """About the logarithm of the mean square of phi beyond the coarse grid, if no sizes have a common measure."""
        spread, angles = np.prod(tilt.chances, axis=1), self.values[:, 1] * math.pi * COARSE_BETS / 2
        squares = np.maximum(np.log1p(-2 * spread), -spread * (angles / self.period(tilt)) ** 2)
        return float(self.times @ squares)


def vectors(
    chances: FloatArray, values: FloatArray, most: int, *, least: float = -math.inf
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Ways to draw up to so many from values with these chances, but for those with a logarithm below ``least``.

    The sums of each row of values, shape (n_rows, n_vectors); how many are drawn; log prod p^c/c!.
    """
    sums, drawn, logs = np.zeros((len(values), 1)), np.zeros(1, dtype=np.int64), np.zeros(1)
    times = np.arange(most + 1)
    factorials = np.append(0.0, np.cumsum(np.log(times[1:])))
    for place, chance in enumerate(chances.tolist()):
        terms = times * math.log(max(chance, TINY)) - factorials
        row, time = np.nonzero((np.add.outer(drawn, times) <= most) & (np.add.outer(logs, terms) > least))
        sums = sums[:, row] + values[:, place, None] * time
        logs, drawn = logs[row] + terms[time], drawn[row] + time
    return sums, drawn, logs


def rest_logs(chances: FloatArray, n: int, most: int) -> FloatArray:
    """Log n!/(n - k)! p^(n - k) for k = 0 ... most draws of other values than the first, whose chance is p."""
    changed = min(float(np.sum(chances[1:])), 1.0)
    rest = math.log1p(-changed) if changed < 0.5 else math.log(max(float(chances[0]), TINY))
    drawn = np.arange(most + 1)
    # from small terms only, so that n = 10^6 loses no digits
    return np.asarray(np.append(0.0, np.cumsum(np.log(n - drawn[:-1]))) + (n - drawn) * rest)


def enumerated(chances: FloatArray, values: FloatArray, n: int, *, most: int) -> tuple[FloatArray, FloatArray] | None:
    """All ways to draw n times, but for a mass of 1e-13: sums of each row of values, and probabilities.

    Values are those but the first one, which adds nothing. None if the ways are too many.
    """
    reach = most_drawn(chances, n)
    if chances.size - 1 > MAX_ENUMERATED or math.comb(reach + chances.size - 1, reach) > most:
        return None
    sums, drawn, logs = vectors(chances[1:], values, reach)
    return sums, np.exp(logs + rest_logs(chances, n, reach)[drawn])


class HalvedVectors:
    """P(S <= s) for n draws: the ways to draw from half of the values, each with the sums of the other half."""

    def __init__(self, values: FloatArray, chances: FloatArray, n: int) -> None:
        reach = most_drawn(chances, n)
        # chances are n times what they are, which the rest takes back: so that none of these masses is tiny
        rest = np.exp(rest_logs(chances, n, reach) - np.arange(reach + 1) * math.log(n))
        rest = np.append(rest, np.zeros(rest.size))
        order, halves = 1 + np.argsort(-chances[1:], kind="stable"), []
        for half in (order[::2], order[1::2]):
            (sums,), drawn, logs = vectors(n * chances[half], values[None, half], reach, least=LEAST_LOG)
            by_sum = np.argsort(sums, kind="stable")
            halves.append((sums[by_sum], drawn[by_sum], np.exp(logs[by_sum])))
        (self._sums, drawn, masses), (self._others, other_drawn, other_masses) = halves
        # how many are drawn of both halves matters: as a sum of a few products, of a factor for each half
        counts = np.arange(max(drawn.max(), other_drawn.max()) + 1)
        mine, sizes, theirs = np.linalg.svd(rest[np.add.outer(counts, counts)])
        terms = int(np.count_nonzero(sizes > LEFT_OUT * sizes[0]))
        self._weights = (mine[:, :terms] * sizes[:terms])[drawn] * masses[:, None]
        self._below = np.zeros((terms, self._others.size + 1))
        np.cumsum(theirs[:terms, other_drawn] * other_masses, axis=1, out=self._below[:, 1:])
        self._weights /= np.sum(self._weights @ self._below[:, -1])

    def share(self, value: float) -> float:
        """P(S <= value)."""
        # both ascend, so that places are found in order
        reached = np.searchsorted(self._others, value - self._sums, side="right")
        return float(np.einsum("jk,kj", self._weights, self._below[:, reached]))


def most_drawn(chances: FloatArray, n: int) -> int:
    """How many of n draws are not of the first value, but for a mass of 1e-13."""
    p = float(np.sum(chances[1:]))
    if p >= 1:
        return n
    most = min(n, math.ceil(n * p + 12 * math.sqrt(n * p)) + 100)  # what is beyond does not matter
    beyond = np.cumsum(binomial(n, p, most=most)[::-1])[::-1]
    return int(np.argmax(np.append(beyond[1:], 0.0) < LEFT_OUT))


def binomial(n: int, p: float, *, most: int | None = None) -> FloatArray:
    """The probabilities of 0, 1, ... successes in n trials, up to ``most``."""
    if n == 1:
        return np.array([1 - p, p])
    counts = np.arange(1, (n if most is None else most) + 1)
    odds = p / (1 - p)
    logs = np.append(0.0, np.cumsum(np.log((n + 1 - counts) / counts * odds)))
    return np.asarray(np.exp(logs + n * math.log1p(-p)))


def lattice_step(values: FloatArray) -> float | None:
    """The largest step that all values are multiples of, by Euclid's algorithm; None where there is none."""
    sizes = np.unique(np.abs(values[values != 0]))
    if sizes.size == 0:
        return None
    largest = step = float(sizes[-1])
    tolerance = 1e-9 * largest
    while np.any(off := np.abs(sizes - np.rint(sizes / step) * step) > tolerance):
        a, b = float(sizes[off][0]), step
        while b > tolerance:
            a, b = b, abs(math.remainder(a, b))
        if a < 4 * tolerance:
            return None
        step = largest / round(largest / a)  # Euclid's carries rounding, which every further value would multiply
    steps = sizes / step
    return step if float(np.max(np.abs(steps - np.rint(steps)))) < ON_LATTICE else None


def condensed(y: FloatArray, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fewer values with the same share, mean and variance, cell by cell; short vectors and lattices as they are.

    ``y`` is ascending and distinct, ``shares`` are positive; each cell gives two values, in no particular order.
    Cells are narrow both in value and in rank, so that one topic far out does not widen the others' cells.
    """
    if y.size <= MAX_VALUES or lattice_step(y) is not None:
        return y, shares
    width = (y[-1] - y[0]) / CELLS
    cells = np.floor((y - y[0]) / width) * CELLS + np.arange(y.size) * CELLS // y.size
    starts = np.flatnonzero(np.diff(cells, prepend=-1.0))
    cell_shares = np.add.reduceat(shares, starts)
    where = np.cumsum(np.diff(cells, prepend=cells[0]) != 0)
    mean = np.add.reduceat(shares * y, starts) / cell_shares
    off = y - mean[where]
    deviation = np.sqrt(np.add.reduceat(shares * off**2, starts) / cell_shares)
    return np.append(mean - deviation, mean + deviation), np.tile(cell_shares / 2, 2)


def _histogram(values: FloatArray, weights: FloatArray, points: int) -> FloatArray:
    """Weights at values in steps of a circle, whose points are a power of 2; off these they keep mean and square."""
    places = np.rint(values).astype(np.int64)
    off = values - places
    off[np.abs(off) < ON_LATTICE] = 0.0
    around = np.add.outer([-1, 0, 1], places) & (points - 1)
    # Lagrange's weights of the points before a value, at it and after it
    parts = np.stack([(off**2 - off) / 2, 1 - off**2, (off**2 + off) / 2]) * weights
    return np.asarray(np.bincount(around.ravel(), parts.ravel(), minlength=points))


@lru_cache
def _half_turns(points: int) -> ComplexArray:
    return np.asarray(np.exp(-1j * math.pi / points * np.arange(points // 2 + 1)))


def _of_one_kind(values: FloatArray, chances: FloatArray, n: int, points: int) -> ComplexArray:
    """Phi of the sum of n draws of values in steps of a circle of so many points."""
    base = np.fft.rfft(_histogram(values, chances, points))
    base[base.real**2 + base.imag**2 <= NOTHING ** (2 / n)] = 0.0
    power = base.copy()
    for bit in bin(n)[3:]:  # repeated squaring needs no branch of the logarithm
        power *= power
        if bit == "1":
            power *= base
    return power


def _of_bets(sizes: FloatArray, chances: FloatArray, times: FloatArray, points: int) -> ComplexArray:
    """Phi of a sum of bets, whose sizes are in steps of a circle of so many points.

    The logarithm of 1 + r exp(i x) is r exp(i x) - r^2 exp(2 i x)/2 + ...: that of the product is one transform of
    all these terms, for odds r well below 1, or well above, with the bet counted from its loss down. Other bets are
    multiplied, where the product is something: with u = 4 r/(1 + r)^2 the square of a factor's size is 1 - u s^2, s
    being the sine of half its angle, and at most exp(-u s^2 - u^2 s^4/2), which one transform shows for all of them.
    """
    likely = chances[:, 1] > chances[:, 0]
    lost = float(np.sum((times * sizes)[likely]))
    odds, sizes = np.maximum(np.min(chances, axis=1) / np.max(chances, axis=1), TINY), np.where(likely, -sizes, sizes)
    uneven = odds < MAX_ODDS
    # as many terms of each as are something
    counts = np.ceil(math.log(LAST_TERM) / np.log(odds[uneven])).astype(np.int64)
    bets = np.repeat(np.flatnonzero(uneven), counts)
    terms = np.arange(1, bets.size + 1) - np.repeat(np.cumsum(counts) - counts, counts)
    weights = times[bets] * np.exp(terms * np.log(odds)[bets]) * (2 * (terms % 2) - 1) / terms
    logs = np.fft.rfft(_histogram(sizes[bets] * terms, weights, points))
    logs -= logs[0]
    angle = -2 * math.pi / points
    phi: ComplexArray = np.exp(logs + 1j * angle * (lost % points) * np.arange(logs.size))
    if np.all(uneven):
        return phi
    sizes, odds, times = sizes[~uneven], odds[~uneven], times[~uneven]
    u = 4 * odds / (1 + odds) ** 2
    weights = np.append(times * (u / 4 + u**2 / 8), times * u**2 / -32)
    bounds = np.fft.rfft(_histogram(np.append(sizes, 2 * sizes), weights, points)).real
    bounds = np.append(logs.real + bounds - bounds[0], np.full(-logs.size % BLOCK, -math.inf)).reshape(-1, BLOCK)
    alive = np.max(bounds, axis=1) > math.log(LITTLE)
    phi = np.resize(phi, bounds.shape)
    phi[~alive] = 0.0
    blocks = np.flatnonzero(alive)
    step = max(1, MAX_ANGLES // (blocks.size * BLOCK))
    for start in range(0, sizes.size, step):
        some = slice(start, start + step)
        chance, turn = odds[some, None] / (1 + odds[some, None]), 1j * angle * sizes[some, None]
        first, turns = chance * np.exp(turn * BLOCK * blocks), np.exp(turn * np.arange(BLOCK))
        factors = first[:, :, None] * turns[:, None, :]
        factors += 1 - chance[:, :, None]
        several = times[some] != 1
        if np.any(several):  # powers by their logarithms: those of complex numbers take ten times as long
            x, y, n = factors[several].real, factors[several].imag, times[some][several]
            turned = 1j * np.tensordot(n, np.arctan2(y, x), 1)
            phi[blocks] *= np.exp(np.tensordot(n, np.log(x * x + y * y), 1) / 2 + turned)
            factors = factors[~several]
        phi[blocks] *= np.prod(factors, axis=0)
    return phi.ravel()[: logs.size]
