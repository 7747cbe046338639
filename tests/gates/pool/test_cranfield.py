"""Real runs: the 20 systems of Cranfield as a pool."""

from __future__ import annotations

import pytest

from pytest_riskguard.data import TopicScores
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Verdict
from tests.gates.conftest import judge_pool


@pytest.fixture(scope="module")
def pool(shared, cranfield):
    names = sorted(path.name[: -len(".run.gz")] for path in (shared / "data" / "cranfield_runs" / "runs").iterdir())
    return {name: cranfield(name) for name in names}


def against(pool: dict[str, TopicScores], candidate: str, **options) -> Verdict:
    # two of the systems find nothing unless every word, or every third, is there
    gate = gate_of("g", kind="georisk_not_worse", reference="bm25s_lucene", missing="zero", **options)
    return judge_pool(gate, pool[candidate], [scores for name, scores in pool.items() if name != candidate])


@pytest.mark.slow
def test_a_change_that_ruins_long_queries_fails(pool):
    assert len(pool) == 20
    verdict = against(pool, "partial_longquery_trunc")
    assert (verdict.outcome, verdict.reason) == ("fail", "loss")


@pytest.mark.slow
def test_a_change_of_five_topics_passes_for_student_t_does_not_agree(pool):
    verdict = against(pool, "bm25s_atire")
    assert verdict.outcome == "pass"
    assert verdict.topics.changed == 5
    uppers = {interval.method: interval.upper for interval in verdict.intervals}
    assert uppers["bca"] < 0 < uppers["student_t"]


@pytest.mark.slow
def test_a_better_mean_with_many_losers_fails_where_losses_weigh_ten_times_more(pool):
    for alpha in (1.0, 5.0):
        verdict = against(pool, "improved_rrf", alpha=alpha)
        assert verdict.outcome == "pass"
        assert verdict.topics.losses == 75
    assert verdict.responsible_topics
    verdict = against(pool, "improved_rrf", alpha=10.0)
    assert (verdict.outcome, verdict.reason) == ("fail", "churn")
    percentile = next(interval for interval in verdict.intervals if interval.method == "percentile")
    assert percentile.upper == pytest.approx(-0.009, abs=5e-4)
    assert pool["improved_rrf"].values.mean() > pool["bm25s_lucene"].values.mean()
