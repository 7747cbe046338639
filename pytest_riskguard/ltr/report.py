"""Trained models compared with baselines, each with its gate's verdicts: what ``riskguard ltr report`` found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Literal

import numpy as np

from pytest_riskguard.ltr.model_comparison import ModelFigures, average, figures_against
from pytest_riskguard.reports import document
from pytest_riskguard.risk.checks import FloatArray, mean

if TYPE_CHECKING:
    from pytest_riskguard import Verdict

SCHEMA = "riskguard-train-report/1"
Outcome = Literal["pass", "fail", "inconclusive", "incomparable"]


@dataclass(frozen=True)
class GateVerdict:
    """What the gate says about a model and one baseline, at one alpha.

    Figures are those of the verdict, None where it has none. ``lower`` and ``upper`` are the limits of the interval
    that decides, by ``method`` at ``level``, which a correction may have changed. ``p_value`` is that of TRisk,
    ``decision_p_value`` the one that decides, ``adjusted_p_value`` the latter for all gates judged together.
    ``same_run``: the model is the baseline's own run. ``problem`` says why nothing could be compared.
    """

    baseline: str
    alpha: float
    outcome: Outcome
    passed: bool
    reason: str | None
    urisk: float | None
    method: str | None
    level: float
    lower: float | None
    upper: float | None
    trisk: float | None
    p_value: float | None
    decision_p_value: float | None
    adjusted_p_value: float | None
    alpha_star: float | Literal["any"] | None
    same_run: bool
    warnings: tuple[str, ...]
    problem: str | None

    @classmethod
    def of(cls, verdict: Verdict) -> GateVerdict:
        """The part of a verdict that a comparison of models shows."""
        estimates, decisive, family = verdict.estimates, verdict.decisive_interval, verdict.family
        return cls(
            baseline=verdict.baselines[0],
            alpha=verdict.alpha,
            outcome=verdict.outcome,
            passed=verdict.passed,
            reason=verdict.reason,
            urisk=estimates.urisk,
            method=None if decisive is None else decisive.method,
            level=verdict.level if family is None else family.level,
            lower=None if decisive is None else decisive.lower,
            upper=None if decisive is None else decisive.upper,
            trisk=estimates.trisk,
            p_value=estimates.p_value,
            decision_p_value=estimates.decision_p_value,
            adjusted_p_value=None if family is None else family.adjusted_p_value,
            alpha_star=estimates.alpha_star,
            same_run=bool(verdict.identical_to),
            warnings=tuple(dict.fromkeys(warning.code for warning in verdict.warnings)),
            problem=verdict.problem,
        )


@dataclass(frozen=True)
class JudgedModel:
    """A model's figures and its verdicts against one baseline, one for each alpha; an average has none of its own.

    ``passes``: all verdicts let it pass; for an average, those against all of its baselines. ``outcome`` is a pass,
    or the worst outcome of a verdict that does not let it pass.
    """

    figures: ModelFigures
    passes: bool
    outcome: Outcome
    verdicts: tuple[GateVerdict, ...]

    @classmethod
    def of(cls, figures: ModelFigures, verdicts: Sequence[GateVerdict], *, is_average: bool) -> JudgedModel:
        """A model and what its verdicts say together."""
        outcomes = {verdict.outcome for verdict in verdicts if not verdict.passed}
        order: tuple[Outcome, ...] = ("incomparable", "fail", "inconclusive")
        worst: Outcome = next((outcome for outcome in order if outcome in outcomes), "pass")
        return cls(figures, not outcomes, worst, () if is_average else tuple(verdicts))


@dataclass(frozen=True)
class JudgedAgainst:
    """All models, in the order given, against one baseline, or on average over several."""

    baselines: tuple[str, ...]
    baseline_mean: float
    models: tuple[JudgedModel, ...]


@dataclass(frozen=True)
class MeasuredModels:
    """Models against each baseline and on average over all of them, for one measure; None with one baseline.

    ``missing_topics`` says how many topics score 0 because a system has no answer to them, by its name.
    """

    measure: str | None
    topics: int
    weighted: bool
    missing_topics: Mapping[str, int]
    macro_average: JudgedAgainst | None
    against: tuple[JudgedAgainst, ...]

    @property
    def tables(self) -> tuple[JudgedAgainst, ...]:
        """The average, if there is one, then each baseline."""
        return (*filter(None, (self.macro_average,)), *self.against)


@dataclass(frozen=True)
class AskedGate:
    """How every model was judged; ``level`` is that of each verdict before any correction."""

    kind: str
    alphas: tuple[float, ...]
    level: float
    method: str
    tolerance: float
    tradeoff: str
    correction: str
    verdicts: int

    @classmethod
    def of(cls, verdicts: Sequence[Verdict]) -> AskedGate:
        """The settings of verdicts that differ in alpha, systems and measure alone."""
        first = verdicts[0]
        return cls(
            kind=first.kind,
            alphas=tuple(dict.fromkeys(verdict.alpha for verdict in verdicts)),
            level=first.level,
            method=first.method,
            tolerance=first.tolerance,
            tradeoff=first.tradeoff,
            correction=next((verdict.family.correction for verdict in verdicts if verdict.family), "none"),
            verdicts=len(verdicts),
        )


@dataclass(frozen=True)
class TrainReport:
    """Models compared for each measure; ``qrels`` and ``digests`` identify judgements and each system's scores."""

    gate: AskedGate
    models: tuple[str, ...]
    baselines: tuple[str, ...]
    qrels: str | None
    digests: Mapping[str, str | None]
    measures: tuple[MeasuredModels, ...]

    @property
    def incomparable(self) -> int:
        """How many verdicts say that nothing can be compared."""
        tables = (table for measured in self.measures for table in measured.against)
        verdicts = (verdict for table in tables for model in table.models for verdict in model.verdicts)
        return sum(verdict.outcome == "incomparable" for verdict in verdicts)


