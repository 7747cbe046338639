"""Which models no other model beats in both mean and risk."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pytest_riskguard.ltr.queries import JudgedQueries, QueryBaselines
from pytest_riskguard.risk import counts
from pytest_riskguard.risk.checks import (
    ROUNDING_ERROR,
    BoolArray,
    FloatArray,
    exact_sum,
    loss_weight,
    mean,
    per_topic,
    systems_by_topics,
)


def pareto_front(means: npt.ArrayLike, risks: npt.ArrayLike) -> BoolArray:
    """Which models are on the Pareto front of mean against risk.

    A model is off the front if another one has a mean at least as high and a risk at most as high, and one of the two
    is better. Models that are equal in both are on it together or not at all.

    Parameters
    ----------
    means : array, shape (n_models,)
        Mean effectiveness, higher is better.
    risks : array, shape (n_models,)
        Risk against the same baseline or baselines; lower is better.

    Returns
    -------
    array of bool, shape (n_models,)
        At least one is true, except where there are no models.

    Raises
    ------
    ValueError
        A second axis, a value that is not finite, or different numbers of means and risks.
    """
    means, risks = (_values(values, name=name) for values, name in ((means, "means"), (risks, "risks")))
    if means.size != risks.size:
        raise ValueError(f"expected as many means as risks, got {means.size} and {risks.size}")
    front = np.zeros(means.size, dtype=np.bool_)
    if not means.size:
        return front
    order = np.lexsort((risks, -means))  # the best mean first, and of equal means the lowest risk
    means, risks = means[order], risks[order]
    starts = np.append(True, means[1:] < means[:-1])
    lowest_of_mean = risks[starts]
    lowest_above = np.append(np.inf, np.minimum.accumulate(lowest_of_mean)[:-1])
    group = np.cumsum(starts) - 1
    front[order] = (risks == lowest_of_mean[group]) & (risks < lowest_above[group])
    return front


def _values(values: npt.ArrayLike, *, name: str) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one axis (models), got shape {array.shape}")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]}")
    return array


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
    models: npt.ArrayLike,
    baselines: npt.ArrayLike,
    *,
    model_names: Sequence[str],
    baseline_names: Sequence[str],
    weights: npt.ArrayLike | None = None,
) -> ModelComparison:
    """Compare models with each baseline, and on average over the baselines.

    Parameters
    ----------
    models : array, shape (n_models, n_topics)
        Scores of each model, at least one, in units of the measure.
    baselines : array, shape (n_baselines, n_topics)
        Scores of each baseline, at least one, on the same topics.
    model_names, baseline_names : sequence of str
        A name for each row, all different.
    weights : array, shape (n_topics,), optional
        How much each topic counts in means, risk and reward, above 0; only ratios matter. Wins and losses are counted
        without weights.

    Returns
    -------
    ModelComparison

    Raises
    ------
    ValueError
        No model, no baseline or no topic, scores that are not finite, different numbers of topics, a name too few,
        too many or given twice, or a weight that is not above 0.

    References
    ----------
    B. T. Dinçer, C. Macdonald, I. Ounis, "Hypothesis testing for the risk-sensitive evaluation of retrieval systems",
    SIGIR 2014, Table 3; "Risk-sensitive evaluation and learning to rank using multiple baselines", SIGIR 2016,
    Table 7, which averages over baselines in the same way.
    """
    scores = systems_by_topics(models, name="models", at_least=1)
    yardsticks = systems_by_topics(baselines, name="baselines", at_least=1)
    if scores.shape[1] != yardsticks.shape[1]:
        raise ValueError(f"models and baselines differ in topics: {scores.shape[1]} and {yardsticks.shape[1]}")
    _check_names(model_names, len(scores), what="model_names")
    _check_names(baseline_names, len(yardsticks), what="baseline_names")
    shares = _shares(weights, scores.shape[1])
    against = tuple(
        ModelsAgainst((name,), _mean(yardstick, shares), _on_front(_figures(scores, yardstick, model_names, shares)))
        for name, yardstick in zip(baseline_names, yardsticks, strict=True)
    )
    return ModelComparison(scores.shape[1], against, _average(against) if len(against) > 1 else None)


def _figures(
    scores: FloatArray, baseline: FloatArray, names: Sequence[str], shares: FloatArray | None
) -> list[ModelFigures]:
    figures = []
    for name, row in zip(names, scores, strict=True):
        differences = row - baseline
        differences = np.where(np.abs(differences) > ROUNDING_ERROR, differences, 0.0)  # as gates count them
        weighted = differences if shares is None else differences * shares
        risk, reward = mean(np.maximum(0.0, -weighted)) + 0.0, mean(np.maximum(0.0, weighted))
        number = counts(row, baseline)
        figures.append(
            ModelFigures(
                model=name,
                mean=_mean(row, shares),
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
        ratios: list[float | None] = []
        for column in ([row.reward_to_risk for row in rows], [row.win_to_loss for row in rows]):
            known = [ratio for ratio in column if ratio is not None]
            ratios.append(_average_of(known) if len(known) == len(column) else None)
        models.append(
            ModelFigures(
                model=rows[0].model,
                mean=rows[0].mean,
                mean_difference=_average_of(row.mean_difference for row in rows),
                risk=_average_of(row.risk for row in rows),
                reward=_average_of(row.reward for row in rows),
                reward_to_risk=ratios[0],
                wins=_average_of(row.wins for row in rows),
                losses=_average_of(row.losses for row in rows),
                ties=_average_of(row.ties for row in rows),
                win_to_loss=ratios[1],
                losses_over_20_percent=_average_of(row.losses_over_20_percent for row in rows),
            )
        )
    names = tuple(name for table in against for name in table.baselines)
    return ModelsAgainst(names, _average_of(table.baseline_mean for table in against), _on_front(models))


def _on_front(models: Sequence[ModelFigures]) -> tuple[ModelFigures, ...]:
    front = pareto_front([model.mean for model in models], [model.risk for model in models]).tolist()
    return tuple(replace(model, on_front=on_it) for model, on_it in zip(models, front, strict=True))


def _ratio(good: float, bad: float) -> float | None:
    """Infinite where there is nothing bad; None where there is nothing good either."""
    if bad > 0:
        return good / bad
    return math.inf if good > 0 else None


def _average_of(values: Iterable[float]) -> float:
    numbers = list(values)
    return math.fsum(numbers) / len(numbers)


def _mean(values: FloatArray, shares: FloatArray | None) -> float:
    return mean(values if shares is None else values * shares)


def _shares(weights: npt.ArrayLike | None, topics: int) -> FloatArray | None:
    """Weights whose mean is 1."""
    if weights is None:
        return None
    array = per_topic(weights, name="weights")
    if array.size != topics:
        raise ValueError(f"expected a weight for each of {topics} topics, got {array.size}")
    if not np.all(array > 0):
        raise ValueError(f"weights must be above 0, got {array[array <= 0][0]}")
    array = array / np.max(array)
    shares: FloatArray = array / (exact_sum(array) / topics)
    return shares


def _check_names(names: Sequence[str], count: int, *, what: str) -> None:
    if len(names) != count:
        raise ValueError(f"{what}: expected {count}, got {len(names)}")
    if repeated := [name for place, name in enumerate(names) if name in names[:place]]:
        raise ValueError(f"{what}: {repeated[0]!r} given twice")


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
