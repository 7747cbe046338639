"""The gates of a report: reading them back, and the words for those that were not judged."""

from dataclasses import replace

import pytest

from pytest_riskguard.errors import ReportFormatError
from pytest_riskguard.reports.comparisons import KnownGate, Report, summary, title
from pytest_riskguard.reports.json import dumps, read
from tests.reports.cases import CASES

PASSED = CASES["pass"]()


def gate(name="a", became="judged", verdicts=(0,), failures=0, line=3):
    return KnownGate(f"riskguard.yaml::{name}", line, became, failures, verdicts)


def missing(name, became="deselected"):
    return gate(name, became, ())


def test_gates_are_read_as_they_were_written(tmp_path):
    gates = (gate(failures=2), missing("b", "crashed"), replace(missing("c", "a later word"), command="a"))
    path = tmp_path / "report.json"
    path.write_text(dumps(Report([PASSED], gates)))
    assert read(path).gates == gates
    assert [verdict.to_dict() for verdict in read(path).verdicts] == [PASSED.to_dict()]


def test_a_gate_is_judged_again_by_its_command_or_by_pytest():
    own = replace(gate("b"), command="riskguard check\x1b[2J --candidate new.run")
    assert gate("a b").reproduce == "pytest --riskguard 'riskguard.yaml::a b'"
    assert own.reproduce.startswith("riskguard check")
    assert own.reproduce.isprintable()


@pytest.mark.parametrize(
    ("gates", "problem"),
    [
        ([gate(verdicts=(1,))], r"the verdict of 'riskguard.yaml::a' is missing \(verdicts\[1\]\)"),
        ([gate(verdicts=(-1,))], "is missing"),
        ([gate(verdicts=())], "is 'judged' with 0 verdicts"),
        ([gate(became="skipped")], "is 'skipped' with 1 verdict"),
        ([gate(), gate("b")], r"verdicts\[0\] belongs to 'riskguard.yaml::a' and 'riskguard.yaml::b'"),
    ],
)
def test_a_report_that_lacks_the_verdict_of_a_gate_is_refused(tmp_path, gates, problem):
    path = tmp_path / "report.json"
    path.write_text(dumps(Report([PASSED], gates)))
    with pytest.raises(ReportFormatError, match=problem):
        read(path)


def test_gates_that_ended_alike_are_listed_in_one_line():
    many = [missing(f"g{number}") for number in range(12)]
    lines = summary([gate(), *many, missing("x", "broken")])
    names = ", ".join(one.id for one in many[:10])
    assert lines == [
        f"not judged (deselected): {names} and 2 more",
        "not judged (its file cannot be read): riskguard.yaml::x",
    ]
    assert title([gate(), *many]) == "12 of 13 gates not judged"
    assert title([gate()]) == ""
    assert summary([gate(became="no_verdict", verdicts=())]) == []
