"""Verdicts on runs in which equal scores are ranked in another order than the one written."""

from dataclasses import replace

import numpy as np
import pytest

from pytest_riskguard.data import TopicScores
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.verdict import Family, Verdict
from tests.gates.conftest import judge_pool, topic_scores
from tests.strict import gate_of

pytestmark = pytest.mark.usefixtures("few_draws")

RNG = np.random.default_rng(5)
GOOD = np.clip(RNG.normal(0.6, 0.1, 40), 0.2, 1)
POOR = GOOD - RNG.uniform(0.1, 0.2, 40)
RISK = gate_of("g", alpha=1)


def scores(name: str, values: np.ndarray, written: np.ndarray | None = None) -> TopicScores:
    """Scores of a run; ``written`` are those in the order as written."""
    plain = topic_scores(name, values)
    others = {} if written is None else dict(zip(plain.topics, written.tolist(), strict=True))
    return replace(plain, measure="nDCG@10", as_written=others)


def codes(verdict: Verdict) -> list[str]:
    return [warning.code for warning in verdict.warnings]


@pytest.mark.parametrize(
    ("candidate", "baseline", "outcome"),
    [
        (scores("new", GOOD, POOR), scores("prod", GOOD), "pass as scored and fail as written"),
        (scores("new", POOR, GOOD), scores("prod", GOOD), "fail as scored and pass as written"),
        (scores("new", POOR), scores("prod", POOR, GOOD), "pass as scored and fail as written"),
        # each alone would pass, as the baseline's loss does
        (scores("new", GOOD, GOOD - 0.05), scores("prod", GOOD - 0.1, GOOD), "pass as scored and fail as written"),
    ],
)
def test_a_verdict_that_the_order_of_ties_decides_is_incomparable(candidate, baseline, outcome):
    verdict = judge(RISK, candidate, baseline)
    assert (verdict.outcome, verdict.reason) == ("incomparable", "order_as_written")
    assert f"The gate's answer is {outcome}; give each rank its own score" in str(verdict.error)


def test_a_verdict_that_ties_do_not_decide_stands_and_warns():
    verdict = judge(RISK, scores("new", GOOD + 0.1, GOOD + 0.05), scores("prod", POOR, POOR - 0.05))
    assert verdict.outcome == "pass"
    assert codes(verdict).count("order_as_written") == 2
    by_system = {w.parameters["system"]: w.parameters for w in verdict.warnings if w.code == "order_as_written"}
    assert by_system["the candidate"]["topics"] == 40
    assert by_system["the baseline"]["mean_as_written"] == pytest.approx(POOR.mean() - 0.05)


def test_runs_that_both_tie_are_compared_in_one_order_at_a_time():
    """Where scores are tied by design, the order as written differs from the other in every topic of every run."""
    docid_order = np.roll(GOOD, 1) - 0.1
    one_topic_lower = np.where(np.arange(40) == 7, 0.1, 0.0)
    candidate = scores("new", docid_order - one_topic_lower, GOOD - one_topic_lower)
    verdict = judge(RISK, candidate, scores("prod", docid_order, GOOD))
    assert (verdict.outcome, codes(verdict).count("order_as_written")) == ("pass", 2)
    pool = [scores("prod", docid_order, GOOD), scores("other", POOR)]
    gate = gate_of("g", kind="georisk_not_worse", alpha=1)
    assert judge_pool(gate, candidate, pool).outcome == "pass"


def test_the_other_order_is_judged_at_the_level_that_a_family_leaves():
    written = GOOD - np.where(np.arange(40) < 6, 0.2, 0.0)
    asked = gate_of("g", alpha=0), scores("new", GOOD, written), scores("prod", GOOD)
    found = [judge(*asked, family=family).outcome for family in (None, Family("holm", 5, 0.99, 1.0))]
    assert found == ["incomparable", "pass"]


def test_a_run_is_not_compared_with_itself_in_another_order():
    tied = replace(scores("new", GOOD, POOR), digest="sha256:0")
    assert judge(RISK, tied, replace(tied, name="prod")).outcome == "pass"


def test_topics_whose_ranks_contradict_their_scores_are_named():
    candidate = replace(scores("new", GOOD), contradicted=("t01", "t02"))
    (found,) = [w for w in judge(RISK, candidate, scores("prod", GOOD)).warnings if w.code == "order_as_written"]
    assert found.parameters == {
        "about": "rank_contradicts_score",
        "system": "the candidate",
        "topics": ("t01", "t02"),
    }


def test_replicates_are_scored_in_both_orders():
    replicates = [scores("prod/replicates/1", POOR, GOOD)]
    candidate = scores("new", GOOD - 0.1)
    alone = judge(RISK, candidate, scores("prod", GOOD), replicates=[scores("prod/replicates/1", POOR)])
    verdict = judge(RISK, candidate, scores("prod", GOOD), replicates=replicates)
    assert alone.outcome == "pass"
    assert verdict.reason == "order_as_written"


@pytest.mark.parametrize(("count", "change", "is_reordered"), [(2, 0.5, False), (3, 0.5, True), (3, 0.0011, False)])
def test_a_run_is_reordered_by_more_than_two_topics_that_change_the_average(count, change, is_reordered):
    found = scores("new", GOOD, np.where(np.arange(40) < count, GOOD - change, GOOD))
    assert (len(found.reordered), found.is_reordered) == (count, is_reordered)
