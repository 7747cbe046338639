"""Hundreds of looks at one collection, and one look again and again while it grows.

**Many candidates, one collection.** Each look may spend a share of the error that the whole sequence is allowed. Only
looks that reject nothing use up a share: look t has the share ``g(k + 1)`` of the k looks before it that did not
reject, where g falls and sums to 1. Then the probability of any false rejection in the whole sequence is at most the
error allowed, however the looks depend on each other. *Proof.* Let I be the looks whose hypotheses are true. Were
every other look a rejection, and none in I, the looks in I would have the fixed shares g(1), g(2), ... in their
order. As long as nothing in I is rejected, the number k before a look in I is at least that of its predecessors in I,
so its share is at most the fixed one. The first false rejection therefore has a p-value below the fixed share of its
look, times the error allowed; by the union bound that happens with at most the sum of g(1), g(2), ..., which is 1,
times the error allowed. With c looks judged at once, none of which knows of the others, the sum is at most 1 + c
g(1).

The number of looks that are expected may be changed. The looks of each such number then have a sequence g of their
own, within what the others have left: after k looks at this number and k', k'', ... at others the share is g(k + 1)
(1 - G'(k')) (1 - G''(k'')) ..., where G(k) = g(1) + ... + g(k). Each share is a fraction of what is left, which is
the product of all 1 - G, so all shares together never exceed 1. A share falls with each of the counts, so the proof
above holds, provided the number is not changed because of results on this collection.

This is alpha-spending (Foster and Stine 2008) in which rejected hypotheses pass their share on, as in the online
fallback procedure of Tian and Ramdas (2021), which proves the same bound under any dependence.

**One candidate, growing judgements.** For topics drawn one after the other, a bet on "the mean is at least m" whose
stake never exceeds what is owned has a wealth that, if the claim is true, ever reaches 1/a with probability at most a
(Ville's inequality). Stakes here are fixed fractions of the wealth, a mixture of which is played; the product of the
returns does not depend on the order of the topics.

References
----------
D. P. Foster, R. A. Stine, "Alpha-investing", Journal of the Royal Statistical Society B 70 (2008).
J. Tian, A. Ramdas, "Online control of the familywise error rate", Statistical Methods in Medical Research 30 (2021).
I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by betting", Journal of the Royal
Statistical Society B 86 (2024), sections 3 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from pytest_riskguard.risk.checks import FloatArray, between_0_and_1

#: Shares of the wealth that are bet: half-octaves from nearly everything down to a four-thousandth.
_STAKES: FloatArray = 0.99 * np.exp2(-0.5 * np.arange(25))
#: How far the limit is bisected: to this part of the range of the scores.
_WIDTH = 2.0**-50


def share_of_next_look(
    without_rejection: int, *, looks: int, others: Mapping[int, int] = MappingProxyType({})
) -> float:
    """The share of the error allowed that the next look may spend: g(k + 1) = 2^-(1 + k // looks) / looks.

    The first ``looks`` that reject nothing share one half of it, the next so many a quarter, and so on, so that a
    sequence of about the expected length has equal levels, and none is ever used up.

    Parameters
    ----------
    without_rejection : int
        k, how many looks before this one rejected nothing.
    looks : int
        How many looks are expected, at least 1.
    others : mapping int -> int
        How many looks rejected nothing while another number was expected, by that number.
    """
    if without_rejection < 0 or looks < 1:
        raise ValueError(f"expected k from 0 and looks from 1, got {without_rejection!r} and {looks!r}")
    return math.ldexp(1 / looks, -(1 + without_rejection // looks)) * share_left(others)


def share_left(without_rejection: Mapping[int, int]) -> float:
    """The share of the error allowed that is left after looks that rejected nothing.

    Parameters
    ----------
    without_rejection : mapping int -> int
        How many they were, by the number of looks that was expected then.
    """
    parts = [(*divmod(k, looks), looks) for looks, k in sorted(without_rejection.items())]
    return math.prod(math.ldexp(1 - rest / (2 * looks), -halvings) for halvings, rest, looks in parts)


def always_valid_e_value(scores: npt.ArrayLike, *, bound: float, greatest: float) -> float:
    """The wealth of a bet against "the mean is at least ``bound``"; it ever exceeds 1/a with probability at most a.

    Parameters
    ----------
    scores : array, shape (n_topics,)
        Trade-off scores, such as ``linear`` gives, in units of the measure. Their order is irrelevant.
    bound : float
        The mean in question, below ``greatest``: 0, or less a tolerance.
    greatest : float
        The greatest possible score: 1 for a measure from 0 to 1, whatever alpha is. Losses need no bound.

    Returns
    -------
    float
        At least 0; infinite beyond 1e308. ``min(1, 1 / e)`` is a p-value that stays valid however often one looks.
    """
    x = _bounded(scores, greatest)
    if not bound < greatest:
        raise ValueError(f"bound must be below the greatest possible score {greatest!r}, got {bound!r}")
    logarithm = _log_wealth(x, bound, greatest)
    return math.exp(logarithm) if logarithm < 709 else math.inf


def always_valid_upper_limit(scores: npt.ArrayLike, *, greatest: float, level: float = 0.95) -> float:
    """An upper limit of the mean that holds at all numbers of topics at once.

    With probability at least ``1 - (1 - level) / 2`` the limits after 1, 2, 3, ... topics are all above the mean, if
    topics are drawn independently and the order in which they are judged does not depend on their scores. So one
    may look after each new judged topic and stop when one likes. The limit after n topics does not depend on their
    order. Adding judgements to topics that are judged already changes their scores; that is not covered.

    Parameters
    ----------
    scores, greatest
        As for ``always_valid_e_value``.
    level : float
        Confidence of the two-sided interval of which this is the upper limit, in (0, 1).
    """
    between_0_and_1(level, name="level")
    x, needed = _bounded(scores, greatest), -math.log((1 - level) / 2)
    low, high = float(np.mean(x)), float(greatest)  # at the mean no bet has won anything
    width = _WIDTH * max(high - low, abs(high))
    while high - low > width:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if _log_wealth(x, middle, greatest) < needed else (low, middle)
    return high


def _log_wealth(x: FloatArray, bound: float, greatest: float) -> float:
    """Of the mixture; it rises with the bound. A stake c returns 1 - c + c (greatest - x)/(greatest - bound)."""
    returns = (greatest - x) / (greatest - bound)
    wealths = np.array([np.sum(np.log1p(stake * (returns - 1))) for stake in _STAKES])
    best = float(np.max(wealths))
    return best + math.log(float(np.mean(np.exp(wealths - best))))


def _bounded(scores: npt.ArrayLike, greatest: float) -> FloatArray:
    """The scores in ascending order, so that sums do not depend on the order given."""
    x = np.asarray(scores, dtype=np.float64)
    if x.ndim != 1 or x.size == 0 or not np.all(np.isfinite(x)):
        raise ValueError("scores must be finite numbers in one axis (topics), at least one")
    if not math.isfinite(greatest):
        raise ValueError(
            f"greatest must be finite, got {greatest!r}: a measure without a greatest value has no limit"
        )
    if np.any(x > greatest):
        raise ValueError(f"scores must be at most greatest = {greatest!r}, found {float(np.max(x))!r}")
    return np.sort(x)
