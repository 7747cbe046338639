"""Run, titles and metadata travel with their verdicts, from workers too, and change none of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plugin.world import LOSS, read_report, write_world

YAML = """\
collection: {qrels: qrels.txt, topics: topics.tsv%s}
store: baselines
measures: [AP]
candidate: %s
gates:
  - {name: no-risk, kind: not_significantly_risky, baseline: prod, alpha: 1}
  - {name: no-risk-5, kind: not_significantly_risky, baseline: prod, alpha: 5}
"""
TEST = """
def test_b(riskguard):
    run = riskguard.run("candidate.run", metadata={"index": "v9"})
    riskguard.check("not_significantly_risky", run, "prod")
"""


@pytest.fixture
def judged(pytester, monkeypatch):
    """Judge with these settings, and return the run and its report."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "2000000000")
    write_world(pytester.path, LOSS)

    def judge(
        *arguments: str, collection: str = "", candidate: str = "candidate.run"
    ) -> tuple[pytest.RunResult, dict[str, Any]]:
        (pytester.path / "riskguard.yaml").write_text(YAML % (collection, candidate))
        result = pytester.runpytest("--riskguard", "--riskguard-report=r.json", *arguments)
        return result, read_report(pytester.path / "r.json")

    return judge


def test_a_live_candidate_has_metadata(judged, pytester):
    pytester.makepyfile(own='def ask(query): return [("good", 1.0), ("bad1", 0.5)]')
    pytester.syspathinsert()
    _, report = judged(candidate="{retrieve: 'own:ask', metadata: {a: b}}")
    assert report["provenance"]["candidate"]["metadata"] == {"a": "b"}


def test_metadata_of_the_fixture_are_checked(judged, pytester):
    pytester.makepyfile(test_b=TEST.replace('"v9"', "9"))
    result, _ = judged("--riskguard-no-yaml", "test_b.py")
    result.stdout.fnmatch_lines(["*ValueError: metadata: 'index': expected text of at most 500*"])
