"""Limits without each topic, and the topics that carry the verdict alone."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.flips import passes_without_each
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.limits import highest_p, limit_of
from pytest_riskguard.gates.pool.judge import judge_pool
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.inference.break_even import break_even
from pytest_riskguard.reports.messages import worded
from tests.gates.conftest import pair, topic_scores
from tests.strict import NotSignificantlyRisky, gate_of


def differences(rng: np.random.Generator, n: int, law: str) -> np.ndarray:
    if law == "dense":
        return rng.normal(-0.02, 0.15, n)
    if law == "grid":
        return np.round(rng.normal(-0.02, 0.2, n), 1)
    d = np.zeros(n)
    d[: int(rng.integers(5, 10))] = rng.normal(-0.1, 0.2)
    return d + np.where(d != 0, rng.normal(0, 0.05, n), 0)


@pytest.mark.parametrize(("law", "weighted"), [("dense", True), ("grid", False), ("few", True)])
@pytest.mark.parametrize(
    "gate",
    [
        gate_of("g", alpha=1),
        gate_of("g", kind="not_inferior", alpha=0, tolerance=0.05),
        gate_of("g", alpha=5, method="basic"),
        gate_of("g", alpha=2, on_churn="warn", method="percentile"),
        gate_of("g", alpha=0.5, on_churn="warn", method="student_t"),
        gate_of("g", kind="equivalent", tolerance=0.1),
    ],
    ids=lambda gate: f"{gate.kind}-{gate.method}",
)
@pytest.mark.parametrize("replicates", [0, 2])
def test_a_limit_without_a_topic_is_that_of_the_gate_on_the_others(gate, law, weighted, replicates):
    rng = np.random.default_rng([*law.encode(), weighted])
    n = 26
    weights = rng.uniform(1, 4, n) if weighted else None
    evidence = Evidence(differences(rng, n, law), rng.normal(0, 0.05, (replicates, n)), weights)
    limits, lets_through = passes_without_each(Ruling(gate, evidence), passing=Ruling(gate, evidence).lets_through)
    known = np.flatnonzero(np.isfinite(limits))
    assert known.size >= 5
    for i in known:
        deciding = Ruling(gate, evidence.without(int(i))).deciding
        assert limits[i] == pytest.approx(limit_of(gate, deciding), abs=1e-9)
    assert lets_through.tolist() == [Ruling(gate, evidence.without(i)).lets_through for i in range(n)]


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [0.0, 0.002])
def test_without_a_topic_the_break_even_test_decides_where_the_intervals_disagree(tolerance):
    """Few changes, most of them losses: without one, an interval fails, the other does not, and the test decides."""
    decided, flipped = set(), 0
    for seed in range(30):
        rng, n = np.random.default_rng(seed), 60
        d, changed = np.zeros(n), int(rng.integers(4, 14))
        d[:changed] = rng.exponential(0.1, changed) * rng.choice([-1, 1], changed, p=[0.8, 0.2])
        gate = NotSignificantlyRisky("g", alpha=float(rng.choice([0, 1, 5])), tolerance=tolerance)
        ruling = Ruling(gate, Evidence.of(np.round(d, 1) if seed % 3 == 0 else d))
        limits, lets_through = passes_without_each(ruling, passing=ruling.lets_through)
        for i in (*range(changed), n - 1):
            rest = ruling.without(i)
            decided.add((rest.reaches("bca"), rest.reaches("student_t"), rest.passes))
            assert limits[i] == pytest.approx(limit_of(gate, rest.deciding), abs=1e-9)
            assert lets_through[i] == rest.passes
            flipped += rest.passes != ruling.passes
    assert {(False, True, True), (False, True, False)} <= decided
    assert flipped > 10


@pytest.mark.slow
def test_what_is_tolerated_without_a_topic_is_that_of_the_topics_left():
    """n - 1 topics tolerate a loss of n - 1 times the tolerance; cases in which that decides."""
    told_apart = 0
    for seed in range(40):
        rng, n = np.random.default_rng(seed), 14
        d = rng.exponential(0.1, n) * rng.choice([-1, 1], n, p=[0.8, 0.2])
        ruling = Ruling(NotSignificantlyRisky("g", alpha=1.0, tolerance=0.08), Evidence.of(d))
        gains, losses, lost = ruling.evidence.stakes(1.0)
        highest = highest_p(ruling.gate)
        _, lets_through = passes_without_each(ruling, passing=ruling.lets_through)
        for i in range(n):
            assert lets_through[i] == ruling.without(i).passes
            others = np.delete(np.arange(n), i)
            p = [
                break_even(gains[others], losses[others], lost[others], tolerated=m * 0.08).p_value
                for m in (n - 1, n)
            ]
            told_apart += (p[0] <= highest) != (p[1] <= highest)
    assert told_apart > 1


def at_the_bound(seed: int, gate: Gate, *, n: int = 30) -> np.ndarray:
    """Differences whose decisive limit lies a hair from the bound, on either side of it."""
    rng = np.random.default_rng(seed)
    d = rng.normal(0.0, 0.1, n)
    low, high = -0.5, 0.5
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if Ruling(gate, Evidence.of(d + middle)).lets_through else (middle, high)
    return d + (low + high) / 2 + rng.choice([-0.004, -0.001, 0.001, 0.004])


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 3))])
@pytest.mark.parametrize(
    "gate",
    [
        gate_of("g", alpha=1, method="basic"),
        pytest.param(gate_of("g", alpha=3, on_churn="warn"), marks=pytest.mark.slow),
        gate_of("g", kind="not_inferior", alpha=0, tolerance=0.02),
    ],
    ids=lambda gate: f"{gate.kind}-{gate.method}-{gate.on_churn}",
)
def test_pivotal_topics_are_those_whose_removal_gives_the_other_verdict(seed, gate):
    d = at_the_bound(seed, gate)
    candidate, baseline = pair(d)
    verdict = judge(gate, candidate, baseline)
    assert verdict.outcome in ("pass", "fail")
    evidence = Evidence.of(candidate.values - baseline.values)
    others = [Ruling(gate, evidence.without(i)).lets_through for i in range(d.size)]
    expected = {f"t{i:05d}" for i, other in enumerate(others) if other != (verdict.outcome == "pass")}
    assert {*pivots(verdict)} == expected


@pytest.mark.slow
@pytest.mark.parametrize("on_churn", ["fail", "warn"])
def test_a_failure_that_would_be_inconclusive_without_a_topic_does_not_hang_on_it(on_churn):
    blind, sharp = (gate_of("g", alpha=1, on_churn=on_churn, max_mde=seen) for seen in (0.01, 0.9))
    found = [(judge(blind, *pair(d)), judge(sharp, *pair(d))) for d in (at_the_bound(s, sharp) for s in range(4))]
    failed = [(seen, other) for seen, other in found if seen.outcome == "fail" and pivots(other)]
    assert failed
    for seen, other in failed:
        assert other.outcome == "fail"
        assert pivots(seen) == ()
        assert "ithout " not in worded(seen).explanation.summary
        assert "ithout " in worded(other).explanation.summary


def pivots(verdict: Verdict) -> tuple[str, ...]:
    assert verdict.explanation is not None
    return verdict.explanation.pivotal_topics


def test_a_pass_hangs_on_a_win():
    d = np.append(np.linspace(-0.03, 0.01, 40), 0.5)
    verdict = judge(gate_of("g", alpha=0), *pair(d, level=0.4))
    assert verdict.outcome == "pass"
    assert pivots(verdict) == ("t00040",)


@pytest.mark.parametrize("n", [9, 10])
def test_nothing_is_left_out_where_too_few_topics_would_be_left(n):
    verdict = judge(gate_of("g"), *pair(np.linspace(-0.4, -0.1, n)))
    assert pivots(verdict) == ()


def test_a_gate_that_could_have_seen_nothing_has_no_pivotal_topic():
    verdict = judge(gate_of("g", max_mde=1e-6), *pair(np.random.default_rng(1).normal(0.1, 0.1, 40)))
    assert verdict.reason == "too_weak"
    assert pivots(verdict) == ()


def test_a_pool_that_fails_names_the_topic_that_carries_it():
    rng = np.random.default_rng(4)
    scores = np.clip(rng.beta(2, 2, 40) + rng.normal(0, 0.02, (4, 40)), 0.05, 1)
    scores[0] = scores[1] - 0.002
    scores[0, 7], scores[1:, 7] = 0.05, 0.9
    systems = [topic_scores(name, row) for name, row in zip("abcd", scores, strict=True)]
    gate = gate_of("g", kind="georisk_not_worse", alpha=1, method="student_t", level=0.5)
    verdict = judge_pool(gate, systems[0], systems[1:])
    assert verdict.outcome == "fail"
    keep = np.arange(40) != 7
    rest = [topic_scores(name, row[keep]) for name, row in zip("abcd", scores, strict=True)]
    without = judge_pool(gate, rest[0], rest[1:])
    assert ("t00007" in pivots(verdict)) == (without.outcome == "pass")
