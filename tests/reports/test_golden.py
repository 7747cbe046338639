"""Whole reports, as somebody last looked at them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import json
from pytest_riskguard.reports.ci.github import annotation, commands
from pytest_riskguard.reports.comparisons import Report
from pytest_riskguard.reports.markdown import render
from pytest_riskguard.reports.terminal import explain, gates_table
from pytest_riskguard.run_context import Screen
from tests.reports.cases import CASES
from tests.snapshots import golden, golden_json
from tests.verdicts import altered

GOLDEN = Path(__file__).parent / "golden"


def case(name: str) -> Verdict:
    """One of the cases, as a gate of riskguard.yaml: else it would be called after the test."""
    return altered(CASES[name](), gate=name)


def messages() -> str:
    """What a person sees at 80 columns of each kind of gate, and the table of all."""
    reproduce = "pytest --riskguard riskguard.yaml::no-risk"
    texts = [f"[{name}]\n{explain(CASES[name](), Screen(width=80), reproduce=reproduce)}\n" for name in CASES]
    gates = [(f"riskguard.yaml::{name}", make()) for name, make in CASES.items()]
    return "\n".join([*texts, *gates_table(gates, Screen(width=80)), ""])


def on_github() -> str:
    failed = [verdict for verdict in map(case, CASES) if not verdict.passed]
    said = commands([annotation(verdict, file="search/riskguard.yaml", line=6) for verdict in failed])
    return "\n".join(said) + "\n"


TEXTS: dict[str, Callable[[], str]] = {
    "messages.txt": messages,
    "everything.txt": lambda: (
        "\n\n".join(explain(make(), Screen(80, verbose=True)) for make in CASES.values()) + "\n"
    ),
    "annotations.txt": on_github,
    "explained.md": lambda: render(Report([case("explained")])),
    "pass.md": lambda: render(Report([case("pass")])),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_the_one_that_was_read(name):
    golden(GOLDEN / name, TEXTS[name]())


def test_a_json_report_is_the_one_that_was_read():
    report = json.plain(Report([CASES["loss"](), CASES["incomparable"]()]))
    report["generated_by"] = "pytest-riskguard 0"
    golden_json(GOLDEN / "report.json", report)
