"""What a verdict says in numbers beside its rule: estimates, tests of the literature, counts, diagnostics."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.findings import (
    Diagnostics,
    EffectSizes,
    Estimates,
    QuantilePair,
    ReportedEffect,
    ReportedInterval,
    StratumFigures,
    Tail,
    TopicCounts,
)
from pytest_riskguard.gates.kinds import NoTopicCollapse
from pytest_riskguard.gates.ruling import Comparison, Ruling
from pytest_riskguard.inference import Interval, sign_flip
from pytest_riskguard.inference._bootstrap.choice import mean_law
from pytest_riskguard.inference.effect_sizes import share, standardised_mean
from pytest_riskguard.inference.normality import qq_points, shapiro_wilk, skewness
from pytest_riskguard.risk import counts
from pytest_riskguard.risk.urisk import mean_test


def reported(intervals: Iterable[Interval], *, decisive: str | None) -> tuple[ReportedInterval, ...]:
    """Intervals as the verdict has them; ``decisive`` is the method of the one that decided."""
    return tuple(ReportedInterval(i.method, i.level, i.lower, i.upper, i.method == decisive) for i in intervals)


def paired_estimates(comparison: Comparison) -> Estimates:
    """Means, URisk and figures derived from it, and the tests of the literature; not the gate's own rule."""
    evidence, aligned = comparison.evidence, comparison.aligned
    differences, ruling = comparison.differences, comparison.ruling
    return Estimates(
        candidate_mean=evidence.mean(aligned.candidate.values),
        baseline_mean=evidence.mean(aligned.baseline.values),
        mean_difference=comparison.mean_difference,
        urisk=ruling.estimate,
        frisk=evidence.mean(np.maximum(0.0, -differences)) + 0.0,
        freward=evidence.mean(np.maximum(0.0, differences)),
        standard_error=ruling.test.standard_error,
        trisk=ruling.test.statistic,
        p_value=ruling.test.p_value,
        sign_flip_p_value=sign_flip(evidence.sums(0.0)).p_value,
        break_even_p_value=None if comparison.gate.by_topic else ruling.break_even,
        effect_sizes=_effect_sizes(ruling),
        mean_absolute_difference=evidence.mean(np.abs(differences)),
        win_loss_ratio=_win_loss_ratio(evidence),
        noise_urisk=evidence.noise_estimate(comparison.gate.alpha),
        tail=_tail(comparison),
    )


def _tail(comparison: Comparison) -> Tail | None:
    """How many topics lost more than they may, if the gate is about that."""
    gate, topics = comparison.gate, comparison.aligned.topics
    if not isinstance(gate, NoTopicCollapse):
        return None
    count, allowed = len(comparison.collapsed), gate.most(comparison.n)
    if topics.weights or topics.clusters or topics.shares:
        return Tail(count, allowed, None, None)
    limits = share(count, comparison.n, level=gate.level)
    return Tail(count, allowed, limits.lower, limits.upper)


def _win_loss_ratio(evidence: Evidence) -> float | None:
    """The mean win over the mean loss; None without one of either."""
    d = evidence.differences
    won, lost = (evidence.mean((sign * d > 0).astype(np.float64)) for sign in (1.0, -1.0))
    if won == 0 or lost == 0:
        return None
    return evidence.mean(np.maximum(0.0, d)) / won / (evidence.mean(np.maximum(0.0, -d)) / lost)


def _effect_sizes(ruling: Ruling) -> EffectSizes | None:
    """Effect sizes at the gate's level; None for kinds that ask no limit of URisk."""
    gate = ruling.gate
    if not ruling.has_intervals or gate.is_pool:
        return None
    standardised = loss_share = None
    if ruling.deviation > 0:
        units, freedom = ruling.evidence.units, ruling.sample.degrees_of_freedom
        d = standardised_mean(ruling.estimate, ruling.deviation, units, level=gate.level, freedom=freedom)
        standardised = ReportedEffect(d.value, d.lower, d.upper)
    if (lost := ruling.evidence.stakes(ruling.alpha)[2]).size:
        losses = share(int(np.count_nonzero(lost)), lost.size, level=gate.level)
        loss_share = ReportedEffect(losses.value, losses.lower, losses.upper)
    return EffectSizes(standardised, loss_share)


def topic_counts(comparison: Comparison) -> TopicCounts:
    """How many topics there are, how many moved, and which were missing or unknown."""
    aligned, evidence = comparison.aligned, comparison.evidence
    tally = counts(aligned.candidate.values, aligned.baseline.values)
    return TopicCounts(
        count=comparison.n,
        changed=comparison.changed,
        wins=tally.wins,
        losses=tally.losses,
        ties=tally.ties,
        losses_over_20_percent=tally.losses_over_20_percent,
        missing_in_candidate=aligned.missing_in_candidate,
        missing_in_baseline=aligned.missing_in_baseline,
        unknown_in_candidate=aligned.candidate.unknown,
        without_relevant=tuple(sorted({*aligned.candidate.without_relevant, *aligned.baseline.without_relevant})),
        clusters=0 if evidence.clusters is None else evidence.units,
        effective=None if comparison.gate.by_topic else evidence.effective_topics(comparison.gate.alpha),
        strata=stratum_figures(evidence, comparison.gate.alpha),
    )


def stratum_figures(evidence: Evidence, alpha: float) -> tuple[StratumFigures, ...]:
    """What each stratum says on its own, the largest first; none without strata."""
    if evidence.strata is None:
        return ()
    strata = zip(evidence.strata.names, evidence.strata.shares.tolist(), evidence.by_stratum, strict=True)
    return tuple(
        StratumFigures(
            stratum=name,
            share=share,
            count=part.n,
            changed=part.changed(alpha),
            mean_difference=part.mean(part.differences),
            urisk=part.estimate(alpha),
            standard_error=mean_test(part.scores(alpha)).standard_error,
        )
        for name, share, (_, part) in strata
    )


def diagnostics(comparison: Comparison) -> Diagnostics | None:
    """How normal the scores are; None where they do not vary, for a single topic, and if single topics decide."""
    if comparison.n < 2 or comparison.gate.by_topic:
        return None
    scores, sample = comparison.ruling.scores, comparison.ruling.sample
    skew, points, test = skewness(sample), qq_points(sample), shapiro_wilk(scores)
    if skew is None or points is None:
        return None
    return Diagnostics(
        skewness=skew,
        shapiro_wilk_w=None if test is None else test.w,
        shapiro_wilk_p_value=None if test is None else test.p_value,
        law=mean_law(sample).kind,
        quantiles=tuple(
            QuantilePair(float(normal), float(bootstrap))
            for normal, bootstrap in zip(points.normal, points.bootstrap, strict=True)
        ),
    )
