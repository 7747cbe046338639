"""Which models no other model beats in both mean and risk."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from pytest_riskguard.ltr.queries import JudgedQueries, QueryBaselines
from pytest_riskguard.risk import counts
from pytest_riskguard.risk.checks import ROUNDING_ERROR, BoolArray, FloatArray, loss_weight, mean, per_topic


def pareto_front(means: FloatArray, risks: FloatArray) -> BoolArray:
    """Which models are on the Pareto front of mean (higher is better) against risk (lower is): (n_models,).

    A model is off the front if another one has a mean at least as high and a risk at most as high, and one of the two
    is better. Models that are equal in both are on it together or not at all.
    """
    mean, risk = means[:, None], risks[:, None]
    beats = (mean >= means) & (risk <= risks) & ((mean > means) | (risk < risks))
    front: BoolArray = np.logical_not(np.any(beats, axis=0))
    return front


@dataclass(frozen=True)
class ModelFigures:
    """One model against one baseline, or on average over several; scores are in units of the measure.

    ``risk`` and ``reward`` are the mean loss and the mean win, both at least 0. The ratios are infinite where the
    model never loses but wins, and None where it does neither. In an average each figure, ratios included, is the
    mean over the baselines, so ratios are not ratios of the averages, and counts need not be whole numbers.
    ``on_front``: no other model has a mean as high and a risk as low, and is better in one of the two.
    """

    model: str
    mean: float
    mean_difference: float
    risk: float
    reward: float
    reward_to_risk: float | None
    wins: float
    losses: float
    ties: float
    win_to_loss: float | None
    losses_over_20_percent: float
    on_front: bool = False


_AVERAGED = [field.name for field in fields(ModelFigures) if field.name not in ("model", "mean", "on_front")]


@dataclass(frozen=True)
class ModelsAgainst:
    """All models, in the order given, against one baseline, or on average against several."""

    baselines: tuple[str, ...]
    baseline_mean: float
    models: tuple[ModelFigures, ...]


@dataclass(frozen=True)
class ModelComparison:
    """Models against each baseline, and on average over all of them; ``macro_average`` is None with one baseline."""

    topics: int
    against: tuple[ModelsAgainst, ...]
    macro_average: ModelsAgainst | None


def compare_models(
    models: Sequence[FloatArray] | FloatArray,
    baselines: Sequence[FloatArray] | FloatArray,
    *,
    model_names: Sequence[str],
    baseline_names: Sequence[str],
    weights: FloatArray | None = None,
) -> ModelComparison:
    """Compare models with each baseline, and on average over the baselines.

    Parameters
    ----------
    models, baselines : sequence of array, shape (n_topics,)
        Scores of each model and of each baseline, at least one, on the same topics.
    model_names, baseline_names : sequence of str
        A name for each of them.
    weights : array, shape (n_topics,), optional
        How much each topic counts in means, risk and reward, above 0; only ratios matter. Wins and losses are counted
        without weights.

    References
    ----------
    B. T. Dinçer, C. Macdonald, I. Ounis, "Hypothesis testing for the risk-sensitive evaluation of retrieval systems",
    SIGIR 2014, Table 3; "Risk-sensitive evaluation and learning to rank using multiple baselines", SIGIR 2016,
    Table 7, which averages over baselines in the same way.
    """
    shares: FloatArray | float = 1.0
    if weights is not None:
        shares = weights / np.max(weights)
        shares = shares / mean(shares)
    against = tuple(
        ModelsAgainst((name,), mean(baseline * shares), _on_front(_figures(models, baseline, model_names, shares)))
        for name, baseline in zip(baseline_names, baselines, strict=True)
    )
    return ModelComparison(models[0].size, against, _average(against) if len(against) > 1 else None)


def _figures(
    models: Sequence[FloatArray] | FloatArray, baseline: FloatArray, names: Sequence[str], shares: FloatArray | float
) -> list[ModelFigures]:
    figures = []
    for name, scores in zip(names, models, strict=True):
        differences = scores - baseline
        weighted = np.where(np.abs(differences) > ROUNDING_ERROR, differences, 0.0) * shares  # as gates count them
        risk, reward = mean(np.maximum(0.0, -weighted)) + 0.0, mean(np.maximum(0.0, weighted))
        number = counts(scores, baseline)
        figures.append(
            ModelFigures(
                model=name,
                mean=mean(scores * shares),
                mean_difference=mean(weighted),
                risk=risk,
                reward=reward,
                reward_to_risk=_ratio(reward, risk),
                wins=number.wins,
                losses=number.losses,
                ties=number.ties,
                win_to_loss=_ratio(number.wins, number.losses),
                losses_over_20_percent=number.losses_over_20_percent,
            )
        )
    return figures


def _average(against: Sequence[ModelsAgainst]) -> ModelsAgainst:
    """The mean of each figure over baselines; a ratio that does not exist for one of them has no mean."""
    models = []
    for rows in zip(*(table.models for table in against), strict=True):
        figures = {name: [getattr(row, name) for row in rows] for name in _AVERAGED}
        means = {name: None if None in values else _mean_of(values) for name, values in figures.items()}
        models.append(replace(rows[0], **means))
    names = tuple(name for table in against for name in table.baselines)
    return ModelsAgainst(names, _mean_of([table.baseline_mean for table in against]), _on_front(models))


def _mean_of(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _on_front(models: Sequence[ModelFigures]) -> tuple[ModelFigures, ...]:
    front = pareto_front(np.array([model.mean for model in models]), np.array([model.risk for model in models]))
    return tuple(replace(model, on_front=on_it) for model, on_it in zip(models, front.tolist(), strict=True))


def _ratio(good: float, bad: float) -> float | None:
    """Infinite where there is nothing bad; None where there is nothing good either."""
    if bad > 0:
        return good / bad
    return math.inf if good > 0 else None


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
    scores = [_by_query(fit(alpha), held_out, alpha) for alpha in tried]
    names = [repr(alpha) for alpha in tried]
    compared = compare_models(scores, [*baselines.scores], model_names=names, baseline_names=baselines.names)
    models = (compared.macro_average or compared.against[0]).models
    return tuple(
        AlphaPoint(
            alpha=alpha,
            mean=found.mean,
            risk=found.risk,
            reward=found.reward,
            urisk=found.reward - weight * found.risk,
            losses=found.losses,
            losses_over_20_percent=found.losses_over_20_percent,
            on_front=found.on_front,
        )
        for alpha, found in zip(tried, models, strict=True)
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
