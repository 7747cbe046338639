"""The verdict itself: what it is made from, what is read from it, and what is written of it."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.errors import RunFormatError
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import (
    REQUIRED,
    Deferred,
    Family,
    Findings,
    Inputs,
    Verdict,
    refused,
    unanswered,
)
from pytest_riskguard.serialization import JsonError
from tests.gates.conftest import pair, topic_scores

NEW, PROD, OLD, AGAIN = (topic_scores(name, [0.1, 0.2]) for name in ("new", "prod", "old", "again"))
GATE = gate_of("g", alpha=2, tolerance=0.01)


def test_findings_are_computed_once_when_one_is_read():
    computed: list[Findings] = []

    def compute() -> Findings:
        computed.append(Findings(summary="7"))
        return computed[-1]

    finding = Deferred(compute)
    assert finding.value is finding.value is computed[0]
    assert len(computed) == 1
    assert copy.copy(Deferred(compute)).value == computed[0]  # what computes them cannot be pickled, so they are


def test_a_question_names_everything_that_is_compared():
    family = Family("holm", 3, 0.98, 0.2)
    new, prod, old, again = (replace(system, digest=f"sha256:{system.name}") for system in (NEW, PROD, OLD, AGAIN))
    old = replace(old, qrels_digest="sha256:qrels")
    question = unanswered(GATE, replace(new, measure=None), [prod, old], replicates=[again], family=family)
    assert question == Verdict(
        asked=GATE,
        outcome="inconclusive",
        reason=None,
        measure="nDCG@10",
        candidate="new",
        baselines=("prod", "old"),
        replicates=1,
        family=family,
        inputs=Inputs("sha256:qrels", "sha256:new", {"prod": "sha256:prod", "old": "sha256:old"}),
    )
    assert (question.gate, question.kind, question.alpha, question.tolerance) == (
        "g",
        "not_significantly_risky",
        2,
        0.01,
    )
    plain = unanswered(GATE, replace(NEW, measure=None), [replace(PROD, measure=None)])
    assert (plain.measure, plain.replicates, plain.family, plain.inputs) == (None, 0, None, None)
    with_qrels = unanswered(GATE, replace(NEW, qrels_digest="sha256:q"), [PROD])
    assert with_qrels.inputs == Inputs("sha256:q", None, {"prod": None})
    assert unanswered(GATE, NEW, [PROD], replicates=[again]).inputs == Inputs(None, None, {"prod": None})
    with pytest.raises(AttributeError, match="'Verdict' object has no attribute 'alhpa'"):
        question.alhpa  # type: ignore[attr-defined]  # noqa: B018


def test_what_cannot_be_compared_keeps_the_question_and_says_why():
    error = RunFormatError(Path("runs/new.run"), 3, "six columns are expected")
    problem = "new.run:3: six columns are expected"
    question = unanswered(GATE, NEW, [PROD])
    verdict = refused(question, error)
    assert verdict == replace(question, outcome="incomparable", reason="bad_run", problem=problem)
    assert str(verdict.error) == f"{Path('runs/new.run')}:3: six columns are expected"
    inputs = Inputs(qrels="sha256:q")
    never = refused(Verdict(GATE, "incomparable", None, "AP", "new", ("prod",), inputs=inputs), error)
    assert never == Verdict(GATE, "incomparable", "bad_run", "AP", "new", ("prod",), inputs=inputs, problem=problem)
    assert not never.passed
    assert never.identical_to == ()


def judged() -> Verdict:
    return judge(GATE, *pair(np.random.default_rng(7).normal(-0.1, 0.1, 30)))


def test_what_is_written_is_read_back():
    verdict = judged()
    data = verdict.to_dict()
    assert (data["gate"], data["kind"], data["outcome"], data["reason"]) == (
        "g",
        "not_significantly_risky",
        "fail",
        "loss",
    )
    assert (data["alpha"], data["tolerance"]) == (2, 0.01)
    again = Verdict.from_dict(data)
    assert again.asked == GATE
    assert again.to_dict() == data
    assert (again.measure, again.candidate, again.baselines) == ("nDCG@10", "candidate", ("baseline",))
    least = Verdict.from_dict({key: data[key] for key in REQUIRED})
    assert (least.asked, least.outcome, least.topics.count) == (GATE, "fail", 0)


def test_what_a_report_lacks_or_has_wrong_is_named():
    data = judged().to_dict()

    def problem(**changes: Any) -> str:
        altered = {key: value for key, value in {**data, **changes}.items() if value != "gone"}
        with pytest.raises(JsonError) as error:
            Verdict.from_dict(altered)
        return str(error.value)

    assert problem(gate="gone", outcome="gone") == "missing key 'gate'"
    assert problem(baselines="gone") == "missing key 'baselines'"
    assert problem(candidate=3).startswith("candidate: ")
    assert problem(topics={"count": -1}).startswith("topics.count: ")
