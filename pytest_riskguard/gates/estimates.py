"""The figures of two systems that a verdict holds, whatever was asked of them; nothing here decides."""

from __future__ import annotations

import numpy as np

from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.findings import Diagnostics, Estimates, QuantilePair
from pytest_riskguard.gates.verdict import TopicCounts
from pytest_riskguard.inference import mean_law, qq_points, shapiro_wilk, sign_flip, skewness
from pytest_riskguard.risk import counts, mean_test


def paired_estimates(comparison: Comparison) -> Estimates:
    """Means, URisk and what is made of it, and the tests of the literature; nothing of the gate's own rule."""
    gate, evidence, aligned = comparison.gate, comparison.evidence, comparison.aligned
    differences, test = comparison.differences, mean_test(evidence.scores(gate.alpha))
    return Estimates(
        candidate_mean=evidence.mean(aligned.candidate.values),
        baseline_mean=evidence.mean(aligned.baseline.values),
        mean_difference=comparison.mean_difference,
        urisk=evidence.estimate(gate.alpha),
        frisk=evidence.mean(np.maximum(0.0, -differences)) + 0.0,
        freward=evidence.mean(np.maximum(0.0, differences)),
        standard_error=test.standard_error,
        trisk=test.statistic,
        p_value=test.p_value,
        sign_flip_p_value=sign_flip(evidence.parts(0.0)).p_value,
        mean_absolute_difference=evidence.mean(np.abs(differences)),
        noise_urisk=evidence.noise_estimate(gate.alpha),
    )


def topic_counts(comparison: Comparison) -> TopicCounts:
    """How many topics, how many moved, and which were not as they should be."""
    aligned = comparison.aligned
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
    )


def diagnostics(comparison: Comparison) -> Diagnostics | None:
    """None where the scores do not vary, and for a single topic; a collapse has no law to look at."""
    if comparison.n < 2 or comparison.gate.kind == "no_topic_collapse":
        return None
    scores = comparison.evidence.scores(comparison.gate.alpha)
    skew, points, test = skewness(scores), qq_points(scores), shapiro_wilk(scores)
    if skew is None or points is None:
        return None
    return Diagnostics(
        skewness=skew,
        shapiro_wilk_w=None if test is None else test.w,
        shapiro_wilk_p_value=None if test is None else test.p_value,
        law=mean_law(scores).kind,
        quantiles=tuple(
            QuantilePair(float(normal), float(bootstrap))
            for normal, bootstrap in zip(points.normal, points.bootstrap, strict=True)
        ),
    )
