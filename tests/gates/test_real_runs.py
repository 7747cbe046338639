"""Gates on real runs: TREC 2012 Web track (Indri) and Cranfield (several engines), with planted changes."""

from pathlib import Path

import pytest

from pytest_riskguard.gates.judge import judge
from tests.strict import gate_of


def planted_topics(shared: Path) -> set[str]:
    return set((shared / "data/cranfield_runs/partial_longquery_trunc.topics.txt").read_text().split())


def test_truncated_long_queries_fail_and_every_responsible_topic_was_planted(cranfield, shared):
    candidate, baseline = cranfield("partial_longquery_trunc"), cranfield("bm25s_lucene")
    planted = planted_topics(shared)
    verdict = judge(gate_of("g", alpha=1), candidate, baseline)
    assert (verdict.outcome, verdict.reason) == ("fail", "loss")
    assert {t.topic for t in verdict.responsible_topics[:10]} <= planted
    for topic, difference in zip(candidate.topics, candidate.values - baseline.values, strict=True):
        assert topic in planted or difference == 0


def test_five_slightly_changed_topics_pass_at_alpha_0_with_a_warning_that_names_them(cranfield):
    verdict = judge(gate_of("g", alpha=1), cranfield("bm25s_atire"), cranfield("bm25s_lucene"))
    assert (verdict.outcome, verdict.reason) == ("fail", "churn")
    assert verdict.topics.changed == 5
    # only the topic that moved least but one is a win: three losses, and at least one of the two smallest
    assert verdict.estimates.break_even_p_value == pytest.approx(5 / 243, rel=1e-9)
    verdict = judge(gate_of("g", alpha=0), cranfield("bm25s_atire"), cranfield("bm25s_lucene"))
    assert verdict.outcome == "pass"
    (few,) = [w for w in verdict.warnings if w.code == "few_changed_topics"]
    assert few.parameters["topics"] == ("166", "173", "186", "2", "69")
    upper = {i.method: i.upper for i in verdict.intervals}
    assert upper["bca"] < 0 < upper["student_t"]  # BCa alone would fail it
