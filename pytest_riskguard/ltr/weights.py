"""How much more each query's losses weigh while a ranker is trained: alpha', by how risky the query is now.

Equation numbers are those of B. T. Dinçer, C. Macdonald, I. Ounis, "Hypothesis testing for the risk-sensitive
evaluation of retrieval systems", SIGIR 2014, unless SIGIR 2016 is named: B. T. Dinçer, C. Macdonald, I. Ounis,
"Risk-sensitive evaluation and learning to rank using multiple baselines".
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from pytest_riskguard.ltr.queries import QueryBaselines
from pytest_riskguard.risk import standard_error
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray, loss_weight, per_topic


def adaptive_alpha(scores: npt.ArrayLike, baseline: npt.ArrayLike, *, alpha: float) -> FloatArray:
    """alpha'_j = (1 - Phi(TR_j)) alpha for each query (Eq. 25; SIGIR 2016, Eq. 10): shape (n_queries,), 0 to alpha.

    TR_j is the query's trade-off score over the standard deviation of all (Eq. 21). A query that lost much has an
    alpha' near alpha, one that won much near 0, and one that did not change alpha/2. Where no query differs from the
    others in its trade-off score, none is riskier, and all have alpha/2.

    Parameters
    ----------
    scores, baseline : array, shape (n_queries,)
        Effectiveness of the model and of the baseline on the same queries, finite.
    alpha : float
        Extra weight of a loss, at least 0 and finite.

    Raises
    ------
    ValueError
        For arrays of different lengths or with values that are not finite, and a bad alpha.
    """
    weight = loss_weight(alpha)
    model, reference = per_topic(scores, name="scores"), per_topic(baseline, name="baseline")
    if model.size != reference.size:
        raise ValueError(f"scores and baseline must hold the same queries, got {model.size} and {reference.size}")
    differences = model - reference
    # Eq. 11; refused where a weighted loss is too large for sums
    x = per_topic(np.where(differences < 0, (1 + weight) * differences, differences), name="weighted differences")
    levels = np.zeros(x.size)
    if np.ptp(x) > ROUNDING_ERROR * max(1.0, float(np.max(np.abs(x)))):
        levels = x / (standard_error(x) * math.sqrt(x.size))
    alphas: FloatArray = weight * ndtr(-levels)
    return alphas


def faro_weights(scores: npt.ArrayLike, baselines: QueryBaselines, *, alpha: float) -> FloatArray:
    """``1 + alpha'_j`` for each query, from 1 to ``1 + alpha``: shape (n_queries,).

    What rankers make of weights:

    - LightGBM takes them for rows, ``numpy.repeat(weights, group)``, and multiplies gradient and hessian by them.
      ``lambdarank`` then learns what ``TFARO`` with the same truncation level does.
    - XGBoost takes them for queries, ``DMatrix(..., weight=...)``, and divides them by their mean.
    - CatBoost takes them for rows, ``Pool(..., group_weight=...)``. YetiRank, YetiRankPairwise, PairLogit,
      PairLogitPairwise, QueryRMSE and QuerySoftMax multiply by them. LambdaMart and StochasticRank do not: there they
      only enter the divisor of leaves, and heavy queries count for less (found with CatBoost 1.2.10).

    ``scores``, the model's nDCG@k on each query, and ``alpha`` are as for ``adaptive_alpha``, and so are the errors.
    Of several ``baselines``, ``baselines.mean()`` is that of T*-FARO.
    """
    return 1 + adaptive_alpha(scores, baselines.only(), alpha=alpha)
