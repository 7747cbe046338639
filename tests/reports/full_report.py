"""A report with all that may stand beside its verdicts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_riskguard.baselines.build import Build
from pytest_riskguard.gates.origins import BaselineOrigin, CandidateOrigin, Latency, Origins
from pytest_riskguard.gates.rankings import Rankings, TopicRanking
from pytest_riskguard.reports import json as report_json
from pytest_riskguard.reports.provenance import provenance_of
from tests.plugin.world import LOSS
from tests.reports.terminal.test_failure import verdict
from tests.verdicts import altered


def full_report() -> dict[str, Any]:
    """A report with rankings and where it comes from."""
    ranking = TopicRanking("t01", ("a", "b"), (1, None), (1, 12), (None, 1))
    rankings = Rankings(
        candidate="candidate",
        baseline="baseline",
        measure="AP",
        verdicts=(),
        depth=10,
        document_url="https://host/{id}",
        titles={"a": "Title of a"},
        urls={"b": "https://host/own"},
        topics=(ranking,),
    )
    origin = BaselineOrigin("baseline", "a" * 40, "note", "2026-01-01T00:00:00Z", None, {"index": "v7"})
    origins = Origins(CandidateOrigin("candidate", {"index": "v8"}), (origin,), Latency(3, 1.5, 9.0))
    judged = replace(altered(verdict(LOSS), measure="AP"), rankings=rankings, origins=origins)
    build = Build("b" * 40, "topic", "12", "https://host/o/r", "https://host/run/1")
    return report_json.report([judged], (), provenance_of([judged], build, "2026-02-05T12:00:00Z"))
