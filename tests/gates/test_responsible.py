"""Topics responsible, the set that flips the verdict, alpha*."""

from dataclasses import replace

import numpy as np
import pytest

from pytest_riskguard.gates.judge import compare, judge
from pytest_riskguard.gates.verdict import Family
from tests.gates.conftest import pair
from tests.strict import gate_of


def test_a_topic_is_flagged_outside_the_critical_values_and_only_there():
    """TR_i = x_i/sd against Student-t's two-sided critical value: SIGIR'14 Eq. 21, section 5.2."""
    d = np.append(np.linspace(-0.05, 0.1, 49), -0.6)
    x = np.where(d < 0, 2 * d, d)
    critical = 2.0095752  # t, 49 degrees of freedom, 0.975: any table
    outside = {f"t{i:05d}" for i in np.flatnonzero(x / x.std(ddof=1) < -critical)}
    assert outside == {"t00049"}
    for level, family in ((0.95, None), (0.3, Family("holm", 2, 0.95, 1.0))):  # a family leaves a gate its level
        verdict = judge(gate_of("g", alpha=1, level=level), *pair(d, level=0.8), family=family)
        losers = verdict.responsible_topics
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
    for differences, alpha, expected in (
        (d, 2.0, x / x.std(ddof=1)),
        (np.array([-0.3]), 2.0, [0.0]),
        (np.array([-0.3, -0.3]), 2.0, [0.0, 0.0]),
        (np.array([-0.2, 0.1]), 0.0, np.array([-0.2, 0.1]) / np.array([-0.2, 0.1]).std(ddof=1)),
    ):
        assert compare(gate_of("g", alpha=alpha), *pair(differences)).standardised == pytest.approx(expected)
