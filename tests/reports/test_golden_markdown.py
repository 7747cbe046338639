"""Whole Markdown reports and annotations, as somebody last looked at them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.ci.github import annotation, commands
from pytest_riskguard.reports.comparisons import Report
from pytest_riskguard.reports.markdown import render
from tests.reports.cases import CASES
from tests.reports.hostile import STRINGS, verdict_with
from tests.snapshots import golden
from tests.verdicts import altered

GOLDEN = Path(__file__).parent / "golden"


def case(name: str) -> Verdict:
    """One of the cases, as a gate of riskguard.yaml: else it would be called after the test."""
    return altered(CASES[name](), gate=name.replace(" ", "-"))


@pytest.mark.parametrize("name", ["explained", "pass", "incomparable"])
def test_a_report_of_one_gate(name):
    golden(GOLDEN / f"{name.replace(' ', '-')}.md", render(Report([case(name)])))


def test_a_report_of_many_gates_in_little_room():
    text = render(Report([case(name) for name in CASES]), limit=6_000)
    golden(GOLDEN / "little-room.md", text)


def test_a_report_of_hostile_text():
    golden(
        GOLDEN / "hostile.md", render(Report([verdict_with(STRINGS[name]) for name in ("pipes", "mention", "link")]))
    )


def test_the_annotations_of_gates_that_failed():
    failed = [verdict for verdict in map(case, CASES) if not verdict.passed]
    said = commands([annotation(verdict, file="search/riskguard.yaml", line=6) for verdict in failed])
    golden(GOLDEN / "annotations.txt", "\n".join(said) + "\n")
