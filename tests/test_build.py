"""Which build this is, from the variables of each CI service, or from git; hostile values are data or dropped."""

import json
import subprocess

import pytest

from pytest_riskguard.build import Base, Build, this_build

COMMIT, TARGET = "0123456789abcdef0123456789abcdef01234567", "a" * 40

SERVICES = {
    "GitHub Actions": {
        "GITHUB_ACTIONS": "true",
        "GITHUB_SHA": COMMIT,
        "GITHUB_REF": "refs/pull/12/merge",
        "GITHUB_REF_NAME": "12/merge",
        "GITHUB_HEAD_REF": "topic/x",
        "GITHUB_SERVER_URL": "https://host",
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_RUN_ID": "99",
        "GITHUB_BASE_REF": "main",
    },
    "GitLab CI": {
        "GITLAB_CI": "true",
        "CI_COMMIT_SHA": "f" * 40,
        "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": COMMIT,
        "CI_COMMIT_REF_NAME": "refs",
        "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "topic/x",
        "CI_MERGE_REQUEST_IID": "12",
        "CI_PROJECT_URL": "https://host/o/r",
        "CI_JOB_URL": "https://host/o/r/-/jobs/99",
        "CI_PIPELINE_URL": "https://host/o/r/-/pipelines/9",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": TARGET,
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": "b" * 40,
    },
    "Jenkins": {
        "JENKINS_URL": "https://host/",
        "GIT_COMMIT": COMMIT,
        "CHANGE_BRANCH": "topic/x",
        "BRANCH_NAME": "PR-12",
        "CHANGE_ID": "12",
        "CHANGE_TARGET": "main",
        "GIT_URL": "https://host/o/r",
        "BUILD_URL": "https://host/job/99",
    },
    "Buildkite": {
        "BUILDKITE": "true",
        "BUILDKITE_COMMIT": COMMIT,
        "BUILDKITE_BRANCH": "topic/x",
        "BUILDKITE_PULL_REQUEST": "12",
        "BUILDKITE_REPO": "https://host/o/r",
        "BUILDKITE_BUILD_URL": "https://host/builds/99",
        "BUILDKITE_PULL_REQUEST_BASE_BRANCH": "main",
    },
    "CircleCI": {
        "CIRCLECI": "true",
        "CIRCLE_SHA1": COMMIT,
        "CIRCLE_BRANCH": "topic/x",
        "CIRCLE_PULL_REQUEST": "https://host/o/r/pull/12",
        "CIRCLE_REPOSITORY_URL": "https://host/o/r",
        "CIRCLE_BUILD_URL": "https://host/99",
    },
    "Azure Pipelines": {
        "TF_BUILD": "True",
        "BUILD_SOURCEVERSION": "f" * 40,
        "SYSTEM_PULLREQUEST_SOURCECOMMITID": COMMIT,
        "SYSTEM_PULLREQUEST_SOURCEBRANCH": "refs/heads/topic/x",
        "BUILD_SOURCEBRANCH": "refs/pull/12/merge",
        "SYSTEM_PULLREQUEST_PULLREQUESTNUMBER": "12",
        "SYSTEM_PULLREQUEST_PULLREQUESTID": "345",
        "SYSTEM_PULLREQUEST_TARGETBRANCH": "main",
        "BUILD_REPOSITORY_URI": "https://user@host/o/r",
        "SYSTEM_COLLECTIONURI": "https://host/org/",
        "SYSTEM_TEAMPROJECT": "my project",
        "BUILD_BUILDID": "99",
    },
    "Bitbucket": {
        "BITBUCKET_BUILD_NUMBER": "99",
        "BITBUCKET_COMMIT": COMMIT,
        "BITBUCKET_BRANCH": "topic/x",
        "BITBUCKET_PR_ID": "12",
        "BITBUCKET_GIT_HTTP_ORIGIN": "https://host/o/r",
        "BITBUCKET_PR_DESTINATION_BRANCH": "main",
        "BITBUCKET_PR_DESTINATION_COMMIT": TARGET,
    },
}
BASES = dict.fromkeys(SERVICES, Base("main")) | {
    "GitHub Actions": Base("main", merge=COMMIT),
    "GitLab CI": Base("main", TARGET),
    "CircleCI": None,
    "Bitbucket": Base("main", TARGET),
}
RUNS = {
    "GitHub Actions": "https://host/o/r/actions/runs/99",
    "GitLab CI": "https://host/o/r/-/jobs/99",
    "Jenkins": "https://host/job/99",
    "Buildkite": "https://host/builds/99",
    "CircleCI": "https://host/99",
    "Azure Pipelines": "https://host/org/my%20project/_build/results?buildId=99",
    "Bitbucket": "https://host/o/r/pipelines/results/99",
}


