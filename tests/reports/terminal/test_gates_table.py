"""The table of all gates at the end of a run."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.terminal import gates_table
from pytest_riskguard.run_context import Screen
from tests.plugin.world import GOOD, LOSS
from tests.reports.cases import CASES, judged
from tests.verdicts import altered

TEST = "riskguard.yaml::no-risk"


def row(verdict: Verdict, **options: Any) -> dict[str, str]:
    heading, line, *_ = gates_table.lines([(TEST, verdict)], Screen(**{"width": 120, **options}))
    return dict(zip(re.split(r" {2,}", heading), re.split(r" {2,}", line), strict=True))


def test_the_margin_is_the_distance_of_the_limit_to_the_bound():
    verdict = judged(LOSS, tolerance=0.1)
    assert verdict.decisive_interval is not None
    limit = verdict.decisive_interval.upper
    cells = row(verdict)
    assert (cells["limit"], cells["margin"]) == (f"{limit:+.4f}", f"{limit + 0.1:+.4f}")
    assert row(judged(LOSS, "not_inferior", tolerance=0.1))["limit"] == f"{verdict.decisive_interval.lower:+.4f}"


def test_the_minus_convention_has_its_signs_and_the_margin_keeps_its_own():
    plus, minus = row(judged(LOSS)), row(judged(LOSS, convention="minus"))
    assert (minus["estimate"], minus["limit"]) == ("+0.3233", plus["limit"].replace("-", "+"))
    assert minus["margin"] == plus["margin"]
    assert minus["risk"] == "URisk-(alpha-hat=2)"


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_nothing_is_cut_and_everything_keeps_to_the_screen(width):
    test = "tests/search/ranking/test_a_long_name_of_a_file.py::TestRanking::test_ranking_with_synonyms[nDCG@10-5]"
    verdicts = {f"{test}{case}": make() for case, make in CASES.items()}
    lines = gates_table.lines(list(verdicts.items()), Screen(width=width))
    assert [line for line in lines if len(line) > max(width, 82)] == []
    assert "…" not in "".join(lines)
    for figure in ("-0.9600", "-0.4667", "+0.2222", "0.5000 -> 0.3383"):
        assert figure in "\n".join(lines)


def test_a_long_node_id_is_broken_between_its_parts():
    lines = gates_table.lines([("tests/search/test_ranking.py::test_with_synonyms", judged(GOOD))], Screen(width=80))
    assert [line.split()[:2] for line in lines[1:3]] == [
        ["PASS", "tests/search/test_ranking.py::"],
        ["test_with_synonyms"],
    ]


def test_colours_are_added_only_where_they_are_wanted_and_change_nothing_else(monkeypatch):
    judgements = [("a", judged(LOSS)), ("b", judged(GOOD))]
    monkeypatch.setenv("FORCE_COLOR", "1")
    plain = gates_table.lines(judgements, Screen(width=120))
    assert "\x1b" not in "".join(plain)
    monkeypatch.setenv("NO_COLOR", "1")  # whether it counts has been decided by whoever asks
    coloured = gates_table.lines(judgements, Screen(width=120), colour=True)
    assert coloured[1].startswith("\x1b[1;31mFAIL loss\x1b[0m")
    assert coloured[2].startswith("\x1b[32mPASS")
    assert [re.sub(r"\x1b\[[\d;]*m", "", line).rstrip() for line in coloured] == plain


def test_hostile_names_and_problems_stay_on_their_line():
    hostile = "x\n::error::y\x1b[31m\u202e[red]z"
    verdict = replace(CASES["incomparable"](), problem=hostile * 50, measure="AP")
    for width in (80, 200):
        text = "\n".join(gates_table.lines([(hostile, verdict), (hostile, judged(LOSS))], Screen(width=width)))
        assert not {"\x1b", "\u202e"} & set(text)
        assert not re.search(r"^\s*(::|##\[)", text, re.MULTILINE)
        assert "[red]" in text


def test_columns_that_no_gate_fills_are_left_out():
    (heading, *_) = gates_table.lines([(TEST, CASES["incomparable"]())], Screen(width=120))
    assert heading.split() == ["outcome", "gate", "measure"]


def test_a_family_a_bound_and_the_warnings_of_a_failure_are_said_under_the_row():
    warned = altered(judged(LOSS, tolerance=0.05), warnings=judged(GOOD).warnings)
    _, _, *under = gates_table.lines([(TEST, warned)], Screen(width=120))
    assert [line.strip() for line in under] == ["bound -0.0500; warnings: refresh_baseline"]
    _, _, *under = gates_table.lines([(TEST, CASES["family"]())], Screen(width=120))
    assert [line.strip() for line in under] == ["at 98.3333% (family of 3)"]
