"""Verdicts on very many topics: lists are cut and say how many they leave out, and sentences count every topic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pytest_riskguard.data.topics import Topics
from pytest_riskguard.gates import explain
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.card import Card
from tests.gates.conftest import pair

MOST = 12
RISK = gate_of("g", alpha=1)


def differences(seed: int = 1, n: int = 400) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(-0.03, 0.08, n), 3) * (rng.random(n) < 0.7)


def whole_and_cut(monkeypatch: pytest.MonkeyPatch, gate=RISK, d=None, **options) -> tuple[Verdict, Verdict]:
    """The same verdict with all topics in its lists, and with the first few."""
    candidate, baseline = pair(differences() if d is None else d)
    whole = judge(gate, candidate, baseline, report=True, **options)
    whole.to_dict()  # computes what is computed when first read
    monkeypatch.setattr(explain, "MAX_LISTED", MOST)
    cut = judge(gate, candidate, baseline, report=True, **options)
    cut.to_dict()
    return whole, cut


@pytest.mark.slow
def test_lists_hold_the_most_harmful_topics_and_say_how_many_they_leave_out(monkeypatch):
    whole, cut = whole_and_cut(monkeypatch)
    flips, left_out = whole.estimates.flip_set, cut.topics.left_out
    assert whole.topics.left_out == {}
    assert cut.responsible_topics == whole.responsible_topics[:MOST]
    assert left_out["responsible_topics"] == len(whole.responsible_topics) - MOST > 0
    assert cut.estimates.flip_set == flips[:MOST]
    assert left_out["flip_set"] == len(flips) - MOST > 0
    assert cut.outcome == whole.outcome == "fail"
    assert cut.estimates == replace(whole.estimates, flip_set=flips[:MOST])
    assert cut.topics == replace(whole.topics, left_out=left_out)


def test_lists_below_the_limit_are_whole_and_nothing_is_added_to_the_json():
    verdict = judge(RISK, *pair(differences()), report=True)
    assert len(verdict.responsible_topics) > MOST
    assert "left_out" not in verdict.to_dict()["topics"]


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
