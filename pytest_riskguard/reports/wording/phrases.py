"""Figures and names of a verdict as words of a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_riskguard.gates.findings import Explanation, ResponsibleTopic
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from pytest_riskguard.risk.urisk import COUNTED

#: The longest name, of a topic, a tag or a system, that a sentence repeats whole.
MAX_NAME = 60


def line(text: str) -> str:
    """Other people's text on one line, short enough for a sentence; reports escape it."""
    joined = " ".join(text.split())
    return joined if len(joined) <= MAX_NAME else joined[: MAX_NAME - 1] + "…"


def row(names: Sequence[str], *, last: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *others, final = (line(name) for name in names)
    return f"{', '.join(others)} {last} {final}" if others else final


def size(value: float) -> str:
    """How large a number is, without its sign: four decimals, or powers of ten where those would not show it."""
    value = abs(value)
    if not math.isfinite(value):
        return "undefined"
    return f"{value:.1e}" if value >= 1e9 or 0 < value < 0.00005 else f"{value:.4f}"


def amount(value: float) -> str:
    """The same with a sign, and none for 0."""
    return f"{'-' if value < 0 else '+' if value > 0 else ''}{size(value)}"


def percent(share: float) -> str:
    """A share in whole percent; 0% and 100% only where they are exact."""
    rounded = round(100 * share)
    if rounded == 100 and share < 1 - ROUNDING_ERROR:
        return "over 99%"
    return "under 1%" if rounded == 0 and share > 0 else f"{rounded}%"


def has(verdict: Verdict, code: str) -> bool:
    """Whether the verdict carries this warning."""
    return Shown(verdict).has(code)


def explanation_of(verdict: Verdict) -> Explanation:
    """The verdict's explanation; an empty one where it has none."""
    return verdict.explanation or Explanation()


def lost_topics(verdict: Verdict) -> tuple[ResponsibleTopic, ...]:
    """The topics that an answer counts: those that lost; for a question about single ones those that collapsed."""
    if verdict.asked.by_topic:
        collapsed = (topic for topic in verdict.responsible_topics if topic.exceeds)
        return tuple(sorted(collapsed, key=lambda topic: round(topic.difference, 12)))
    return tuple(topic for topic in verdict.responsible_topics if topic.difference < -COUNTED)


def times(verdict: Verdict) -> str:
    """How losses count, as a clause between commas; empty where they count as wins do."""
    if verdict.tradeoff == "smooth":
        return ", larger ones counted more,"
    if verdict.alpha == 0:
        return ""
    return ", each counted twice," if verdict.alpha == 1 else f", each counted {1 + verdict.alpha:.12g} times,"


def opponent(verdict: Verdict) -> str:
    """What the candidate of a pool was compared with."""
    name = verdict.baselines[0] if verdict.pool is None else verdict.pool.decided_by
    return line(name) if name in verdict.baselines else f"the {line(name)} baseline"


def risk_name(verdict: Verdict) -> str:
    """URisk as its convention calls it."""
    return f"URisk{Shown(verdict).suffix}"


def risk(verdict: Verdict, value: float) -> str:
    """A value of URisk, with the sign that its convention gives it."""
    return amount(Shown(verdict).turned(value))
