"""The figures of two systems that a verdict holds, whatever was asked of them."""

from __future__ import annotations

import numpy as np

from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.verdict import Estimates, TopicCounts
from pytest_riskguard.inference import sign_flip
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
