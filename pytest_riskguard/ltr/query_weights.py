"""T-FARO as query weights, for any ranker that takes them.

T-FARO multiplies all swaps of a query by ``1 + alpha'_j`` (SIGIR 2014, Eq. 26; SIGIR 2016), which is what a query
weight does, so it needs no objective of its own.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pytest_riskguard.ltr.baselines import QueryBaselines, check_baselines
from pytest_riskguard.ltr.judged_queries import sizes_of_groups
from pytest_riskguard.ltr.risk_levels import Standardization, adaptive_alpha
from pytest_riskguard.risk.checks import FloatArray, per_topic


def faro_weights(
    scores: npt.ArrayLike,
    baselines: QueryBaselines,
    *,
    alpha: float,
    standardization: Standardization = "deviation",
    spread: float | None = None,
) -> FloatArray:
    """``1 + alpha'_j`` for each query, from 1 to ``1 + alpha``: shape (n_queries,).

    What rankers make of weights:

    - LightGBM takes them for rows (``row_weights``) and multiplies gradient and hessian by them. ``lambdarank`` then
      learns what ``TFARO`` with the same truncation level does.
    - XGBoost takes them for queries, ``DMatrix(..., weight=...)``, and divides them by their mean.
    - CatBoost takes them for rows, ``Pool(..., group_weight=...)``. YetiRank, YetiRankPairwise, PairLogit,
      PairLogitPairwise, QueryRMSE and QuerySoftMax multiply by them. LambdaMart and StochasticRank do not: there they
      only enter the divisor of leaves, and heavy queries count for less (found with CatBoost 1.2.10).

    Parameters
    ----------
    scores : array, shape (n_queries,)
        The model's nDCG@k on each query, as ``JudgedQueries.ndcg`` gives it.
    baselines : QueryBaselines
        One baseline, on the same queries; ``baselines.mean()`` is that of T*-FARO.
    alpha, standardization, spread
        As for ``adaptive_alpha``.

    Raises
    ------
    ValueError
        For more than one baseline, another number of queries, and what ``adaptive_alpha`` refuses.
    """
    check_baselines(baselines)
    if len(baselines.names) != 1:
        number = len(baselines.names)
        raise ValueError(f"faro_weights takes one baseline, got {number}; baselines.mean() makes one of them")
    more = adaptive_alpha(scores, baselines.scores[0], alpha=alpha, standardization=standardization, spread=spread)
    return 1 + more


def row_weights(weights: npt.ArrayLike, group: npt.ArrayLike) -> FloatArray:
    """The weight of each row's query, as LightGBM's ``weight`` and CatBoost's ``group_weight`` take it.

    ``weights`` and ``group``, the number of rows of each query, have shape (n_queries,), the result (n_documents,).
    ``ValueError`` for different lengths, a weight that is not finite, or a query with less than one row.
    """
    values, sizes = per_topic(weights, name="weights"), sizes_of_groups(group)
    if sizes.shape != values.shape:
        raise ValueError(f"expected a weight for each of the {sizes.size} queries of group, got {values.size}")
    rows: FloatArray = np.repeat(values, sizes)
    return rows
