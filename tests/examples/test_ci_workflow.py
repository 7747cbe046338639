"""What teams copy into their CI: it parses, may do no more than it must, and its shell steps do what they say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.reports.hostile import STRINGS, verdict_with

ROOT = Path(__file__).resolve().parents[2]
CI = ROOT / "examples" / "ci"


def workflow(name: str) -> Any:
    return yaml.safe_load((CI / name).read_text(encoding="utf-8"))


def steps(name: str, job: str) -> dict[str, str]:
    return {
        step["name"]: step["run"] for step in workflow(name)["jobs"][job]["steps"] if "run" in step and "name" in step
    }


SEARCH, GATE = steps("riskguard.yml", "search"), steps("riskguard.yml", "gate")
COMMENT = steps("riskguard-comment.yml", "comment")


def test_the_token_of_the_gate_may_only_read():
    found = workflow("riskguard.yml")
    assert found["permissions"] == {"contents": "read"}
    assert found[True] == "pull_request"  # YAML 1.1 reads the key `on` as true


def test_the_job_that_judges_runs_nothing_of_the_pull_request():
    jobs = workflow("riskguard.yml")["jobs"]
    (checkout,) = [step["with"] for step in jobs["gate"]["steps"] if "checkout" in step.get("uses", "")]
    assert checkout["ref"] == "${{ github.event.pull_request.base.sha }}"
    assert jobs["gate"]["needs"] == "search"
    (handed,) = [step["with"] for step in jobs["search"]["steps"] if "upload" in step.get("uses", "")]
    (fetched,) = [step["with"] for step in jobs["gate"]["steps"] if "download" in step.get("uses", "")]
    assert handed["name"] == fetched["name"]
    assert handed["path"] == "candidate.run"


def test_the_workflow_that_may_comment_runs_nothing_of_the_pull_request():
    found = workflow("riskguard-comment.yml")
    assert found["permissions"] == {}
    assert found["jobs"]["comment"]["permissions"] == {"actions": "read", "pull-requests": "write"}
    assert found[True]["workflow_run"]["workflows"] == [workflow("riskguard.yml")["name"]]
    used = [step.get("uses", "") for step in found["jobs"]["comment"]["steps"]]
    assert not any("checkout" in name for name in used)
    assert "pull_request_target" not in found[True]


@pytest.mark.parametrize("script", [*SEARCH.values(), *GATE.values(), *COMMENT.values()])
def test_no_script_has_text_of_others_pasted_into_it(script):
    assert "${{" not in script


def test_the_artifact_that_is_fetched_is_the_one_that_was_kept():
    (kept,) = [s["with"] for s in workflow("riskguard.yml")["jobs"]["gate"]["steps"] if "upload" in s.get("uses", "")]
    (fetched,) = [
        s["with"]
        for s in workflow("riskguard-comment.yml")["jobs"]["comment"]["steps"]
        if "download" in s.get("uses", "")
    ]
    assert kept["name"] == fetched["name"]
    assert kept["path"] == "verdict.json"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Two checkouts side by side, as the workflow makes them."""
    for side in ("base", "candidate"):
        shutil.copytree(ROOT / "examples", tmp_path / side / "examples")
    return tmp_path


