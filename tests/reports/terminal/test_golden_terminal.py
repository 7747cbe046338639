"""What a person sees at 80 columns, to the letter."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.terminal import gates_table
from pytest_riskguard.reports.terminal.failure import explain
from pytest_riskguard.run_context import Detail, Screen
from tests.reports.cases import CASES
from tests.snapshots import golden

GOLDEN = Path(__file__).parent / "golden"
WIDTHS = (80,)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("case", CASES)
def test_the_message_of_a_gate(case, width):
    text = explain(CASES[case](), Screen(Detail.BRIEF, width), reproduce="pytest --riskguard riskguard.yaml::no-risk")
    golden(GOLDEN / f"{case}-{width}.txt", f"{text}\n")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_message_with_everything_there_is(width):
    golden(GOLDEN / f"everything-{width}.txt", explain(CASES["explained"](), Screen(Detail.EVERYTHING, width)) + "\n")


def test_a_message_on_a_screen_without_block_characters():
    text = explain(CASES["explained"](), Screen(Detail.BRIEF, 80))
    golden(GOLDEN / "ascii-80.txt", f"{text}\n")
    assert text.isascii()


def all_gates() -> list[tuple[str, Verdict]]:
    return [(f"riskguard.yaml::{case}", make()) for case, make in CASES.items()]


@pytest.mark.parametrize("width", WIDTHS)
def test_the_table_of_all_gates(width):
    golden(GOLDEN / f"gates-{width}.txt", "\n".join(gates_table.lines(all_gates(), Screen(width=width))) + "\n")


@pytest.mark.parametrize("width", WIDTHS)
def test_the_table_of_two_gates_of_one_kind(width):
    judged = [("riskguard.yaml::no-risk[AP-1]", CASES["loss"]()), ("tests/test_ranking.py::test_it", CASES["pass"]())]
    golden(GOLDEN / f"two-gates-{width}.txt", "\n".join(gates_table.lines(judged, Screen(width=width))) + "\n")


def test_no_file_is_left_over_from_a_test_that_is_gone():
    named = {f"{case}-{width}.txt" for case in (*CASES, "everything", "gates", "two-gates") for width in WIDTHS}
    found = {path.name for width in WIDTHS for path in GOLDEN.glob(f"*-{width}.txt")}
    assert found == named | {"ascii-80.txt"}
