"""What the warnings of a verdict say, and the verdict with its texts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_riskguard.gates.verdict import FIRST_WARNINGS, Findings, Verdict, VerdictWarning
from pytest_riskguard.gates.warning_codes import ADDED, SAID
from pytest_riskguard.reports.details import figures
from pytest_riskguard.reports.words import METHODS, line, paragraph
from pytest_riskguard.text import clean, counted, named

__all__ = ["worded"]


def worded(verdict: Verdict) -> Verdict:
    """The verdict with its texts. Call this once, when the verdict is complete.

    Warnings about inputs that a reader must see come first. A warning that already has a message keeps it: one read
    from a report has no parameters to make a message from. The summary is always rewritten; an incomparable verdict
    has none.
    """
    return verdict.with_findings(lambda findings: _worded(verdict, findings))


def _worded(verdict: Verdict, findings: Findings) -> Findings:
    warnings = tuple(
        warning if warning.message else replace(warning, message=message(verdict, warning))
        for warning in sorted(findings.warnings, key=lambda one: (*FIRST_WARNINGS, one.code).index(one.code))
    )
    findings = replace(findings, warnings=warnings)
    if verdict.outcome == "incomparable":
        return findings
    verdict = verdict.with_findings(lambda _: findings)
    return replace(findings, figures=tuple(figures(verdict)), summary=f"{line(verdict)}. {paragraph(verdict)}")


def message(verdict: Verdict, warning: VerdictWarning) -> str:
    """What the warning says, as one sentence without a full stop: a template filled with the warning's parameters."""
    parameters = dict(warning.parameters)
    about = str(parameters.pop("about", warning.code))  # what a code that stands for several is about
    moved = parameters.pop("means", ())
    topics = verdict.topics
    units = f"{topics.clusters} clusters of topics" if topics.clusters else counted(topics.count, "topic")
    texts: dict[str, Any] = {"verdict": verdict, "units": units}
    for name, value in parameters.items():
        texts[name] = value
        if isinstance(value, list | tuple):
            texts |= {
                name: named(value),
                f"{name}_number": len(value),
                f"{name}_counted": counted(len(value), "topic"),
            }
        elif isinstance(value, str):
            texts[name] = METHODS.get(value, value)
    said = SAID[about].format(**texts)
    said += "".join(text.format(**texts) for name, text in ADDED.items() if parameters.get(name))
    means = [f"mean of {clean(name)} {before:.4f} when stored, {now:.4f} now" for name, before, now in moved]
    return f"{said} ({'; '.join(means)})" if means else said
