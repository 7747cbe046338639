"""The main example: its data are whole, its systems deterministic, its two candidates judged as the README says."""

import csv
import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house import CHECKOUT

#: Each starts processes of its own.
pytestmark = pytest.mark.slow

EXAMPLE = CHECKOUT / "examples" / "help_center"


def queries() -> list[dict[str, str]]:
    with (EXAMPLE / "queries.tsv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def run_example(tmp_path: Path, *arguments: str, system: str | None = None) -> subprocess.CompletedProcess[str]:
    copy = tmp_path / "help_center"
    if not copy.exists():
        shutil.copytree(EXAMPLE, copy, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    env = {**os.environ, "COLUMNS": "120"}
    env.pop("HELP_CENTER_SYSTEM", None)
    if system is not None:
        env["HELP_CENTER_SYSTEM"] = system
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=copy, env=env, capture_output=True, text=True, check=False)


def test_prod_gives_the_run_that_is_stored(tmp_path):
    again = subprocess.run(
        [sys.executable, "help_search.py", "prod"], cwd=EXAMPLE, capture_output=True, check=True
    ).stdout
    with gzip.open(EXAMPLE / "baselines" / "prod" / "run.gz") as stored:
        assert again.replace(b"\r\n", b"\n") == stored.read()


def means(report: Path) -> tuple[float, float]:
    estimates = json.loads(report.read_text())["verdicts"][0]["estimates"]
    return estimates["candidate_mean"], estimates["baseline_mean"]


def test_the_improvement_passes(tmp_path):
    result = run_example(tmp_path, "--riskguard", "--riskguard-report=verdict.json")
    assert result.returncode == 0, result.stdout
    candidate, baseline = means(tmp_path / "help_center" / "verdict.json")
    assert candidate > baseline


def test_the_risky_change_raises_the_mean_and_is_caught_with_the_code_queries_in_front(tmp_path):
    result = run_example(tmp_path, "--riskguard", "--riskguard-report=verdict.json", system="synonyms")
    assert result.returncode == 1, result.stdout
    said = "13 of 15 queries that lost more than 0.30 are kind=code; at most 6 may "
    assert f"FAILED riskguard.yaml::tail - RiskyError: {said}" in result.stdout
    assert "all 9 queries that lost more than 0.50 are kind=code; none may" in result.stdout
    candidate, baseline = means(tmp_path / "help_center" / "verdict.json")
    assert candidate > baseline
    verdicts = json.loads((tmp_path / "help_center" / "verdict.json").read_text())["verdicts"]
    assert [(v["gate"], v["outcome"]) for v in verdicts] == [
        ("no-collapse", "fail"),
        ("no-risk", "pass"),
        ("tail", "fail"),
    ]
    verdict = verdicts[2]
    kinds = {row["topic"]: row["kind"] for row in queries()}
    assert [kinds[t["topic"]] for t in verdict["responsible_topics"][:8]] == ["code"] * 8
    for topic in verdict["responsible_topics"][:5]:
        assert topic["topic"] in result.stdout
        assert topic["query"] in result.stdout
