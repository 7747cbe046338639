"""Verdicts as a file of JUnit XML."""

from xml.etree import ElementTree

from pytest_riskguard.reports.ci.junit import render
from pytest_riskguard.reports.comparisons import KnownGate, Report
from tests.plugin.world import GOOD, LOSS
from tests.reports.cases import CASES, judged
from tests.verdicts import altered


def test_a_file_has_a_case_for_each_verdict_and_each_gate_without_one():
    gates = [
        KnownGate("riskguard.yaml::no-risk", 6, "judged", 0, (0,)),
        KnownGate("riskguard.yaml::other", 7, "no_verdict", 0, ()),
    ]
    verdicts = [altered(judged(LOSS), gate="no-risk"), judged(GOOD), CASES["incomparable"]()]
    suite = ElementTree.fromstring(render(Report(verdicts, gates, policy_changes=["level"])))  # noqa: S314 - our own text
    counts = {key: suite.attrib[key] for key in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "4", "failures": "1", "errors": "1", "skipped": "1"}
    failed, passed, error, left_out, changes = suite
    assert (failed.get("classname"), failed.get("name")) == ("riskguard.yaml", "no-risk")
    assert "the mean fell" in failed.find("failure").get("message")
    assert "Worst: query number 07 (0.50 -> 0.05), query number 01 (0.50 -> 0.10), " in failed.find("failure").text
    assert (len(passed), changes.text) == (0, "level")
    assert error.find("error").text.startswith("Nothing was compared: ")
    assert (left_out.get("name"), left_out.find("skipped").get("message")) == ("other", "asked for no verdict")
