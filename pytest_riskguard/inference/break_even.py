"""The break-even sign-flip test, which asks whether URisk is this low by chance if every changed topic is a fair bet.

Each changed topic keeps the size of its change. It is a win or a loss by chance, independently of the others, with
the chance that makes it add 0 to URisk on average: g/(g + l) for a loss, where a win adds g and a loss takes l. The
p-value is the probability of a URisk as low as the observed one. At alpha 0 a fair bet is a coin, and this is the
sign-flip test.

The test is in no paper. Derivation: the sum of trade-off scores is sum(g) less the sum of g + l over losses, so it
is as low as the observed one where that second sum is as high; each topic adds g - (g + l) g/(g + l) = 0 on average.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import bdtrc

from pytest_riskguard.inference._flips.bets import Bets
from pytest_riskguard.inference._flips.counting import counted
from pytest_riskguard.inference._flips.tilted import inverted
from pytest_riskguard.risk.checks import ROUNDING_ERROR, BoolArray, FloatArray, exact_sum, per_topic

#: No p-value is 0: the smallest normal floating-point number.
MIN_P_VALUE = sys.float_info.min


@dataclass(frozen=True)
class BreakEven:
    """A one-sided p-value: the smaller, the less a URisk this low looks like chance among fair bets.

    ``exact`` says whether it is the law's own probability, up to rounding; else it may be above, by what the
    inversion of the law leaves out.
    """

    p_value: float
    exact: bool


def break_even(
    gains: npt.ArrayLike, losses: npt.ArrayLike, lost: npt.ArrayLike, *, tolerated: float = 0.0
) -> BreakEven:
    """P(URisk <= the observed one) if every changed topic is a win or a loss by chance and URisk is 0 on average.

    Parameters
    ----------
    gains, losses : array, shape (n_changed,)
        What each changed topic adds to the sum of trade-off scores if it is a win, and takes from it if it is a loss;
        above 0, in any unit. With the linear trade-off, ``|d|`` and ``(1 + alpha) |d|``.
    lost : array of bool, shape (n_changed,)
        Which topics are losses.
    tolerated : float
        How far below 0 the sum may be on average, at least 0: the number of all topics times the tolerance. Chances
        of loss are then larger by a factor common to all, at most 1.

    Returns
    -------
    BreakEven
        A one-sided p-value, above 0 and at most 1; 1 where nothing changed, whatever the order of topics.

    Raises
    ------
    ValueError
        Shapes that differ, a value that is not finite or not above 0, ``lost`` that is not bool, ``tolerated < 0``.
    """
    sizes, chances, observed = _checked(gains, losses, lost, tolerated)
    return _break_even(sizes, chances, observed)


def break_even_above(
    gains: npt.ArrayLike, losses: npt.ArrayLike, lost: npt.ArrayLike, *, tolerated: float = 0.0
) -> BreakEven:
    """P(URisk >= the observed one), the other side of ``break_even``: how likely chance alone looks this good.

    Parameters, result and errors are those of ``break_even``; the observed URisk counts on both sides.
    """
    sizes, chances, which = _checked(gains, losses, lost, tolerated)
    # the sum over wins must be as high as the observed one: the same law with wins and losses exchanged
    able = chances < 1
    impossible = exact_sum(sizes[~which & ~able])  # wins of topics that always lose
    if not sizes.size:
        return BreakEven(1.0, True)
    if exact_sum(sizes[which & able]) - impossible < -ROUNDING_ERROR * exact_sum(sizes):
        return BreakEven(MIN_P_VALUE, True)
    return _break_even(sizes[able], 1 - chances[able], ~which[able], short=-impossible)


def break_even_without_each(
    gains: npt.ArrayLike,
    losses: npt.ArrayLike,
    lost: npt.ArrayLike,
    *,
    tolerated: float = 0.0,
    places: npt.ArrayLike | None = None,
) -> FloatArray:
    """The p-values of ``break_even`` with one topic less, for each place in the arrays: all topics by default.

    ``tolerated`` is what the sum without the topic may be below 0. ValueError as for ``break_even``, and IndexError
    for a place that is none.
    """
    sizes, _, which = _checked(gains, losses, lost, tolerated)
    won_sizes = per_topic(gains, name="gains", at_least=0)
    chosen = np.arange(sizes.size) if places is None else np.asarray(places, dtype=np.intp)
    p = np.empty(chosen.size)
    for k, place in enumerate(chosen.tolist()):
        rest = np.delete(won_sizes, place)
        others = np.delete(sizes, place)
        p[k] = _break_even(others, _chances(rest, others - rest, tolerated), np.delete(which, place)).p_value
    return p


def _checked(
    gains: npt.ArrayLike, losses: npt.ArrayLike, lost: npt.ArrayLike, tolerated: float
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """How far each topic moves the sum, its chance of loss, and whether it is one."""
    won_sizes, lost_sizes = (
        per_topic(values, name=name, at_least=0) for name, values in (("gains", gains), ("losses", losses))
    )
    which = np.asarray(lost)
    if which.dtype != np.bool_ and which.size:
        raise ValueError(f"lost must be an array of bool, got one of {which.dtype}")
    if not won_sizes.shape == lost_sizes.shape == which.shape:
        raise ValueError(
            f"gains, losses and lost must have the same shape, got {won_sizes.shape}, {lost_sizes.shape}"
            f" and {which.shape}"
        )
    for name, values in (("gains", won_sizes), ("losses", lost_sizes)):
        if not np.all(values > 0):
            raise ValueError(f"{name} must be above 0, got {values[~(values > 0)][0]}")
    if not (math.isfinite(tolerated) and tolerated >= 0):
        raise ValueError(f"tolerated must be finite and at least 0, got {tolerated!r}")
    return won_sizes + lost_sizes, _chances(won_sizes, lost_sizes, tolerated), which.astype(np.bool_)


def _chances(gains: FloatArray, losses: FloatArray, tolerated: float) -> FloatArray:
    """Chances of loss with which the sum is ``-tolerated`` on average."""
    fair = gains / (gains + losses)
    chances, sure = fair, np.zeros(fair.size, dtype=np.bool_)
    while tolerated > 0 and not np.all(sure):
        # losses that are sure take their size, the others the rest
        rest = exact_sum(gains) + tolerated - exact_sum((gains + losses)[sure])
        chances = np.where(sure, 1.0, fair * (rest / exact_sum(gains[~sure])))
        further = ~sure & (chances >= 1)
        if not np.any(further):
            break
        sure |= further
        chances = np.where(sure, 1.0, chances)
    return chances


def _break_even(sizes: FloatArray, chances: FloatArray, lost: BoolArray, *, short: float = 0.0) -> BreakEven:
    """The test of the sum over topics that are lost, less what it falls ``short`` of that."""
    total, rounding = exact_sum(sizes), ROUNDING_ERROR * exact_sum(sizes)
    sure = chances >= 1
    # sums that the observed one exceeds by less than rounding are the same, so no size matters that is that small
    missing = total - exact_sum(sizes[lost]) + short
    left = exact_sum(sizes[~sure])
    if left - missing <= rounding:
        return BreakEven(1.0, True)
    if missing <= rounding:
        p = math.exp(exact_sum(np.log(chances[sizes > rounding])))
        return BreakEven(max(p, MIN_P_VALUE), True)
    bets = Bets.of(sizes[~sure], chances[~sure], lost[~sure], exact_sum(sizes[sure & ~lost]) + short)
    if bets.starts.size == 1:
        losses = math.ceil(bets.limit / float(bets.sizes[0]))
        p, exact = float(bdtrc(losses - 1, bets.sizes.size, bets.chances[0])), True
    elif (by_counting := counted(bets)) is not None:
        p, exact = by_counting, True
    else:
        p, exact = inverted(bets)
    return BreakEven(max(min(p, 1.0), MIN_P_VALUE), exact)
