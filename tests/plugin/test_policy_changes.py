"""A pytest run says what the judged commit changed about how it is judged: with -q, workers, on GitHub."""

import shutil

import pytest

from tests.plugin.test_reports import commands
from tests.plugin.world import edit, read_report
from tests.repositories import NEEDS_GIT, commit

pytestmark = NEEDS_GIT
SAID = "changed by this commit: tolerance of no-risk 0 -> 0.05"
FIXTURE = """
    def test_fixture(riskguard):
        riskguard.assert_not_significantly_risky(riskguard.run("candidate.run"), "prod")
"""


@pytest.fixture
def loosened(pytester, project):
    """A repository whose last commit raises the tolerance of its gate, which passes."""
    project("good")
    commit(pytester.path, "first")
    edit(pytester.path / "riskguard.yaml", "tolerance: 0,", "tolerance: 0.05,")
    commit(pytester.path, "second")
    return pytester


def test_the_summary_lists_the_changes_with_q_too_and_so_does_that_of_a_github_step(loosened, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(loosened.path / "summary.md"))
    result = loosened.runpytest("--riskguard", "-q", "--riskguard-report=r.json")
    assert result.ret == 0
    assert result.outlines.count(SAID) == 1
    assert commands(result) == []
    assert "tolerance of no-risk 0" in (loosened.path / "summary.md").read_text(encoding="utf-8")
    report = read_report(loosened.path / "r.json")
    assert report["policy_changes"] == [SAID]


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_file_that_only_tests_with_the_fixture_use_counts_too(loosened, workers):
    inner = loosened.mkdir("inner")
    for name in ("riskguard.yaml", "qrels.txt", "topics.tsv", "candidate.run"):
        shutil.copy(loosened.path / name, inner / name)
    shutil.copytree(loosened.path / "baselines", inner / "baselines")
    (inner / "test_own.py").write_text(__import__("textwrap").dedent(FIXTURE), encoding="utf-8")
    commit(loosened.path, "third")
    result = loosened.runpytest("--riskguard", "-q", "-n", workers, "--riskguard-no-yaml", "inner")
    assert "changed by this commit: inner/riskguard.yaml: riskguard.yaml added" in result.outlines


def test_github_shows_the_changes_as_a_notice(loosened, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    result = loosened.runpytest("--riskguard")
    assert result.ret == 0
    assert commands(result) == [f"::notice title=riskguard::{SAID}"]
