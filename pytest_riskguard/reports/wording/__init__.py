"""A verdict in words: the messages of its warnings and a summary, made from its own figures and nothing else."""

from __future__ import annotations

from dataclasses import replace

from pytest_riskguard.gates.verdict import Findings, Verdict
from pytest_riskguard.reports.wording.messages import message
from pytest_riskguard.reports.wording.summary import summary

__all__ = ["worded"]


def worded(verdict: Verdict) -> Verdict:
    """The verdict with its texts, to be called once when nothing more is added to it.

    A warning that has a message keeps it, for one that was read from a report has no parameters to word it from. The
    summary is always written anew; an incomparable verdict has none.
    """
    return verdict.with_findings(lambda findings: _worded(verdict, findings))


def _worded(verdict: Verdict, findings: Findings) -> Findings:
    warnings = tuple(
        warning if warning.message else replace(warning, message=message(verdict, warning))
        for warning in findings.warnings
    )
    if findings.explanation is None:
        return replace(findings, warnings=warnings)
    return replace(findings, warnings=warnings, explanation=replace(findings.explanation, summary=summary(verdict)))
