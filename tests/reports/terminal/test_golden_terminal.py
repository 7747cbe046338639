"""What a person sees at 80 columns, to the letter."""

from __future__ import annotations

from pathlib import Path

from pytest_riskguard.reports.terminal import explain, gates_table
from pytest_riskguard.run_context import Detail, Screen
from tests.reports.cases import CASES
from tests.snapshots import golden

GOLDEN = Path(__file__).parent / "golden"


def test_the_message_of_each_kind_of_gate_and_the_table_of_all():
    reproduce = "pytest --riskguard riskguard.yaml::no-risk"
    messages = [f"[{case}]\n{explain(CASES[case](), Screen(width=80), reproduce=reproduce)}\n" for case in CASES]
    gates = [(f"riskguard.yaml::{case}", make()) for case, make in CASES.items()]
    table = "\n".join(gates_table(gates, Screen(width=80)))
    golden(GOLDEN / "messages.txt", "\n".join([*messages, table, ""]))


def test_a_message_with_everything_there_is():
    golden(GOLDEN / "everything.txt", explain(CASES["explained"](), Screen(Detail.EVERYTHING, 80)) + "\n")
    assert explain(CASES["explained"](), Screen(width=80)).isascii()
