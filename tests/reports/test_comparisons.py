"""Which verdicts belong together."""

from __future__ import annotations

from dataclasses import replace

from pytest_riskguard.gates.verdict import Inputs, Verdict
from pytest_riskguard.reports.comparisons import comparisons
from tests.plugin.world import GOOD, LOSS
from tests.reports.cases import judged, unreadable


def about(verdict: Verdict, candidate: str) -> Verdict:
    inputs = Inputs("sha256:q", f"sha256:{candidate}", {"prod": "sha256:p"})
    return replace(verdict, inputs=inputs, candidate=candidate)


FAILED, PASSED = judged(LOSS), judged(GOOD)


def test_gates_on_one_candidate_baseline_and_measure_belong_together_failures_first():
    verdicts = [about(PASSED, "one"), about(PASSED, "two"), about(FAILED, "two"), about(PASSED, "one")]
    first, second = comparisons(verdicts)
    assert first.places == (2, 1)
    assert first.verdicts == (verdicts[2], verdicts[1])
    assert second.places == (0, 3)


def test_another_measure_or_another_file_is_another_comparison():
    one = about(FAILED, "one")
    other_file = replace(one, inputs=Inputs("sha256:q", "sha256:other", {"prod": "sha256:p"}))
    assert len(comparisons([one, replace(one, measure="P@5"), other_file])) == 3


def test_without_digests_every_verdict_stands_alone():
    one = replace(FAILED, inputs=Inputs("sha256:q", "sha256:one", {"prod": "x", "bm25": None}))
    for same in (FAILED, unreadable(), one, replace(one, inputs=Inputs("sha256:q", None, {"prod": "x"}))):
        assert [found.places for found in comparisons([same, same])] == [(0,), (1,)]
