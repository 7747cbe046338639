"""Topics responsible, the set that flips the verdict, alpha*."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pytest_riskguard.gates.flips import flip_set
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.responsible import standardised_parts
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.risk.tradeoff import linear
from tests.gates.conftest import evidence, pair
from tests.strict import NotSignificantlyRisky, gate_of


def names(n: int) -> tuple[str, ...]:
    return tuple(f"t{i:05d}" for i in range(n))


@pytest.mark.parametrize("seed", range(10))
def test_the_flip_set_is_the_first_number_of_worst_topics_without_which_the_gate_passes(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 60))
    d = rng.normal(-0.06, 0.1, n) * (rng.random(n) < rng.choice([0.3, 1.0]))
    gate = gate_of("g", alpha=1, level=float(rng.choice([0.8, 0.95])))
    order = np.argsort(linear(d, alpha=1), kind="stable")
    counts = [k for k in range(n - 10 + 1) if Ruling(gate, evidence(np.delete(d, order[:k]))).lets_through]
    found = flip_set(Ruling(gate, evidence(d)), names(n))
    assert found == (tuple(names(n)[i] for i in order[: counts[0]]) if counts else None)


@pytest.mark.parametrize("seed", range(12))
def test_the_flip_set_of_a_gate_that_fails_again_without_more_topics_is_found(seed):
    """Not inferior: each topic gone takes evidence with it, so some counts in the middle alone may pass."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 26))
    d = rng.normal(0.0, 0.1, n)
    d[: int(rng.integers(1, 3))] -= 0.4
    gate = gate_of("g", kind="not_inferior", alpha=0, tolerance=float(rng.choice([0.03, 0.05, 0.07])))
    order = np.argsort(d, kind="stable")
    counts = [k for k in range(n - 10 + 1) if Ruling(gate, evidence(np.delete(d, order[:k]))).lets_through]
    found = flip_set(Ruling(gate, evidence(d)), names(n))
    assert (None if found is None else len(found)) in (counts or [None])


def test_a_gate_that_passes_needs_no_topic_removed():
    assert flip_set(Ruling(NotSignificantlyRisky("g"), evidence(np.full(30, 0.1))), names(30)) == ()


def test_a_loss_everywhere_has_no_flip_set():
    assert flip_set(Ruling(NotSignificantlyRisky("g"), evidence(np.linspace(-0.2, -0.1, 60))), names(60)) is None


def test_the_flip_set_heeds_on_churn():
    rng = np.random.default_rng(11)
    d = np.concatenate([rng.normal(0.0, 0.1, 100), [-0.9] * 8])
    warn, fail = NotSignificantlyRisky("g", alpha=5, on_churn="warn"), NotSignificantlyRisky("g", alpha=5)
    first, second = flip_set(Ruling(warn, evidence(d)), names(108)), flip_set(Ruling(fail, evidence(d)), names(108))
    assert first is not None
    assert second is None or len(first) < len(second)


def test_equal_losses_are_taken_out_in_the_order_of_topics():
    rng = np.random.default_rng(2)
    d = np.round(rng.normal(-0.1, 0.2, 60), 1)
    noisy = d + rng.normal(0, 1e-16, 60)
    gate = NotSignificantlyRisky("g", alpha=1)
    assert flip_set(Ruling(gate, evidence(d)), names(60)) == flip_set(Ruling(gate, evidence(noisy)), names(60))


def test_a_topic_is_flagged_outside_the_critical_values_and_only_there():
    """TR_i = x_i/sd against Student-t's two-sided critical value: SIGIR'14 Eq. 21, section 5.2."""
    d = np.append(np.linspace(-0.05, 0.1, 49), -0.6)
    x = np.where(d < 0, 2 * d, d)
    critical = 2.0095752  # t, 49 degrees of freedom, 0.975: any table
    outside = {f"t{i:05d}" for i in np.flatnonzero(x / x.std(ddof=1) < -critical)}
    losers = judge(gate_of("g", alpha=1), *pair(d, level=0.8)).responsible_topics
    assert outside == {"t00049"}
    assert {topic.topic for topic in losers if topic.flagged} == outside
    assert len(losers) > 10


def test_losses_by_hand():
    candidate, baseline = pair([-0.3, -0.1, 0.0, 0.2, -0.1, *[0.0] * 7])
    baseline = replace(baseline, queries={"t00000": "old", "t00001": "one"})
    candidate = replace(candidate, queries={"t00000": "new"})
    x = np.array([-0.6, -0.2, 0.0, 0.2, -0.2, *[0.0] * 7])
    verdict = judge(gate_of("g", alpha=1), candidate, baseline)
    rows = verdict.responsible_topics
    assert [(row.topic, row.query) for row in rows] == [("t00000", "new"), ("t00001", "one"), ("t00004", None)]
    assert [row.candidate for row in rows] == pytest.approx([0.2, 0.4, 0.4])
    assert [row.baseline for row in rows] == [0.5] * 3
    assert [row.difference for row in rows] == pytest.approx([-0.3, -0.1, -0.1])
    assert [row.contribution for row in rows] == pytest.approx([-0.6 / 12, -0.2 / 12, -0.2 / 12])
    assert [row.share for row in rows] == pytest.approx([0.6, 0.2, 0.2])
    assert [row.standardised for row in rows] == pytest.approx(x[[0, 1, 4]] / x.std(ddof=1))
    assert [(row.flagged, row.exceeds) for row in rows] == [(True, ()), *[(False, ())] * 2]
    assert verdict.flagged_wins == ()


def test_a_loss_that_the_baselines_noise_excuses_has_no_share():
    candidate, baseline = pair(np.full(12, -0.1))
    worse = replace(baseline, name="again", values=baseline.values - 0.2)
    rows = judge(gate_of("g", alpha=1), candidate, baseline, replicates=[worse]).responsible_topics
    assert len(rows) == 12
    assert {row.share for row in rows} == {None}
    worse = replace(worse, values=baseline.values - np.repeat([0.2, 0.0], 6))  # half of the topics are excused
    rows = judge(gate_of("g", alpha=1), candidate, baseline, replicates=[worse]).responsible_topics
    assert [row.share for row in rows] == pytest.approx([1 / 6] * 6 + [0.0] * 6)
    assert not np.signbit([row.share for row in rows]).any()  # a report shows 0, not -0


def test_the_parts_of_a_question_in_standard_deviations():
    d = np.array([-0.3, 0.1, 0.2, 0.4])
    x = np.array([-0.9, 0.1, 0.2, 0.4])
    assert standardised_parts(evidence(d), 2.0) == pytest.approx(x / x.std(ddof=1))
    assert standardised_parts(evidence([-0.3]), 2.0).tolist() == [0.0]
    assert standardised_parts(evidence([-0.3, -0.3]), 2.0).tolist() == [0.0, 0.0]
    two = np.array([-0.2, 0.1])
    assert standardised_parts(evidence(two), 0.0) == pytest.approx(two / two.std(ddof=1))
