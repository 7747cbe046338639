"""The documents of training queries in pairs, and what swapping a pair does to a risk measure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pytest_riskguard.risk.checks import FloatArray, IntArray

#: ``WEIGHTED``: (1 + alpha_j) dM. ``TRADEOFF``: the change of the trade-off score. ``CROSSING``: Eq. 9 of SIGIR 2016.
#: ``GEORISK``: the change of GeoRisk.
WEIGHTED, TRADEOFF, CROSSING, GEORISK = range(4)

_NONE = np.zeros(0)


class Pairs(NamedTuple):
    """What RankNet's derivative and the change of nDCG of each pair of documents follow from.

    Attributes
    ----------
    starts : array of int, shape (n_queries + 1,)
        The rows where queries begin, and the end of the last.
    order : array of int, shape (n_documents,)
        For each query its rows, from the highest score down.
    scores, gains : array, shape (n_documents,)
        In the order of rows.
    discounts : array, shape (n_ranks,)
        By rank.
    inverse_ideal : array, shape (n_queries,)
        One over the discounted gains of the best order; 0 where nothing is relevant.
    truncation : int
        The number of ranks at which a pair may begin.
    sigmoid : float
        How steep RankNet's probability is.
    norm : bool
        Whether pairs are divided by their difference of scores, and queries by the size of their gradient.
    """

    starts: IntArray
    order: IntArray
    scores: FloatArray
    gains: FloatArray
    discounts: FloatArray
    inverse_ideal: FloatArray
    truncation: int
    sigmoid: float
    norm: bool


class SwapEffects(NamedTuple):
    """How the effect of a swap follows from its change of nDCG, query by query.

    Attributes
    ----------
    kind : int
        ``WEIGHTED``, ``TRADEOFF``, ``CROSSING`` or ``GEORISK``.
    alpha : array, shape (n_queries,)
        Extra weight of a loss, for the first three kinds.
    differences : array, shape (n_queries,)
        Effectiveness of the model less that of the baseline, for ``TRADEOFF`` and ``CROSSING``.
    georisk : array, shape (n_queries, 3)
        For ``GEORISK``: the model's effectiveness, what is expected of it, and one over the root of that (0 where
        nothing is expected).
    pool : array, shape (4,)
        For ``GEORISK``: 1 + alpha, the model's total effectiveness, its ZRisk, the number of queries.
    """

    kind: int
    alpha: FloatArray = _NONE
    differences: FloatArray = _NONE
    georisk: FloatArray = np.zeros((0, 3))
    pool: FloatArray = np.zeros(4)
