"""The commit that is recorded with a baseline."""

import os
import shutil
from pathlib import Path

import pytest

from pytest_riskguard.baselines.git import Repository
from pytest_riskguard.baselines.manifest import GitState
from tests.repositories import NEEDS_GIT, commit, git

pytestmark = NEEDS_GIT


def git_state(store: Path) -> GitState | None:
    """What is recorded of a store's repository."""
    repository = Repository.around(store)
    return None if repository is None else repository.state(store)


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for variable in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(variable)


@pytest.fixture
def root(tmp_path):
    """A work tree with a tracked program and a tracked store."""
    root = tmp_path / "work tree"
    (root / "baselines").mkdir(parents=True)
    for name in ("search.py", "baselines/scores.tsv"):
        (root / name).write_text("1\n")
    commit(root)
    return root


def test_changed_code_is_dirty_but_changed_baselines_and_new_files_are_not(root):
    store, code = root / "baselines", root / "search.py"
    clean = GitState(git(root, "rev-parse", "HEAD"), dirty=False)
    assert git_state(store) == clean
    (store / "scores.tsv").write_text("2\n")
    (root / "new.txt").write_text("2\n")
    assert git_state(store) == clean
    assert git_state(root) == clean  # the store is all of the work tree
    os.utime(code, (1, 1))  # git compares its content
    assert git_state(store) == clean
    code.write_text("2\n")
    assert git_state(store).dirty is True
    git(root, "add", ".")
    assert git_state(store).dirty is True


def test_commits_since_another_are_counted_where_git_knows_it(root):
    first = git(root, "rev-parse", "HEAD")
    commit(root)
    commit(root)
    repository = Repository(root)
    assert [repository.commits_since(one) for one in (first, "0" * 40, "--all")] == [2, 0, 0]


def test_without_repository_commit_or_git_there_is_no_state(tmp_path, monkeypatch):
    git(tmp_path, "init", "-q")
    assert git_state(tmp_path) is None
    shutil.rmtree(tmp_path / ".git")
    assert git_state(tmp_path) is None
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert git_state(tmp_path) is None


def test_a_work_tree_a_submodule_and_a_shallow_clone_have_a_commit(root, tmp_path):
    head = commit(root, "second")
    git(root, "worktree", "add", "-q", "--detach", str(tmp_path / "tree"))
    git(root, "clone", "-q", "--depth", "1", root.as_uri(), str(tmp_path / "shallow"))
    git(root, "clone", "-q", "-s", str(root), str(tmp_path / "shared objects"))
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tmp_path / "shallow"), "part")
    for place in (tmp_path / "tree", tmp_path / "shallow", tmp_path / "shared objects", root / "part"):
        assert git_state(place / "baselines") == GitState(head, dirty=False)
        (place / "search.py").write_text("2\n")
        assert git_state(place / "baselines").dirty is True


def test_variables_that_redirect_git_do_not_count(root, monkeypatch, tmp_path):
    (tmp_path / "other").mkdir()
    commit(tmp_path / "other", "another")
    head = git(root, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other/.git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "none"))
    assert git_state(root / "baselines") == GitState(head, dirty=False)
