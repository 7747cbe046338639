"""Verdicts on very many topics: lists are cut and say how many they leave out, and sentences count every topic."""

import numpy as np

from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates import explain
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.reports.card import Card
from tests.gates.conftest import pair

MOST = 12
RISK = gate_of("g", alpha=1)


def differences(seed: int = 1, n: int = 400) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(-0.03, 0.08, n), 3) * (rng.random(n) < 0.7)


def test_lists_hold_the_most_harmful_topics_and_say_how_many_they_leave_out(monkeypatch):
    asked = RISK, *pair(differences())
    whole = judge(*asked)
    assert "left_out" not in whole.to_dict()["topics"]
    losers, flips = whole.responsible_topics, whole.estimates.flip_set or ()
    monkeypatch.setattr(explain, "MAX_LISTED", MOST)
    cut = judge(*asked)
    assert (cut.responsible_topics, cut.estimates.flip_set) == (losers[:MOST], flips[:MOST])
    assert cut.topics.left_out == {"responsible_topics": len(losers) - MOST, "flip_set": len(flips) - MOST}


def test_topics_that_collapsed_and_the_largest_loss_are_listed_before_more_harmful_ones(monkeypatch):
    d = np.full(100, -0.04)
    d[40:50] = -0.06
    weights = {f"t{i:05d}": 0.1 if 40 <= i < 50 else 1.0 for i in range(100)}
    gate = gate_of("g", kind="no_topic_collapse", max_loss=0.05)
    monkeypatch.setattr(explain, "MAX_LISTED", MOST)
    verdict = judge(gate, *pair(d), topics=Topics({}, {}, weights))
    collapsed = {row.topic for row in verdict.responsible_topics if row.exceeds}
    assert collapsed == {f"t{i:05d}" for i in range(40, 50)}
    assert len(verdict.responsible_topics) == MOST
    assert Card(verdict).more == 0
    tags = Topics({}, {f"t{i:05d}": {"half": "ab"[i % 2]} for i in range(100)})
    assert {part.responsible for part in judge(gate, *pair(d), topics=tags).slices} == {()}
    weighted = judge(gate_of("g", alpha=1, weighted=True), *pair(d), topics=Topics({}, {}, weights))
    assert Card(weighted).largest_loss.topic in collapsed
