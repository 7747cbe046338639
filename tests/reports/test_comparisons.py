"""Which verdicts belong together."""

from dataclasses import replace

import pytest

from pytest_riskguard.gates.verdict import Inputs, Verdict
from pytest_riskguard.reports.comparisons import KnownGate, answer, by_service, comparisons
from tests.plugin.world import GOOD, LOSS
from tests.reports.cases import judged, unreadable


def about(verdict: Verdict, candidate: str) -> Verdict:
    inputs = Inputs("sha256:q", f"sha256:{candidate}", {"prod": "sha256:p"})
    return replace(verdict, inputs=inputs, candidate=candidate)


FAILED, PASSED = judged(LOSS), judged(GOOD)


def test_gates_on_one_candidate_baseline_and_measure_belong_together_failures_first():
    verdicts = [about(PASSED, "one"), about(PASSED, "two"), about(FAILED, "two"), about(PASSED, "one")]
    assert comparisons(verdicts) == [[2, 1], [0, 3]]


def test_another_measure_or_another_file_is_another_comparison():
    one = about(FAILED, "one")
    other_file = replace(one, inputs=Inputs("sha256:q", "sha256:other", {"prod": "sha256:p"}))
    assert len(comparisons([one, replace(one, measure="P@5"), other_file])) == 3


def test_without_digests_every_verdict_stands_alone():
    one = replace(FAILED, inputs=Inputs("sha256:q", "sha256:one", {"prod": "x", "bm25": None}))
    for same in (FAILED, unreadable(), one, replace(one, inputs=Inputs("sha256:q", None, {"prod": "x"}))):
        assert comparisons([same, same]) == [[0], [1]]


def gates_of(*files: str) -> list[KnownGate]:
    return [KnownGate(f"{file}::no-risk", 1, "judged", 0, (place,)) for place, file in enumerate(files)]


@pytest.mark.parametrize(
    ("files", "services"),
    [
        (("riskguard.yaml", "tests/test_own.py"), ("", "")),
        (("services/a/riskguard.yaml", "services/b/riskguard.yaml"), ("a", "b")),
        (("../a/riskguard.yaml", "b/riskguard.yaml"), ("../a", "b")),
        (("riskguard.yaml", "a/riskguard.yaml"), ("riskguard.yaml", "a")),
        (("a/x.yaml", "a/y.yml"), ("x.yaml", "y.yml")),
        (("a/riskguard.yaml", "a/b/riskguard.yaml", "a/test.py"), ("riskguard.yaml", "b", "")),
    ],
)
def test_a_service_is_the_folder_of_its_file_where_there_are_several(files, services):
    named = by_service([FAILED] * len(files), gates_of(*files))
    assert tuple(verdict.service for verdict in named) == services
    assert [verdict.gate for verdict in named] == [
        f"{name}: {FAILED.gate}" if name else FAILED.gate for name in services
    ]
    assert by_service(named, gates_of(*files)) == named
    assert FAILED.service == ""


def test_services_are_apart_even_with_the_same_runs_and_no_candidate_of_one_replaces_that_of_another():
    verdicts, gates = [about(FAILED, "one"), about(PASSED, "two")], gates_of("a/riskguard.yaml", "b/riskguard.yaml")
    assert answer(verdicts).advice == "1 of 2 candidates may ship"
    assert answer(verdicts, gates).title == "Don't ship: 1 of 2 gates failed"
    assert len(comparisons(by_service([verdicts[0]] * 2, gates))) == 2
