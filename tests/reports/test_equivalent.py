"""What reports say of equivalence, where wins may be what stands in the way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import html
from pytest_riskguard.reports.card import card
from pytest_riskguard.reports.markdown import render as markdown
from pytest_riskguard.reports.terminal.failure import explain
from pytest_riskguard.reports.wording import worded
from pytest_riskguard.run_context import Detail, Screen
from tests.gates.conftest import pair

WON = np.concatenate([[0.4, 0.3, 0.3], np.zeros(17), [-0.02], np.full(20, 0.001)])


def judged(differences: np.ndarray, tolerance: float, **options: object) -> Verdict:
    return worded(judge(gate_of("g", "equivalent", tolerance=tolerance, **options), *pair(differences), report=True))


def test_too_large_a_gain_is_told_as_one():
    verdict = judged(WON, 0.02)
    said = card(verdict)
    assert said.line.startswith("not shown to be equivalent; a gain of ")
    assert "23 of 41 queries improved" in said.paragraph
    assert "although 1 query got worse" in said.paragraph
    assert "it may be as high as" in said.paragraph
    assert [topic.topic for topic in said.worst[:3]] == ["t00000", "t00001", "t00002"]
    assert "must stay between -0.02" in said.why
    text = explain(verdict, Screen(Detail.STATISTICS))
    assert "of gain" in text
    assert "largest" in text
    assert "Worst" not in markdown([verdict])


def test_too_large_a_loss_is_told_as_any_other():
    verdict = judged(-WON, 0.02)
    assert "23 of 41 queries got worse" in card(verdict).paragraph
    assert "it may be as low as" in card(verdict).paragraph


def test_a_pass_says_between_what_it_lies():
    verdict = judged(WON, 0.1)
    assert card(verdict).line.startswith("shown to be equivalent; the mean moved by at most ")
    assert "is shown to lie between -0.10 and +0.10" in card(verdict).paragraph
    assert "1 query got worse" in card(verdict).paragraph


def test_intervals_that_chance_explains_are_told_so():
    verdict = replace(judged(WON, 0.1), outcome="fail", reason="not_shown")
    assert "its interval does, but wins and losses by chance alone look like this" in card(verdict).paragraph


def test_the_page_lists_the_largest_wins():
    page = html.render([judged(WON, 0.02)])
    assert "Largest wins" in page
    assert "share of gain" in page
    assert "All 23 that improved" in page
