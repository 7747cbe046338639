"""Verdicts on runs in which equal scores are ranked in another order than the one written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pytest_riskguard.engine import Engine
from pytest_riskguard.engine.sources import Computed, Question, RunFile
from pytest_riskguard.evaluation import TopicScores
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.pool.judge import judge_pool
from pytest_riskguard.gates.verdict import Verdict
from tests.gates.conftest import topic_scores
from tests.strict import gate_of

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
    assert f"The gate's answer is {outcome}; give each rank its own score" in str(verdict.problem)


def test_the_message_names_the_run_the_topics_and_both_means():
    verdict = judge(RISK, scores("new", GOOD, POOR), scores("prod", GOOD))
    means = f"mean nDCG@10 {GOOD.mean():.4f} as scored, {POOR.mean():.4f} as written"
    assert "new has equal scores (trec_eval compares 32 bits)" in str(verdict.problem)
    assert f"in 40 topics that is not the order as written: {means}" in str(verdict.problem)
    assert "prod" not in str(verdict.problem)


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


def test_a_run_is_not_compared_with_itself_in_another_order():
    tied = replace(scores("new", GOOD, POOR), digest="sha256:0")
    assert judge(RISK, tied, replace(tied, name="prod")).outcome == "pass"


@pytest.mark.parametrize(("count", "warns"), [(2, False), (3, True)])
def test_a_few_topics_are_no_warning(count, warns):
    written = GOOD + 0.1
    written[:count] -= 0.05
    verdict = judge(RISK, scores("new", GOOD + 0.1, written), scores("prod", POOR))
    assert ("order_as_written" in codes(verdict)) == warns


@pytest.mark.parametrize(("count", "loss", "outcome"), [(19, 0.1, "pass"), (21, 0.5, "incomparable")])
def test_ties_of_few_topics_of_many_decide_if_they_change_the_mean(count, loss, outcome):
    """Losses of one topic in a hundred: up to 0.001 of the mean is let through, for any number of topics."""
    base = np.full(2000, 0.7)
    written = base - np.where(np.arange(2000) < count, loss, 0.0)
    verdict = judge(RISK, scores("new", base, written), scores("prod", base))
    assert verdict.outcome == outcome
    assert judge(RISK, scores("new", written), scores("prod", base)).outcome == "fail"


@pytest.mark.parametrize(("count", "outcome"), [(2, "fail"), (3, "incomparable")])
def test_a_few_topics_decide_nothing(count, outcome):
    # five topics that fall can fail a gate, three cannot
    base = np.full(40, 0.5)
    loss = base - np.where(np.arange(40) < 5, 0.1, 0.0)
    written = np.where(np.arange(40) < 5 - count, loss, base)
    assert judge(RISK, scores("new", written), scores("prod", base)).outcome == "pass"
    assert judge(RISK, scores("new", loss, written), scores("prod", base)).outcome == outcome


def test_a_single_topic_decides_where_topics_are_judged_alone():
    gate = gate_of("g", kind="no_topic_collapse", max_loss=0.3)
    written = GOOD.copy()
    written[7] = 0.0
    assert judge(gate, scores("new", GOOD, written), scores("prod", GOOD)).reason == "order_as_written"


def test_differences_that_nobody_would_notice_are_no_warning():
    verdict = judge(RISK, scores("new", GOOD, GOOD - 0.0009), scores("prod", POOR))
    assert "order_as_written" not in codes(verdict)


def test_topics_whose_ranks_contradict_their_scores_are_named():
    candidate = replace(scores("new", GOOD), contradicted=("t01", "t02"))
    (found,) = [
        w for w in judge(RISK, candidate, scores("prod", GOOD)).warnings if w.code == "rank_contradicts_score"
    ]
    assert found.parameters == {"system": "the candidate", "topics": ("t01", "t02")}


@pytest.mark.parametrize("kind", ["not_significantly_risky", "not_inferior", "equivalent", "no_topic_collapse"])
def test_every_kind_of_gate_is_asked_in_both_orders(kind):
    options = {"no_topic_collapse": {"max_loss": 0.05}, "not_significantly_risky": {}}.get(kind, {"tolerance": 0.05})
    verdict = judge(gate_of("g", kind=kind, **options), scores("new", GOOD, POOR), scores("prod", GOOD))
    assert verdict.reason == "order_as_written"


def test_replicates_are_scored_in_both_orders():
    replicates = [scores("prod/replicates/1", POOR, GOOD)]
    candidate = scores("new", GOOD - 0.1)
    alone = judge(RISK, candidate, scores("prod", GOOD), replicates=[scores("prod/replicates/1", POOR)])
    verdict = judge(RISK, candidate, scores("prod", GOOD), replicates=replicates)
    assert alone.outcome == "pass"
    assert verdict.reason == "order_as_written"


@pytest.mark.parametrize("place", [0, 1, 2])
def test_every_system_of_a_pool_is_scored_in_both_orders(place):
    systems = [scores("new", GOOD), scores("prod", GOOD), scores("other", POOR)]
    gate = gate_of("g", kind="georisk_not_worse", alpha=1, reference="any")
    assert judge_pool(gate, systems[0], systems[1:]).outcome == "pass"
    written = POOR - 0.1 if place == 0 else GOOD + 0.2
    systems[place] = scores(systems[place].name, systems[place].values, written)
    verdict = judge_pool(gate, systems[0], systems[1:])
    assert (verdict.outcome, verdict.reason) == ("incomparable", "order_as_written")


TOPICS = [f"q{i:02d}" for i in range(30)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Runs that put the relevant document ``good`` first, last, or first only as written."""
    (tmp_path / "qrels.txt").write_text("".join(f"{t} 0 good 1\n{t} 0 z 0\n" for t in TOPICS))
    (tmp_path / "topics.tsv").write_text("topic\tquery\tkind\n" + "".join(f"{t}\t{t}\tall\n" for t in TOPICS))
    runs = {
        "good": "good 1 2,z 2 1",
        "poor": "z 1 2,good 2 1",
        "weak": "z 1 4,good 2 3",
        "tied": "good 1 1699999999,z 2 1699999998",
    }
    for name, rows in runs.items():
        lines = "".join(f"{t} Q0 {row} x\n" for t in TOPICS for row in rows.split(","))
        (tmp_path / f"{name}.run").write_text(lines)
    return tmp_path


