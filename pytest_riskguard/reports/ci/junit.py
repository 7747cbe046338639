"""A verdict as properties of a test case, which GitLab, Jenkins and others read from JUnit XML."""

from __future__ import annotations

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.card import card
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.text import clean, listed, short

#: Topics that a property names.
_MAX_NAMED = 10


def properties(verdict: Verdict, number: int = 1) -> list[tuple[str, str]]:
    """Name and value; from the second verdict of a test on, names contain its number.

    Values are text without control characters, which XML forbids. Missing values are left out.
    """
    prefix = "riskguard." if number == 1 else f"riskguard.{number}."
    pool = verdict.asked.is_pool
    figures, shown = Shown(verdict), card(verdict)
    values: dict[str, str | float | None] = {
        "gate": verdict.gate,
        "kind": verdict.kind,
        "outcome": verdict.outcome,
        "reason": verdict.reason,
        "measure": verdict.measure,
        "alpha": verdict.alpha,
        "candidate": verdict.candidate,
        "baseline": listed(verdict.baselines, most=_MAX_NAMED),
        "identical_to": listed(verdict.identical_to, most=_MAX_NAMED),
        "georisk_difference" if pool else "urisk": figures.risk,
        "limit": figures.deciding_limit,
        "mean_difference": verdict.estimates.mean_difference,
        "headline": shown.line,
        "estimate": shown.figures,
        "summary": shown.paragraph,
        "topics_responsible": _topics(verdict),
        "warnings": ", ".join(dict.fromkeys(warning.code for warning in verdict.warnings)),
        "problem": verdict.problem,
    }
    return [(prefix + name, _text(value)) for name, value in values.items() if value not in (None, "")]


def _topics(verdict: Verdict) -> str:
    if verdict.passed:
        return ""
    losers = verdict.responsible_topics[: verdict.topics.losses]
    return listed(tuple(topic.topic for topic in losers), most=_MAX_NAMED)


def _text(value: str | float | None) -> str:
    return short(value) if isinstance(value, float) else clean(str(value), limit=1000)
