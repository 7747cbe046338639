"""What a baseline records of its origin besides its commit: time and versions."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

# The distribution that each provider of ir-measures computes with; other providers are part of ir-measures itself.
_DISTRIBUTIONS = {"pytrec_eval": "pytrec-eval-terrier", "cwl_eval": "cwl-eval", "riskguard": "pytest-riskguard"}


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