@pytest.mark.parametrize("slice_", [None, "kind=all"])
@pytest.mark.parametrize("candidate", ["tied", "poor"])
def test_from_files_to_the_verdict(folder, candidate, slice_):
    engine = Engine(qrels=folder / "qrels.txt", topics=folder / "topics.tsv")
    gate = gate_of("g", alpha=1, slice=slice_)
    baseline = RunFile(folder / ("good.run" if candidate == "tied" else "tied.run"))
    verdict = engine.verdict(Question(gate, RunFile(folder / f"{candidate}.run"), baseline, "RR"))
    assert (verdict.outcome, verdict.reason) == ("incomparable", "order_as_written")


def test_a_computed_baseline_is_computed_in_both_orders(folder):
    engine = Engine(qrels=folder / "qrels.txt")
    computed = Computed("mean", (RunFile(folder / "tied.run"), RunFile(folder / "weak.run")))
    verdict = engine.verdict(Question(RISK, RunFile(folder / "poor.run"), computed, "RR"))
    assert verdict.reason == "order_as_written"
    assert "mean(tied, weak) has equal scores" in str(verdict.problem)
    better = engine.verdict(Question(RISK, RunFile(folder / "good.run"), computed, "RR"))
    assert better.outcome == "pass"


def test_written_scores_of_some_topics_leave_the_others() -> None:
    plain = replace(topic_scores("new", np.array([0.25, 0.5, 0.75])), measure="nDCG@10")
    first, second, third = plain.topics
    changed = replace(plain, as_written={third: 0.5, second: 0.5, first + "-gone": 1.0, "": 0.0})
    assert changed.in_written_order().values.tolist() == [0.25, 0.5, 0.5]
    assert changed.reordered == (third,)
    assert changed.in_written_order().reordered == ()
