"""Gates over a pool: the rule, several references, churn, what the verdict says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.data import TopicScores
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.pool import PoolComparison
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.gates.warnings import warnings
from pytest_riskguard.risk import georisk, zrisk
from tests.gates.conftest import judge_pool, pooled, topic_scores
from tests.strict import gate_of


def gate(**options) -> Gate:
    return gate_of("g", kind="georisk_not_worse", **options)


def systems(seed: int, *, shift: float = 0.0, n: int = 40, count: int = 4) -> list[TopicScores]:
    """A pool of equal systems around common difficulties; the first is moved by so much."""
    rng = np.random.default_rng(seed)
    difficulty = rng.beta(2, 3, n)
    values = np.clip(difficulty + rng.normal(0, 0.15, (count, n)), 0.001, 1)
    values[0] = np.clip(values[0] + shift, 0, 1)
    return [topic_scores(f"s{i}", row) for i, row in enumerate(values)]


def judged(pool: list[TopicScores], **options) -> Verdict:
    return judge_pool(gate(**options), pool[0], pool[1:])


def codes(comparison: PoolComparison) -> list[str]:
    """The warnings of a gate, of which no more is wanted."""
    return [warning.code for warning in warnings(comparison)]


def ruled(pool: list[TopicScores], **options: Any) -> PoolComparison:
    """The answer alone; a whole verdict that fails takes fifty times as long, for it leaves topics out."""
    return pooled(gate(**options), *pool)


def passes(pool: list[TopicScores], **options: Any) -> bool:
    """Whether the gate passes."""
    comparison = ruled(pool, **options)
    assert not comparison.vanished
    return comparison.ruling.lets_through


def test_the_estimates_are_those_of_the_kernels():
    pool = systems(1)
    verdict = judged(pool, alpha=5.0)
    x = np.array([system.values for system in pool])
    e = verdict.estimates
    assert e.georisk == dict(zip(("s0", "s1", "s2", "s3"), georisk(x, alpha=5.0), strict=True))
    assert e.zrisk == dict(zip(("s0", "s1", "s2", "s3"), zrisk(x, alpha=5.0), strict=True))
    assert e.georisk_difference == pytest.approx(e.georisk["s0"] - e.georisk["s1"], abs=1e-14)
    assert e.baseline_mean == pytest.approx(pool[1].values.mean())


@pytest.mark.parametrize(("seed", "on_churn"), [(0, "fail"), (1, "warn")])
def test_a_gate_fails_exactly_where_its_p_value_says_so(seed, on_churn):
    pool = systems(seed, shift=-0.05)
    p = pooled(gate(alpha=5.0, on_churn=on_churn), *pool).p_value
    assert p is not None
    for level in (0.5, 0.8):
        assert passes(pool, alpha=5.0, level=level, on_churn=on_churn) == (p > 1 - level)
    verdict = judged(pool, alpha=5.0, level=0.95, on_churn=on_churn)
    assert verdict.estimates.decision_p_value == p
    assert (verdict.outcome == "fail") == (p <= 0.05)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_any_fails_by_holm_where_one_reference_is_significantly_better(seed):
    pool = systems(seed, shift=-0.03)
    alone = [ruled(pool, alpha=5.0, reference=f"s{i}").p_value for i in (1, 2, 3)]
    verdict = judged(pool, alpha=5.0, reference="any")
    assert verdict.pool is not None
    # the number of replicates is larger with several references, so p-values agree but for draws
    p = [each.p_value for each in ruled(pool, alpha=5.0, reference="any").ruling.against]
    assert p == pytest.approx(alone, abs=0.01)
    smallest = min(1.0, 3 * min(p))
    assert verdict.estimates.decision_p_value == pytest.approx(smallest, abs=1e-12)
    assert (verdict.outcome == "fail") == (smallest <= 0.05)
    if smallest < 1:
        assert verdict.pool.decided_by == f"s{1 + int(np.argmin(p))}"
    for each in verdict.pool.references:
        assert each.passes == (each.adjusted_p_value > 0.05)
        assert each.passes == (each.upper >= -1e-12)


@pytest.mark.parametrize(
    ("reference", "options"), [(None, {"alpha": 5.0}), ("s2", {"tradeoff": "smooth"}), ("median", {"alpha": 5.0})]
)
def test_topics_add_up_to_the_difference(reference, options):
    comparison = ruled(systems(4, count=5), reference=reference, **options)
    total = comparison.ruling.decisive.difference.estimate
    assert comparison.contributions.sum() == pytest.approx(total, abs=1e-14)


def test_of_several_failures_the_clearest_is_told():
    comparison = ruled(systems(0, shift=-0.12), alpha=1.0, reference="any")
    p = [one.p_value for one in comparison.ruling.against]
    assert not any(one.passes for one in comparison.ruling.against)
    assert 0 < np.argmin(p) != np.argmax(p)
    assert comparison.reference.name == f"s{1 + int(np.argmin(p))}"


def test_a_pass_says_nothing_where_losses_weigh_so_much_that_no_georisk_is_left():
    verdict = judged(systems(12), alpha=1e5)
    assert (verdict.outcome, verdict.reason) == ("inconclusive", "too_weak")


def test_churn_may_only_warn():
    rng = np.random.default_rng(0)
    difficulty = rng.beta(2, 2, 120) * 0.6 + 0.2
    pool = [difficulty + rng.normal(0, 0.01, 120) for _ in range(4)]
    pool[0] = difficulty + 0.15 * rng.choice([-1.0, 1.0], 120)
    scores = [topic_scores(f"s{i}", values) for i, values in enumerate(pool)]
    verdict = judged(scores, alpha=10.0)
    assert (verdict.outcome, verdict.reason) == ("fail", "churn")
    warned = judged(scores, alpha=10.0, on_churn="warn")
    assert (warned.outcome, warned.reason) == ("pass", None)
    assert "churn" in [notice.code for notice in warned.warnings]
    assert judged(scores, alpha=0.0).outcome == "pass"


def test_a_candidate_that_is_its_reference_does_not_differ():
    pool = systems(7)
    pool[0] = TopicScores("s0", pool[1].measure, pool[1].topics, pool[1].values)
    verdict = judged(pool, alpha=5.0)
    assert verdict.outcome == "pass"
    assert [(i.lower, i.upper) for i in verdict.intervals] == [(0, 0)] * 3
    assert [notice.code for notice in verdict.warnings][:1] == ["no_variation"]


def test_fewer_than_ten_topics_are_inconclusive_and_one_is_not_computed():
    for n in (1, 2, 9):
        verdict = judged(systems(8, n=n), alpha=5.0)
        assert (verdict.outcome, verdict.reason) == ("inconclusive", "too_few_topics")
        assert verdict.pool is None
        assert verdict.estimates.georisk is not None
    assert judged(systems(8, n=10), alpha=5.0).reason != "too_few_topics"


@pytest.mark.parametrize("n", [20, 40])
def test_both_intervals_must_fail(n):
    for seed in range(3):
        pool = systems(seed, n=n, shift=-0.04)
        comparison = pooled(gate(alpha=1.0, level=0.8), *pool)
        uppers = {interval.method: interval.upper for interval in comparison.ruling.intervals}
        assert (comparison.answer[0] == "pass") == (max(uppers["bca"], uppers["student_t"]) >= -1e-12)
        assert ("few_topics" in codes(comparison)) == (n == 20)


def test_a_topic_that_one_system_lacks_is_incomparable_unless_it_scores_zero():
    pool = systems(10, shift=0.1)
    pool[2] = TopicScores("s2", pool[2].measure, pool[2].topics[1:], pool[2].values[1:])
    verdict = judged(pool)
    assert (verdict.outcome, verdict.reason) == ("incomparable", "topics_differ")
    assert str(verdict.error).startswith("the topics differ: s2 lacks 1 topic: t00000; ")
    assert judged(pool, missing="zero").outcome in ("pass", "fail")


def test_wrong_questions_are_errors():
    pool = systems(11)
    with pytest.raises(ValueError, match="at least one baseline"):
        judge_pool(gate(), pool[0], [])
    other = TopicScores("x", "AP", pool[1].topics, pool[1].values)
    with pytest.raises(ValueError, match=r"expected scores in one measure, found nDCG@10 \(s0\), AP \(x\)"):
        judge_pool(gate(), pool[0], [other])
    with pytest.raises(ValueError, match="two baselines of a pool are called 's1'"):
        judge_pool(gate(), pool[0], [pool[1], pool[2], pool[1]])


@pytest.mark.parametrize("on_churn", ["fail", "warn"])
def test_a_gate_that_could_not_have_seen_the_loss_is_inconclusive(on_churn):
    pool = systems(14)
    seen = judged(pool, on_churn=on_churn).power.minimum_detectable_effect
    assert seen is not None
    assert judged(pool, on_churn=on_churn, max_mde=seen * 1.01).outcome == "pass"
    assert judged(pool, on_churn=on_churn, max_mde=seen * 0.99).reason == "too_weak"


@pytest.mark.parametrize("tolerance", [0.2])
def test_where_churn_is_let_through_a_loss_must_be_seen_at_the_gates_alpha_and_at_alpha_0(tolerance):
    def seen(**options):
        return judged(systems(14), **options).power.minimum_detectable_effect

    at_alpha, at_0 = seen(alpha=5.0, tolerance=tolerance), seen(alpha=0.0)
    assert seen(alpha=5.0, tolerance=tolerance, on_churn="warn") == max(at_alpha, at_0)


def test_a_candidate_that_is_one_of_several_references_is_judged_against_the_others():
    base = np.random.default_rng(3).uniform(0.4, 0.6, 40)
    candidate, same, better = (
        replace(topic_scores(name, values), digest=digest)
        for name, values, digest in (("new", base, "a"), ("old", base, "a"), ("best", base + 0.1, "b"))
    )
    asked = gate(alpha=1.0, reference="any")
    assert judge_pool(asked, candidate, [same]).reason is None
    verdict = judge_pool(asked, candidate, [same, better])
    assert (verdict.outcome, verdict.pool.decided_by) == ("fail", "best")
