"""The brief: valid, small and ASCII whatever the verdicts hold, and never without a next command."""

import json

import pytest

from pytest_riskguard.reports.brief import MAX_GATE, brief
from pytest_riskguard.reports.comparisons import KnownGate, Report
from tests.reports.cases import CASES
from tests.reports.hostile import STRINGS, verdict_with
from tests.verdicts import altered

LONG = {"long": "word " * 1000, "wide": "🦀" * 5000, "quotes": '"' * 5000}


@pytest.mark.parametrize("text", [*STRINGS.values(), *LONG.values()], ids=[*STRINGS, *LONG])
def test_texts_of_others_leave_it_small_and_valid(text):
    gate = KnownGate(f"{text}::gate", 1, "judged", 0, (0,))
    said = brief(Report([verdict_with(text)] * 2, [gate]), 1, notes=[text], command=f"riskguard check {text}")
    head, *gates, end = said.rstrip("\n").split("\n")
    assert said.isascii()
    assert len(json.loads(said)["gates"]) == len(gates) == 2
    assert max(map(len, gates)) <= MAX_GATE + 1  # and a comma
    assert len(head) < 4000
    assert (end, "##" in said) == ("]}", False)


@pytest.mark.parametrize("case", CASES)
def test_a_failure_has_a_next_command_and_a_pass_none(case):
    verdict = CASES[case]()
    (gate,) = json.loads(brief(Report([verdict]), 0, command="riskguard check"))["gates"]
    assert gate.get("next", []) == ([] if verdict.passed else ["riskguard check"])
    assert gate["reason"]


def test_the_worst_queries_come_with_texts_and_moved_documents():
    said = json.loads(brief(Report([CASES["explained"]()]), 1))
    assert (said["answer"], said["exit"]) == ("Don't ship: 1 gate failed", 1)
    worst = said["gates"][0]["worst"][0]
    assert {"id", "query", "from", "to", "moved"} == {*worst}
    assert {"docid", "from", "to", "grade"} == {*worst["moved"][0]}


def test_gates_that_were_not_judged_are_named():
    lost = KnownGate("riskguard.yaml::tail", 3, "crashed", 0, ())
    said = json.loads(brief(Report([], [lost]), 3))
    assert said == {
        "answer": "No verdict: no gate was judged",
        "exit": 3,
        "notes": ["not judged (its worker crashed): riskguard.yaml::tail"],
        "gates": [],
    }


def test_what_no_gate_can_compare_is_said_once_with_its_remedy():
    verdict = verdict_with("x")
    stopped = altered(CASES["incomparable"](), remedy=None)
    gates = [altered(stopped, gate=name) for name in ("no-risk", "tail")]
    said = json.loads(brief(Report([*gates, verdict]), 3))["gates"]
    assert [gate["gate"] for gate in said] == ["no-risk, tail", verdict.gate]
    assert said[0]["remedy"].startswith("Correct")
