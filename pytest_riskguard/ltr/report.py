"""Trained models compared with baselines in the papers' figures, each with what the gate says of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from statistics import fmean
from typing import TYPE_CHECKING, Literal

import numpy as np

from pytest_riskguard.risk import counts
from pytest_riskguard.risk.checks import ROUNDING_ERROR, BoolArray, FloatArray, mean

if TYPE_CHECKING:
    from pytest_riskguard import Verdict

SCHEMA = "riskguard-train-report/1"
Outcome = Literal["pass", "fail", "inconclusive", "incomparable"]


@dataclass(frozen=True)
class ModelFigures:
    """One model against one baseline, or on average over several; scores are in units of the measure.

    ``risk`` and ``reward`` are the mean loss and the mean win, both at least 0. The ratios are infinite where the
    model never loses but wins, and None where it does neither. In an average each figure, ratios included, is the
    mean over the baselines, so ratios are not ratios of the averages, and counts need not be whole numbers.
    ``on_front``: no other model has a mean as high and a risk as low, and is better in one of the two. ``outcome``
    is a pass, or the worst outcome of a verdict that does not let the model pass.
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
    outcome: Outcome = "pass"


_AVERAGED = [one.name for one in fields(ModelFigures) if one.name not in ("model", "mean", "on_front", "outcome")]


@dataclass(frozen=True)
class GateVerdict:
    """The part of a verdict on a model that is shown; ``lower`` and ``upper`` are of the interval that decides."""

    model: str
    alpha: float
    outcome: Outcome
    passed: bool
    reason: str | None
    urisk: float | None
    lower: float | None
    upper: float | None
    trisk: float | None
    p_value: float | None
    alpha_star: float | Literal["any"] | None
    warnings: tuple[str, ...]
    problem: str | None

    @classmethod
    def of(cls, verdict: Verdict) -> GateVerdict:
        """What is shown of this verdict."""
        estimates, decisive = verdict.estimates, verdict.decisive_interval
        return cls(
            model=verdict.candidate,
            alpha=verdict.alpha,
            outcome=verdict.outcome,
            passed=verdict.passed,
            reason=verdict.reason,
            urisk=estimates.urisk,
            lower=None if decisive is None else decisive.lower,
            upper=None if decisive is None else decisive.upper,
            trisk=estimates.trisk,
            p_value=estimates.p_value,
            alpha_star=estimates.alpha_star,
            warnings=tuple(dict.fromkeys(warning.code for warning in verdict.warnings)),
            problem=verdict.problem,
        )


@dataclass(frozen=True)
class Comparison:
    """All models, in the order given, against one baseline, or on average over several, which has no verdicts."""

    measure: str | None
    topics: int
    baselines: tuple[str, ...]
    baseline_mean: float
    models: tuple[ModelFigures, ...]
    verdicts: tuple[GateVerdict, ...] = ()


@dataclass(frozen=True)
class TrainReport:
    """For each measure the average over baselines, if there are several, then each baseline."""

    gate: str
    alphas: tuple[float, ...]
    level: float
    tolerance: float
    correction: str
    comparisons: tuple[Comparison, ...]

    @property
    def verdicts(self) -> list[GateVerdict]:
        """Those against every baseline."""
        return [verdict for comparison in self.comparisons for verdict in comparison.verdicts]


def pareto_front(means: FloatArray, risks: FloatArray) -> BoolArray:
    """Which models are on the Pareto front of mean (higher is better) against risk (lower is): (n_models,).

    A model is off the front if another one has a mean at least as high and a risk at most as high, and one of the two
    is better. Models that are equal in both are on it together or not at all.
    """
    mean, risk = means[:, None], risks[:, None]
    beats = (mean >= means) & (risk <= risks) & ((mean > means) | (risk < risks))
    front: BoolArray = np.logical_not(np.any(beats, axis=0))
    return front


def figures_against(
    models: Mapping[str, FloatArray], baseline: FloatArray, shares: FloatArray | float = 1.0
) -> tuple[ModelFigures, ...]:
    """Each model against a baseline, all of shape (n_topics,).

    ``shares``, whose mean is 1, weigh topics in means, risk and reward; wins and losses are counted without them.

    References
    ----------
    B. T. Dinçer, C. Macdonald, I. Ounis, "Hypothesis testing for the risk-sensitive evaluation of retrieval systems",
    SIGIR 2014, Table 3.
    """
    figures = []
    for name, scores in models.items():
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
    return _on_front(figures)


def average(against: Sequence[Sequence[ModelFigures]]) -> tuple[ModelFigures, ...]:
    """The mean of each figure over baselines; a ratio that does not exist for one of them has no mean.

    References
    ----------
    B. T. Dinçer, C. Macdonald, I. Ounis, "Risk-sensitive evaluation and learning to rank using multiple baselines",
    SIGIR 2016, Table 7.
    """
    models = []
    for rows in zip(*against, strict=True):
        figures = {name: [getattr(row, name) for row in rows] for name in _AVERAGED}
        means = {name: None if None in values else fmean(values) for name, values in figures.items()}
        models.append(replace(rows[0], **means, outcome=_worst([row.outcome for row in rows])))
    return _on_front(models)


def comparisons_of(
    measure: str | None,
    models: Mapping[str, FloatArray],
    baselines: Mapping[str, FloatArray],
    verdicts: Sequence[Verdict],
    *,
    weights: FloatArray | None = None,
) -> tuple[Comparison, ...]:
    """Models against baselines, all of shape (n_topics,), with their verdicts; ``weights`` say how topics count."""
    shares = 1.0 if weights is None else weights / mean(weights)
    topics, against = next(iter(models.values())).size, []
    for name, baseline in baselines.items():
        given = tuple(GateVerdict.of(verdict) for verdict in verdicts if verdict.baselines == (name,))
        figures = []
        for one in figures_against(models, baseline, shares):
            red = [verdict.outcome for verdict in given if verdict.model == one.model and not verdict.passed]
            figures.append(replace(one, outcome=_worst(red)))
        against.append(Comparison(measure, topics, (name,), mean(baseline * shares), tuple(figures), given))
    if len(against) == 1:
        return tuple(against)
    of_all = average([one.models for one in against])
    return Comparison(
        measure, topics, tuple(baselines), fmean(one.baseline_mean for one in against), of_all
    ), *against


def _worst(outcomes: Sequence[Outcome]) -> Outcome:
    order: tuple[Outcome, ...] = ("incomparable", "fail", "inconclusive")
    return next((outcome for outcome in order if outcome in outcomes), "pass")


def _on_front(models: Sequence[ModelFigures]) -> tuple[ModelFigures, ...]:
    front = pareto_front(np.array([model.mean for model in models]), np.array([model.risk for model in models]))
    return tuple(replace(model, on_front=on_it) for model, on_it in zip(models, front.tolist(), strict=True))


def _ratio(good: float, bad: float) -> float | None:
    """Infinite where there is nothing bad; None where there is nothing good either."""
    if bad > 0:
        return good / bad
    return math.inf if good > 0 else None
