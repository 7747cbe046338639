"""The far tails of the bootstrap law of a mean: probabilities whose digits sums over frequencies or points hide.

Chances are tilted so that the mean asked about is the expected one (``tilting``); the law of these replicates is
computed, and every probability turned back into the plain one. Where the tilted characteristic function decays, that
is Davies' sum on a shifted contour; where it does not, the convolution by fast Fourier transform, exact on a lattice.

The tail is cut into rungs, each with one tilt, so that limits and p-values, which are asked for one without the
other, come from the same function.

References
----------
R. Lugannani, S. Rice, "Saddle point approximation for the distribution of the sum of independent random variables",
Advances in Applied Probability 12 (1980), section 2: the contour.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Protocol

import numpy as np

from pytest_riskguard.frozen import frozen
from pytest_riskguard.inference._bootstrap.convolution import Atoms, Rounded, grid_atoms, lattice_atoms
from pytest_riskguard.inference._bootstrap.inversion import (
    MAGNITUDE_ERROR,
    PERIOD,
    half_integers,
    magnitudes,
    mean_exponential_less_one,
)
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.inference._bootstrap.tilting import Draw, Tilts, enumerated_resamples, root
from pytest_riskguard.risk.checks import exact_sum
from pytest_riskguard.risk.distributions import ndtri_exp

#: How deep the centre of the first rung lies, and how far apart the centres of two are, in standard deviations of the
#: tilted law.
FIRST_DEPTH, SPACING = 4.0, 2.0
#: Rungs kept: a limit and a p-value need one or two.
MAX_KEPT = 4
#: The circle of a tilted law has at least this many of its standard deviations, and is so long that what wraps round
#: from the other tail counts for less than exp(-50).
MIN_PERIOD, WRAPPED = 20.0, 50.0
#: How far the frequencies left out may move a probability, as a share of it: the smallest of these for which
#: ``FEW_FREQUENCIES`` are enough, else the last.
NEGLIGIBLE = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6)
MIN_FREQUENCIES, FEW_FREQUENCIES, MAX_FREQUENCIES = 32, 1024, 2**14
#: At most this many angles are computed.
MAX_ANGLES = 2**20
#: A lattice may have this many points over 24 standard errors, and this many over as many of a tilted law.
MAX_LATTICE_POINTS, MAX_TILTED_POINTS = 2**17, 2**20
#: A grid has at most this many points over 24 tilted standard deviations; so many where its points are spread.
MAX_GRID_POINTS, SPREAD_POINTS = 2**18, 2**17
#: At most this many vectors of counts are enumerated.
MAX_VECTORS = 100_000
#: Atoms further than this from the centre, in standard deviations, inwards and outwards, belong to other rungs.
INWARDS, OUTWARDS = 4.0, 8.0
#: A probability this close to another, as a share of it, has reached it.
REACHED = 1e-10


class Piece(Protocol):
    """A part of a tail: logarithms of P(mean is further out than a value), and the values that have them."""

    def log_share(self, value: float, *, inclusive: bool) -> float:
        """Log P(mean is further out than the value), or as far."""

    def value(self, log_share: float) -> float:
        """Where the share is reached, in units of x: ``FarTail.value``."""


class FarTail:
    """One tail of the law of a mean: towards high scores if ``side`` is 1, towards low ones if it is -1.

    ``smooth`` says whether to try a sum over frequencies first.
    """

    def __init__(self, sample: Sample, side: int, *, smooth: bool) -> None:
        self._sample, self._side = sample, side
        outermost = -1 if side > 0 else 0
        self._end = float(sample.x[outermost])
        #: log of the probability of a replicate that holds nothing but the score furthest out
        self._end_share = sample.n * math.log(float(sample.distinct[1][outermost]) / sample.n)
        self._tilts = Tilts(sample, side)
        self._pieces: dict[int, Piece] = {}
        self._smooth = smooth
        self._converges: dict[int, bool] = {}
        self._ladder = Ladder(self._tilts)

    def log_share(self, value: float, *, inclusive: bool) -> float:
        """Log P(mean is further out than a value in units of x), or as far; -inf beyond all scores."""
        beyond = self._side * (value - self._end)
        if beyond > self._sample.same or (beyond >= -self._sample.same and not inclusive):
            return -math.inf
        if beyond >= -self._sample.same:
            return self._end_share
        rung = self._rung(value)
        log_share = max(self._piece(rung).log_share(value, inclusive=inclusive), self._end_share)
        return log_share if self._decays(rung) else min(log_share, self._last_smooth_share)

    def value(self, log_share: float) -> float:
        """Where the law reaches a tail of this probability, in units of x.

        On the high side the smallest value beyond which lies no more; on the low side the smallest up to which lies
        as much.
        """
        if log_share < self._end_share:
            return self._end
        rung, came_from = self._ladder.by_depth(-ndtri_exp(log_share)), -1
        while True:
            value = self._piece(rung).value(log_share)
            own = self._rung(value)
            if own == rung:
                return value
            following = rung + (1 if own > rung else -1)
            if following == came_from:  # the law jumps between the two
                return self._end_of(min(rung, following))
            rung, came_from = following, rung

    @property
    def _last_smooth_share(self) -> float:
        """Nothing further out than the smooth rungs is likelier than all of it; 0 where there are none."""
        last = max((rung for rung, converges in self._converges.items() if converges), default=None)
        if last is None:
            return 0.0
        return self._piece(last).log_share(self._end_of(last), inclusive=True)

    def _end_of(self, rung: int) -> float:
        """The value between a rung and the next."""
        return self._sample.mean + self._tilts.roughly(self._ladder.end(rung)).centre * self._sample.scale

    def _rung(self, value: float) -> int:
        return self._ladder.by_tilt(self._tilts.at_centre((value - self._sample.mean) / self._sample.scale))

    def _piece(self, rung: int) -> Piece:
        if rung not in self._pieces:
            if len(self._pieces) >= MAX_KEPT:
                self._pieces.pop(next(iter(self._pieces)))
            sample, side, size = self._sample, self._side, self._ladder.size(rung)
            draw = self._tilts.draw(size)
            self._pieces[rung] = (
                SmoothPiece(sample, side, draw, Contour.of(self._tilts, size, sample))
                if self._decays(rung)
                else StepPiece(sample, side, draw, spread=self._smooth)
            )
        return self._pieces[rung]

    def _decays(self, rung: int) -> bool:
        """Whether a rung is a sum over frequencies: if those up to it are, of which 0, 1, 2, 4, 8 ... are tried."""
        tried = 0
        while True:
            if tried not in self._converges:
                size = self._ladder.size(tried)
                self._converges[tried] = self._smooth and Contour.of(self._tilts, size, self._sample).affordable
            if not self._converges[tried] or tried >= rung:
                return self._converges[tried]
            tried = max(1, 2 * tried)


class Ladder:
    """The tilts of the rungs, from the first to the furthest, by size; rungs are counted from 0."""

    def __init__(self, tilts: Tilts) -> None:
        self._tilts = tilts
        self._sizes: list[float] = []
        self._ends: list[float] = []
        self._depths: list[float] = []
        self._add(tilts.at_depth(FIRST_DEPTH))

    def size(self, rung: int) -> float:
        """The tilt of a rung; that of the last if there are fewer."""
        while rung >= len(self._sizes) and self._ends[-1] < math.inf:
            self._add(self._sizes[-1] + 2 * (self._ends[-1] - self._sizes[-1]))
        return self._sizes[min(rung, len(self._sizes) - 1)]

    def end(self, rung: int) -> float:
        """The tilt between a rung and the next; infinite for the last."""
        self.size(rung)
        return self._ends[rung]

    def by_tilt(self, size: float) -> int:
        """The rung that a tilt belongs to."""
        rung = bisect_left(self._ends, size)
        while rung == len(self._ends):
            self.size(rung)
            rung = bisect_left(self._ends, size)
        return rung

    def by_depth(self, depth: float) -> int:
        """The first rung whose centre lies so deep, or the last."""
        rung = 0
        while self.end(rung) < math.inf and self._depths[rung] < depth:
            rung += 1
        return rung

    def _add(self, size: float) -> None:
        size = min(size, self._tilts.furthest)
        draw = self._tilts.roughly(size)
        end = size + SPACING / 2 / draw.spread if draw.spread > 0 else math.inf
        self._sizes.append(size)
        self._ends.append(end if end < self._tilts.furthest else math.inf)
        self._depths.append(draw.depth)


@frozen
class Contour:
    """The frequencies that a tilted law takes: the circle that it is put on, in standard errors, and how many.

    ``affordable`` says whether those are few enough and leave out next to nothing.
    """

    period: float
    count: int
    affordable: bool

    @classmethod
    def of(cls, tilts: Tilts, size: float, sample: Sample) -> Contour:
        """Those of the tilt of this size; very many scores are condensed."""
        draw = tilts.roughly(size)
        wrapped = (draw.depth**2 / 2 + WRAPPED) / size
        period = max(MIN_PERIOD * draw.spread, wrapped + INWARDS * draw.spread)
        turns = tilts.scores / period
        phi = (magnitudes(turns, draw.shares, MAX_FREQUENCIES + 2) + MAGNITUDE_ERROR) ** sample.n
        # beyond those, |phi| is as in their last half, and phases are as good as random
        beyond = 4 * math.sqrt(float(np.mean(phi[phi.size // 2 :] ** 2)) / phi.size) / math.pi
        parts = phi / (math.pi * np.arange(1, phi.size + 1))
        left_out = np.cumsum(parts[::-1])[::-1] + beyond
        # what the sum comes to: the tilted density at the centre over theta
        left_out *= size * draw.spread * math.sqrt(2 * math.pi)
        for negligible in NEGLIGIBLE:
            needed = max(MIN_FREQUENCIES, int(np.count_nonzero(left_out > negligible)) + 1)
            if needed <= FEW_FREQUENCIES:
                break
        most = min(MAX_FREQUENCIES, max(FEW_FREQUENCIES, MAX_ANGLES // sample.distinct[0].size))
        return cls(period, min(needed, most), needed <= most)


class SmoothPiece:
    """A part of a tail as a sum over frequencies on the contour through a tilt's saddlepoint.

    With S the standardised sum, z its value, M(t) = E exp(t S), and c = theta + i t:
    P(S > z) = (1/2 pi) integral of M(c) exp(-c z)/c over t.
    """

    def __init__(self, sample: Sample, side: int, draw: Draw, contour: Contour) -> None:
        self._sample, self._side, self._draw = sample, side, draw
        self._theta, step = abs(draw.theta), 2 * math.pi / contour.period
        y = side * ((sample.distinct[0] - sample.mean) / sample.total - draw.centre / sample.n)
        exponent = mean_exponential_less_one(step, contour.count, y, draw.shares)
        self._t = half_integers(contour.count) * step
        self._phi = np.exp(sample.n * np.log1p(exponent)) * (step / math.pi)
        self._above = self._phi / (self._theta + 1j * self._t)

    def log_share(self, value: float, *, inclusive: bool) -> float:  # noqa: ARG002 - there are no atoms
        """Log P(mean is further out than the value)."""
        return self._log_share(self._side * (value - self._sample.mean) / self._sample.scale)[0]

    def value(self, log_share: float) -> float:
        """Where the share is reached, in units of x."""

        def excess(z: float) -> tuple[float, float]:
            log, slope = self._log_share(z)
            return log_share - log, slope

        centre, spread = self._side * self._draw.centre, self._draw.spread
        z = root(excess, centre - INWARDS * spread, centre + INWARDS * spread)
        return self._sample.mean + self._side * z * self._sample.scale

    def _log_share(self, z: float) -> tuple[float, float]:
        """Log P(S > z), and how fast it falls with z."""
        away = z - self._side * self._draw.centre
        turn = np.exp(-1j * self._t * away)
        above, density = float(np.sum((self._above * turn).real)), float(np.sum((self._phi * turn).real))
        above = max(above, math.exp(-WRAPPED))
        return self._draw.log_norm - self._theta * z + math.log(above), density / above


class StepPiece:
    """A part of a tail as a step function: a convolution with tilted chances, on the scores' lattice or on a grid.

    With ``spread``, as for a law whose steps are too fine to matter, the probability of a point of the grid is spread
    evenly over a step.
    """

    def __init__(self, sample: Sample, side: int, draw: Draw, *, spread: bool) -> None:
        self._sample, self._side = sample, side
        self._half, atoms = _atoms(sample, draw, spread=spread)
        away = (atoms.sums - exact_sum(sample.distinct[1] * sample.offsets)) / sample.total - draw.centre
        near = (atoms.masses > 0) & (side * away > -INWARDS * draw.spread) & (side * away < OUTWARDS * draw.spread)
        means = side * sample.means(atoms.sums[near] / sample.n)
        order = np.argsort(means, kind="stable")
        self._means = means[order]
        self._masses = (
            np.log(atoms.masses[near][order]) + draw.log_norm - draw.theta * (draw.centre + away[near][order])
        )
        #: log P(mean is at least as far out) as each atom; nothing lies beyond the last
        self._logs = np.append(np.logaddexp.accumulate(self._masses[::-1])[::-1], -math.inf)

    def log_share(self, value: float, *, inclusive: bool) -> float:
        """Log P(mean is further out than the value), or as far; atoms within ``same`` are the same."""
        out = self._side * value
        if self._half:
            return self._spread_share(out)
        edge = out - self._sample.same if inclusive else out + self._sample.same
        return float(self._logs[np.searchsorted(self._means, edge, side="left" if inclusive else "right")])

    def value(self, log_share: float) -> float:
        """Where the share is reached, in units of x."""
        if self._side > 0:
            place = int(np.searchsorted(-self._logs[1:], -(log_share + REACHED), side="left"))
        else:
            place = int(np.searchsorted(-self._logs[:-1], REACHED - log_share, side="right")) - 1
        place = min(max(place, 0), self._means.size - 1)
        out = float(self._means[place])
        if self._half:
            out = root(
                lambda at: (log_share - self._spread_share(at), 0.0), out - 2 * self._half, out + 2 * self._half
            )
        return min(max(self._side * out, float(self._sample.x[0])), float(self._sample.x[-1]))

    def _spread_share(self, out: float) -> float:
        first, last = np.searchsorted(self._means, (out - self._half, out + self._half))
        beyond = float(self._logs[last])
        here = np.clip((self._means[first:last] - out + self._half) / (2 * self._half), 0.0, 1.0)
        with np.errstate(divide="ignore"):
            return float(np.logaddexp.reduce(np.log(here) + self._masses[first:last], initial=beyond))


def _atoms(sample: Sample, draw: Draw, *, spread: bool) -> tuple[float, Atoms]:
    """Half of the width of an atom in units of x, 0 if it has none, and all atoms."""
    width, step = PERIOD * draw.spread * sample.total, sample.step
    if step is not None and PERIOD * sample.total <= MAX_LATTICE_POINTS * step and width <= MAX_TILTED_POINTS * step:
        return 0.0, lattice_atoms(sample, step, draw)
    resamples = enumerated_resamples(sample, max_vectors=MAX_VECTORS, draw=draw)
    if resamples is not None:
        return 0.0, Atoms(resamples.sums, resamples.masses)
    if spread:
        grid = Rounded.of(sample, step=width / SPREAD_POINTS)
        return grid.step / (2 * sample.n), grid_atoms(grid, draw)
    grid = Rounded.of(sample)
    if width > MAX_GRID_POINTS * grid.step:
        grid = Rounded.of(sample, step=width / MAX_GRID_POINTS)
    return 0.0, grid_atoms(grid, draw)
