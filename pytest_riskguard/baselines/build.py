"""Which build this is: commit, branch, pull request and run, from the CI service or from git."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_riskguard.baselines.environment import now
from pytest_riskguard.baselines.git import checked_out
from pytest_riskguard.errors import RiskguardError
from pytest_riskguard.formats.input_files import ContentError, read_limited
from pytest_riskguard.formats.limits import MANIFEST_BYTES
from pytest_riskguard.formats.serialization import JsonError, parsed
from pytest_riskguard.text import web_address

_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")
_NUMBER = re.compile(r"[0-9]{1,18}")
MAX_BRANCH, MAX_REPOSITORY = 250, 500
Variables = Mapping[str, str]


@dataclass(frozen=True)
class Build:
    """None for what is not known. Names of branches are text of whoever opened the pull request."""

    commit: str | None = None
    branch: str | None = None
    pull_request: str | None = None
    repository: str | None = None
    run_url: str | None = None
    base: Base | None = None


@dataclass(frozen=True)
class Base:
    """What a pull request is to be merged into: its branch, and its commit where the service names it.

    ``merge`` is the commit that the service makes of the two and checks out, if any: its first parent is the base.
    """

    branch: str | None = None
    commit: str | None = None
    merge: str | None = None


def this_build(folder: Path) -> Build:
    """The build that this process is part of; ``folder`` is asked for its commit where there is no CI service."""
    return build_of_ci() or _checked(Build(*checked_out(folder)))


def build_of_ci() -> Build | None:
    """The build as the CI service describes it; None where there is no service."""
    for variable, read in _SERVICES.items():
        if os.environ.get(variable, "").lower() not in ("", "0", "false"):
            return _checked(read(os.environ))
    return None


def report_date() -> str:
    """When a report is made: UTC, to the second; ``SOURCE_DATE_EPOCH`` sets it, so that reports can be repeated."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not re.fullmatch(r"[0-9]{1,11}", given):
        return now()
    return datetime.fromtimestamp(int(given), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _checked(build: Build) -> Build:
    """Nothing but what it should be, in a sensible length; addresses without credentials."""
    branch = (build.branch or "").removeprefix("refs/heads/")
    request = _NUMBER.search((build.pull_request or "").rpartition("/")[2])
    return Build(
        commit=build.commit.lower() if build.commit and _COMMIT.fullmatch(build.commit) else None,
        branch=branch[:MAX_BRANCH] or None,
        pull_request=request.group() if request else None,
        repository=_repository(build.repository or ""),
        run_url=web_address(build.run_url or ""),
        base=_checked_base(build.base),
    )


def _checked_base(base: Base | None) -> Base | None:
    """As ``_checked``; None where no pull request is built."""
    if base is None:
        return None
    branch = (base.branch or "").removeprefix("refs/heads/")
    commit, merge = (one if _COMMIT.fullmatch(one or "") else None for one in (base.commit, base.merge))
    if not (branch or commit):
        return None
    return Base(branch if branch.isprintable() and len(branch) <= MAX_BRANCH else None, commit, merge)


def _repository(text: str) -> str | None:
    """An address of the web, or what follows the user of another one; a query may hold a token."""
    text = re.split("[?#]", text, maxsplit=1)[0]
    scheme, separator, rest = text.partition("://")
    if separator and scheme in ("http", "https"):
        return web_address(text)
    return (rest or text).rpartition("@")[2][:MAX_REPOSITORY] or None


def _github(variables: Variables) -> Build:
    repository = f"{variables.get('GITHUB_SERVER_URL', '')}/{variables.get('GITHUB_REPOSITORY', '')}"
    request = re.fullmatch(r"refs/pull/([0-9]+)/.*", variables.get("GITHUB_REF", ""))
    pull = _github_pull_request(variables)
    return Build(
        commit=pull("head") or variables.get("GITHUB_SHA"),
        branch=variables.get("GITHUB_HEAD_REF") or variables.get("GITHUB_REF_NAME"),
        pull_request=request.group(1) if request else None,
        repository=repository,
        run_url=f"{repository}/actions/runs/{variables.get('GITHUB_RUN_ID', '')}",
        base=Base(
            variables.get("GITHUB_BASE_REF"),
            pull("base"),
            merge=variables.get("GITHUB_SHA") if request is not None else None,
        ),
    )


def _github_pull_request(variables: Variables) -> Callable[[str], str | None]:
    """The commit of a pull request (``head``), and that of its base; ``GITHUB_SHA`` is a merge nobody has seen."""
    event: Any = None
    if variables.get("GITHUB_EVENT_PATH"):
        with suppress(RiskguardError, ContentError, JsonError):
            event = parsed(read_limited(Path(variables["GITHUB_EVENT_PATH"]), MANIFEST_BYTES))

    def commit(side: str) -> str | None:
        try:
            found = event["pull_request"][side]["sha"]
        except (KeyError, TypeError):
            return None
        return found if isinstance(found, str) else None

    return commit


def _gitlab(variables: Variables) -> Build:
    return Build(
        # of merged results the latter is a merge that nobody has seen
        commit=variables.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or variables.get("CI_COMMIT_SHA"),
        branch=variables.get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME") or variables.get("CI_COMMIT_REF_NAME"),
        pull_request=variables.get("CI_MERGE_REQUEST_IID"),
        repository=variables.get("CI_PROJECT_URL"),
        run_url=variables.get("CI_JOB_URL") or variables.get("CI_PIPELINE_URL"),
        base=Base(
            variables.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"),
            # the former where the target is merged in before the pipeline runs
            variables.get("CI_MERGE_REQUEST_TARGET_BRANCH_SHA") or variables.get("CI_MERGE_REQUEST_DIFF_BASE_SHA"),
        ),
    )


def _jenkins(variables: Variables) -> Build:
    return Build(
        commit=variables.get("GIT_COMMIT"),
        branch=variables.get("CHANGE_BRANCH") or variables.get("BRANCH_NAME") or variables.get("GIT_BRANCH"),
        pull_request=variables.get("CHANGE_ID"),
        repository=variables.get("GIT_URL"),
        run_url=variables.get("BUILD_URL"),
        base=Base(variables.get("CHANGE_TARGET")),
    )


def _buildkite(variables: Variables) -> Build:
    return Build(
        commit=variables.get("BUILDKITE_COMMIT"),
        branch=variables.get("BUILDKITE_BRANCH"),
        pull_request=variables.get("BUILDKITE_PULL_REQUEST"),
        repository=variables.get("BUILDKITE_REPO"),
        run_url=variables.get("BUILDKITE_BUILD_URL"),
        base=Base(variables.get("BUILDKITE_PULL_REQUEST_BASE_BRANCH")),
    )


def _circleci(variables: Variables) -> Build:
    return Build(
        commit=variables.get("CIRCLE_SHA1"),
        branch=variables.get("CIRCLE_BRANCH"),
        pull_request=variables.get("CIRCLE_PULL_REQUEST"),
        repository=variables.get("CIRCLE_REPOSITORY_URL"),
        run_url=variables.get("CIRCLE_BUILD_URL"),
    )


def _azure(variables: Variables) -> Build:
    request = variables.get("SYSTEM_PULLREQUEST_PULLREQUESTNUMBER")
    project = f"{variables.get('SYSTEM_COLLECTIONURI', '')}{variables.get('SYSTEM_TEAMPROJECT', '')}"
    return Build(
        commit=variables.get("SYSTEM_PULLREQUEST_SOURCECOMMITID") or variables.get("BUILD_SOURCEVERSION"),
        branch=variables.get("SYSTEM_PULLREQUEST_SOURCEBRANCH") or variables.get("BUILD_SOURCEBRANCH"),
        pull_request=request or variables.get("SYSTEM_PULLREQUEST_PULLREQUESTID"),
        repository=variables.get("BUILD_REPOSITORY_URI"),
        run_url=f"{project}/_build/results?buildId={variables.get('BUILD_BUILDID', '')}".replace(" ", "%20"),
        base=Base(variables.get("SYSTEM_PULLREQUEST_TARGETBRANCH")),
    )


def _bitbucket(variables: Variables) -> Build:
    repository = variables.get("BITBUCKET_GIT_HTTP_ORIGIN", "")
    return Build(
        commit=variables.get("BITBUCKET_COMMIT"),
        branch=variables.get("BITBUCKET_BRANCH"),
        pull_request=variables.get("BITBUCKET_PR_ID"),
        repository=repository,
        run_url=f"{repository}/pipelines/results/{variables.get('BITBUCKET_BUILD_NUMBER', '')}",
        base=Base(variables.get("BITBUCKET_PR_DESTINATION_BRANCH"), variables.get("BITBUCKET_PR_DESTINATION_COMMIT")),
    )


#: The variable that each service sets, and what its other variables say.
_SERVICES: Mapping[str, Callable[[Variables], Build]] = {
    "GITHUB_ACTIONS": _github,
    "GITLAB_CI": _gitlab,
    "BUILDKITE": _buildkite,
    "CIRCLECI": _circleci,
    "TF_BUILD": _azure,
    "BITBUCKET_BUILD_NUMBER": _bitbucket,
    "JENKINS_URL": _jenkins,
}
