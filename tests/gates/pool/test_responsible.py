"""Topics' parts in a difference of GeoRisk, and the topics without which a gate over a pool passes."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates.flips import LeftOut
from pytest_riskguard.gates.judge import rule
from pytest_riskguard.gates.pool.responsible import (
    contributions,
    flip_set,
    pool_explanation,
    responsible_topics,
    without_each,
)
from pytest_riskguard.gates.pool.ruling import PoolComparison
from pytest_riskguard.gates.slices import slices, tagged
from pytest_riskguard.risk import georisk, topic_contributions
from tests.gates.conftest import topic_scores
from tests.strict import gate_of


def compared(x: np.ndarray, *, topics: Topics | None = None, **options: Any) -> PoolComparison:
    candidate, *baselines = (topic_scores(f"s{row}", values) for row, values in enumerate(x))
    return PoolComparison(gate_of("g", kind="georisk_not_worse", **options), candidate, baselines, topics=topics)


def normal(z: float) -> float:
    """Phi."""
    return math.erfc(-z / math.sqrt(2)) / 2


@pytest.mark.parametrize("options", [{"alpha": 5.0}, {"alpha": 0.0}, {"tradeoff": "smooth"}])
@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_a_topics_part_is_that_of_the_mean_score_and_that_of_the_shape(options, scale):
    """sqrt(m1 P1) - sqrt(m2 P2) = (m1 - m2)/(sqrt(m1) + sqrt(m2)) mean(sqrt P) + (P1 - P2)/(...) mean(sqrt m)."""
    x = np.random.default_rng(2).uniform(0.1, 0.9, (3, 15)) * scale
    comparison = compared(x, reference="s2", **options)
    gate = comparison.gate
    part = topic_contributions(x, alpha=gate.alpha, kind=gate.tradeoff)[[0, 2]] / 15
    mean, z = x[[0, 2]].mean(axis=1), part.sum(axis=1)
    p = np.array([normal(value) for value in z])
    by_score = (x[0] - x[2]) / 15 / np.sqrt(mean).sum() * np.sqrt(p).mean()
    slope = (p[0] - p[1]) / (z[0] - z[1])
    by_shape = (part[0] - part[1]) * slope / np.sqrt(p).sum() * np.sqrt(mean).mean()
    assert contributions(comparison) == pytest.approx(by_score + by_shape, abs=1e-13)


def test_for_two_middle_baselines_a_part_is_the_mean_of_both():
    x = np.random.default_rng(3).uniform(0.1, 0.9, (5, 12))
    both = [contributions(compared(x, alpha=2.0, level=0.5, reference=f"s{row}")) for row in (1, 2, 3, 4)]
    order = np.argsort(georisk(x, alpha=2.0)[1:])
    middle = (both[order[1]] + both[order[2]]) / 2
    assert contributions(compared(x, alpha=2.0, level=0.5, reference="median")) == pytest.approx(middle, abs=1e-15)


def test_systems_whose_shapes_are_all_but_the_same_have_the_slope_at_their_middle():
    base = np.random.default_rng(4).uniform(0.2, 0.8, 12)
    x = np.array([base, base[::-1], base])
    x[0, 0] += 1e-6
    parts = contributions(compared(x, alpha=1.0, reference="s2"))
    values = georisk(x, alpha=1.0)
    assert math.fsum(parts) == pytest.approx(values[0] - values[2], rel=1e-6)
    assert abs(math.fsum(parts)) > 1e-8


def test_systems_without_any_score_have_no_part_in_anything():
    x = np.zeros((3, 12))
    x[2] = 0.5
    assert contributions(compared(x, alpha=1.0)).tolist() == [0.0] * 12


class Threshold:
    """A gate that passes once at least ``needed`` topics are gone."""

    def __init__(self, n: int, needed: int) -> None:
        self.n, self.needed = n, needed
        self.candidate = SimpleNamespace(topics=tuple(f"t{i:02d}" for i in range(n)))

    def without(self, places: np.ndarray) -> SimpleNamespace:
        assert 0 < len(places) <= self.n - 10
        return SimpleNamespace(passes=len(places) >= self.needed)


@pytest.mark.parametrize("n", [10, 11, 12, 13, 30, 45])
def test_the_flip_set_is_the_fewest_of_the_worst_topics(n):
    parts = np.random.default_rng(1).permutation(n) - 5.0
    worst = [f"t{i:02d}" for i in np.argsort(parts)]
    for needed in range(1, n - 10 + 3):
        gate: Any = Threshold(n, needed)
        expected = tuple(worst[:needed]) if needed <= n - 10 else None
        assert flip_set(gate, parts) == expected


def test_topics_of_a_pool_have_their_part_and_their_slices():
    x = np.random.default_rng(6).uniform(0.2, 0.8, (3, 24))
    topics = Topics.of({}, {f"t{i:05d}": {"half": "ab"[i % 2]} for i in range(24)})
    comparison = compared(x, topics=topics, alpha=2.0, reference="s2", method="percentile", level=0.6)
    parts = contributions(comparison)
    alone = LeftOut(np.full(24, np.nan), np.zeros(24, dtype=np.bool_), False)
    losers = responsible_topics(comparison, parts).losers
    assert {row.topic for row in losers} == {f"t{i:05d}" for i in np.flatnonzero(x[0] < x[2])}
    for row in losers:
        i = int(row.topic[1:])
        assert row.contribution == pytest.approx(parts[i], abs=1e-15)
    found = pool_explanation(comparison, parts, alone)
    paired = rule(
        gate_of("g", alpha=2.0, method="percentile", level=0.6),
        topic_scores("s0", x[0]),
        topic_scores("s2", x[2]),
        topics=topics,
    )
    tested = slices(paired, tagged(paired.aligned), standard=np.zeros(24), critical=2.0)
    assert [(part.value, part.p_value) for part in found.slices] == [(part.value, part.p_value) for part in tested]
    lost = math.fsum(parts[i] for i in range(0, 24, 2) if x[0, i] < x[2, i])
    (group,) = [group for group in found.groups if (group.value, group.change) == ("a", "loss")]
    assert group.contribution == pytest.approx(lost, abs=1e-15)


@pytest.mark.parametrize(("n", "tried"), [(10, False), (11, True)])
def test_no_topic_is_left_out_of_ten(n, tried):
    base = np.random.default_rng(1).uniform(0.4, 0.6, n)
    x = np.array([base + 0.002, base, base[::-1]])
    x[0, 0] = 0.0  # without this topic it would pass
    comparison = compared(x, method="student_t", level=0.5)
    assert not comparison.passes
    assert without_each(comparison, failed=True).flips.tolist() == [tried, *[False] * (n - 1)]
    assert not without_each(comparison, failed=False).flips.any()
