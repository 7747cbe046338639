"""The comment on a pull request: pending, a verdict or none, always about a named commit, never too long."""

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_riskguard.build import Build
from pytest_riskguard.gates.verdict import Origin, VerdictWarning
from pytest_riskguard.reports.ci.comment import MARKER, Run, no_verdict, pending, verdict
from pytest_riskguard.reports.comparisons import KnownGate, Report
from pytest_riskguard.reports.provenance import provenance_of
from tests.reports.cases import CASES
from tests.reports.hostile import STRINGS, verdict_with
from tests.snapshots import golden
from tests.verdicts import altered

COMMIT = "0123456789abcdef0123456789abcdef01234567"
RUN = Run(COMMIT, "https://ci.example/run/1", "https://ci.example/run/1/report.html")
PASS, FAIL = CASES["pass"](), CASES["loss"]()
#: GitHub refuses a longer comment.
MAX_CHARACTERS = 65_536


def known(became: str, *verdicts: int) -> KnownGate:
    return KnownGate(f"riskguard.yaml::{became}", 3, became, 0, verdicts)


def heading(text: str) -> str:
    lines = text.splitlines()
    assert lines[0] == MARKER
    return lines[1]


def test_while_gates_are_judged_it_says_so():
    assert heading(pending(RUN)) == "### ⏳ Judging <code>0123456</code>"
    assert "[run](<https://ci.example/run/1>)" in pending(RUN)


def test_where_a_run_left_nothing_it_says_that_nothing_is_known():
    text = no_verdict(Run(COMMIT, ended="cancelled"), "verdict.json: no such file")
    assert heading(text) == "### ⚠️ No verdict for <code>0123456</code>"
    assert "verdict.json: no such file. The run ended with <code>cancelled</code>. Nothing is known" in text
    assert heading(verdict(RUN, Report([]))) == "### ⚠️ No verdict for <code>0123456</code>"


def test_a_failure_says_what_broke_for_whom_and_what_to_do():
    warnings = tuple(VerdictWarning("changed_inputs", f"scored 0.{place} -> 0.4") for place in range(6))
    warned = altered(FAIL, warnings=warnings)
    gates = (replace(known("judged", 1), failures=2), known("crashed"))
    prod = Origin("prod", stored="2026-01-01T00:00:00Z", commits=12)
    came_from = replace(provenance_of([], Build(), "2026-02-04T00:00:00Z"), baselines=(prod,))
    report = Report([PASS, warned, altered(warned, gate="b")], gates, came_from, ["tolerance 0 -> 1"])
    golden(Path(__file__).parents[1] / "golden" / "comment.md", verdict(RUN, report))


@pytest.mark.parametrize(
    ("verdicts", "gates", "ended", "said"),
    [
        ([PASS], (), None, "### ✅ Ship <code>0123456</code>: "),
        ([PASS, altered(PASS, gate="b")], (), "success", "### ✅ Ship <code>0123456</code>: 2 gates passed"),
        ([PASS, CASES["churn-let-through"]()], (), None, "### ⚠️ Ship with care <code>0123456</code>: "),
        ([PASS], (), "failure", "### ⚠️ No verdict for <code>0123456</code>: the gates pass, but the run ended with "),
        (
            [PASS],
            (known("judged", 0), known("crashed")),
            None,
            "### ⚠️ No verdict for <code>0123456</code>: 1 of 2 gates",
        ),
        ([PASS, FAIL], (), "failure", "### ❌ Don't ship <code>0123456</code>: "),
        ([FAIL], (known("judged", 0), known("crashed")), None, "### ❌ Don't ship <code>0123456</code>: "),
        ([CASES["inconclusive"]()], (), None, "### ❌ No verdict for <code>0123456</code>: "),
        ([CASES["incomparable"]()], (), None, "### ❌ No verdict for <code>0123456</code>: "),
    ],
)
def test_the_heading_is_the_worst_that_is_known(verdicts, gates, ended, said):
    assert heading(verdict(Run(COMMIT, ended=ended), Report(verdicts, gates))).startswith(said)


@pytest.mark.parametrize("count", [1, 40])
def test_it_is_never_longer_than_github_takes(count):
    worst = verdict_with(STRINGS["long punctuation"])
    text = verdict(RUN, Report([altered(worst, gate=f"{'<' * 300}{number}") for number in range(count)]))
    assert len(text) < MAX_CHARACTERS
    assert heading(text).startswith("### ❌ Don't ship <code>0123456</code>")
