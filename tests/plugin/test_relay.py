"""Verdicts on their way from the process that judges to the one that reports."""

import json

import pytest

from pytest_riskguard import check
from pytest_riskguard.plugin.gate_log import CARRIED, GateLog


def test_a_verdict_travels_as_plain_types():
    baseline = {f"q{number:03d}": 0.3 + number % 7 / 10 for number in range(100)}
    candidate = {topic: score - 0.01 * (number % 3) for number, (topic, score) in enumerate(baseline.items())}
    report = pytest.TestReport("test_a.py::test_a", ("test_a.py", 0, "test_a"), {}, "passed", None, "call")
    log, other = GateLog(), GateLog()
    verdict = check("not_significantly_risky", candidate, baseline)
    log.waiting.append(verdict)
    log.attach(report, 0, is_worker=True)
    content = getattr(report, CARRIED)
    assert json.loads(json.dumps(content)) == content
    other.receive(report)
    ((test, received),) = other.by_test()
    assert test == "test_a.py::test_a"
    assert received.to_dict() == verdict.to_dict()
