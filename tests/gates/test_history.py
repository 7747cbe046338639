"""The history of a baseline beside a verdict: each accepted run against the oldest, and the slow slide."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.findings import Lineage
from pytest_riskguard.gates.history import with_lineage
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.inference.intervals import interval
from pytest_riskguard.reports.terminal import explain
from pytest_riskguard.reports.warning_sentences import worded
from pytest_riskguard.risk import urisk
from pytest_riskguard.risk.tradeoff import linear
from pytest_riskguard.run_context import Screen
from tests.gates.conftest import topic_scores
from tests.strict import gate_of


def sliding_runs(steps: int = 4, *, n: int = 60, loss: float = 0.02) -> list[TopicScores]:
    """Runs that each lose a little against the one before, too little to be seen."""
    rng = np.random.default_rng(29)
    runs = [np.full(n, 0.6)]
    for _ in range(steps):
        runs.append(runs[-1] - loss + rng.normal(0, 0.09, n))
    return [topic_scores(f"run{i}", values) for i, values in enumerate(runs)]


def newest(gate: Gate, runs: Sequence[TopicScores], topics: Topics | None = None) -> Verdict:
    """The last run against the one before, with the chain of all."""
    verdict = judge(gate, runs[-1], runs[-2], topics=topics)
    return with_lineage(verdict, runs[:-1], runs[-1], topics=topics)


def lineage(gate: Gate, runs: Sequence[TopicScores], topics: Topics | None = None) -> Lineage:
    found = newest(gate, runs, topics).lineage
    assert found is not None
    return found


def slides(verdict: Verdict) -> bool:
    return "slow_slide" in [notice.code for notice in verdict.warnings]


@pytest.mark.parametrize("kind", ["not_significantly_risky", "georisk_not_worse"])
def test_every_figure_is_that_of_the_kernels(kind):
    """A gate over a pool has a chain by URisk, too."""
    runs = sliding_runs()
    gate = gate_of("g", kind=kind, alpha=2, level=0.9, tolerance=0.0, on_churn="fail")
    verdict = replace(judge(gate_of("g"), runs[-1], runs[-2]), asked=gate)
    chain = with_lineage(verdict, runs[:-1], runs[-1]).lineage
    assert chain is not None
    differences = [run.values - runs[0].values for run in runs]
    assert [one.run for one in chain.runs] == [run.name for run in runs]
    assert [one.mean for one in chain.runs] == pytest.approx([run.values.mean() for run in runs], rel=1e-14)
    assert [one.urisk for one in chain.runs] == pytest.approx([urisk(d, alpha=2) for d in differences], abs=1e-12)
    limits = interval(linear(differences[-1], alpha=2), method="bca", level=0.9)
    assert (chain.lower, chain.upper) == (limits.lower, limits.upper)


def test_a_slow_slide_passes_and_says_so():
    runs, gate = sliding_runs(), gate_of("g", alpha=0)
    assert all(judge(gate, later, earlier).outcome == "pass" for earlier, later in pairwise(runs))
    verdict = worded(newest(gate, runs))
    assert (verdict.outcome, slides(verdict)) == ("pass", True)
    (notice,) = [notice for notice in verdict.warnings if notice.code == "slow_slide"]
    assert notice.message.startswith("passes against run3, but the mean is significantly below that of run0: -")
    assert "3 accepted changes since run0; in total -0.0" in " ".join(explain(verdict, Screen(verbose=True)).split())


def test_what_is_no_slow_slide():
    still, gate = sliding_runs(loss=0.0), gate_of("g", alpha=0)
    lost = topic_scores("lost", still[1].values - 0.3)
    known = with_lineage(judge(gate, lost, lost), [still[1], lost, lost], lost)  # one loss, accepted knowingly
    churn = gate_of("g", alpha=1, tolerance=0.05, on_churn="warn")  # every step passes, whatever churn may do
    adds_up = newest(churn, sliding_runs(9, n=400, loss=0.0))
    for verdict in (known, adds_up):
        assert verdict.lineage is not None
        assert verdict.lineage.upper < -verdict.tolerance
        assert (verdict.outcome, slides(verdict)) == ("pass", False)
    slid = sliding_runs()
    back = newest(gate, [*slid, replace(slid[0], name="back")])  # made good
    assert back.lineage is not None
    assert back.lineage.upper >= -back.tolerance
    assert not slides(back)
    fallen = newest(gate, [*slid, lost])  # and seen to have
    assert (fallen.outcome, slides(fallen)) == ("fail", False)


@pytest.mark.parametrize("n", [1, 2, 9])
def test_with_too_few_topics_nothing_is_claimed(n):
    runs = [topic_scores(str(score), np.full(n, score)) for score in (0.5, 0.5, 0.1)]
    chain = lineage(gate_of("g", alpha=1), runs)
    assert [chain.runs[-1].mean, chain.runs[-1].urisk] == pytest.approx([0.1, -0.8])
    assert (chain.lower, chain.upper) == (None, None)


def test_runs_that_cannot_be_compared_are_refused():
    runs, verdict = sliding_runs(), newest(gate_of("g"), sliding_runs())
    other = [replace(run, qrels_digest=digest) for run, digest in zip(runs, "aabbb", strict=True)]
    for chain, message in (
        ([topic_scores("few", np.zeros(59)), *runs], "the topics differ"),
        (other, "different qrels"),
    ):
        with pytest.raises(DataError, match=message):
            with_lineage(verdict, chain[:-1], chain[-1])


def test_the_chain_is_judged_as_the_gate_asks():
    runs = sliding_runs()
    names = runs[0].topics
    limits = [lineage(gate_of("g", alpha=0, level=level), runs) for level in (0.5, 0.95)]
    assert limits[1].lower < limits[0].lower < limits[0].upper < limits[1].upper < 0
    weighted = gate_of("g", alpha=0, weighted=True)
    topics = Topics({}, weights=dict.fromkeys(names, 1.0) | {names[0]: 5.0})
    found, verdict = lineage(weighted, runs, topics), judge(weighted, runs[-1], runs[0], topics=topics)
    assert (found.runs[-1].urisk, found.runs[-1].mean) == (verdict.estimates.urisk, verdict.estimates.candidate_mean)
    clusters = Topics(dict.fromkeys(names, ""), {name: {"cluster": f"c{i // 4}"} for i, name in enumerate(names)})
    gate = gate_of("g", alpha=1)
    found, verdict = lineage(gate, runs, clusters), judge(gate, runs[-1], runs[0], topics=clusters)
    assert verdict.decisive_interval is not None
    assert (found.lower, found.upper) == (verdict.decisive_interval.lower, verdict.decisive_interval.upper)
    assert found.lower != lineage(gate, runs).lower


def test_a_slide_is_seen_against_the_oldest_run_though_not_against_the_second():
    rng = np.random.default_rng(11)
    noise = [rng.normal(0, 1, 60) for _ in range(3)]
    first, second, third = ((one - one.mean()) / one.std() for one in noise)
    oldest = topic_scores("oldest", 0.6 + 0.01 * first)
    middle = topic_scores("middle", 0.58 + 0.09 * second)
    candidate = topic_scores("candidate", 0.56 + 0.03 * third)
    gate = gate_of("g", alpha=0)
    assert judge(gate, candidate, oldest).outcome == "fail"
    verdict = newest(gate, [oldest, middle, candidate])
    assert (verdict.outcome, slides(verdict)) == ("pass", True)
