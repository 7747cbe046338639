"""From the scores of a pool to a verdict, what explains it, and the data of its charts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pytest_riskguard.data.measures import least_and_greatest
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.alignment import refuse_if_unanswered_decide, refuse_other_order
from pytest_riskguard.gates.figures import (
    alphas_for,
    charts_of,
    paired_estimates,
    reported,
    topic_columns,
    topic_counts,
)
from pytest_riskguard.gates.findings import (
    AgainstReference,
    Estimates,
    Exhibits,
    Lines,
    PoolFigures,
    Power,
)
from pytest_riskguard.gates.judge import refuse_without_scores
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.pool.responsible import (
    contributions,
    flip_set,
    pool_explanation,
    responsible_topics,
    without_each,
)
from pytest_riskguard.gates.pool.ruling import PoolComparison
from pytest_riskguard.gates.responsible import bounded
from pytest_riskguard.gates.verdict import (
    Deferred,
    Family,
    Findings,
    Verdict,
    refused,
    unanswered,
)
from pytest_riskguard.gates.warnings import pool_warnings
from pytest_riskguard.risk import georisk, zrisk
from pytest_riskguard.risk.checks import FloatArray
from pytest_riskguard.risk.urisk import standardised


def judge_pool(
    gate: Gate,
    candidate: TopicScores,
    baselines: Sequence[TopicScores],
    *,
    rescored: bool = False,
    family: Family | None = None,
    together: int = 1,
    topics: Topics | None = None,
    report: bool = False,
) -> Verdict:
    """Ask whether the candidate's GeoRisk is significantly below that of a reference in its pool.

    Otherwise like ``gates.judge.judge``.
    ``together`` is how many gates are judged together, this one included: it decides how far into the tail draws
    must reach. ``ValueError`` for no baseline, two of one name, a reference that is not a baseline, two measures.
    """
    if not baselines:
        raise ValueError("georisk_not_worse needs at least one baseline, got none")
    question = unanswered(gate, candidate, baselines, family=family)
    level = None if family is None else family.level

    def compared(one: TopicScores, others: Sequence[TopicScores]) -> PoolComparison:
        return PoolComparison(gate, one, others, level=level, together=together, topics=topics)

    try:
        comparison = compared(candidate, baselines)
        _refuse_if_it_cannot_fail(comparison)
        outcome, reason = comparison.answer
        refuse_other_order(gate, candidate, baselines, outcome, lambda one, others: compared(one, others).answer[0])
        if outcome == "pass":
            refuse_if_unanswered_decide(
                gate, candidate, baselines, lambda others: compared(candidate, others).answer[0] == "pass"
            )
        if outcome == "pass" and gate.tolerance > 0:
            _refuse_if_a_silent_candidate_passes(comparison, compared)
    except DataError as error:
        return refused(question, error)
    findings = Deferred(lambda: explain(comparison, rescored=rescored))
    verdict = replace(question, outcome=outcome, reason=reason, findings=findings)
    return replace(verdict, exhibits=pool_exhibits(comparison)) if report else verdict


def _refuse_if_it_cannot_fail(comparison: PoolComparison) -> None:
    """``DataError`` (``cannot_fail``) if every score is 0, or GeoRisk cannot fall by more than the tolerance.

    It is at least 0, and at most the square root of the mean score.
    """
    gate, measure = comparison.gate, comparison.candidate.measure
    if measure is None or least_and_greatest(measure)[0] != 0:
        return
    refuse_without_scores(measure, comparison.scores)
    for reference in comparison.references:
        most = math.sqrt(float(np.mean(reference.scores.values)))
        if gate.tolerance >= most > 0:
            raise DataError(
                f"tolerance {gate.tolerance:g}: GeoRisk cannot fall that far, since GeoRisk of {reference.name} is "
                f"at most {most:.4f}; choose a smaller tolerance",
                reason="cannot_fail",
            )


def _refuse_if_a_silent_candidate_passes(
    comparison: PoolComparison, compared: Callable[[TopicScores, Sequence[TopicScores]], PoolComparison]
) -> None:
    """``DataError`` (``cannot_fail``) if even a candidate that scores 0 everywhere is within the tolerance."""
    candidate = comparison.candidate
    if candidate.measure is None or least_and_greatest(candidate.measure)[0] != 0:
        return
    silent = compared(replace(candidate, values=np.zeros_like(candidate.values)), comparison.baselines)
    if silent.answer[0] == "pass":
        reference = comparison.reference
        raise DataError(
            f"tolerance {comparison.gate.tolerance:g}: even a candidate that scores 0 on every topic would pass, "
            f"since GeoRisk of {reference.name} is no larger; choose a smaller tolerance",
            reason="cannot_fail",
        )


def explain(comparison: PoolComparison, *, rescored: bool) -> Findings:
    """All findings about an answer; ``rescored`` is as in ``judge_pool``."""
    failed, ruling = comparison.answer[0] == "fail", comparison.ruling if comparison.enough_topics else None
    alone, parts = without_each(comparison, failed=failed), contributions(comparison)
    found = responsible_topics(comparison, parts)
    findings = Findings(
        warnings=pool_warnings(comparison, rescored=rescored),
        topics=topic_counts(comparison.decided),
        estimates=_estimates(comparison, parts, failed=failed),
        intervals=reported(ruling.intervals, decisive=ruling.deciding.method) if ruling else (),
        responsible_topics=found.losers,
        flagged_wins=found.winners,
        power=Power(minimum_detectable_effect=comparison.minimum_detectable_effect),
        pool=_figures(comparison) if comparison.enough_topics else None,
        explanation=pool_explanation(comparison, parts, alone),
    )
    return bounded(findings, found)


def _estimates(comparison: PoolComparison, parts: FloatArray, *, failed: bool) -> Estimates:
    gate = comparison.gate
    difference = comparison.ruling.difference if comparison.enough_topics else None
    return replace(
        paired_estimates(comparison.decided),
        decision_p_value=comparison.p_value,
        flip_set=(flip_set(comparison, parts) if failed else ()) if comparison.enough_topics else None,
        zrisk=_by_name(comparison, zrisk(comparison.scores, alpha=gate.alpha, kind=gate.tradeoff)),
        georisk=_by_name(comparison, georisk(comparison.scores, alpha=gate.alpha, kind=gate.tradeoff)),
        georisk_difference=None if difference is None else difference.estimate,
    )


def _by_name(comparison: PoolComparison, values: FloatArray) -> Mapping[str, float]:
    return {name: float(value) for name, value in zip(comparison.names, values, strict=True)}


def _figures(comparison: PoolComparison) -> PoolFigures:
    return PoolFigures(
        decided_by=comparison.reference.name,
        references=tuple(_against(comparison, place) for place in range(len(comparison.references))),
    )


def _against(comparison: PoolComparison, place: int) -> AgainstReference:
    ruling = comparison.rulings[place]
    return AgainstReference(
        reference=comparison.references[place].name,
        georisk_difference=ruling.difference.estimate,
        lower=ruling.deciding.lower,
        upper=ruling.deciding.upper,
        level=ruling.level,
        p_value=ruling.p_value,
        adjusted_p_value=ruling.adjusted_p_value,
        passes=ruling.passes,
    )


def pool_exhibits(comparison: PoolComparison) -> Exhibits:
    """What the charts of a gate over a pool show; topics are those of candidate and the reference that decided."""
    parts = contributions(comparison)
    columns = topic_columns(comparison.decided, contributions=parts, standard=standardised(parts))
    return Exhibits(columns, charts_of(georisk=_curves(comparison)))


def _curves(comparison: PoolComparison) -> Lines | None:
    """GeoRisk of all systems; the smooth trade-off has no alpha to vary."""
    if comparison.gate.tradeoff != "linear":
        return None
    alphas = alphas_for(comparison.gate)
    values = [georisk(comparison.scores, alpha=alpha) for alpha in alphas]
    return Lines(alphas, {name: tuple(float(v[row]) for v in values) for row, name in enumerate(comparison.names)})
