"""What is recorded of the place a baseline is stored from."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from pytest_riskguard.baselines import provenance
from pytest_riskguard.baselines.provenance import ci_variable, git_state


@pytest.mark.parametrize(
    ("environment", "variable"),
    [
        ({}, None),
        ({"CI": "true"}, "CI"),
        ({"CI": ""}, None),
        ({"CI": "0"}, None),
        ({"CI": "False"}, None),
        ({"CI": "false", "GITHUB_ACTIONS": "true"}, "GITHUB_ACTIONS"),
        ({"JENKINS_URL": "https://ci.example/"}, "JENKINS_URL"),
        ({"TF_BUILD": "True"}, "TF_BUILD"),
        ({"CIRCLE": "true"}, None),
    ],
)
def test_ci_is_told_by_its_variables(environment, variable, monkeypatch):
    for name in provenance._CI_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert ci_variable() == variable


@pytest.fixture
def repository(tmp_path, monkeypatch):
    for variable in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(variable, raising=False)

    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q")
    (tmp_path / "search.py").write_text("1\n")
    (tmp_path / "baselines").mkdir()
    (tmp_path / "baselines" / "scores.tsv").write_text("1\n")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    return tmp_path


def test_the_commit_is_that_of_the_repository_around_the_store(repository):
    state = git_state(repository / "baselines")
    assert state is not None
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repository, capture_output=True, text=True, check=True)
    assert state.commit == head.stdout.strip()
    assert not state.dirty


def test_changed_code_is_dirty_but_changed_baselines_and_new_files_are_not(repository):
    (repository / "baselines" / "scores.tsv").write_text("2\n")
    (repository / "new.txt").write_text("2\n")
    assert git_state(repository / "baselines").dirty is False
    (repository / "search.py").write_text("2\n")
    assert git_state(repository / "baselines").dirty is True


def test_no_repository_no_commit_and_no_git_give_none(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git_state(tmp_path) is None
    if shutil.which("git"):
        subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True, capture_output=True)
        assert git_state(tmp_path) is None
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert git_state(tmp_path) is None


def test_a_git_that_hangs_is_not_waited_for(tmp_path, monkeypatch):
    def hang(*arguments, timeout, **options):
        raise subprocess.TimeoutExpired("git", timeout)

    monkeypatch.setattr("subprocess.run", hang)
    assert git_state(tmp_path) is None


def test_a_repository_cannot_have_a_program_of_its_own_started(repository):
    hook = repository / "hook.sh"
    hook.write_text(f"#!/bin/sh\ntouch {repository}/started\n")
    hook.chmod(0o755)
    subprocess.run(["git", "config", "core.fsmonitor", str(hook)], cwd=repository, check=True)
    assert git_state(repository / "baselines") is not None
    assert not (repository / "started").exists()
