"""The GitHub workflow that teams copy: it parses, and its shell steps do what they say."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = ROOT / "examples" / "ci" / "riskguard.yml"


def steps() -> dict[str, str]:
    job = yaml.safe_load(WORKFLOW.read_text())["jobs"]["gate"]
    return {step["name"]: step["run"] for step in job["steps"] if "run" in step and "name" in step}


def test_the_token_may_only_read():
    workflow = yaml.safe_load(WORKFLOW.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow[True] == "pull_request"  # YAML 1.1 reads the key `on` as true


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Two checkouts side by side, as the workflow makes them."""
    for side in ("base", "candidate"):
        shutil.copytree(ROOT / "examples", tmp_path / side / "examples")
    return tmp_path


def run_step(workspace: Path, script: str) -> subprocess.CompletedProcess[str]:
    env = {
        **os.environ,
        "GITHUB_STEP_SUMMARY": str(workspace / "summary.md"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "120",
    }
    return subprocess.run(
        ["bash", "-e", "-c", script], cwd=workspace, env=env, capture_output=True, text=True, check=False
    )


def test_an_improvement_passes_and_its_verdict_is_published(workspace: Path):
    script = steps()
    assert run_step(workspace, script["Run both systems on the same queries"]).returncode == 0
    gate = run_step(workspace, script["Gate"])
    assert gate.returncode == 0, gate.stdout + gate.stderr
    assert run_step(workspace, script["Publish the verdict"]).returncode == 0
    assert "    PASS not significantly risky" in (workspace / "summary.md").read_text()
    assert (workspace / "verdict.json").exists()


def test_a_risky_change_fails_the_step_and_its_verdict_is_published_all_the_same(workspace: Path):
    script = steps()
    changed = script["Run both systems on the same queries"].replace("improved", "synonyms")
    assert run_step(workspace, changed).returncode == 0
    gate = run_step(workspace, script["Gate"])
    assert gate.returncode == 1, gate.stdout + gate.stderr
    assert run_step(workspace, script["Publish the verdict"]).returncode == 0
    assert "FAIL significantly risky" in (workspace / "summary.md").read_text()


def test_nothing_is_published_where_nothing_was_judged(workspace: Path):
    assert run_step(workspace, steps()["Publish the verdict"]).returncode == 0
    assert not (workspace / "summary.md").exists()
