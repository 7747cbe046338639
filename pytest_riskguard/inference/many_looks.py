"""Hundreds of looks at one collection.

Each look may spend a share of the error that the whole sequence is allowed. Only
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

References
----------
D. P. Foster, R. A. Stine, "Alpha-investing", Journal of the Royal Statistical Society B 70 (2008).
J. Tian, A. Ramdas, "Online control of the familywise error rate", Statistical Methods in Medical Research 30 (2021).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType


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
