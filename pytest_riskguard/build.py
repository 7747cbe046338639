"""Which build this is: commit, branch, pull request and run, from the CI service or from git."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_riskguard.baselines.git import Repository
from pytest_riskguard.baselines.manifest import now
from pytest_riskguard.data.input_files import read_limited
from pytest_riskguard.errors import RiskguardError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.limits import MANIFEST_BYTES
from pytest_riskguard.serialization import JsonError, parsed
from pytest_riskguard.text import web_address

_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")
MAX_BRANCH, MAX_REPOSITORY = 250, 500


@frozen
class Base:
    """What a pull request is to be merged into: its branch, and its commit where the service names it.

    ``merge`` is the commit that the service makes of the two and checks out, if any: its first parent is the base.
    """

    branch: str | None = None
    commit: str | None = None
    merge: str | None = None


@frozen
class Build:
    """None for what is not known. Names of branches are text of whoever opened the pull request."""

    commit: str | None = None
    branch: str | None = None
    pull_request: str | None = None
    repository: str | None = None
    run_url: str | None = None
    base: Base | None = None


def report_date() -> str:
    """When a report is made: UTC, to the second; ``SOURCE_DATE_EPOCH`` sets it, so that reports can be repeated."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not re.fullmatch(r"[0-9]{1,11}", epoch):
        return now()
    return f"{datetime.fromtimestamp(int(epoch), UTC):%Y-%m-%dT%H:%M:%SZ}"


def this_build(folder: Path) -> Build:
    """The build that this process is part of; ``folder`` is asked for its commit where there is no CI service."""
    build, repository = build_of_ci(), Repository.around(folder)
    if build is not None or repository is None:
        return build or Build()
    return Build(commit=next(iter(repository.head()), None), branch=_branch(repository.branch() or ""))


def build_of_ci() -> Build | None:
    """The build as the CI service describes it; None where there is no service."""
    for variable, templates in _SERVICES.items():
        if not _is_set(variable):
            continue
        commit, branch, request, repository, url, base_branch, base_commit = map(_filled, templates)
        merge = None
        if variable == "GITHUB_ACTIONS":
            if not request.startswith("refs/pull/"):
                request = ""
            merge = _commit(commit) if request else None
            request = request.removesuffix("/merge")
            commit, base_commit = _github_pull_request("head") or commit, _github_pull_request("base")
        base = Base(_branch(base_branch), _commit(base_commit), merge)
        number = re.search(r"[0-9]{1,18}", request.rpartition("/")[2])
        return Build(
            commit=_commit(commit),
            branch=_branch(branch),
            pull_request=number.group() if number else None,
            repository=_repository(repository),
            run_url=web_address(url.replace(" ", "%20")),
            base=base if base.branch or base.commit else None,  # else no pull request is built
        )
    return None


def ci_variable() -> str | None:
    """The variable of the environment by which a CI service says that this process is part of a build, if any."""
    return next(filter(_is_set, CI_VARIABLES), None)


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "").lower() not in ("", "0", "false")


def _filled(templates: str) -> str:
    """The first of several templates that the variables of the environment fill; empty if none does."""
    variables = defaultdict(str, os.environ)
    return next((text for template in templates.split("|") if (text := template.format_map(variables))), "")


def _commit(text: str) -> str | None:
    return text.lower() if _COMMIT.fullmatch(text) else None


def _branch(text: str) -> str | None:
    return text.removeprefix("refs/heads/")[:MAX_BRANCH] or None


def _repository(text: str) -> str | None:
    """An address of the web, or what follows the user of another one; a query may hold a token."""
    text = re.split("[?#]", text, maxsplit=1)[0]
    if text.startswith(("http://", "https://")):
        return web_address(text)
    return text.rpartition("://")[2].rpartition("@")[2][:MAX_REPOSITORY] or None


def _github_pull_request(side: str) -> str:
    """The commit of a pull request (``head``), or of its base; ``GITHUB_SHA`` is a merge nobody has seen."""
    with suppress(RiskguardError, JsonError, KeyError, TypeError):
        event: Any = parsed(read_limited(Path(os.environ["GITHUB_EVENT_PATH"]), MANIFEST_BYTES))
        commit = event["pull_request"][side]["sha"]
        return commit if isinstance(commit, str) else ""
    return ""


