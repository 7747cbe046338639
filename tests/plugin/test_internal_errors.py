"""Code of riskguard that raises after a gate was judged: the verdict stands, one line says what failed."""

from __future__ import annotations

import tomllib

import pytest

from pytest_riskguard.reports.internal_errors import ISSUES
from tests.house import CHECKOUT
from tests.plugin.world import read_report

#: Functions that show or write a verdict: where they are looked up, and what riskguard was doing.
FAILURES = {
    "reports.terminal.failure.card": "showing a verdict",
    "reports.terminal.gates_table.lines": "listing the gates",
    "reports.files.write": "writing the report report.json",
    "reports.ci.junit.properties": "writing the properties of a verdict for JUnit XML",
    "reports.ci.github.append_summary": "writing for GitHub Actions",
    "reports.wording.paragraph": "putting a verdict into words",
    "gates.judge.explain": "computing the findings of a verdict",
    "gates.verdict.Verdict.from_dict": "reading a verdict that a test carried",
}
BREAKING = """
import pytest

def pytest_sessionstart():
    from pkgutil import resolve_name

    def broken(*arguments, **options):
        raise ZeroDivisionError("some detail")

    path = {target!r}.split(".")
    owner = resolve_name("pytest_riskguard." + ".".join(path[:-1]))
    global undo
    undo = pytest.MonkeyPatch()
    undo.setattr(owner, path[-1], broken)

def pytest_unconfigure():
    undo.undo()
"""


@pytest.fixture
def judged(pytester, project, monkeypatch):
    """Judge a candidate where one function of riskguard raises."""

    def run(target: str, candidate: str, *arguments: str) -> pytest.RunResult:
        project(candidate)
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path / "summary.md"))
        pytester.makeconftest(BREAKING.format(target=target))
        return pytester.runpytest("--riskguard", "--riskguard-report=report.json", "--junitxml=j.xml", *arguments)

    return run


WORKERS = pytest.mark.parametrize("workers", ["0", pytest.param("1", marks=pytest.mark.slow)])


@WORKERS
@pytest.mark.parametrize("target", FAILURES)
def test_a_failing_gate_keeps_its_verdict_and_one_line_says_what_failed(judged, target, workers):
    shown = ("--tb=no",) if "gates_table" in target else ()  # which repeats no failure that is on the screen
    result = judged(target, "loss", "-n", workers, *shown)
    assert result.ret == pytest.ExitCode.INTERNAL_ERROR
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            f"pytest-riskguard: internal error while {FAILURES[target]}: ZeroDivisionError: some detail; "
            "the verdict stands; please report it at https://*/issues"
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert "INTERNALERROR" not in result.stdout.str()


@WORKERS
@pytest.mark.parametrize("target", [target for target in FAILURES if "terminal" not in target])
def test_a_pass_whose_verdict_cannot_be_written_is_not_green(judged, target, workers):
    result = judged(target, "good", "-n", workers)
    assert result.ret == pytest.ExitCode.INTERNAL_ERROR
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"pytest-riskguard: internal error while {FAILURES[target]}: *"])


def test_the_bare_facts_are_shown_where_a_verdict_cannot_be_rendered(judged):
    result = judged("reports.terminal.failure.card", "loss")
    result.stdout.fnmatch_lines(
        ["fail (loss): no-risk AP", "  URisk = -0.3[0-9]*", "  topics that lost: t07 (-0.4500), t01 (-0.4000), *"]
    )


def test_the_table_of_gates_falls_back_to_the_bare_facts(judged):
    result = judged("reports.terminal.gates_table.lines", "loss", "--tb=no")
    result.stdout.fnmatch_lines(["=* riskguard =*", "fail (loss): no-risk AP", "  URisk = -0.3*"])


def test_reports_are_written_though_a_verdict_could_not_be_shown(judged, pytester):
    judged("reports.terminal.failure.card", "loss")
    (verdict,) = read_report(pytester.path / "report.json")["verdicts"]
    assert (verdict["outcome"], verdict["reason"]) == ("fail", "loss")


def test_other_ways_to_end_keep_their_exit_status(judged, pytester):
    pytester.makepyfile(test_own="import pytest\n\ndef test_own(): pytest.exit('enough')")
    assert judged("reports.files.write", "loss").ret == pytest.ExitCode.INTERRUPTED


def test_issues_are_reported_where_the_project_says():
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["urls"]["Issues"] == ISSUES
