"""Where the systems of a verdict come from: what people say about them, and how fast a live one answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

from pytest_riskguard.gates.findings import Positive


@dataclass(frozen=True)
class CandidateOrigin:
    """A candidate, and the metadata that it was given."""

    name: str
    metadata: Mapping[str, str]


@dataclass(frozen=True)
class BaselineOrigin:
    """A baseline; ``stored`` is when (ISO 8601, UTC), ``age_days`` how long before the report; None if not stored."""

    name: str
    commit: str | None
    note: str
    stored: str | None
    age_days: Annotated[float, Ge(0)] | None
    metadata: Mapping[str, str]


@dataclass(frozen=True)
class Latency:
    """How long a live system took to answer a query, in milliseconds."""

    queries: Positive
    median_ms: Annotated[float, Ge(0)]
    p95_ms: Annotated[float, Ge(0)]


@dataclass(frozen=True)
class Origins:
    """Where the systems of one verdict come from; ``latency`` is that of a live candidate."""

    candidate: CandidateOrigin
    baselines: tuple[BaselineOrigin, ...]
    latency: Latency | None
