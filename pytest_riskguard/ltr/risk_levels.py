"""How much more each query's losses weigh while a ranker is trained: alpha', by how risky the query is now.

Equation numbers are those of B. T. Dinçer, C. Macdonald, I. Ounis, "Hypothesis testing for the risk-sensitive
evaluation of retrieval systems", SIGIR 2014, unless SIGIR 2016 is named: B. T. Dinçer, C. Macdonald, I. Ounis,
"Risk-sensitive evaluation and learning to rank using multiple baselines".
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from pytest_riskguard.risk.checks import FloatArray, loss_weight, per_topic
from pytest_riskguard.risk.tradeoff import linear
from pytest_riskguard.risk.urisk import standard_error, varies

#: What a query's result is divided by: the standard deviation of trade-off scores (Eq. 21), or the standard error of
#: their mean, URisk, as SIGIR 2016 writes below Eq. 10.
Standardization = Literal["deviation", "error"]


def adaptive_alpha(
    scores: npt.ArrayLike,
    baseline: npt.ArrayLike,
    *,
    alpha: float,
    standardization: Standardization = "deviation",
    spread: float | None = None,
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
    spread : float, optional
        The standard deviation or error, where it was estimated before; by default that of these scores.

    Raises
    ------
    ValueError
        For arrays of different lengths or with values that are not finite, a bad alpha, or another standardization.
    """
    weight = loss_weight(alpha)
    differences = _differences(scores, baseline)
    if spread is None:
        spread = risk_spread(scores, baseline, alpha=weight, standardization=standardization)
    numerator = linear(differences, alpha=weight) if _known(standardization) == "deviation" else differences
    levels = numerator / spread if spread > 0 else np.zeros(differences.size)
    alphas: FloatArray = weight * ndtr(-levels)
    return alphas


def risk_spread(
    scores: npt.ArrayLike,
    baseline: npt.ArrayLike,
    *,
    alpha: float,
    standardization: Standardization,
) -> float:
    """The standard deviation of trade-off scores, or the standard error of URisk; 0 where they do not vary.

    Parameters and errors are those of ``adaptive_alpha``.
    """
    x = linear(_differences(scores, baseline), alpha=loss_weight(alpha))
    if not varies(x):
        return 0.0
    error = standard_error(x)
    return error * float(np.sqrt(x.size)) if _known(standardization) == "deviation" else error


def _differences(scores: npt.ArrayLike, baseline: npt.ArrayLike) -> FloatArray:
    model, reference = per_topic(scores, name="scores"), per_topic(baseline, name="baseline")
    if model.size != reference.size:
        raise ValueError(f"scores and baseline must hold the same queries, got {model.size} and {reference.size}")
    return model - reference


def _known(standardization: Standardization) -> Standardization:
    if standardization not in get_args(Standardization):
        raise ValueError(
            f"standardization must be one of {', '.join(get_args(Standardization))}, got {standardization!r}"
        )
    return standardization
