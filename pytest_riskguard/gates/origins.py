"""Where the systems of a verdict come from: what people say about them, and how fast a live one answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

from pytest_riskguard.formats.given_file import Ties
from pytest_riskguard.formats.metadata import Latency
from pytest_riskguard.formats.records import Agreement

__all__ = ["BaselineOrigin", "CandidateOrigin", "Latency", "Origins"]


@dataclass(frozen=True)
class CandidateOrigin:
    """A candidate, the metadata that it was given, and which order counts where its scores are equal.

    ``ties`` is None where no rankings were read: only scores, or nothing yet.
    """

    name: str
    metadata: Mapping[str, str]
    ties: Ties | None = None


@dataclass(frozen=True)
class BaselineOrigin:
    """A baseline; ``stored`` is when (ISO 8601, UTC), ``age_days`` how long before the report; None if not stored.

    ``latency`` is that of a live system when it was stored.
    """

    name: str
    commit: str | None
    note: str
    stored: str | None
    age_days: Annotated[float, Ge(0)] | None
    metadata: Mapping[str, str]
    latency: Latency | None = None


@dataclass(frozen=True)
class Origins:
    """Where the systems of one verdict come from.

    ``latency`` is that of a live candidate; ``judges`` how far several judges of the documents agree.
    """

    candidate: CandidateOrigin
    baselines: tuple[BaselineOrigin, ...]
    latency: Latency | None
    judges: Agreement | None = None
