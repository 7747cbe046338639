"""What a baseline records of its origin besides its commit: time and versions; and whether CI runs this."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

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
