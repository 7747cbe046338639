"""Verdicts on their way from a worker: compressed, limited, and never dropped silently."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_riskguard import check
from pytest_riskguard.gates.findings import MovedDocument, TopicDocuments
from pytest_riskguard.gates.rankings.label_findings import IfJudged, Judgements, UnjudgedTopic
from pytest_riskguard.plugin.relay import CARRIED, Attempts, PayloadError, Relay
from pytest_riskguard.run_context import changed

TOPICS = 10_000


def report(nodeid="test_a.py::test_a", when="call"):
    return pytest.TestReport(nodeid, ("test_a.py", 0, "test_a"), {}, "passed", None, when)


@pytest.fixture(scope="module")
def verdict():
    baseline = {f"q{number:05d}": 0.3 + number % 7 / 10 for number in range(TOPICS)}
    candidate = {topic: score - 0.01 * (number % 3) for number, (topic, score) in enumerate(baseline.items())}
    with changed(report_wanted=True):
        return check("not_significantly_risky", candidate, baseline)


def sent(verdict, *, is_worker):
    relay, carrier = Relay(is_worker=is_worker), report()
    relay.waiting.append(verdict)
    with changed(report_wanted=True):
        relay.attach(carrier, Attempts(1), None)
    return carrier


def test_a_worker_sends_a_fraction_of_the_json_in_plain_types(verdict):
    whole, carried = sent(verdict, is_worker=False), sent(verdict, is_worker=True)
    content = getattr(carried, CARRIED)
    assert json.loads(json.dumps(content)) == content
    assert len(content["verdicts"]) < len(getattr(whole, CARRIED)["verdicts"]) / 3
    received = []
    for carrier in (whole, carried):
        relay = Relay(is_worker=False)
        relay.receive(carrier)
        received.append(relay.by_test()[0][1].to_dict())
    assert received[0] == received[1] == verdict.to_dict()


def held(verdict):
    """What is received from the relay that judged, in a run that writes no report."""
    relay, carrier = Relay(is_worker=False, writes=False), report()
    relay.waiting.append(verdict)
    relay.attach(carrier, Attempts(1), None)
    relay.receive(carrier)
    return relay, carrier


def test_a_process_that_reports_what_it_judged_sends_itself_a_reference(verdict):
    relay, carrier = held(verdict)
    assert len(json.dumps(getattr(carrier, CARRIED))) < 200
    ((test, kept),) = relay.by_test()
    other = Relay(is_worker=False)
    other.receive(sent(verdict, is_worker=False))
    ((_, carried),) = other.by_test()
    assert (test, kept.to_dict()) == ("test_a.py::test_a", carried.to_dict() | {"diagnostics": None})
    for part in ("estimates", "intervals", "warnings", "power", "explanation"):
        assert repr(getattr(kept, part)) == repr(getattr(carried, part))


def test_a_verdict_with_judgements_and_documents_is_held_whole(verdict):
    topics = tuple(UnjudgedTopic(f"q{number:05d}", number % 3, 1) for number in range(50))
    cases = (IfJudged("irrelevant", 1 / 3, "fail"), IfJudged("relevant", 2 / 3, "pass"))
    judged = Judgements(10, 49, 50, 80, topics, cases, depends=True)
    moved = TopicDocuments("q00002", 10, True, (MovedDocument("d1", 1, 2, 3, -1 / 3),), ())
    known = replace(verdict, judgements=judged, documents=(moved,))
    ((_, kept),) = held(known)[0].by_test()
    assert kept.to_dict() == known.without_diagnostics().to_dict()
    assert [case.urisk for case in kept.judgements.cases] == [0.333333333333, 0.666666666667]  # as JSON has them


def test_verdicts_that_another_process_holds_are_never_dropped_silently(verdict):
    _, carrier = held(verdict)
    with pytest.raises(PayloadError, match="expected verdicts of this process"):
        Relay(is_worker=False, writes=False).receive(carrier)


def test_a_child_of_the_process_that_reports_sends_json(verdict, monkeypatch):
    relay, carrier = Relay(is_worker=False, writes=False), report()
    relay.waiting.append(verdict)
    with monkeypatch.context() as child:
        child.setattr("pytest_riskguard.plugin.relay.os.getpid", lambda: 0)
        relay.attach(carrier, Attempts(1), None)
    other = Relay(is_worker=False, writes=False)
    other.receive(carrier)
    assert other.by_test()[0][1].to_dict() == verdict.without_diagnostics().to_dict()


def test_the_gates_are_listed_the_same_whether_their_verdicts_stayed_or_travelled(pytester, project):
    project("loss")

    def listed(*options):
        lines = pytester.runpytest("--riskguard", "--tb=no", *options).stdout.lines
        begin = next(place for place, line in enumerate(lines) if "= riskguard =" in line)
        end = next(place for place, line in enumerate(lines) if "short test summary" in line)
        return [line for line in lines[begin:end] if line]

    stayed = listed()
    assert any("URisk" in line or "no-risk" in line for line in stayed)
    assert listed("-n", "1") == listed("--riskguard-report=report.md") == stayed


def test_a_worker_that_would_send_too_much_fails_the_test_and_states_the_size(verdict, set_limit):
    set_limit("PAYLOAD_BYTES", 100000)
    carrier = sent(verdict, is_worker=True)
    assert carrier.outcome == "failed"
    assert "expected at most 100,000" in str(carrier.longrepr)
    assert "RISKGUARD_LIMITS" in str(carrier.longrepr)
    assert sent(verdict, is_worker=False).outcome == "passed"  # nothing is sent


def test_what_a_worker_sends_is_not_unpacked_beyond_the_limit(verdict, set_limit):
    carrier = sent(verdict, is_worker=True)
    set_limit("PAYLOAD_BYTES", 100000)
    with pytest.raises(PayloadError, match="expected at most 100,000 bytes"):
        Relay(is_worker=False).receive(carrier)


def test_too_large_verdicts_of_a_worker_are_a_failing_test(pytester, project, set_limit):
    project("good")
    set_limit("PAYLOAD_BYTES", 1000)
    result = pytester.runpytest("--riskguard", "-n", "1", "--riskguard-report=report.json")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["riskguard: no-risk: expected at most 1,000 bytes of verdicts*"])
    gates = json.loads((pytester.path / "report.json").read_text())["gates"]
    assert [gate["became"] for gate in gates] == ["failed"]
    assert pytester.runpytest("--riskguard").ret == 0


@pytest.mark.parametrize(
    "broken",
    [
        "pytest_riskguard.plugin.relay:Relay.receive",
        "pytest_riskguard.plugin.gate_log:GateLog.receive",
        "pytest_riskguard.plugin.gate_log:GateLog.gates",
        "pytest_riskguard.plugin.gate_files:load_config",
        "pytest_riskguard.plugin.selection:Selection.leaves_out",
    ],
)
def test_a_failure_of_the_book_keeping_is_one_line_and_never_green(pytester, project, monkeypatch, broken):
    project("good")
    module, _, name = broken.partition(":")

    def fail(*_, **__):
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(f"{module}.{name}", fail)
    result = pytester.runpytest("--riskguard", "--riskguard-report=report.json")
    assert result.ret == pytest.ExitCode.INTERNAL_ERROR
    result.stdout.fnmatch_lines(["pytest-riskguard: internal error while *: ZeroDivisionError: planted; *"])
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
    assert (pytester.path / "report.json").exists()


def test_a_limit_that_is_no_number_is_a_usage_error(pytester, monkeypatch):
    monkeypatch.setenv("RISKGUARD_LIMITS", "many")
    result = pytester.runpytest("--riskguard")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: RISKGUARD_LIMITS: expected a factor above 0*"])
