"""Several candidates in one table: who is in it, in what order, and in every format."""

from dataclasses import replace

import pytest

from pytest_riskguard.errors import MissingFileError
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Verdict, refused
from pytest_riskguard.reports import markdown
from pytest_riskguard.reports.comparisons import KnownGate, Report
from pytest_riskguard.reports.html.page import document
from pytest_riskguard.reports.standings import MOST, standings
from tests.plugin.world import GOOD, LOSS
from tests.reports.cases import judged
from tests.verdicts import altered


def named(verdict: Verdict, candidate: str, gate: str = "no-risk") -> Verdict:
    return replace(altered(verdict, gate=gate), candidate=candidate)


WORST, WORSE, BEST = named(judged(LOSS), "worst"), named(judged({"t01": 3}), "worse"), named(judged(GOOD), "best")
NONE = refused(
    Verdict(gate_of("no-risk"), "incomparable", None, "AP", "gone", ("prod",)),
    MissingFileError("gone.run", None, "no such file"),
)


def test_candidates_are_ranked_by_answer_and_then_by_mean():
    (table,) = standings([NONE, WORST, WORSE, BEST])
    assert [row[:2] for row in table.cells] == [
        ["best", "Ship"],
        ["worse", "Ship with care"],
        ["worst", "Don't ship"],
        ["gone", "No verdict"],
    ]
    assert [row[-1] for row in table.cells] == ["", "", "no-risk", "gone.run: no such file"]


def test_of_two_with_one_mean_the_one_with_less_risk_is_first():
    riskier = named(altered(BEST, estimates=replace(BEST.estimates, urisk=BEST.estimates.urisk - 0.1)), "a")
    (table,) = standings([riskier, BEST])
    assert [row[0] for row in table.cells] == ["best", "a"]


def test_a_candidate_is_stopped_by_each_gate_that_it_fails():
    tail = [named(judged(LOSS, "no_topic_collapse", max_loss=limit), "worst", "tail") for limit in (0.1,)]
    fine = [named(judged(GOOD, "no_topic_collapse", max_loss=0.5), "best", "tail")]
    (table,) = standings([WORST, *tail, BEST, *fine])
    assert [row[-1] for row in table.cells] == ["", "no-risk, tail"]


@pytest.mark.parametrize(
    "other",
    [
        replace(BEST, baselines=("other",)),
        replace(BEST, measure="nDCG@10"),
        named(judged(GOOD), "best", "another-gate"),
        named(judged(GOOD, alpha=5), "best"),
    ],
)
def test_candidates_that_were_asked_something_else_are_not_ranked_together(other):
    assert standings([WORST, other]) == []


def test_candidates_of_two_files_of_gates_are_not_ranked_together():
    gates = [KnownGate(f"{name}/riskguard.yaml::g", 1, "judged", 0, (place,)) for place, name in enumerate("ab")]
    assert standings([WORST, BEST], gates) == []
    assert standings([WORST]) == []


def test_every_format_has_the_table_before_the_verdicts():
    verdicts = [WORST, replace(BEST, candidate="a|b <i>")]
    text = markdown.render(Report(verdicts))
    rows = text.index("| candidate | answer |"), text.index("| <code>a&#124;b &#60;i&#62;</code> | Ship |")
    assert rows[0] < rows[1] < text.index("###")
    page = document(Report(verdicts))
    assert page.index("stopped by") < page.index('class="verdict"')
    assert "| <code>no-risk</code> <code>worst</code> |" in text
    assert "worst: Don&#39;t ship" in page
    assert '<span class="quiet">worst</span>' in page


def test_of_very_many_candidates_the_first_are_shown():
    (table,) = standings([WORST, *(named(judged(GOOD), f"c{number}") for number in range(MOST + 1))])
    assert [len(table.rows), table.rows[-1][0]] == [MOST + 1, "and 2 more"]
