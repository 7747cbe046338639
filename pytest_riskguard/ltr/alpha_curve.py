"""Mean against risk over alpha: what each step of risk sensitivity costs, on queries that were not trained on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_riskguard.ltr.baselines import QueryBaselines
from pytest_riskguard.ltr.judged_queries import JudgedQueries
from pytest_riskguard.ltr.model_comparison import ModelFigures, compare_models
from pytest_riskguard.risk.checks import FloatArray, loss_weight, per_topic


@dataclass(frozen=True)
class AlphaPoint:
    """A model trained with one alpha, on held-out queries; with several baselines, averages over them.

    Attributes
    ----------
    alpha : float
        What it was trained with.
    mean : float
        Mean nDCG@k.
    risk, reward : float
        Mean loss and mean win against the baseline, each at least 0.
    urisk : float
        ``reward - (1 + gate_alpha) risk``, with the same alpha for all points: that of the gate.
    losses, losses_over_20_percent : float
        How many queries lost, and how many of these more than 20% of the baseline's score.
    on_front : bool
        No other point has a mean as high and a risk as low, and is better in one of the two.
    """

    alpha: float
    mean: float
    risk: float
    reward: float
    urisk: float
    losses: float
    losses_over_20_percent: float
    on_front: bool


def alpha_curve(
    fit: Callable[[float], npt.ArrayLike],
    alphas: Iterable[float],
    *,
    held_out: JudgedQueries,
    baselines: QueryBaselines,
    gate_alpha: float = 1.0,
) -> tuple[AlphaPoint, ...]:
    """Train with each alpha and measure mean and risk on held-out queries: one point for each alpha, in their order.

    Parameters
    ----------
    fit : callable
        Given an alpha, trains a model and returns its scores on the held-out data: of documents, shape
        (n_documents,), or nDCG@k of queries, shape (n_queries,). With one document per query, they are taken as
        scores of documents.
    alphas : iterable of float
        At least one, each at least 0, all different.
    held_out : JudgedQueries
        Queries on which no model was trained.
    baselines : QueryBaselines
        At least one, on the same queries, with the same k and gains.
    gate_alpha : float
        The alpha of ``AlphaPoint.urisk``.

    Returns
    -------
    tuple of AlphaPoint

    Raises
    ------
    ValueError
        For a bad alpha, no alpha or one given twice, a different k or gain, or scores of the wrong shape or that are
        not finite.
    DataError
        If the held-out queries are not those of the baselines.
    """
    tried, weight = [loss_weight(alpha) for alpha in alphas], 1 + loss_weight(gate_alpha)
    if not tried or len(set(tried)) != len(tried):
        raise ValueError(f"alphas must hold at least one, all different, got {tried}")
    if (baselines.k, baselines.gain) != (held_out.k, held_out.gain):
        raise ValueError(
            f"baselines and held_out must have the same measure, got k={baselines.k} with {baselines.gain} gains and "
            f"k={held_out.k} with {held_out.gain} gains"
        )
    baselines.check(held_out)
    scores = np.stack([_by_query(fit(alpha), held_out, alpha) for alpha in tried])
    names = [repr(alpha) for alpha in tried]
    compared = compare_models(scores, baselines.scores, model_names=names, baseline_names=baselines.names)
    models = (compared.macro_average or compared.against[0]).models
    return tuple(_point(alpha, found, weight) for alpha, found in zip(tried, models, strict=True))


def _point(alpha: float, found: ModelFigures, weight: float) -> AlphaPoint:
    return AlphaPoint(
        alpha=alpha,
        mean=found.mean,
        risk=found.risk,
        reward=found.reward,
        urisk=found.reward - weight * found.risk,
        losses=found.losses,
        losses_over_20_percent=found.losses_over_20_percent,
        on_front=found.on_front,
    )


def _by_query(scores: npt.ArrayLike, held_out: JudgedQueries, alpha: float) -> FloatArray:
    values = per_topic(np.asarray(scores), name=f"scores of fit({alpha:g})")
    if values.size == held_out.labels.size:
        return held_out.ndcg(values)
    if values.size != held_out.group.size:
        raise ValueError(
            f"fit({alpha:g}) must return a score for each of the {held_out.labels.size} held-out documents, or for "
            f"each of their {held_out.group.size} queries, got {values.size}"
        )
    return values
