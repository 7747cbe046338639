"""A candidate beside the chain of changes that its baseline went through."""

from __future__ import annotations

import json
from itertools import pairwise

import jsonschema
import numpy as np
import pytest

from pytest_riskguard.evaluation import TopicScores
from pytest_riskguard.evaluation.topics import Topics
from pytest_riskguard.gates.drift import drift
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.lineage import lineage_of, with_lineage
from pytest_riskguard.gates.spec import Gate
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import json as report
from pytest_riskguard.reports.terminal import explain
from tests.gates.conftest import topic_scores


def slide(steps: int = 4, *, n: int = 60, loss: float = 0.02) -> list[TopicScores]:
    """Runs that each lose a little against the one before, too little to be seen."""
    rng = np.random.default_rng(29)
    runs = [np.full(n, 0.6)]
    for _ in range(steps):
        runs.append(runs[-1] - loss + rng.normal(0, 0.09, n))
    return [topic_scores(f"run{i}", values) for i, values in enumerate(runs)]


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_the_chain_is_that_of_drift(alpha):
    runs = slide()
    lineage = lineage_of(Gate("g", alpha=alpha), runs[:-1], runs[-1])
    whole = drift(runs[:-1], candidate=runs[-1], alpha=alpha)
    assert lineage.accepted == 3
    assert [run.run for run in lineage.runs] == ["run0", *(step.name for step in whole.steps)]
    for run, step in zip(lineage.runs[1:], whole.steps, strict=True):
        assert run.mean == step.mean
        assert run.mean_difference == pytest.approx(step.against_previous.mean_difference, abs=1e-15)
        assert run.cumulative_mean_difference == step.against_oldest.mean_difference
        assert run.urisk == step.against_oldest.urisk
    newest = whole.steps[-1].against_oldest
    assert newest.interval is not None
    assert (lineage.lower, lineage.upper) == (newest.interval.lower, newest.interval.upper)
    assert lineage.risky is newest.risky


def test_a_slow_slide_passes_and_says_so():
    runs = slide()
    gate = Gate("g", alpha=0)
    assert all(judge(gate, later, earlier).outcome == "pass" for earlier, later in pairwise(runs))
    verdict = with_lineage(judge(gate, runs[-1], runs[-2]), gate, runs[:-1], runs[-1])
    assert verdict.outcome == "pass"
    (notice,) = [notice for notice in verdict.warnings if notice.code == "slow_slide"]
    assert notice.message.startswith(
        "passes against run3, but the mean is significantly down against run0, 3 accepted"
    )
    assert "3 accepted changes since run0; means so far, candidate last: 0.6000, " in " ".join(
        explain(verdict).split()
    )


def test_without_a_slide_nothing_is_warned_of_and_a_failure_has_its_own_words():
    runs = slide(loss=0.0)
    verdict = with_lineage(judge(Gate("g", alpha=0), runs[-1], runs[-2]), Gate("g", alpha=0), runs[:-1], runs[-1])
    assert "slow_slide" not in [notice.code for notice in verdict.warnings]
    worse = topic_scores("worse", runs[-1].values - 0.3)
    failed = with_lineage(judge(Gate("g", alpha=0), worse, runs[-1]), Gate("g", alpha=0), runs, worse)
    assert failed.outcome == "fail"
    assert failed.lineage is not None
    assert failed.lineage.risky
    assert "slow_slide" not in [notice.code for notice in failed.warnings]


def test_few_topics_have_no_interval():
    runs = slide(n=8)
    lineage = lineage_of(Gate("g"), runs[:-1], runs[-1])
    assert (lineage.lower, lineage.upper, lineage.risky) == (None, None, None)


def test_the_report_holds_the_chain_and_reads_back():
    runs = slide()
    verdict = with_lineage(judge(Gate("g"), runs[-1], runs[-2]), Gate("g"), runs[:-1], runs[-1])
    whole = json.loads(report.dumps([verdict]))
    jsonschema.validate(whole, json.loads(report.SCHEMA_FILE.read_text("utf-8")))
    assert Verdict.from_dict(whole["verdicts"][0]).to_dict() == whole["verdicts"][0]
    assert [run["run"] for run in whole["verdicts"][0]["lineage"]["runs"]] == ["run0", "run1", "run2", "run3", "run4"]


def test_one_loss_that_was_accepted_knowingly_is_no_slow_slide():
    runs = slide(loss=0.0)[:2]
    lost = topic_scores("lost", runs[-1].values - 0.3)
    gate = Gate("g", alpha=0)
    verdict = with_lineage(judge(gate, lost, lost), gate, [*runs, lost], lost)
    assert verdict.lineage is not None
    assert verdict.lineage.risky
    assert "slow_slide" not in [notice.code for notice in verdict.warnings]


def test_churn_that_adds_up_is_no_slide_of_the_mean():
    runs = slide(loss=0.0)
    gate = Gate("g", alpha=5, on_churn="warn")
    verdict = with_lineage(judge(gate, runs[-1], runs[-2]), gate, runs[:-1], runs[-1])
    assert verdict.outcome == "pass"
    assert verdict.lineage is not None
    assert verdict.lineage.risky
    assert "slow_slide" not in [notice.code for notice in verdict.warnings]


def test_the_chain_is_judged_as_the_gate_asks():
    runs = slide()
    tolerant = Gate("g", alpha=0, tolerance=0.2)
    assert not lineage_of(tolerant, runs[:-1], runs[-1]).risky
    assert lineage_of(Gate("g", alpha=0), runs[:-1], runs[-1]).risky
    weights = dict.fromkeys(runs[0].topics, 1.0) | {runs[0].topics[0]: 5.0}
    topics = Topics({}, weights=weights)
    weighted = Gate("g", alpha=0, weighted=True)
    lineage = lineage_of(weighted, runs[:-1], runs[-1], topics=topics)
    verdict = judge(weighted, runs[-1], runs[0], topics=topics)
    assert lineage.runs[-1].urisk == verdict.estimates.urisk
    assert lineage.runs[-1].mean == verdict.estimates.candidate_mean
