"""The line of integration: how far the law is tilted so that the observed sum is near the middle."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit, logit

from pytest_riskguard.inference._bootstrap.inversion import PERIOD
from pytest_riskguard.inference._flips.bets import Bets
from pytest_riskguard.risk.checks import FloatArray

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


@dataclass(frozen=True)
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
