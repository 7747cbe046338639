"""Rank-biased overlap: how much two rankings agree, whatever they leave out.

W. Webber, A. Moffat, J. Zobel, "A similarity measure for indefinite rankings", TOIS 28(4), 2010.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

#: The persistence that papers use: the top ten have 86 % of the weight.
PHI = 0.9


def rank_biased_overlap(
    first: Sequence[Hashable], second: Sequence[Hashable], *, phi: float = PHI
) -> tuple[float, float]:
    """Rank-biased overlap of two rankings, from 0 to 1: its lower bound (Eq. 11), and the residual (Eq. 30).

    The rankings may be cut at different depths and need not rank the same. The bound is the overlap if what comes
    after has nothing in common, the residual how much it could add. ``first`` and ``second`` hold each name once,
    best first; ``phi``, in (0, 1), is the probability of looking one place further down.
    """
    short, long = sorted((first, second), key=len)
    common = [len({*short[:depth]} & {*long[:depth]}) for depth in range(len(long) + 1)]
    both = common[-1]

    def series(start: int, end: int) -> float:
        return math.fsum(phi**depth / depth for depth in range(start, end + 1))

    scale, rest = (1 - phi) / phi, -math.log1p(-phi)
    lower = scale * (math.fsum((x - both) * phi**d / d for d, x in enumerate(common[1:], 1)) + both * rest)
    last = len(short) + len(long) - both
    tail = math.fsum(len(one) * series(len(one) + 1, last) for one in (short, long))
    tail += both * (rest - series(1, last))
    return lower, phi ** len(short) + phi ** len(long) - phi**last - scale * tail
