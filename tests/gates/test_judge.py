"""The verdict: outcome, reason, warnings, estimates, topics."""

import json

import jsonschema
import numpy as np
import pytest

from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import json as report
from pytest_riskguard.reports.comparisons import Report
from tests.gates.conftest import pair
from tests.reports.schema import SCHEMA_FILE
from tests.strict import gate_of

RNG = np.random.default_rng(7)
LOSS = RNG.normal(-0.1, 0.1, 60)
BETTER = RNG.normal(0.1, 0.1, 60)
CHURN = np.concatenate([RNG.normal(0, 0.2, 119), [0.05]])
EXAMPLES = {"loss": LOSS, "better": BETTER, "churn": CHURN, "same": np.zeros(30), "few": LOSS[:12], "tiny": LOSS[:5]}


def codes(verdict: Verdict) -> set[str]:
    return {warning.code for warning in verdict.warnings}


@pytest.mark.parametrize(
    ("example", "alpha", "outcome", "reason"),
    [
        ("loss", 1, "fail", "loss"),
        ("loss", 0, "fail", "loss"),
        ("better", 1, "pass", None),
        ("churn", 5, "fail", "churn"),
        ("churn", 0, "pass", None),
        ("same", 1, "pass", None),
        ("tiny", 1, "inconclusive", "too_few_topics"),
    ],
)
def test_outcome_and_reason(example, alpha, outcome, reason):
    verdict = judge(gate_of("g", alpha=alpha), *pair(EXAMPLES[example]))
    assert (verdict.outcome, verdict.reason) == (outcome, reason)
    assert (verdict.decisive_interval is None) == (outcome == "inconclusive")


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_verdict_follows_the_published_schema_and_reads_back(example):
    verdict = judge(gate_of("g", alpha=1), *pair(EXAMPLES[example]))
    text = report.dumps(Report([verdict]))
    jsonschema.validate(json.loads(text), json.loads(SCHEMA_FILE.read_text()))
    data = verdict.to_dict()
    assert Verdict.from_dict(data).to_dict() == data
    assert report.dumps(Report([Verdict.from_dict(data)])) == text


def test_differences_that_no_tool_prints_are_changes_but_no_losses():
    candidate, baseline = pair([-1e-8] * 20 + [0.1] * 20)
    verdict = judge(gate_of("g"), candidate, baseline)
    assert (verdict.topics.changed, verdict.topics.wins, verdict.topics.losses, verdict.topics.ties) == (
        40,
        20,
        0,
        20,
    )
    assert len(verdict.responsible_topics) == 20


@pytest.mark.parametrize(("shift", "outcome"), [(-0.1, "fail"), (0.1, "pass")])
def test_the_same_change_everywhere_is_decided_by_the_mean_alone(shift, outcome):
    verdict = judge(gate_of("g"), *pair(np.full(30, shift)))
    assert verdict.outcome == outcome
    assert "no_variation" in codes(verdict)
    assert verdict.estimates.trisk is None


def test_a_gate_that_could_not_have_seen_the_loss_is_inconclusive():
    verdict = judge(gate_of("g", max_mde=0.01), *pair(BETTER))
    assert verdict.estimates.flip_set is None
    assert (verdict.outcome, verdict.reason) == ("inconclusive", "too_weak")
    assert not verdict.passed
    assert not judge(gate_of("g", on_inconclusive="warn"), *pair(LOSS)).passed
    assert judge(gate_of("g", max_mde=0.01, on_inconclusive="warn"), *pair(BETTER)).passed
    assert judge(gate_of("g", max_mde=0.2), *pair(BETTER)).outcome == "pass"
    seen = judge(gate_of("g"), *pair(BETTER)).power.minimum_detectable_effect
    assert judge(gate_of("g", max_mde=seen), *pair(BETTER)).outcome == "pass"


@pytest.mark.parametrize("noise", [-9e-13, 9e-13])
def test_rounding_noise_is_no_change_at_any_alpha(noise):
    verdict = judge(gate_of("g", alpha=1000), *pair(np.full(50, noise), level=0.0))
    assert (verdict.outcome, verdict.topics.changed) == ("pass", 0)
    assert verdict.estimates.urisk == verdict.estimates.mean_difference == 0.0
    assert codes(verdict) == {"no_variation", "cannot_fail"}  # the baseline scores 0 everywhere


def test_where_churn_warns_the_gate_sees_losses_of_the_mean():
    warn = judge(gate_of("g", alpha=5, on_churn="warn"), *pair(CHURN)).power.minimum_detectable_effect
    assert warn == judge(gate_of("g", alpha=0), *pair(CHURN)).power.minimum_detectable_effect


def test_a_gate_that_cannot_fail_could_have_seen_nothing():
    d = np.zeros(50)
    d[:3] = -1.0
    verdict = judge(gate_of("g", max_mde=0.5), *pair(d, level=1.0))
    assert (verdict.power.minimum_detectable_effect, verdict.reason) == (None, "too_weak")
