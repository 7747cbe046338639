"""Whether a live candidate answers as fast as its gate asks; only then its latency is part of a verdict."""

from __future__ import annotations

from dataclasses import replace

from pytest_riskguard.errors import DataError
from pytest_riskguard.formats.metadata import Latency
from pytest_riskguard.gates.verdict import Verdict, warning


def fast_enough(verdict: Verdict, latency: Latency | None) -> Verdict:
    """The verdict, which fails if it would pass but its candidate is slower than ``max_latency_p95_ms``.

    ``DataError`` if that is asked of a candidate that was not queried.
    """
    most = verdict.asked.max_latency_p95_ms
    if most is None or verdict.outcome == "incomparable":
        return verdict
    if latency is None:
        problem = "max_latency_p95_ms: expected a live candidate, whose answers can be timed; this one is not queried"
        raise DataError(problem, reason="missing_input")
    if latency.p95_ms <= most:
        return verdict
    verdict = verdict.warned(warning("too_slow", p95=latency.p95_ms, most=most))
    return replace(verdict, outcome="fail", reason="too_slow") if verdict.outcome == "pass" else verdict
