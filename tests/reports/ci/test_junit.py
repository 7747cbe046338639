"""Verdicts as properties of test cases."""

from xml.etree import ElementTree

import pytest

from pytest_riskguard.reports.ci.junit import properties, render
from pytest_riskguard.reports.comparisons import KnownGate, Report
from tests.plugin.world import GOOD, LOSS
from tests.reports.terminal.test_failure import verdict
from tests.reports.test_json import VERDICTS
from tests.verdicts import altered


def test_a_failed_gate_has_its_figures_and_topics():
    found = dict(properties(altered(verdict(LOSS), gate="no-risk", measure="AP")))
    assert found["riskguard.outcome"] == "fail"
    assert found["riskguard.reason"] == "loss"
    assert found["riskguard.gate"] == "no-risk"
    assert found["riskguard.measure"] == "AP"
    assert found["riskguard.alpha"] == "1"
    assert float(found["riskguard.urisk"]) == pytest.approx(verdict(LOSS).estimates.urisk)
    assert float(found["riskguard.limit"]) == pytest.approx(verdict(LOSS).decisive_interval.upper)
    assert found["riskguard.topics_responsible"].startswith("t07, t01, t02, ")
    assert found["riskguard.topics_responsible"].endswith(" and 2 more")


def test_another_verdict_of_the_same_test_has_a_number():
    assert {name.rpartition(".")[0] for name, _ in properties(verdict(GOOD), 2)} == {"riskguard.2"}


def test_a_file_has_a_case_for_each_verdict_and_each_gate_without_one():
    gates = [
        KnownGate("riskguard.yaml::no-risk", 6, "judged", 0, (0,)),
        KnownGate("riskguard.yaml::other", 7, "deselected", 0, ()),
    ]
    verdicts = [altered(verdict(LOSS), gate="no-risk"), verdict(GOOD), VERDICTS["incomparable"]()]
    suite = ElementTree.fromstring(render(Report(verdicts, gates)))  # noqa: S314 - our own text
    counts = {key: suite.attrib[key] for key in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "4", "failures": "1", "errors": "1", "skipped": "1"}
    failed, passed, error, left_out = suite
    assert (failed.get("classname"), failed.get("name")) == ("riskguard.yaml", "no-risk")
    assert "the mean fell" in failed.find("failure").get("message")
    assert {found.get("name") for found in failed.iter("property")} == {name for name, _ in properties(verdicts[0])}
    assert [found.tag for found in passed] == ["properties"]
    assert error.find("error").text
    assert (left_out.get("name"), left_out.find("skipped").get("message")) == ("other", "deselected")
