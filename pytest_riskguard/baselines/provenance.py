"""What a baseline records of its origin: time, versions and git commit; and whether CI runs this."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pytest_riskguard.baselines.manifest import GitState

# The first is set by nearly all services, each of the others by one.
_CI_VARIABLES = (
    "CI",
    "GITHUB_ACTIONS",
    "GITLAB_CI",
    "JENKINS_URL",
    "TF_BUILD",  # Azure Pipelines
    "BUILDKITE",
    "CIRCLECI",
    "TEAMCITY_VERSION",
)
_GIT_TIMEOUT = 10.0  # seconds; the status of a large working tree on a cold disk
_COMMIT = re.compile(r"[0-9a-f]{40,64}")

# The distribution that each provider of ir-measures computes with; other providers are part of ir-measures itself.
_DISTRIBUTIONS = {"pytrec_eval": "pytrec-eval-terrier", "cwl_eval": "cwl-eval", "riskguard": "pytest-riskguard"}


def ci_variable() -> str | None:
    """The first environment variable that a CI service has set, or None."""
    return next((v for v in _CI_VARIABLES if os.environ.get(v, "").lower() not in ("", "0", "false")), None)


def now() -> str:
    """The time, UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def distribution_version(name: str) -> str | None:
    """Version of an installed distribution, or None."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def provider_version(provider: str) -> str | None:
    """Version of what a provider of ir-measures computes with, or None where that is unknown."""
    return distribution_version(_DISTRIBUTIONS.get(provider, "ir-measures"))


def git_state(folder: Path) -> GitState | None:
    """Commit and dirtiness of the repository around an existing folder, or None where git cannot say.

    Changes inside the folder do not count: storing one baseline does not make the next one dirty.
    """
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    if commit is None or not _COMMIT.fullmatch(commit.strip()):
        return None
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", ":/", ":(exclude).")
    return None if changes is None else GitState(commit.strip(), dirty=bool(changes.strip()))


def _git(folder: Path, *arguments: str) -> str | None:
    git = shutil.which("git")
    if git is None:
        return None
    # A repository may name a program that watches its files: reading its state must not start that program.
    command = [git, "-C", str(folder), "-c", "core.fsmonitor=false", *arguments]
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments, no shell
            command, capture_output=True, check=True, timeout=_GIT_TIMEOUT, env=environment, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace")