def run_step(workspace: Path, script: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = {
        **os.environ,
        "GITHUB_ACTIONS": "true",
        "GITHUB_STEP_SUMMARY": str(workspace / "summary.md"),
        "PATH": os.pathsep.join([str(workspace / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "COLUMNS": "120",
        "PYTEST_ADDOPTS": "-p no:hypothesispytest",
        **more,
    }
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        cwd=workspace,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_improvement_passes_and_its_verdict_is_published(workspace: Path):
    assert run_step(workspace, SEARCH["Run the candidate"]).returncode == 0
    assert run_step(workspace, GATE["Run the baseline"]).returncode == 0
    gate = run_step(workspace, GATE["Gate"])
    assert gate.returncode == 0, gate.stdout + gate.stderr
    assert "::error" not in gate.stdout
    assert (workspace / "summary.md").read_text(encoding="utf-8").startswith("## riskguard: 1 gate, 1 passed")
    assert (workspace / "verdict.json").exists()


def test_a_risky_change_fails_the_step_and_its_verdict_is_published_all_the_same(workspace: Path):
    changed = SEARCH["Run the candidate"].replace("improved", "synonyms")
    assert run_step(workspace, changed).returncode == 0
    assert run_step(workspace, GATE["Run the baseline"]).returncode == 0
    gate = run_step(workspace, GATE["Gate"])
    assert gate.returncode == 1, gate.stdout + gate.stderr
    assert re.search(r"^::error title=riskguard%3A [^:]+::significantly risky", gate.stdout, re.MULTILINE)
    assert (workspace / "summary.md").read_text(encoding="utf-8").startswith("## riskguard: 1 gate, 1 failed")
    assert (workspace / "verdict.json").exists()


GH = """#!/usr/bin/env bash
# Stands for GitHub's own command: notes what it was asked, answers what the test says.
printf '%s\\n' "$*" | head -n 1 >> calls.txt
case "$*" in
  *"/pulls"*) printf '%s' "$PULL" ;;
  *"--paginate"*) printf '%s' "$FOUND" ;;
  *) cp comment.md posted.md ;;
esac
"""
EVENT = {"REPOSITORY": "team/search", "OWNER": "fork", "BRANCH": "x; touch owned #", "COMMIT": "0" * 40}


@pytest.fixture
def trusted(tmp_path: Path) -> Path:
    """A folder as the workflow that comments has it: a verdict, and GitHub's command."""
    from pytest_riskguard.reports.json import dumps

    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gh").write_text(GH)
    (tmp_path / "bin" / "gh").chmod(0o755)
    (tmp_path / "bin" / "pip").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "pip").chmod(0o755)
    (tmp_path / "verdict.json").write_text(dumps([verdict_with(STRINGS["mention"])]))
    return tmp_path


@pytest.mark.parametrize(
    ("found", "call"),
    [
        ("", "--method POST repos/team/search/issues/7/comments"),
        ("11\n12\n", "--method PATCH repos/team/search/issues/comments/11"),
    ],
)
def test_there_is_one_comment_which_is_replaced(trusted: Path, found: str, call: str):
    written = run_step(trusted, COMMENT["Write the comment"])
    assert written.returncode == 0, written.stderr
    posted = run_step(trusted, COMMENT["Post it"], PULL="7\n", FOUND=found, **EVENT)
    assert posted.returncode == 0, posted.stderr
    calls = (trusted / "calls.txt").read_text().splitlines()
    assert len(calls) == 3
    assert call in calls[2]
    text = (trusted / "posted.md").read_text(encoding="utf-8")
    assert text.startswith("<!-- riskguard -->\n## riskguard: 1 gate, 1 failed\n")
    assert "@octocat" not in text
    assert len(text) < 65_536
    assert not (trusted / "owned").exists()


def test_a_pull_request_that_moved_on_gets_no_comment(trusted: Path):
    assert run_step(trusted, COMMENT["Write the comment"]).returncode == 0
    posted = run_step(trusted, COMMENT["Post it"], PULL="", FOUND="", **EVENT)
    assert posted.returncode == 0, posted.stderr
    assert not (trusted / "posted.md").exists()


def test_what_is_no_report_is_not_posted(trusted: Path):
    (trusted / "verdict.json").write_text("@octocat")
    assert run_step(trusted, COMMENT["Write the comment"]).returncode == 3
    assert not (trusted / "comment.md").exists()


def test_gitlab_and_jenkins_keep_what_the_command_writes(tmp_path: Path):
    job = workflow("gitlab-ci.yml")["ranking risk"]
    jenkins = (CI / "Jenkinsfile").read_text(encoding="utf-8")
    command = job["script"][-1]
    assert command in re.findall(r"sh '([^']*)'", jenkins)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    ended = run_step(tmp_path, "\n".join(job["script"][1:]))
    assert ended.returncode in (0, 1), ended.stdout + ended.stderr
    kept = [job["artifacts"]["reports"]["junit"], *job["artifacts"]["paths"]]
    assert all((tmp_path / path).is_file() for path in kept)
    assert "riskguard.outcome" in (tmp_path / kept[0]).read_text(encoding="utf-8")
    assert f"testResults: '{kept[0]}', keepProperties: true" in jenkins
    assert job["artifacts"]["when"] == "always"