def judged_models(
    measure: str | None,
    models: Mapping[str, FloatArray],
    baselines: Mapping[str, FloatArray],
    verdicts: Sequence[Verdict],
    *,
    weights: FloatArray | None = None,
    missing_topics: Mapping[str, int],
) -> MeasuredModels:
    """Models against each baseline, all of shape (n_topics,), with their verdicts, which may come in any order.

    ``weights``, above 0, weigh topics; only ratios matter. Only systems whose ``missing_topics`` are above 0 are kept
    there.
    """
    shares: FloatArray | float = 1.0
    if weights is not None:
        shares = weights / np.max(weights)
        shares = shares / mean(shares)
    by_pair: dict[tuple[str, str], list[GateVerdict]] = {}
    for verdict in verdicts:
        by_pair.setdefault((verdict.candidate, verdict.baselines[0]), []).append(GateVerdict.of(verdict))

    def judged(names: tuple[str, ...], baseline_mean: float, figures: Sequence[ModelFigures]) -> JudgedAgainst:
        rows = []
        for one in figures:
            own = [verdict for name in names for verdict in by_pair[one.model, name]]
            rows.append(JudgedModel.of(one, own, is_average=len(names) > 1))
        return JudgedAgainst(names, baseline_mean, tuple(rows))

    figures = {name: figures_against(models, baseline, shares) for name, baseline in baselines.items()}
    means = {name: mean(baseline * shares) for name, baseline in baselines.items()}
    against = tuple(judged((name,), means[name], figures[name]) for name in baselines)
    macro_average = None
    if len(baselines) > 1:
        macro_average = judged(tuple(baselines), fmean(means.values()), average(list(figures.values())))
    return MeasuredModels(
        measure=measure,
        topics=next(iter(models.values())).size,
        weighted=weights is not None,
        missing_topics={system: number for system, number in missing_topics.items() if number},
        macro_average=macro_average,
        against=against,
    )


def dumps(report: TrainReport) -> str:
    """The report as JSON text, where an infinite ratio is null, since JSON has no such number."""
    return document(SCHEMA, report)
