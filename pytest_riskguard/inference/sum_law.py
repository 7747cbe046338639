"""The law of a sum of independent discrete variables: what a bootstrap mean and a sum of bets have in common.

Variables come in kinds: those of one kind are alike. The mean of n draws from a sample is a sum of n variables of one
kind, whose values are the scores; a sum of bets has a kind for each size, with the values 0 and that size.

The law is computed in one of three ways. *Enumerated*: every way in which the variables can turn out, where these are
few. *On a lattice*, or rounded to a fine one: the characteristic function phi, the product over variables, is known
exactly at all frequencies that count, and the fast Fourier transform gives the probability of each point. A value off
the lattice is split among three points with its mean and variance, so that what rounding does is of the third order
in the step. *Along a line*: P(S >= s) is the integral of exp(K(z) - s z)/(2 pi i z), K being the logarithm of the
moment generating function, which is a sum over the frequencies at which phi is more than nothing.

Probabilities far out drown in the rounding of such sums. There the variables are tilted: a value v gets exp(theta v)
times its chance, with theta so that the sum asked for is the expected one. That law is computed instead, and each of
its probabilities turned back into the plain one.

References
----------
R. B. Davies, "Numerical inversion of a characteristic function", Biometrika 60 (1973).
H. E. Daniels, "Saddlepoint approximations in statistics", Annals of Mathematical Statistics 25 (1954).
R. Lugannani, S. Rice, "Saddle point approximation for the distribution of the sum of independent random variables",
Advances in Applied Probability 12 (1980): the line.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pytest_riskguard.distributions import log_ndtr, ndtr, ndtri, ndtri_exp
from pytest_riskguard.frozen import frozen
from pytest_riskguard.risk.checks import BoolArray, FloatArray, IntArray

ComplexArray = npt.NDArray[np.complex128]

#: A law is computed on a circle of so many standard deviations (Bennett's inequality: within 6 of the mean, what
#: wraps round is below 4e-17 for any bootstrap), or where a rare value is far out, of so many such values besides.
PERIOD, VALUES_IN_PERIOD, RARE = 24.0, 5.0, 1e-10
#: Points of the circle: of the grid that values are rounded to, and of a lattice at most; a finer one where fewer
#: draws than this are not of the most frequent value, since single sums have much mass there.
GRID_POINTS, LATTICE_POINTS, FEW, FEW_LATTICE_POINTS = 2**16, 2**16, 40, 2**17
#: Up to so many draws the grid is first so many times as coarse.
FEW_DRAWS, COARSER = 4096, 4
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
#: Patterns of bets that are counted at once, and where the line needs too many frequencies, in powers of 2.
COUNTED, COUNTED_INSTEAD = 24, 34
#: The line is at least this far from the imaginary axis, in reciprocal standard deviations: what wraps round the
#: circle once is below exp(-38).
MIN_TILT = 1.6
#: Frequencies of the line, and where some do not suffice: the sum is then blurred, by BLUR at the last of them in the
#: exponent, and asked for so many widths of the blur too low, so that nothing is missed.
FREQUENCIES, MORE_FREQUENCIES, BLUR, WIDTHS = 2048, 2**14, 4.0, 2.5
#: Patterns of the largest bets that stay open at once, and points of a table of the others' law.
MAX_PATTERNS, TABLE = 8192, 2**16
#: What the line leaves out, as a share of the probability.
MAX_ERROR = 1e-4
#: What high frequencies may add to a probability; magnitudes of phi that are nothing; kinds and frequencies that are
#: multiplied at a time, and every how many of these show whether the others are something.
LITTLE, NOTHING, KINDS, BLOCK, SOME = 1e-11, 1e-16, 16, 64, 8
#: No tilt is larger, in reciprocal standard deviations, or in reciprocal steps of a lattice; a tilt need not be
#: exact: so close, in standard deviations.
MAX_TILT, MAX_STEEP, CLOSE, MAX_STEPS = 1e4, 60.0, 0.1, 60
#: A line grows no more than by exp of this, and serves the law without one variable too if that is at most so many
#: standard deviations wide and its factor's squared magnitude no less than this; so many angles are held at once.
MAX_LOG_SCALE, NARROW, MIN_FACTOR, MAX_ANGLES = 3.0, 0.5, 0.05, 2**18
#: So many values may be halved; ways with a smaller logarithm count for nothing.
FEW_VALUES, LEAST_LOG = 8, -20.0
#: With more values than this there are always too many vectors; tilted chances are no smaller.
MAX_ENUMERATED, TINY = 16, 1e-300
#: Tilts of far tails for each doubling of the tilt; a tail's law ends so many standard deviations above its mean, and
#: is little moved by rounding where masses have grown by exp of no more than this.
RUNGS, WINDOW, MAX_GROWTH = 4, 6.0, 23.0
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

    @property
    def depth(self) -> float:
        """Minus the logarithm of Chernoff's bound for the tail that begins at the mean."""
        return max(self.theta * self.mean - self.log_norm, 0.0)


