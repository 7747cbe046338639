"""How much more each query's losses weigh while a ranker is trained: alpha', by how risky the query is now.

Equation numbers are those of B. T. Dinçer, C. Macdonald, I. Ounis, "Hypothesis testing for the risk-sensitive
evaluation of retrieval systems", SIGIR 2014, unless SIGIR 2016 is named: B. T. Dinçer, C. Macdonald, I. Ounis,
"Risk-sensitive evaluation and learning to rank using multiple baselines".
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from pytest_riskguard.ltr.queries import QueryBaselines, group_sizes
from pytest_riskguard.risk import standard_error
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, loss_weight, per_topic

#: What a query's result is divided by: the standard deviation of trade-off scores (Eq. 21), or the standard error of
#: their mean, URisk, as SIGIR 2016 writes below Eq. 10.
Standardization = Literal["deviation", "error"]


def adaptive_alpha(
    scores: npt.ArrayLike,
    baseline: npt.ArrayLike,
    *,
    alpha: float,
    standardization: Standardization = "deviation",
) -> FloatArray:
    """alpha'_j = (1 - Phi(TR_j)) alpha for each query (Eq. 25; SIGIR 2016, Eq. 10): shape (n_queries,), 0 to alpha.

    A query that lost much has an alpha' near alpha, one that won much near 0, and one that did not change alpha/2.
    Where no query differs from the others in its trade-off score, none is riskier, and all have alpha/2.

    Parameters
    ----------
    scores, baseline : array, shape (n_queries,)
        Effectiveness of the model and of the baseline on the same queries, finite.
    alpha : float
        Extra weight of a loss, at least 0 and finite.
    standardization : {"deviation", "error"}
        ``deviation``: TR_j is the trade-off score over the standard deviation of all, x_j / sd (SIGIR 2014, Eq. 21).
        ``error``: TR_j is the difference over the standard error of URisk (SIGIR 2016), which is sqrt(n) times
        further from 0 on gains, so that nearly every query has an alpha' of 0 or of alpha.

    Raises
    ------
    ValueError
        For arrays of different lengths or with values that are not finite, a bad alpha, or another standardization.
    """
    check_standardization(standardization)
    weight = loss_weight(alpha)
    model, reference = per_topic(scores, name="scores"), per_topic(baseline, name="baseline")
    if model.size != reference.size:
        raise ValueError(f"scores and baseline must hold the same queries, got {model.size} and {reference.size}")
    differences = model - reference
    # Eq. 11; refused where a weighted loss is too large for sums
    x = per_topic(np.where(differences < 0, (1 + weight) * differences, differences), name="weighted differences")
    levels = np.zeros(x.size)
    if np.ptp(x) > ROUNDING_ERROR * max(1.0, float(np.max(np.abs(x)))):
        error = standard_error(x)
        levels = x / (error * math.sqrt(x.size)) if standardization == "deviation" else differences / error
    alphas: FloatArray = weight * ndtr(-levels)
    return alphas


def check_standardization(given: object) -> None:
    """``ValueError`` for anything else."""
    if given not in get_args(Standardization):
        raise ValueError(f"standardization must be one of {', '.join(get_args(Standardization))}, got {given!r}")


def faro_weights(
    scores: npt.ArrayLike,
    baselines: QueryBaselines,
    *,
    alpha: float,
    standardization: Standardization = "deviation",
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
    alpha, standardization
        As for ``adaptive_alpha``.

    Raises
    ------
    ValueError
        For more than one baseline, another number of queries, and what ``adaptive_alpha`` refuses.
    """
    return 1 + adaptive_alpha(scores, baselines.only(), alpha=alpha, standardization=standardization)


def row_weights(weights: npt.ArrayLike, group: npt.ArrayLike) -> FloatArray:
    """The weight of each row's query, as LightGBM's ``weight`` and CatBoost's ``group_weight`` take it.

    ``weights`` and ``group``, the number of rows of each query, have shape (n_queries,), the result (n_documents,).
    ``ValueError`` for different lengths, a weight that is not finite, or a query with less than one row.
    """
    values, sizes = per_topic(weights, name="weights"), group_sizes(group)
    if sizes.shape != values.shape:
        raise ValueError(f"expected a weight for each of the {sizes.size} queries of group, got {values.size}")
    rows: FloatArray = np.repeat(values, sizes)
    return rows
