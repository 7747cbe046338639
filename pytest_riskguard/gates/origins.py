"""Where the systems of a verdict come from: what people say about them, and how fast a live one answers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

from pytest_riskguard.formats.given_file import Ties
from pytest_riskguard.formats.records import Agreement
from pytest_riskguard.gates.findings import Positive


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
    """Where the systems of one verdict come from.

    ``latency`` is that of a live candidate; ``judges`` how far several judges of the documents agree.
    """

    candidate: CandidateOrigin
    baselines: tuple[BaselineOrigin, ...]
    latency: Latency | None
    judges: Agreement | None = None


def latency_of(seconds: Sequence[float]) -> Latency | None:
    """The median and the 95th percentile (the smallest value that 95% of the queries do not exceed)."""
    if not seconds:
        return None
    ordered = sorted(1000 * one for one in seconds)
    p95 = ordered[math.ceil(0.95 * len(ordered)) - 1]
    return Latency(len(ordered), round(statistics.median(ordered), 3), round(p95, 3))