@pytest.fixture(autouse=True)
def no_service(monkeypatch):
    for variables in SERVICES.values():
        for name in variables:
            monkeypatch.delenv(name, raising=False)
    for name in ("GITHUB_EVENT_PATH", "SOURCE_DATE_EPOCH"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("service", SERVICES)
def test_each_service_says_which_build_this_is(service, monkeypatch, tmp_path):
    for name, value in SERVICES[service].items():
        monkeypatch.setenv(name, value)
    assert this_build(tmp_path) == Build(COMMIT, "topic/x", "12", "https://host/o/r", RUNS[service], BASES[service])


def test_the_commit_of_a_pull_request_is_its_head_not_the_merge(monkeypatch, tmp_path):
    event = tmp_path / "event.json"
    for name, value in {**SERVICES["GitHub Actions"], "GITHUB_EVENT_PATH": str(event)}.items():
        monkeypatch.setenv(name, value)
    assert this_build(tmp_path).commit == COMMIT  # the file is missing
    event.write_text(json.dumps({"pull_request": {"head": {"sha": "ABCDEF" * 6}}}))
    assert this_build(tmp_path).commit == "abcdef" * 6
    for other in ('{"pull_request": []}', '{"pull_request": {"head": {"sha": 3}}}', "[", ""):
        event.write_text(other)
        assert this_build(tmp_path).commit == COMMIT


def test_a_push_is_no_pull_request(monkeypatch, tmp_path):
    pushed = {"GITHUB_REF": "refs/heads/12", "GITHUB_HEAD_REF": "", "GITHUB_REF_NAME": "12", "GITHUB_BASE_REF": ""}
    pushed["GITHUB_SHA"] = "abc1234"
    for name, value in {**SERVICES["GitHub Actions"], **pushed}.items():
        monkeypatch.setenv(name, value)
    build = this_build(tmp_path)
    assert build == Build("abc1234", "12", None, "https://host/o/r", RUNS["GitHub Actions"])
    monkeypatch.setenv("GITHUB_BASE_REF", "main")  # of pull_request_target: what is checked out is no merge
    assert this_build(tmp_path).base == Base("main")


def test_values_that_are_not_what_they_should_be_are_dropped(monkeypatch, tmp_path):
    for name, value in {
        "GITHUB_ACTIONS": "False",
        "GITLAB_CI": "true",
        "CI_COMMIT_SHA": "$(touch owned)",
        "CI_COMMIT_REF_NAME": "x" * 1000,
        "CI_MERGE_REQUEST_IID": "none",
        "CI_PROJECT_URL": "https://ci:secret@host/o/r?token=secret",
        "CI_JOB_URL": "javascript:alert(1)",
        "CI_JOB_TOKEN": "secret",
    }.items():
        monkeypatch.setenv(name, value)
    build = this_build(tmp_path)
    assert build == Build(None, "x" * 250, None, "https://host/o/r", None)
    assert "secret" not in repr(build)


@pytest.mark.parametrize(
    "given",
    ["git@host:o/r.git", "ssh://git@host:o/r.git", "git@host:o/r.git?private_token=secret", "host:o/r.git#secret"],
)
def test_a_repository_loses_its_user_and_its_query(monkeypatch, tmp_path, given):
    for name, value in {**SERVICES["Jenkins"], "GIT_URL": given, "GITLAB_CI": "0"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GIT_COMMIT", "abc123")
    build = this_build(tmp_path)
    assert (build.commit, build.repository) == (None, "host:o/r.git")


def test_without_a_service_git_says_commit_and_branch(tmp_path, monkeypatch):
    assert this_build(tmp_path) == Build()
    author = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    for arguments in (("init", "-q", "-b", "topic"), (*author, "commit", "-q", "--allow-empty", "-m", "x")):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    build = this_build(tmp_path)
    assert (build.branch, build.pull_request, build.run_url) == ("topic", None, None)
    assert build.commit is not None
    subprocess.run(["git", "checkout", "-q", "--detach"], cwd=tmp_path, check=True)
    assert this_build(tmp_path) == Build(build.commit)
    monkeypatch.setenv("BITBUCKET_BUILD_NUMBER", "99")
    assert this_build(tmp_path).commit is None
