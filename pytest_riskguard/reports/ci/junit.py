"""Verdicts as a file of JUnit XML, which GitLab, Jenkins and others read."""

from __future__ import annotations

from xml.etree import ElementTree

from pytest_riskguard.reports import words
from pytest_riskguard.reports.ci.github import annotation
from pytest_riskguard.reports.comparisons import Report
from pytest_riskguard.text import clean


def render(report: Report) -> str:
    """A file with a test case for each verdict, and a skipped one for each gate that has none."""
    gates = report.gates
    files = {place: gate.file for gate in gates for place in gate.verdicts}
    suite = ElementTree.Element("testsuite", name="riskguard")
    for place, verdict in enumerate(report.verdicts):
        case = _case(suite, files.get(place, "riskguard"), verdict.gate)
        if not verdict.passed:
            kind = "error" if verdict.outcome == "incomparable" else "failure"
            result = ElementTree.SubElement(case, kind, message=_text(words.line(verdict)))
            result.text = "\n".join(map(_text, annotation(verdict).lines[1:]))
    for gate in gates:
        if not gate.verdicts:
            case = _case(suite, gate.file, gate.id.partition("::")[2])
            ElementTree.SubElement(case, "skipped", message=_text(gate.words))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("tests", str(len(suite)))
    if report.policy_changes:
        ElementTree.SubElement(suite, "system-out").text = _text("; ".join(report.policy_changes))
    ElementTree.indent(suite)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(suite, encoding="unicode")}\n'


def _case(suite: ElementTree.Element, file: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=_text(file), name=_text(name), time="0")


def _text(value: str) -> str:
    return clean(value, limit=1000)
