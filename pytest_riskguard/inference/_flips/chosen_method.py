"""Which way the probability is computed: by counting, on a lattice, by inversion, or from a bound."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import bdtrc

from pytest_riskguard.inference._bootstrap.sample import lattice_step
from pytest_riskguard.inference._flips.bets import Bets
from pytest_riskguard.inference._flips.counting import counted, counted_without_each
from pytest_riskguard.inference._flips.tilted import FREQUENCIES, Inversion
from pytest_riskguard.risk.checks import BoolArray, FloatArray

#: Where inversion does not converge, 2 to this power patterns are counted.
MAX_COUNTED_INSTEAD = 34
#: Frequencies where some do not suffice, with at most so many angles.
MAX_FREQUENCIES, MAX_ANGLES = 2**15, 2**22
#: Bounds further apart than this, as a share of the probability, are too wide where a topic has more than so much of
#: the variance: both its outcomes are computed apart, for at most so many such topics.
TOO_WIDE, DOMINATING, MAX_APART = 2e-3, 0.2, 4


def at_least_observed(bets: Bets, *, apart: int = 0) -> tuple[float, bool]:
    """P(sum >= observed), and whether it is exact; so many topics have been taken apart already."""
    if bets.total - bets.short <= bets.rounding:
        return 1.0, True
    if bets.short < -bets.rounding:
        return 0.0, True
    if bets.short <= bets.rounding:
        matter = bets.sizes > bets.rounding
        return math.exp(float(np.sum(bets.topics[matter] * np.log(bets.chances[matter])))), True
    if bets.sizes.size == 1:
        losses = math.ceil(bets.limit / float(bets.sizes[0]))
        return float(bdtrc(losses - 1, int(bets.topics[0]), float(bets.chances[0]))), True
    by_counting = counted(bets)
    if by_counting is not None:
        return by_counting, True
    inversion = Inversion(bets)
    if inversion.other_side_is_nothing:
        return 1.0, True
    by_inversion = None if inversion.cannot_converge else inversion.inverted()
    if by_inversion is not None and by_inversion.converged:
        return by_inversion.safe, by_inversion.exact
    by_counting = counted(bets, MAX_COUNTED_INSTEAD)
    if by_counting is not None:
        return by_counting, True
    by_few_swings = inversion.by_few_swings()
    if by_few_swings is not None:
        return by_few_swings, False
    more = Inversion(bets, max(FREQUENCIES, min(MAX_FREQUENCIES, MAX_ANGLES // bets.sizes.size)))
    by_inversion, (lower, upper) = more.inverted(), more.bounds()
    if by_inversion.converged:
        return by_inversion.safe, False
    variances = bets.chances * (1 - bets.chances) * bets.sizes**2
    largest = int(np.argmax(variances))
    dominating = variances[largest] > DOMINATING * np.sum(bets.topics * variances)
    if upper - lower > TOO_WIDE * upper and dominating and apart < MAX_APART:
        chance = float(bets.chances[largest])
        if_lost, exact = at_least_observed(bets.without(largest, loses=True), apart=apart + 1)
        if_won, exact_too = at_least_observed(bets.without(largest, loses=False), apart=apart + 1)
        return chance * if_lost + (1 - chance) * if_won, exact and exact_too
    return upper, False


def at_least_observed_without(bets: Bets, sizes: FloatArray, chances: FloatArray, lost: BoolArray) -> FloatArray:
    """P(sum >= observed) without one topic, for several: each is one of the bets, with its size, chance and outcome.

    NaN where that has to be computed on its own.
    """
    p = np.full(sizes.size, np.nan)
    if bets.total - bets.short <= bets.rounding or bets.short <= bets.rounding:
        return p
    by_counting = counted_without_each(bets, MAX_COUNTED_INSTEAD)
    if by_counting is not None:
        for k, entry in enumerate(bets.entries_of(sizes, chances).tolist()):
            if entry >= 0:
                p[k] = by_counting[0 if lost[k] else 1][entry]
        return p
    # without a topic the others may lie on a lattice, if either half of the sizes does
    halves = (bets.sizes[::2], bets.sizes[1::2])
    if lattice_step(bets.sizes) is None and any(lattice_step(half) is not None for half in halves):
        return p
    inversion = Inversion(bets)
    if inversion.cannot_converge:
        return p
    for k in range(sizes.size):
        rest = inversion.without(float(sizes[k]), float(chances[k]), lost=bool(lost[k]))
        if rest is not None and rest.converged:
            p[k] = rest.safe
    return p