@frozen(eq=False)
class Steps:
    """P(S <= s), or its lower tail: piecewise linear through (sums, below), both ascending; a jump is two points.

    The values of ``below`` are probabilities over exp(``log_unit``). Sums within ``same`` are the same.
    """

    sums: FloatArray
    below: FloatArray
    same: float
    log_unit: float = 0.0
    spread: bool = False

    def share(self, value: float, *, inclusive: bool) -> float:
        """P(S <= value), or P(S < value), over exp(``log_unit``)."""
        edge = value + self.same if inclusive else value - self.same
        return float(np.interp(edge, self.sums, self.below, left=0.0))

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
        self._bandwidth = 0.0, math.inf

    @cached_property
    def mirrored(self) -> SumLaw:
        """The law of -S."""
        law = SumLaw(-self.values, self.chances, self.times, same=self.same)
        law.__dict__["mirrored"] = self
        return law

    @cached_property
    def plain(self) -> Tilt:
        """No tilt."""
        return self.tilted(0.0)

    @cached_property
    def steps(self) -> Steps:
        """The whole law but for its far tails."""
        return self._steps(self.plain)

    @property
    def bandwidth(self) -> tuple[float, float]:
        """The angle of frequencies, and the multiple from which on they add nothing: infinite for a law of steps."""
        assert self.steps is not None
        return self._bandwidth

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
        return Tilt(
            theta,
            chances,
            log_norm,
            float(np.sum(self.times * means)),
            math.sqrt(float(np.sum(self.times * variances))),
        )

    # the distribution, with both tails

    @cached_property
    def mid(self) -> float:
        """P(S < E S) + P(S = E S)/2."""
        mean = self.plain.mean
        if self.by_vectors is not None:
            return float(np.mean(self.by_vectors.shares(np.array([mean - self.same, mean + self.same]))))
        return (self.steps.share(mean, inclusive=False) + self.steps.share(mean, inclusive=True)) / 2

    def share(self, value: float, *, inclusive: bool) -> float:
        """P(S <= value), or P(S < value), without the digits of the far tails."""
        if self.by_vectors is None:
            return self.steps.share(value, inclusive=inclusive)
        return float(self.by_vectors.shares(np.array([value + self.same if inclusive else value - self.same]))[0])

    @cached_property
    def by_vectors(self) -> HalvedVectors | None:
        """Where few values are drawn, but too often to list all ways: a grid shows single sums only to its step."""
        drawn = float(self.times[0] * (1 - self.chances[0, 0]))
        if not self._one or not self.steps.spread or max(self.values.shape[1] - 1, drawn) > FEW_VALUES + 0.5:
            return None
        return HalvedVectors(self.values[0], self.chances[0], int(self.times[0]))

    def score(self, value: float, *, inclusive: bool = True) -> float:
        """The normal quantile of P(S <= value), or of P(S < value), which keeps the digits of both tails."""
        share = self.share(value, inclusive=inclusive)
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
        return float(np.sum(self.times * self.values[rows, least])), float(np.sum(self.times * logs))

    def _log_below(self, value: float, *, inclusive: bool) -> float:
        """Log P(S <= value), or log P(S < value), in the lower far tail."""
        end, log_share = self._end
        if value < end - self.same or (value <= end + self.same and not inclusive):
            return -math.inf
        if value <= end + self.same:
            return log_share
        steps = self._tail(self._root(lambda tilt: (tilt.mean - value) / (tilt.deviation or 1.0)))
        share = steps.share(value, inclusive=inclusive)
        return max(math.log(share) + steps.log_unit if share > 0 else -math.inf, log_share)

    def _lower(self, z: float, *, found_by: SumLaw) -> float:
        """The quantile at a low normal score; of the mirror image where another law asks for its high one."""
        end, log_end = self._end
        log_share = log_ndtr(z) + (-FAR_REACHED if found_by is self else FAR_REACHED)
        if log_share < log_end:
            return end
        steps = self._tail(self._root(lambda tilt: -z - math.sqrt(2 * tilt.depth)))
        return float(steps.quantiles(math.exp(log_share - steps.log_unit)))

    def _tail(self, tilt: Tilt) -> Steps:
        # one of few tilts, so that limits and p-values, asked for one without the other, come from the same law
        step = round(RUNGS * math.log2(max(-tilt.theta * self.plain.deviation, 2.0**-60)))
        if step not in self._tails:
            self._tails[step] = self._steps(self.tilted(-(2.0 ** (step / RUNGS)) / self.plain.deviation))
        return self._tails[step]

    def _root(self, excess: Callable[[Tilt], float], *, side: int = -1) -> Tilt:
        """The tilt, by default towards low sums, at which an excess, in standard deviations, falls to about 0."""
        unit = side / self.plain.deviation
        most = MAX_TILT if self.step is None else min(MAX_TILT, MAX_STEEP * self.plain.deviation / self.step)
        low, high = 0.0, min(1.0, most)
        while high < most and excess(self.tilted(high * unit)) > 0:
            low, high = high, min(2 * high, most)
        for _ in range(MAX_STEPS):
            tilt = self.tilted((low + high) / 2 * unit)
            missing = excess(tilt)
            if abs(missing) < CLOSE:
                break
            low, high = ((low + high) / 2, high) if missing > 0 else (low, (low + high) / 2)
        return tilt

    # as steps

    def _steps(self, tilt: Tilt) -> Steps:
        found = enumerated(tilt.chances[0], int(self.times[0]), most=MAX_VECTORS) if self._one else None
        if found is None:
            sums, masses, width = self._on_circle(tilt)
        else:
            sums, width = np.einsum("ij,j->i", found[0], self.values[0, 1:]), 0.0
            order = np.argsort(sums, kind="stable")
            sums, masses = sums[order], found[1][order]
        unit = tilt.log_norm - tilt.theta * tilt.mean
        if tilt.theta:
            # masses of tilted sums as plain ones, over exp of the unit; further from the tail rounding would be all
            end = int(np.searchsorted(sums, tilt.mean + WINDOW * tilt.deviation, side="right"))
            sums, masses = sums[:end], masses[:end]
            masses *= np.exp(np.clip(-tilt.theta * (sums - tilt.mean), -MAX_EXPONENT, MAX_EXPONENT))
        below = np.cumsum(masses)
        if not tilt.theta:
            below /= below[-1]
        # values are split with masses below 0 beside larger ones; rounding that has grown must not come to the tail
        settled = tilt.mean + MAX_GROWTH / abs(tilt.theta) if tilt.theta else math.inf
        below[: np.searchsorted(sums, settled)].sort(kind="stable")
        below = np.maximum.accumulate(below)
        if not width:
            return Steps(np.repeat(sums, 2), np.append(0.0, np.repeat(below, 2)[:-1]), self.same, unit)
        edges = sums + width / 2
        log_none = float(self.times[0]) * math.log(tilt.chances[0, 0] or 5e-324)
        if self._one and log_none > OWN_STEP and edges[-1] > 0:
            # nothing drawn is a step of its own; of the mass in its cell, the rest lies where the values do
            cell, none = int(np.searchsorted(edges, 0.0)), math.exp(log_none)
            none *= math.exp(tilt.theta * tilt.mean) if tilt.theta else 1.0
            negative, positive = bool(np.any(self.values < 0)), bool(np.any(self.values > 0))
            rest = max(below[cell] - below[cell - 1] - none, 0.0)
            up_to = below[cell - 1] + rest * negative / (negative + positive)
            edges = np.concatenate([edges[:cell], [0.0, 0.0], edges[cell:]])
            below = np.concatenate([below[:cell], [up_to, up_to + none], below[cell:]])
        return Steps(edges, below, self.same, unit, spread=True)

    def period(self, tilt: Tilt) -> float:
        """How long the circle is on which the tilted law lies."""
        likely = self.times[:, None] * tilt.chances * (1 - tilt.chances) > RARE
        widest = float(np.max(np.abs(self.values), where=likely, initial=0.0))
        return max(PERIOD * tilt.deviation, PERIOD / 2 * tilt.deviation + VALUES_IN_PERIOD * widest)

    def _on_circle(self, tilt: Tilt) -> tuple[FloatArray, FloatArray, float]:
        """Sums and masses in a window about the mean, and the width over which a mass is spread."""
        period = self.period(tilt)
        most = GRID_POINTS if self._one else 2 * FREQUENCIES
        step, width = self.step, 0.0
        few = self._one and self.times[0] * (1 - tilt.chances[0, 0]) < FEW
        if step is None or period > (FEW_LATTICE_POINTS if few else LATTICE_POINTS) * step:
            step = width = period / most
        points = max(2 ** math.ceil(math.log2(period / step) - 1e-9), 16)
        if self._one:
            n, chances = int(self.times[0]), tilt.chances[0]
            phi: ComplexArray = np.ones(1, dtype=np.complex128)
            if (
                width and n <= FEW_DRAWS and not few
            ):  # a coarse grid is enough where phi is nothing long before its end
                phi = _of_one_kind(self.values[0] / step / COARSER, chances, n, points // COARSER)
            rest = phi.size // 4
            if np.sum(np.abs(phi[rest:])) > LITTLE * math.pi * rest:
                phi = _of_one_kind(self.values[0] / step, chances, n, points)
            else:
                points, step, width = points // COARSER, step * COARSER, width * COARSER
        else:
            phi = np.conj(self.phi(tilt, 2 * math.pi / (points * step), points // 2 + 1))
        first = round(tilt.mean / step) - points // 2
        if width and not tilt.theta:
            beyond = np.cumsum((np.abs(phi[1:]) / np.arange(1, phi.size))[::-1])[::-1] > LITTLE * math.pi
            self._bandwidth = 2 * math.pi / period, float(np.count_nonzero(beyond) + 1)
        masses = np.roll(np.fft.irfft(phi, points), -(first % points))
        return (first + np.arange(points)) * step, masses if width else np.maximum(masses, 0.0), width

    def phi(self, tilt: Tilt, angle: float, count: int) -> ComplexArray:
        """The characteristic function of the tilted sum at the first multiples of an angle, 0 where it is nothing."""
        # magnitudes vary little from one frequency to the next: some show which blocks of them are something
        some = self._phi(tilt, angle, np.arange(-(-count // BLOCK)), every=SOME)
        blocks = np.flatnonzero(np.any(some, axis=1))
        result = np.zeros((len(some), BLOCK), dtype=np.complex128)
        result[blocks] = self._phi(tilt, angle, blocks)
        return result.ravel()[:count]

    def _phi(self, tilt: Tilt, angle: float, blocks: IntArray, *, every: int = 1) -> ComplexArray:
        """Phi at some frequencies of these blocks, shape (n_blocks, n_some); 0 where it is nothing."""
        result = np.zeros((blocks.size, BLOCK // every), dtype=np.complex128)
        phi, places = result + 1, np.arange(blocks.size)
        sizes, chances = self.values[:, 1], tilt.chances
        order = np.argsort(-self.times * sizes**2 * chances[:, 0] * chances[:, 1], kind="stable")
        start = 0
        while start < order.size:
            # frequencies that the largest kinds have left nothing of are passed over
            kinds = order[start : start + max(KINDS, MAX_ANGLES // (4 * max(phi.size, 1)))]
            start += kinds.size
            angles, several = angle * sizes[kinds], self.times[kinds] > 1
            first = np.exp(1j * np.multiply.outer(angles, blocks[places] * BLOCK)) * chances[kinds, 1:]
            turns = np.repeat(np.exp(1j * every * angles)[:, None], BLOCK // every, axis=1)
            turns[:, 0] = 1
            factors = first[:, :, None] * np.cumprod(turns, axis=1)[:, None, :]
            factors += chances[kinds, 0, None, None]
            if np.any(several):
                factors[several] **= self.times[kinds][several, None, None]
            phi *= np.prod(factors, axis=0)
            alive = np.max(phi.real**2 + phi.imag**2, axis=1) > NOTHING**2
            phi, places = phi[alive], places[alive]
        result[places] = phi
        return result

    # bets: kinds with two values, of which the second is above 0

    def reaching(self, value: float) -> float:
        """P(S >= value), or a little more."""
        if value <= self.same:
            return 1.0
        most = float(np.sum(self.times * self.values[:, 1]))
        if value >= most - self.same:
            return math.exp(float(np.sum(self.times * np.log(self.chances[:, 1])))) * (value <= most + self.same)
        halves = self._halves(COUNTED)
        if halves is None:
            line = self._line(value)
            if line.converged:
                return float(line.p)
            halves = self._halves(COUNTED_INSTEAD)
        return self._parted(value) if halves is None else self._counted(value, halves)

    def reaching_without(self, value: float, kinds: IntArray, lost: BoolArray) -> FloatArray:
        """``reaching`` without one variable, for each of several: its kind, and whether it has its second value.

        The value asked for goes down by what it has. NaN where that has to be computed on its own.
        """
        if self._halves(COUNTED) is None:
            line = self._line(value)
            if line.converged:
                return line.without(kinds, lost)
        return np.full(kinds.size, np.nan)

    def _halves(self, powers: int) -> tuple[IntArray, IntArray] | None:
        """The kinds shared out so that both halves have about as many patterns; None if these are too many."""
        logs = np.log2(self.times + 1)
        order = np.argsort(-logs, kind="stable")
        halves = order[::2], order[1::2]
        if np.sum(logs) > powers or np.sum(logs[halves[0]]) > powers / 2 + 1:
            return None
        return halves

    def _counted(self, value: float, halves: tuple[IntArray, IntArray]) -> float:
        (sums, masses), (other_sums, other_masses) = self._listed(halves[0]), self._listed(halves[1])
        order = np.argsort(other_sums, kind="stable")
        # added up from the highest sum on, so that small probabilities keep their digits
        at_least = np.append(np.cumsum(other_masses[order][::-1])[::-1], 0.0)
        return float(np.sum(masses * at_least[np.searchsorted(other_sums[order], value - self.same - sums)]))

    def _listed(self, kinds: IntArray) -> tuple[FloatArray, FloatArray]:
        """Sum and probability of every pattern of these kinds."""
        sums, masses = np.zeros(1), np.ones(1)
        for kind in kinds.tolist():
            losses = np.arange(int(self.times[kind]) + 1)
            sums = np.add.outer(sums, losses * self.values[kind, 1]).ravel()
            masses = np.multiply.outer(masses, binomial(losses.size - 1, float(self.chances[kind, 1]))).ravel()
        return sums, masses

    def _parted(self, value: float) -> float:
        """By patterns of the largest bets, until none is open or they are many: the others' sum is narrower."""
        order = np.argsort(-self.values[:, 1], kind="stable")
        others = np.append(np.cumsum((self.times * self.values[:, 1])[order][::-1])[::-1], 0.0)
        sums, masses, p, parted = np.zeros(1), np.ones(1), 0.0, 0
        while 0 < sums.size <= MAX_PATTERNS and parted < order.size:
            more, their_masses = self._listed(order[parted : parted + 1])
            parted += 1
            sums = np.add.outer(sums, more).ravel()
            masses = np.multiply.outer(masses, their_masses).ravel()
            reached = sums >= value - self.same
            p += float(np.sum(masses[reached]))
            undecided = ~reached & (sums + others[parted] >= value - self.same)
            sums, masses = sums[undecided], masses[undecided]
        if not sums.size:
            return min(p, 1.0)
        rest = order[parted:]
        law = SumLaw(self.values[rest], self.chances[rest], self.times[rest], same=self.same)
        expected = law.tilted(self._saddle(value, 1 if value > self.plain.mean else -1).theta).mean
        for side in (-1, 1):  # with a tilt towards them, sums keep their digits
            some = (value - sums > law.plain.mean) == (side > 0)
            if np.any(some):
                line = law._line(side * max(side * expected, side * law.plain.mean), side=side, blurred=True)
                p += float(np.sum(masses[some] * line.several(value - sums[some])))
        return min(p, 1.0)

    def _saddle(self, value: float, side: int) -> Tilt:
        return self._root(lambda tilt: side * (value - tilt.mean) / (tilt.deviation or 1.0), side=side)

    def _line(self, value: float, *, side: int = 0, blurred: bool = False) -> Line:
        side = side or (1 if value > self.plain.mean else -1)
        saddle = self._saddle(value, side)
        least, tilt = MIN_TILT / max(saddle.deviation, self.plain.deviation / MAX_TILT), saddle
        while least > abs(saddle.theta):
            tilt = self.tilted(side * least)
            if tilt.log_norm - tilt.theta * value <= MAX_LOG_SCALE:
                break
            least, tilt = least / 2, saddle  # a law with a long tail grows too much on the way
        return Line(self, tilt, value, blurred=blurred)


class Line:
    """P(S >= value) as a sum over frequencies on the line whose real part is a tilt."""

    def __init__(self, law: SumLaw, tilt: Tilt, value: float, *, blurred: bool) -> None:
        self._law, self._tilt = law, tilt
        self._period = period = max(law.period(tilt), PERIOD * MIN_TILT / abs(tilt.theta))
        step, count = law.step or 0.0, MORE_FREQUENCIES if blurred else FREQUENCIES
        exact = period <= 2 * count * step
        if exact:
            count = max(2 ** math.ceil(math.log2(period / step)), 16) // 2
            self._period = period = 2 * count * step
        self._step, self._width = (step if exact else 0.0), law.same
        angle, frequencies = 2 * math.pi / period, np.arange(count + 1)
        phi = law.phi(tilt, angle, count + 1)
        self._left_out = 0.0
        if blurred:
            phi *= np.exp(-BLUR * (frequencies / count) ** 2)
            self._width += WIDTHS * math.sqrt(2 * BLUR) / (count * angle)
        self._value = float(self._lowered(value))
        if not (blurred or exact):
            # half of the sums at the value, which higher frequencies would tell from others: the mean of phi at the
            # last ones; else as much as at these, or as on average over all, with signs as good as random
            late = phi[count // 2 :]
            alike = math.exp(float(np.sum(law.times * np.log(np.sum(tilt.chances**2, axis=1)))))
            square = max(float(np.mean(late.real**2 + late.imag**2)), alike)
            near = np.mean((late * np.exp(-1j * angle * frequencies[count // 2 :] * self._value)).real)
            self._left_out = 8 * math.sqrt(square / count) / math.pi + max(float(near), 0.0) / 2
        alive = np.flatnonzero(phi)
        self._t, self._phi = alive * angle, phi[alive]
        z = tilt.theta + 1j * self._t
        self._weights = angle / math.pi / z if not exact else 1 / (2 * count * np.sinh(z * step / 2))
        self._weights[(alive == 0) | (exact & (alive == count))] /= 2
        self.p = self._probability(self._phi, self._value, tilt.log_norm)
        scale = math.exp(min(tilt.log_norm - tilt.theta * self._value, MAX_EXPONENT))
        #: whether what is left out is little beside the probability
        self.converged = self._left_out * scale <= MAX_ERROR * float(self.p)

    def _lowered(self, values: npt.ArrayLike) -> FloatArray:
        """As far below the values asked for as sums count as equal."""
        lowered = np.subtract(values, self._width)
        if self._step:
            lowered = (np.ceil(lowered / self._step - ON_LATTICE) - 0.5) * self._step
        return np.asarray(lowered)

    def several(self, values: FloatArray) -> FloatArray:
        """P(S >= value) for each of these, from a table."""
        terms = np.zeros(TABLE, dtype=np.complex128)
        terms[np.rint(self._t * self._period / (2 * math.pi)).astype(np.int64)] = self._phi * self._weights
        table, lowered = np.fft.fft(terms).real, self._lowered(values)
        points = lowered / self._period * TABLE
        place = np.floor(points).astype(np.int64)
        sums = table[place % TABLE]
        sums += (points - place) * (table[(place + 1) % TABLE] - sums) + self._left_out
        scale = np.exp(self._tilt.log_norm - self._tilt.theta * lowered)
        return np.clip((self._tilt.theta < 0) + scale * sums, 0.0, 1.0)

    def _probability(self, phi: ComplexArray, value: npt.ArrayLike, log_norm: npt.ArrayLike) -> FloatArray:
        """P(S >= value), with what may be left out added."""
        terms = phi * np.exp(-1j * np.multiply.outer(value, self._t)) * self._weights
        # where the tilt is negative, the sum is minus the probability of the other side
        scale = np.exp(np.subtract(log_norm, np.multiply(self._tilt.theta, value)))
        p = (self._tilt.theta < 0) + scale * (np.sum(terms.real, axis=-1) + self._left_out)
        return np.asarray(np.clip(p, 0.0, 1.0))

    def without(self, kinds: IntArray, lost: BoolArray) -> FloatArray:
        """The same along the same line without one variable of each kind; NaN where the line is unfit for that."""
        p, rows = np.full(kinds.size, np.nan), max(1, MAX_ANGLES // max(self._t.size, 1))
        sizes, tilted, plain = self._law.values[kinds, 1], self._tilt.chances[kinds, 0], self._law.chances[kinds, 0]
        fit = np.flatnonzero(sizes <= NARROW * self._tilt.deviation)
        for start in range(0, fit.size, rows):
            some = fit[start : start + rows]
            stay, size = tilted[some], sizes[some]
            factors = stay[:, None] + (1 - stay)[:, None] * np.exp(1j * np.multiply.outer(size, self._t))
            values = self._value - size * lost[some]
            log_norms = self._tilt.log_norm - np.log(plain[some] / stay)
            divided = np.min(factors.real**2 + factors.imag**2, axis=1, initial=1.0) >= MIN_FACTOR
            found = self._probability(self._phi / factors, values, log_norms)
            p[some] = np.where(divided, found, np.nan)
        return p


def vectors(chances: FloatArray, most: int, *, least: float = -math.inf) -> tuple[IntArray, IntArray, FloatArray]:
    """Ways to draw up to so many from values with these chances, but for those with a logarithm below ``least``.

    How often each value, shape (n_vectors, n_values); how many in all; log prod p^c/c!.
    """
    counts, drawn, logs = np.zeros((1, 0), dtype=np.int64), np.zeros(1, dtype=np.int64), np.zeros(1)
    times = np.arange(most + 1)
    factorials = np.append(0.0, np.cumsum(np.log(times[1:])))
    for chance in chances.tolist():
        terms = times * math.log(max(chance, TINY)) - factorials
        row, time = np.nonzero((np.add.outer(drawn, times) <= most) & (np.add.outer(logs, terms) > least))
        counts, logs, drawn = np.column_stack([counts[row], time]), logs[row] + terms[time], drawn[row] + time
    return counts, drawn, logs


def rest_logs(chances: FloatArray, n: int, most: int) -> FloatArray:
    """Log n!/(n - k)! p^(n - k) for k = 0 ... most draws of other values than the first, whose chance is p."""
    changed = min(float(np.sum(chances[1:])), 1.0)
    rest = math.log1p(-changed) if changed < 0.5 else math.log(max(float(chances[0]), TINY))
    drawn = np.arange(most + 1)
    # from small terms only, so that n = 10^6 loses no digits
    return np.asarray(np.append(0.0, np.cumsum(np.log(n - drawn[:-1]))) + (n - drawn) * rest)


def enumerated(chances: FloatArray, n: int, *, most: int) -> tuple[IntArray, FloatArray] | None:
    """All ways to draw n times, but for a mass of 1e-13, and their probabilities; None if they are too many."""
    reach = _reach(chances, n)
    if chances.size - 1 > MAX_ENUMERATED or math.comb(reach + chances.size - 1, reach) > most:
        return None
    counts, drawn, logs = vectors(chances[1:], reach)
    return counts, np.exp(logs + rest_logs(chances, n, reach)[drawn])


def _reach(chances: FloatArray, n: int) -> int:
    """How many of n draws are not of the first value, but for a mass of 1e-13."""
    return binomial_reach(n, min(float(np.sum(chances[1:])), 1.0), below=LEFT_OUT)


class HalvedVectors:
    """P(S <= s) for n draws: the ways to draw from half of the values, each with the sums of the other half."""

    def __init__(self, values: FloatArray, chances: FloatArray, n: int) -> None:
        reach = _reach(chances, n)
        # chances are n times what they are, which the rest takes back: so that none of these masses is tiny
        self._rest = rest_logs(chances, n, reach) - np.arange(reach + 1) * math.log(n)
        order = 1 + np.argsort(-chances[1:], kind="stable")
        self._halves = []
        for half in (order[::2], order[1::2]):
            counts, drawn, logs = vectors(n * chances[half], reach, least=LEAST_LOG)
            sums = np.einsum("ij,j->i", counts, values[half])
            by_sum = np.argsort(sums, kind="stable")
            self._halves.append((sums[by_sum], drawn[by_sum], logs[by_sum]))

    def shares(self, values: FloatArray) -> FloatArray:
        """P(S <= value) for each of these."""
        (sums, drawn, logs), (other_sums, other_drawn, other_logs) = self._halves
        rest = np.append(self._rest, np.full(self._rest.size, -math.inf))
        total, everything = np.zeros(values.size), 0.0
        for others in range(int(np.max(other_drawn)) + 1):  # of n draws, so many of values of the other half
            some = other_drawn == others
            below = np.append(0.0, np.cumsum(np.exp(other_logs[some])))
            theirs = logs + rest[drawn + others]
            fit = theirs + math.log(below[-1]) > LEAST_LOG - 3
            # both ascend, so that places are found in order
            reached = np.searchsorted(other_sums[some], np.subtract.outer(values, sums[fit]), side="right")
            masses = np.exp(theirs[fit])
            total += np.einsum("j,ij->i", masses, below[reached])
            everything += float(np.sum(masses) * below[-1])
        return total / everything


def binomial_reach(n: int, p: float, *, below: float) -> int:
    """The smallest count that n trials exceed with a probability less than ``below``."""
    if p >= 1:
        return n
    most = min(n, math.ceil(n * p + 12 * math.sqrt(n * p)) + 100)  # what is beyond does not matter
    beyond = np.cumsum(binomial(n, p, most=most)[::-1])[::-1]
    return int(np.argmax(np.append(beyond[1:], 0.0) < below))


def binomial(n: int, p: float, *, most: int | None = None) -> FloatArray:
    """The probabilities of 0, 1, ... successes in n trials, up to ``most``."""
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
    while True:
        off = sizes[np.abs(sizes - np.rint(sizes / step) * step) > tolerance]
        if off.size == 0:
            break
        a, b = float(off[0]), step
        while b > tolerance:
            a, b = b, abs(math.remainder(a, b))
        if a < 4 * tolerance:
            return None
        step = largest / round(largest / a)  # Euclid's carries rounding, which every further value would multiply
    return step if float(np.max(np.abs(sizes / step - np.rint(sizes / step)))) < ON_LATTICE else None


def _split(off: FloatArray) -> FloatArray:
    """What a value so far off a point gives to the points before it, at it and after it: Lagrange's weights.

    They keep the mean and the square.
    """
    return np.array([(off**2 - off) / 2, 1 - off**2, (off**2 + off) / 2])


def _of_one_kind(values: FloatArray, chances: FloatArray, n: int, points: int) -> ComplexArray:
    """Phi of the sum of n draws of values in steps of a circle of so many points."""
    places = np.rint(values).astype(np.int64)
    off = values - places
    off[np.abs(off) < ON_LATTICE] = 0.0
    histogram = np.zeros(points)
    for shift, part in zip((-1, 0, 1), _split(off), strict=True):
        histogram += np.bincount((places + shift) % points, part * chances, minlength=points)
    phi = np.fft.rfft(histogram)
    alive = np.flatnonzero(phi.real**2 + phi.imag**2 > NOTHING ** (2 / n))
    base = phi[alive]
    power = base.copy()
    for bit in bin(n)[3:]:  # repeated squaring needs no branch of the logarithm
        power *= power
        if bit == "1":
            power *= base
    result = np.zeros(phi.size, dtype=np.complex128)
    result[alive] = power
    return result
