"""A verdict in words: the messages of its warnings and a summary, made only from its own figures."""

from __future__ import annotations

from dataclasses import replace

from pytest_riskguard.gates.verdict import FIRST_WARNINGS, Findings, Verdict
from pytest_riskguard.reports.figures import figures
from pytest_riskguard.reports.wording.messages import message
from pytest_riskguard.reports.wording.paragraph import paragraph

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
        for warning in sorted(findings.warnings, key=lambda warning: warning.code not in FIRST_WARNINGS)
    )
    findings = replace(findings, warnings=warnings, figures=tuple(figures(verdict)))
    if findings.explanation is None:
        return findings
    return replace(findings, explanation=replace(findings.explanation, summary=paragraph(verdict)))