#: The variable that each service sets; then where it says the commit, the branch, the pull request, the repository,
#: the address of the run, and the branch and the commit that the pull request is to be merged into.
_SERVICES = {
    "GITHUB_ACTIONS": (
        "{GITHUB_SHA}",
        "{GITHUB_HEAD_REF}|{GITHUB_REF_NAME}",
        "{GITHUB_REF}",
        "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}",
        "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}",
        "{GITHUB_BASE_REF}",
        "",
    ),
    "GITLAB_CI": (
        # of merged results the latter is a merge that nobody has seen
        "{CI_MERGE_REQUEST_SOURCE_BRANCH_SHA}|{CI_COMMIT_SHA}",
        "{CI_MERGE_REQUEST_SOURCE_BRANCH_NAME}|{CI_COMMIT_REF_NAME}",
        "{CI_MERGE_REQUEST_IID}",
        "{CI_PROJECT_URL}",
        "{CI_JOB_URL}|{CI_PIPELINE_URL}",
        "{CI_MERGE_REQUEST_TARGET_BRANCH_NAME}",
        # the former where the target is merged in before the pipeline runs
        "{CI_MERGE_REQUEST_TARGET_BRANCH_SHA}|{CI_MERGE_REQUEST_DIFF_BASE_SHA}",
    ),
    "BUILDKITE": (
        "{BUILDKITE_COMMIT}",
        "{BUILDKITE_BRANCH}",
        "{BUILDKITE_PULL_REQUEST}",
        "{BUILDKITE_REPO}",
        "{BUILDKITE_BUILD_URL}",
        "{BUILDKITE_PULL_REQUEST_BASE_BRANCH}",
        "",
    ),
    "CIRCLECI": (
        "{CIRCLE_SHA1}",
        "{CIRCLE_BRANCH}",
        "{CIRCLE_PULL_REQUEST}",
        "{CIRCLE_REPOSITORY_URL}",
        "{CIRCLE_BUILD_URL}",
        "",
        "",
    ),
    "TF_BUILD": (
        "{SYSTEM_PULLREQUEST_SOURCECOMMITID}|{BUILD_SOURCEVERSION}",
        "{SYSTEM_PULLREQUEST_SOURCEBRANCH}|{BUILD_SOURCEBRANCH}",
        "{SYSTEM_PULLREQUEST_PULLREQUESTNUMBER}|{SYSTEM_PULLREQUEST_PULLREQUESTID}",
        "{BUILD_REPOSITORY_URI}",
        "{SYSTEM_COLLECTIONURI}{SYSTEM_TEAMPROJECT}/_build/results?buildId={BUILD_BUILDID}",
        "{SYSTEM_PULLREQUEST_TARGETBRANCH}",
        "",
    ),
    "BITBUCKET_BUILD_NUMBER": (
        "{BITBUCKET_COMMIT}",
        "{BITBUCKET_BRANCH}",
        "{BITBUCKET_PR_ID}",
        "{BITBUCKET_GIT_HTTP_ORIGIN}",
        "{BITBUCKET_GIT_HTTP_ORIGIN}/pipelines/results/{BITBUCKET_BUILD_NUMBER}",
        "{BITBUCKET_PR_DESTINATION_BRANCH}",
        "{BITBUCKET_PR_DESTINATION_COMMIT}",
    ),
    "JENKINS_URL": (
        "{GIT_COMMIT}",
        "{CHANGE_BRANCH}|{BRANCH_NAME}|{GIT_BRANCH}",
        "{CHANGE_ID}",
        "{GIT_URL}",
        "{BUILD_URL}",
        "{CHANGE_TARGET}",
        "",
    ),
}
#: Those of all services, some of which do not describe their builds.
CI_VARIABLES = (*_SERVICES, "CI", "TRAVIS", "DRONE", "TEAMCITY_VERSION", "CODEBUILD_BUILD_ID")
