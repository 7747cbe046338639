"""A candidate that is the baseline's own run passes every gate, and the first line says why."""

from dataclasses import replace

import numpy as np
import pytest

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Family
from pytest_riskguard.reports import words
from pytest_riskguard.reports.warning_sentences import worded
from tests.gates.conftest import judge_pool, topic_scores

pytestmark = pytest.mark.usefixtures("few_draws")

VALUES = np.round(np.random.default_rng(3).uniform(0.2, 1.0, 40), 3)
SAYS = "identical to prod"
RISKY, FAMILY = "not_significantly_risky", Family("joint_flips", 2, 0.95, 1.0)


def run(name: str, digest: str = "same", values: np.ndarray = VALUES) -> TopicScores:
    return replace(topic_scores(name, values), digest=f"sha256:{digest}")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"alpha": 5.0, "level": 0.999},
        {"max_mde": 1e-6},
        {"kind": "not_inferior", "tolerance": 0.02},
        {"kind": "not_inferior"},
        {"kind": "equivalent", "tolerance": 0.02},
        {"kind": "no_topic_collapse"},
    ],
)
def test_the_same_run_passes_every_gate(options):
    verdict = worded(judge(gate_of("g", **options), run("candidate"), run("prod"), family=FAMILY))
    assert (verdict.outcome, verdict.reason, verdict.identical_to) == ("pass", None, ("prod",))
    assert words.line(verdict) == SAYS
    assert verdict.summary.endswith("The candidate is the same run as prod: no ranking changed.")
    assert verdict.warnings == ()
    asks_at_any_alpha = verdict.kind not in ("equivalent", "no_topic_collapse")
    assert verdict.estimates.alpha_star == ("any" if asks_at_any_alpha else None)


@pytest.mark.parametrize(("kind", "count"), [(RISKY, 1), (RISKY, 5), ("georisk_not_worse", 5)])
def test_the_same_run_passes_even_with_few_topics(kind, count):
    few = [run(name, values=VALUES[:count]) for name in ("candidate", "prod")]
    verdict = worded(judge(gate_of("g", kind=kind), *few))
    assert (verdict.outcome, verdict.identical_to) == ("pass", ("prod",))
    assert words.line(verdict) == SAYS


def test_replicates_that_are_better_than_the_baseline_do_not_fail_it():
    better = [run(f"r{i}", digest=f"r{i}", values=np.minimum(VALUES + 0.1 * i, 1.0)) for i in (1, 2, 3)]
    verdict = judge(gate_of("g"), run("candidate"), run("prod"), replicates=better)
    assert (verdict.outcome, verdict.estimates.decision_p_value) == ("pass", 1.0)


def test_neither_the_digest_nor_the_scores_alone_are_enough():
    lower = np.maximum(VALUES - 0.2, 0.0)
    verdict = judge(gate_of("g"), run("candidate", values=lower), run("prod"))
    assert (verdict.outcome, verdict.identical_to) == ("fail", ())
    verdict = worded(judge(gate_of("g"), run("candidate", digest="other"), run("prod")))
    assert (verdict.outcome, verdict.identical_to) == ("pass", ())
    assert words.line(verdict) == "nothing changed; 40 queries score as before"
    assert {warning.code for warning in verdict.warnings} == {"no_variation"}
    assert judge(gate_of("g", kind="not_inferior"), run("candidate", digest="other"), run("prod")).outcome == "fail"
    without = [topic_scores(name, VALUES) for name in ("candidate", "prod")]
    assert judge(gate_of("g"), *without).identical_to == ()


def test_a_pool_says_which_baseline_it_is():
    old = run("old", digest="old", values=np.minimum(VALUES + 0.3, 1.0))
    gate = gate_of("g", kind="georisk_not_worse")
    verdict = worded(judge_pool(gate, run("candidate"), [run("prod"), old]))
    assert (verdict.outcome, verdict.identical_to) == ("pass", ("prod",))
    assert (words.line(verdict), verdict.warnings) == (SAYS, ())
    verdict = worded(judge_pool(gate, run("candidate"), [old, run("prod")]))  # compared with the better one
    assert (verdict.outcome, verdict.identical_to) == ("fail", ("prod",))
    assert words.line(verdict).startswith("riskier than old")
