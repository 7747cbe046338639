"""What the judged commit changed about how it is judged, in real repositories of git."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_riskguard.baselines.store import Store
from pytest_riskguard.config.base_commit import policy_changes
from tests.plugin import world
from tests.repositories import NEEDS_GIT, commit, git

pytestmark = NEEDS_GIT

YAML = """\
collection: {qrels: qrels.txt, topics: topics.tsv, relevant_from: 1}
measures: [AP]
candidate: candidate.run
gates:
  - {name: no-risk, kind: not_significantly_risky, baseline: prod, tolerance: 0.01}
  - {name: tail, kind: no_topic_collapse, baseline: prod, max_loss: 0.3}
  - {name: no-collapse, kind: no_topic_collapse, baseline: prod, max_loss: 0.5}
"""


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repository") / "project"
    world.write_world(folder, world.GOOD)
    (folder / "riskguard.yaml").write_text(YAML, encoding="utf-8")
    commit(folder, "first")
    return folder


@pytest.fixture
def project(template, tmp_path):
    """A repository of one commit, in which a riskguard.yaml names a store."""
    shutil.copytree(template, tmp_path / "project")
    return tmp_path / "project"


def replaced(project: Path, old: str, new: str) -> None:
    world.edit(project / "riskguard.yaml", old, new)


def said(project: Path) -> str | None:
    return "; ".join(policy_changes([project / "riskguard.yaml"])) or None


# ---- what is compared


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("tolerance: 0.01", "tolerance: 0.05", "tolerance of no-risk 0.01 -> 0.05"),
        ("tolerance: 0.01", "on_churn: fail, tolerance: 0.01", "on_churn of no-risk unset -> fail"),
        ("tolerance: 0.01", "protected: [q1, q2]",
         "tolerance of no-risk 0.01 -> unset; protected of no-risk unset -> q1, q2"),
        ("kind: no_topic_collapse, baseline: prod, max_loss: 0.3", "kind: equivalent, baseline: prod",
         "kind of tail no_topic_collapse -> equivalent; max_loss of tail 0.3 -> unset"),
        (", kind", "s, kind", "; ".join(
            f"gate {name} {became}" for names, became in (
                ("no-risk tail no-collapse", "removed"), ("no-risks tails no-collapses", "added")
            ) for name in names.split())),
        ("relevant_from: 1", "relevant_from: 1, unjudged: ignore", "collection.unjudged unset -> ignore"),
        ("relevant_from: 1", "grades: {a: no, b: [0, 3]}, unjudged: true",
         "collection.relevant_from 1 -> unset; collection.grades.a unset -> no; collection.grades.b unset -> 0, 3; "
         "collection.unjudged unset -> true"),
        ("candidate: candidate.run", "candidate: {command: [search]}",
         "candidate candidate.run -> unset; candidate.command unset -> search"),
        ("collection:", "store: ../elsewhere\ncollection:", "store unset -> ../elsewhere"),
        ("candidate: candidate.run", "candidate: b.run\nfamily: auto",
         "family unset -> auto; candidate candidate.run -> b.run"),
    ],
)  # fmt: skip
def test_a_change_of_the_settings_is_named_with_both_values(project, old, new, expected):
    replaced(project, old, new)
    commit(project)
    assert said(project) == f"changed by this commit: {expected}"


def test_another_layout_and_order_of_the_same_settings_is_no_change(project):
    file = project / "riskguard.yaml"
    head, gates = file.read_text(encoding="utf-8").split("gates:\n")
    lines = gates.splitlines(keepends=True)
    file.write_text(f"# a comment\ngates:\n{''.join(reversed(lines))}{head}", encoding="utf-8")
    commit(project)
    assert said(project) is None


def test_a_replaced_baseline_a_new_one_and_a_removed_one_are_named(project):
    Store(project / "baselines").remove("prod")
    world.store(project, "prod", world.LOSS)
    world.store(project, "new", world.GOOD)
    commit(project, "second")
    assert said(project) == "changed by this commit: baseline prod replaced; baseline new added"
    Store(project / "baselines").remove("new")
    commit(project, "third")
    assert said(project) == "changed by this commit: baseline new removed"


def test_scores_from_other_judgements_and_other_settings_of_a_baseline_are_named(project):
    path = project / "baselines" / "prod" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["allow_unanswered"], manifest["digests"]["qrels"] = True, "sha256:" + "0" * 64
    path.write_text(json.dumps(manifest), encoding="utf-8")
    commit(project)
    assert said(project) == "changed by this commit: baseline prod changed (allow_unanswered, digests.qrels)"
    path.write_text("{", encoding="utf-8")
    assert said(project) == "changed by this commit: baseline prod replaced"


def test_a_new_riskguard_yaml_is_named_and_one_outside_git_is_not(project):
    folder = project / "inner"
    world.write_world(folder, world.GOOD)
    assert said(folder) is None
    commit(project)
    assert said(folder) == "changed by this commit: riskguard.yaml added"


def test_files_that_git_ignores_are_nobodys_change(project):
    (project / ".gitignore").write_text("baselines/\n", encoding="utf-8")
    git(project, "rm", "-rq", "--cached", "baselines")
    commit(project, "second")
    commit(project, "third")
    assert (project / "baselines" / "prod" / "manifest.json").is_file()
    assert said(project) is None


def test_what_is_not_committed_yet_counts_as_well(project):
    commit(project, "second")
    replaced(project, "0.01", "0.05")
    link = project.with_name("link")
    link.symlink_to(project)
    assert said(link) == said(project) == "changed by this commit: tolerance of no-risk 0.01 -> 0.05"


def test_the_same_tree_gives_the_same_answer_and_a_long_one_is_cut(project):
    gates = "".join(
        f"  - {{name: g{number}, kind: no_topic_collapse, baseline: prod, max_loss: 0.{number + 1}}}\n"
        for number in range(7)
    )
    replaced(project, YAML[YAML.index("  - ") :], gates)
    commit(project, "second")
    replaced(project, "max_loss: 0.", "max_loss: 0.0")
    commit(project, "third")
    found = said(project)
    assert found == said(project)
    assert found is not None
    assert found.startswith("changed by this commit: max_loss of g0 0.1 -> 0.01; max_loss of g1 0.2 -> 0.02; ")
    assert found.endswith("max_loss of g5 0.6 -> 0.06; 1 more change")


def test_two_files_are_told_apart(project):
    shutil.copytree(project / "baselines", project / "inner" / "baselines")
    shutil.copy(project / "riskguard.yaml", project / "inner" / "riskguard.yaml")
    commit(project, "second")
    commit(project, "third")
    replaced(project, "0.01", "0.05")
    replaced(project / "inner", "0.01", "0.1")
    changes = policy_changes([project / "riskguard.yaml", project / "inner" / "riskguard.yaml"])
    assert changes == (
        "changed by this commit: riskguard.yaml: tolerance of no-risk 0.01 -> 0.05; "
        "inner/riskguard.yaml: tolerance of no-risk 0.01 -> 0.1",
    )


# ---- the commit to compare with


def test_a_first_commit_a_folder_outside_git_and_a_system_without_it_have_nothing_to_say(project, monkeypatch):
    assert said(project) is None  # no parent
    replaced(project, "0.01", "0.05")
    commit(project)
    assert said(project) is not None
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "which", lambda _: None)
        assert said(project) is None
    shutil.rmtree(project / ".git")
    assert said(project) is None


@pytest.fixture
def pull_request(project, monkeypatch):
    """Two commits of a branch that goes to main, which has moved on; the first one moves the bar."""
    main = git(project, "rev-parse", "HEAD")
    git(project, "checkout", "-q", "-b", "topic")
    replaced(project, "0.01", "0.05")
    commit(project, "moves the bar")
    commit(project, "something else")
    git(project, "checkout", "-q", "main")
    (project / "README").write_text("moved on", encoding="utf-8")
    replaced(project, "max_loss: 0.5", "max_loss: 0.4")
    commit(project, "main")
    git(project, "update-ref", "refs/remotes/origin/main", "main")
    git(project, "checkout", "-q", "topic")
    assert main == git(project, "merge-base", "HEAD", "main")
    return project


EXPECTED = "changed by this pull request: tolerance of no-risk 0.01 -> 0.05"
Environment = Callable[[Path], dict[str, str]]
SERVICES: dict[str, Environment] = {
    "GitHub": lambda _: {"GITHUB_ACTIONS": "true", "GITHUB_BASE_REF": "main"},
    "GitLab": lambda _: {"GITLAB_CI": "true", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"},
    "GitLab, by commit": lambda project: {
        "GITLAB_CI": "true",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": git(project, "merge-base", "HEAD", "main"),
    },
}


def test_a_pull_request_is_compared_with_where_it_left_its_target(pull_request, monkeypatch):
    assert said(pull_request) is None  # its last commit moves no bar
    for service in SERVICES.values():
        with monkeypatch.context() as environment:
            for name, value in service(pull_request).items():
                environment.setenv(name, value)
            assert said(pull_request) == EXPECTED


def test_the_branch_counts_before_a_commit_that_it_has_left_behind(pull_request, monkeypatch):
    stale = git(pull_request, "merge-base", "topic", "main")
    git(pull_request, "merge", "-q", "--no-ff", "--no-edit", "main")
    on_github(monkeypatch, pull_request, base=stale)
    assert said(pull_request) == EXPECTED


def on_github(monkeypatch: pytest.MonkeyPatch, folder: Path, base: str, merge: str | None = None) -> None:
    event = folder.parent / "event.json"
    event.write_text(json.dumps({"pull_request": {"head": {"sha": "a" * 40}, "base": {"sha": base}}}), "utf-8")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_REF", "refs/pull/7/merge")
    monkeypatch.setenv("GITHUB_SHA", merge or "c" * 40)
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(event))


LACKING = (
    "what this pull request changed about gates and baselines is not known: the clone does not have the commit "
    "that it is based on; check out the whole history (fetch-depth: 0 on GitHub, GIT_DEPTH: 0 on GitLab)"
)


@pytest.mark.parametrize("depth", [1, 2])
def test_the_merge_that_github_checks_out_has_its_base_at_depth_2(pull_request, tmp_path, depth, monkeypatch):
    git(pull_request, "checkout", "-q", "main")
    git(pull_request, "merge", "-q", "--no-ff", "--no-edit", "topic")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", str(depth), f"file://{pull_request}", str(clone))
    git(clone, "update-ref", "-d", "refs/remotes/origin/main")
    git(clone, "checkout", "-q", "--detach")
    on_github(
        monkeypatch, clone, base="b" * 40, merge=git(clone, "rev-parse", "HEAD")
    )  # not in the clone: main has moved on since the event
    assert said(clone) == (EXPECTED if depth == 2 else LACKING)


def test_the_commit_of_the_pull_request_itself_without_its_history_is_not_enough(pull_request, tmp_path, monkeypatch):
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "2", "--branch", "topic", f"file://{pull_request}", str(clone))
    on_github(monkeypatch, clone, base=git(pull_request, "rev-parse", "main"))
    files = [clone / name for name in ("riskguard.yaml", "candidate.run")]
    assert policy_changes(files) == (LACKING,)  # the parent of HEAD is there, but it is not the base


def test_a_job_that_judges_with_the_files_of_the_target_branch_has_nothing_to_say(
    pull_request, tmp_path, monkeypatch
):
    clone = tmp_path / "base"
    git(tmp_path, "clone", "-q", "--depth", "2", "--branch", "main", f"file://{pull_request}", str(clone))
    on_github(monkeypatch, clone, base=(head := git(clone, "rev-parse", "HEAD")), merge=head)
    assert said(clone) is None


def test_a_file_that_could_not_be_read_is_not_taken_for_unchanged(project):
    replaced(project, "tolerance: 0.01", "tolerance: {")
    commit(project, "second")
    replaced(project, "tolerance: {", "tolerance: 0.05")
    commit(project, "third")
    unread = "changed by this commit: riskguard.yaml, which could not be read before"
    assert said(project) == unread
    Store(project / "baselines").remove("prod")
    world.store(project, "prod", world.LOSS)
    assert said(project) == f"{unread}; baseline prod replaced"


# ---- what git may do


def test_nothing_in_the_repository_starts_a_program(project, monkeypatch):
    replaced(project, "0.01", "0.05")
    commit(project)
    trap, marker = project / "trap.sh", project / "ran"
    trap.write_text(f"#!/bin/sh\ntouch '{marker}'\ncat\n", encoding="utf-8")
    trap.chmod(0o755)
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman"):
        shutil.copy(trap, project / ".git" / "hooks" / hook)
    for key in (
        "core.fsmonitor",
        "core.pager",
        "filter.x.smudge",
        "filter.x.clean",
        "diff.x.textconv",
        "core.editor",
    ):
        git(project, "config", key, str(trap))
    (project / ".git" / "info" / "attributes").write_text("* filter=x diff=x\n", encoding="utf-8")
    assert said(project) == "changed by this commit: tolerance of no-risk 0.01 -> 0.05"
    assert not marker.exists()


def test_a_store_that_is_the_whole_repository_is_read(project):
    shutil.move(project / "baselines" / "prod", project / "prod")
    replaced(project, "collection:", "store: .\ncollection:")
    commit(project, "second")
    commit(project, "third")
    assert said(project) is None
    shutil.rmtree(project / "prod")
    assert said(project) == "changed by this commit: baseline prod removed"
