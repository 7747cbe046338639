"""Verdicts as JUnit XML, which GitLab, Jenkins and others read: properties of test cases, and a whole file."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import words
from pytest_riskguard.reports.card import Card
from pytest_riskguard.reports.comparisons import Report
from pytest_riskguard.text import clean, listed, short

#: Topics that a property names.
_MAX_NAMED = 10


def properties(verdict: Verdict, number: int = 1, policy_changes: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Name and value; from the second verdict of a test on, names contain its number.

    Values are text without control characters, which XML forbids. Missing values are left out.
    """
    prefix = "riskguard." if number == 1 else f"riskguard.{number}."
    pool = verdict.asked.is_pool
    card = Card(verdict)
    values: dict[str, str | float | None] = {
        "gate": verdict.gate,
        "kind": verdict.kind,
        "outcome": verdict.outcome,
        "answer": words.word(verdict),
        "reason": verdict.reason,
        "measure": verdict.measure,
        "alpha": verdict.alpha,
        "candidate": verdict.candidate,
        "baseline": listed(verdict.baselines, most=_MAX_NAMED),
        "identical_to": listed(verdict.identical_to, most=_MAX_NAMED),
        "georisk_difference" if pool else "urisk": card.risk,
        "limit": card.deciding_limit,
        "mean_difference": verdict.estimates.mean_difference,
        "headline": words.line(verdict),
        "estimate": words.estimate(verdict),
        "summary": words.paragraph(verdict),
        "topics_responsible": _topics(verdict),
        "warnings": ", ".join(dict.fromkeys(warning.code for warning in verdict.warnings)),
        "problem": verdict.problem,
        "policy_changes": "; ".join(policy_changes) if policy_changes and number == 1 else None,
    }
    return [(prefix + name, _text(value)) for name, value in values.items() if value not in (None, "")]


def render(report: Report) -> str:
    """A file with a test case for each verdict, and a skipped one for each gate that has none."""
    gates = report.gates
    files = {place: gate.file for gate in gates for place in gate.verdicts}
    suite = ElementTree.Element("testsuite", name="riskguard")
    for place, verdict in enumerate(report.verdicts):
        case = _case(suite, files.get(place, "riskguard"), verdict.gate)
        listed_properties = ElementTree.SubElement(case, "properties")
        for name, value in properties(verdict, policy_changes=report.policy_changes):
            ElementTree.SubElement(listed_properties, "property", name=name, value=value)
        if not verdict.passed:
            kind = "error" if verdict.outcome == "incomparable" else "failure"
            result = ElementTree.SubElement(case, kind, message=_text(words.line(verdict)))
            result.text = _text(words.fault(verdict) or words.paragraph(verdict))
    for gate in gates:
        if not gate.verdicts:
            case = _case(suite, gate.file, gate.id.partition("::")[2])
            ElementTree.SubElement(case, "skipped", message=_text(gate.words))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("tests", str(len(suite)))
    ElementTree.indent(suite)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(suite, encoding="unicode")}\n'


def _case(suite: ElementTree.Element, file: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=_text(file), name=_text(name), time="0")


def _topics(verdict: Verdict) -> str:
    if verdict.passed:
        return ""
    card = Card(verdict)
    return listed(tuple(topic.topic for topic in card.worst), most=_MAX_NAMED, left_out=card.more)


def _text(value: str | float | None) -> str:
    return short(value) if isinstance(value, float) else clean(str(value), limit=1000)
