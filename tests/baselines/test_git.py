"""The commit that is recorded with a baseline."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pytest_riskguard.baselines import git
from pytest_riskguard.baselines.manifest import GitState

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="this system has no git")


def git_state(store: Path) -> GitState | None:
    """What is recorded of a store's repository."""
    repository = git.Repository.around(store)
    return None if repository is None else repository.state(store)


class Repository:
    """A work tree with a tracked program and a tracked store."""

    def __init__(self, root: Path) -> None:
        self.root, self.store = root, root / "baselines"
        self.store.mkdir(parents=True)
        self.git("init", "-q")
        (root / "search.py").write_text("1\n")
        (self.store / "scores.tsv").write_text("1\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "first")
        self.head = self.git("rev-parse", "HEAD").strip()

    def git(self, *arguments: str, folder: Path | None = None) -> str:
        """Plain git, as a person runs it, which does what the repository says."""
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", *identity, *arguments],
            cwd=folder or self.root,
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.stdout

    def touch(self) -> None:
        """Make git compare a file whose content is unchanged, which runs the filter."""
        (self.root / "search.py").write_text("1\n")
        os.utime(self.root / "search.py", (1, 1))


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for variable in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(variable)


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path / "work tree")


def test_the_commit_is_that_of_the_repository_around_the_store(repository):
    state = git_state(repository.store)
    assert state.commit == repository.head
    assert not state.dirty


def test_changed_code_is_dirty_but_changed_baselines_and_new_files_are_not(repository):
    (repository.store / "scores.tsv").write_text("2\n")
    (repository.root / "new.txt").write_text("2\n")
    assert git_state(repository.store).dirty is False
    assert git_state(repository.root).dirty is False  # the store is all of the work tree
    repository.touch()
    assert git_state(repository.store).dirty is False
    (repository.root / "search.py").write_text("2\n")
    assert git_state(repository.store).dirty is True
    repository.git("add", ".")
    assert git_state(repository.store).dirty is True


def test_without_repository_commit_or_git_there_is_no_state(tmp_path, monkeypatch):
    folder = tmp_path / "folder"
    folder.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True, capture_output=True)
    assert git_state(folder) is None
    shutil.rmtree(folder / ".git")
    assert git_state(folder) is None
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert git_state(folder) is None


def test_a_work_tree_a_submodule_and_a_shallow_clone_have_a_commit(repository, tmp_path):
    repository.git("commit", "-q", "--allow-empty", "-m", "second")
    head = repository.git("rev-parse", "HEAD").strip()
    repository.git("worktree", "add", "-q", "--detach", str(tmp_path / "tree"))
    repository.git("clone", "-q", "--depth", "1", repository.root.as_uri(), str(tmp_path / "shallow"))
    repository.git("clone", "-q", "-s", str(repository.root), str(tmp_path / "shared objects"))
    allowed = ("-c", "protocol.file.allow=always")
    repository.git(*allowed, "submodule", "add", "-q", str(tmp_path / "shallow"), "part")
    for place in (tmp_path / "tree", tmp_path / "shallow", tmp_path / "shared objects", repository.root / "part"):
        state = git_state(place / "baselines")
        assert (state.commit, state.dirty) == (head, False)
        (place / "search.py").write_text("2\n")
        assert git_state(place / "baselines").dirty is True


def test_variables_that_redirect_git_do_not_count(repository, monkeypatch, tmp_path):
    other = Repository(tmp_path / "other")
    other.git("commit", "-q", "--amend", "-m", "another")
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.root))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "none"))
    assert git_state(repository.store).commit == repository.head
    assert not git_state(repository.store).dirty
