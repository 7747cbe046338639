"""The break-even test: how likely so low a URisk is by chance, if every changed topic is a fair bet.

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

import numpy as np
import numpy.typing as npt

from pytest_riskguard.inference.sum_law import SumLaw
from pytest_riskguard.risk.checks import ROUNDING_ERROR, BoolArray, FloatArray, exact_sum, per_topic

#: No p-value is 0: the smallest normal floating-point number.
MIN_P_VALUE = sys.float_info.min


def break_even(gains: npt.ArrayLike, losses: npt.ArrayLike, lost: npt.ArrayLike, *, tolerated: float = 0.0) -> float:
    """P(URisk <= the observed one) if every changed topic is a win or a loss by chance and URisk is 0 on average.

    A topic loses with the chance g/(g + l), and the statistic is the sum of g + l over losses. In no paper; the
    derivation is above.

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
    float
        A one-sided p-value, above 0 and at most 1; 1 where nothing changed, whatever the order of topics. Where
        the law of the sum is not computed exactly it errs upwards.

    Raises
    ------
    ValueError
        Shapes that differ, a value that is not finite or not above 0, ``lost`` that is not bool, ``tolerated < 0``.
    """
    return _p_value(*_checked(gains, losses, lost, tolerated))


def break_even_above(gains: npt.ArrayLike, losses: npt.ArrayLike, lost: npt.ArrayLike, *, tolerated: float) -> float:
    """P(URisk >= the observed one), the other side of ``break_even``: how likely chance alone looks this good.

    Parameters, result and errors are those of ``break_even``; the observed URisk counts on both sides.
    """
    sizes, chances, which = _checked(gains, losses, lost, tolerated)
    # the sum over wins must be as high as the observed one: the same law with wins and losses exchanged
    able = chances < 1
    impossible = exact_sum(sizes[~which & ~able])  # wins of topics that always lose
    return _p_value(sizes[able], 1 - chances[able], ~which[able], offset=-impossible)


def break_even_quantile(gains: npt.ArrayLike, losses: npt.ArrayLike, p_value: float, *, tolerated: float) -> float:
    """The sum of trade-off scores at and below which the test has at most this p-value.

    To less than a hundredth of its spread. Minus infinity where the p-value is higher even if every changed topic is
    a loss. Parameters and errors are those of ``break_even``.
    """
    everything = np.full(np.size(gains), True)
    bets = _Bets(*_checked(gains, losses, everything, tolerated))
    if bets.law.reaching(bets.observed) > p_value:
        return -math.inf
    most = exact_sum(np.asarray(gains, dtype=np.float64)) - bets.sure
    return most + float(bets.law.mirrored.steps.quantiles(p_value))


def _checked(
    gains: npt.ArrayLike, losses: npt.ArrayLike, lost: npt.ArrayLike, tolerated: float
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Sizes of bets, their chances of loss, and which are lost, or ValueError."""
    which = np.asarray(lost)
    if which.dtype != np.bool_ and which.size:
        raise ValueError(f"lost must be an array of bool, got one of {which.dtype}")
    sizes = []
    for name, values in (("gains", gains), ("losses", losses)):
        array = per_topic(values, name=name, at_least=0)
        if array.shape != which.shape:
            raise ValueError(f"{name} and lost must have the same shape, got {array.shape} and {which.shape}")
        if not np.all(array > 0):
            raise ValueError(f"{name} must be above 0, got {array[~(array > 0)][0]}")
        sizes.append(array)
    if not (math.isfinite(tolerated) and tolerated >= 0):
        raise ValueError(f"tolerated must be finite and at least 0, got {tolerated!r}")
    moved = sizes[0] + sizes[1]
    return moved, chances_of_loss(sizes[0], moved, tolerated), which.astype(np.bool_)


def chances_of_loss(gains: FloatArray, sizes: FloatArray, tolerated: float) -> FloatArray:
    """Chances of loss, from 1 on sure; by them the sum is ``-tolerated`` on average, a loss takes ``sizes``."""
    fair = gains / sizes
    chances, sure = fair, np.zeros(fair.size, dtype=np.bool_)
    while tolerated > 0 and not np.all(sure):
        # losses that are sure take their size, the others the rest
        rest = exact_sum(gains) + tolerated - exact_sum(sizes[sure])
        chances = np.where(sure, 1.0, fair * (rest / exact_sum(gains[~sure])))
        further = ~sure & (chances >= 1)
        if not np.any(further):
            break
        sure |= further
    return chances


def _p_value(sizes: FloatArray, chances: FloatArray, lost: BoolArray, *, offset: float = 0.0) -> float:
    """P(sum of sizes over losses >= that of the observed ones less ``offset``)."""
    bets = _Bets(sizes, chances, lost)
    return max(bets.law.reaching(bets.observed - offset), MIN_P_VALUE)


class _Bets:
    """Each topic loses its size with its chance, else nothing; those of one size and chance are one kind."""

    def __init__(self, sizes: FloatArray, chances: FloatArray, lost: BoolArray) -> None:
        rounding = ROUNDING_ERROR * exact_sum(sizes)
        able = chances < 1
        #: what is lost for sure
        self.sure = exact_sum(sizes[~able])
        won = exact_sum(sizes[~able & ~lost])
        sizes, chances, lost = sizes[able], chances[able], lost[able]
        # sizes that differ by rounding are one, and so are their chances
        order = np.lexsort((chances, sizes))
        apart = np.diff(sizes[order], prepend=-math.inf) > rounding
        apart |= np.abs(np.diff(chances[order], prepend=-math.inf)) > ROUNDING_ERROR
        starts = np.flatnonzero(apart)
        times = np.diff(np.append(starts, sizes.size))
        of_kind, chance = sizes[order][starts], chances[order][starts]
        self.law = SumLaw(
            np.column_stack([np.zeros(of_kind.size), of_kind]),
            np.column_stack([1 - chance, chance]),
            times,
            same=rounding,
        )
        #: the sum of losses, less what can only be lost and was not
        self.observed = exact_sum(np.repeat(of_kind, times)[lost[order]]) - won
