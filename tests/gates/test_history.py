"""The history of a baseline: each accepted run against the one before and the oldest, and beside a verdict."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.findings import Lineage
from pytest_riskguard.gates.history import Chain, is_risky, with_lineage
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.inference.intervals import interval
from pytest_riskguard.reports.terminal import explain
from pytest_riskguard.reports.warning_sentences import worded
from pytest_riskguard.risk import urisk
from pytest_riskguard.risk.tradeoff import linear
from pytest_riskguard.run_context import Screen
from tests.gates.conftest import topic_scores
from tests.strict import gate_of


def scores(values, name="x", measure="AP", **options):
    topics = tuple(f"t{number:03d}" for number in range(len(values)))
    return TopicScores(name, measure, topics, np.asarray(values, dtype=float), **options)


def has_slid(chain):
    """Whether the newest run is significantly risky against the oldest, but no step was."""
    return is_risky(chain.against_oldest[-1]) and not any(map(is_risky, chain.steps))


@pytest.fixture
def slide():
    """Each of five changes costs 0.004 on average, of a noise too large to see that once."""
    rng = np.random.default_rng(20240611)
    values = [rng.uniform(0.4, 0.6, 100)]
    for _ in range(5):
        noise = rng.normal(0, 0.02, 100)
        values.append(values[-1] - 0.003 + noise - noise.mean())
    return [scores(value, name=f"prod/{number}") for number, value in enumerate(values, start=1)]


def chain_of(runs, *, topics=None, **options) -> Chain:
    return Chain(gate_of("g", tolerance=0.0, **options), runs, topics)


def risky(comparisons: Sequence[Comparison]) -> list[bool]:
    return [*map(is_risky, comparisons)]


def test_every_figure_is_that_of_the_kernels(slide):
    chain = chain_of(slide, alpha=2, level=0.9)
    for number, figures in enumerate(chain.figures):
        d = slide[number].values - slide[0].values
        assert figures.run == f"prod/{number + 1}"
        assert figures.mean == pytest.approx(slide[number].values.mean(), rel=1e-14)
        assert figures.urisk == pytest.approx(urisk(d, alpha=2), rel=1e-12)
        whole = chain.against_oldest[number]
        if number:
            assert whole.ruling.deciding == interval(linear(d, alpha=2), method="bca", level=0.9)
            before = slide[number].values - slide[number - 1].values
            assert chain.steps[number - 1].mean_difference == pytest.approx(before.mean(), rel=1e-10)


def test_the_slow_slide_is_seen_against_the_oldest_only(slide):
    chain = chain_of(slide, alpha=0)
    assert risky(chain.steps) == [False] * 5
    assert risky(chain.against_oldest)[-1]
    assert has_slid(chain)
    lost = chain_of([slide[0], scores(slide[0].values - 0.1)], alpha=0)
    assert risky(lost.steps) == [True]
    assert not has_slid(lost)  # one change is no slide
    assert not has_slid(chain_of(slide[:1], alpha=0))
    back = chain_of([*slide, scores(slide[0].values, name="back")], alpha=0)  # made good
    assert not risky(back.against_oldest)[-1]
    assert not has_slid(back)


@pytest.mark.parametrize("n", [1, 2, 9])
def test_with_too_few_topics_nothing_is_claimed(n):
    chain = chain_of([scores(np.full(n, 0.5)), scores(np.full(n, 0.1))], alpha=1)
    assert [chain.figures[1].mean, chain.figures[1].urisk] == pytest.approx([0.1, -0.8])
    assert (risky(chain.against_oldest), has_slid(chain)) == ([False, False], False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: [s[0], scores(np.zeros(99))], "the topics differ"),
        (
            lambda s: [dataclasses.replace(s[0], qrels_digest="a"), dataclasses.replace(s[1], qrels_digest="b")],
            "scored with different qrels",
        ),
    ],
)
def test_what_is_no_chain_is_refused(slide, change, message):
    with pytest.raises(DataError, match=message):
        chain_of(change(slide))


def sliding_runs(steps: int = 4, *, n: int = 60, loss: float = 0.02) -> list[TopicScores]:
    """Runs that each lose a little against the one before, too little to be seen."""
    rng = np.random.default_rng(29)
    runs = [np.full(n, 0.6)]
    for _ in range(steps):
        runs.append(runs[-1] - loss + rng.normal(0, 0.09, n))
    return [topic_scores(f"run{i}", values) for i, values in enumerate(runs)]


def lineage(gate: Gate, runs: Sequence[TopicScores], **topics: Any) -> Lineage:
    verdict = with_lineage(judge(gate, runs[-1], runs[-2], **topics), runs[:-1], runs[-1], **topics)
    assert verdict.lineage is not None
    return verdict.lineage


def test_clusters_count_as_in_a_gate():
    runs = sliding_runs()
    names = runs[0].topics
    topics = Topics(dict.fromkeys(names, ""), {name: {"cluster": f"c{i // 4}"} for i, name in enumerate(names)})
    newest = chain_of(runs, alpha=1, topics=topics).against_oldest[-1].ruling.deciding
    chain = lineage(gate_of("g", alpha=1), runs, topics=topics)
    assert (newest.lower, newest.upper) == (chain.lower, chain.upper)
    assert newest != chain_of(runs, alpha=1).against_oldest[-1].ruling.deciding


def test_a_slow_slide_passes_and_says_so():
    runs = sliding_runs()
    gate = gate_of("g", alpha=0)
    assert all(judge(gate, later, earlier).outcome == "pass" for earlier, later in pairwise(runs))
    verdict = with_lineage(judge(gate, runs[-1], runs[-2]), runs[:-1], runs[-1])
    assert verdict.outcome == "pass"
    verdict = worded(verdict)
    (notice,) = [notice for notice in verdict.warnings if notice.code == "slow_slide"]
    assert notice.message.startswith("passes against run3, but the mean is significantly below that of run0: -")
    assert "3 accepted changes since run0; in total -0.0" in " ".join(explain(verdict, Screen(verbose=True)).split())


def test_one_loss_that_was_accepted_knowingly_is_no_slow_slide():
    runs = sliding_runs(loss=0.0)[:2]
    lost = topic_scores("lost", runs[-1].values - 0.3)
    gate = gate_of("g", alpha=0)
    verdict = with_lineage(judge(gate, lost, lost), [*runs, lost], lost)
    assert verdict.lineage is not None
    assert verdict.lineage.risky
    assert "slow_slide" not in [notice.code for notice in verdict.warnings]


def test_churn_that_adds_up_is_no_slide_of_the_mean():
    runs = sliding_runs(9, n=400, loss=0.0)
    gate = gate_of("g", alpha=1, tolerance=0.05, on_churn="warn")  # every step passes, whatever churn may do
    verdict = with_lineage(judge(gate, runs[-1], runs[-2]), runs[:-1], runs[-1])
    assert verdict.outcome == "pass"
    assert verdict.lineage is not None
    assert verdict.lineage.risky
    assert "slow_slide" not in [notice.code for notice in verdict.warnings]


def test_the_chain_is_judged_as_the_gate_asks():
    runs = sliding_runs()
    tolerant = gate_of("g", alpha=0, tolerance=0.2)
    assert not lineage(tolerant, runs).risky
    assert lineage(gate_of("g", alpha=0), runs).risky
    weights = dict.fromkeys(runs[0].topics, 1.0) | {runs[0].topics[0]: 5.0}
    topics = Topics({}, weights=weights)
    weighted = gate_of("g", alpha=0, weighted=True)
    newest = lineage(weighted, runs, topics=topics).runs[-1]
    verdict = judge(weighted, runs[-1], runs[0], topics=topics)
    assert newest.urisk == verdict.estimates.urisk
    assert newest.mean == verdict.estimates.candidate_mean


def test_a_slide_is_seen_against_the_oldest_run_though_not_against_the_second():
    rng = np.random.default_rng(11)
    first, second, newest = (rng.normal(0, 1, 60) for _ in range(3))
    first, second, newest = ((noise - noise.mean()) / noise.std() for noise in (first, second, newest))
    oldest = topic_scores("oldest", 0.6 + 0.01 * first)
    middle = topic_scores("middle", 0.58 + 0.09 * second)
    candidate = topic_scores("candidate", 0.56 + 0.03 * newest)
    gate = gate_of("g", alpha=0)
    assert judge(gate, candidate, oldest).outcome == "fail"
    verdict = with_lineage(judge(gate, candidate, middle), [oldest, middle], candidate)
    assert verdict.outcome == "pass"
    assert "slow_slide" in [notice.code for notice in verdict.warnings]


def test_a_gate_over_a_pool_has_a_chain_by_urisk_whatever_its_reference(slide):
    chain = Chain(gate_of("g", kind="georisk_not_worse", reference="prod", alpha=1.0), slide)
    expected = [urisk(run.values - slide[0].values, alpha=1.0) for run in slide]
    assert [figure.urisk for figure in chain.figures] == pytest.approx(expected, abs=1e-12)
    assert len(chain.steps) == len(slide) - 1
