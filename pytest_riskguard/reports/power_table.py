"""What gates can detect, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from pytest_riskguard.gates.kinds import MIN_TOPICS
from pytest_riskguard.gates.power import Plan
from pytest_riskguard.reports.json import document
from pytest_riskguard.reports.numbers import percent, plain, short, signed
from pytest_riskguard.reports.parts import Section, Table
from pytest_riskguard.text import clean, counted

SCHEMA = "riskguard-power/1"


def dumps(plans: Sequence[Plan]) -> str:
    """The plans as JSON text."""
    return document(SCHEMA, {"plans": plans})


def section(plans: Sequence[Plan]) -> Section:
    """For each measure and baseline an answer, a table with one line for each alpha, and notes; then a legend."""
    parts = []
    for _, group in groupby(plans, key=lambda plan: (plan.measure, plan.baseline, plan.slice)):
        together = list(group)
        parts.append(Section(_heading(together[0]), _answer(together), [_table(together)], _notes(together)))
    legend = [_legend(plans[0])]
    if len(parts) == 1:
        return replace(parts[0], notes=legend)
    return Section("What gates detect", parts=parts, notes=legend)


def _legend(plan: Plan) -> str:
    return (
        f"MDE: minimum detectable effect, the smallest fall of {_what(plan)} that fails the gate with "
        f"{percent(plan.power)} power, at level {short(plan.level)}, method {plan.method}, tolerance "
        f"{short(plan.tolerance)}, on_churn {plan.on_churn}. n X: the topics needed to detect a fall of X, or - if "
        "no number is enough. churn fails: how often a change fails that moves topics as much, but not the mean."
    )


def _what(plan: Plan) -> str:
    """What falls: where churn only warns, the mean alone must fail too."""
    return "the mean" if plan.on_churn == "warn" and plan.alpha > 0 else "URisk"


def _heading(plan: Plan) -> str:
    systems = clean(plan.baseline)
    if plan.candidate is not None:
        systems = f"{clean(plan.candidate)} against {systems}"
    topics = counted(plan.topics, "topic")
    if plan.clusters is not None:
        topics += f" in {counted(plan.clusters, 'cluster')}"
    if plan.slice is not None:
        topics = f"{clean(plan.slice, limit=60)}, {topics}"
    if plan.changed is not None:
        topics += f", {plan.changed} changed"
    return f"{systems}: {clean(plan.measure or 'scores')}, {topics}"


def _answer(plans: Sequence[Plan]) -> list[str]:
    """In a sentence: what these topics detect in the first line of the table."""
    first = plans[0]
    if first.minimum_detectable_effect is None:
        return []
    seen = f"a fall of {_what(first)} of {plain(first.minimum_detectable_effect)}"
    return [
        f"With {counted(first.topics, 'topic')} a gate at alpha {short(first.alpha)} detects {seen} with "
        f"{percent(first.power)} power."
    ]


def _table(plans: Sequence[Plan]) -> Table:
    """What each alpha detects."""
    sizes = [short(effect.size) for effect in plans[0].effects]
    known = {"correlation": "g", "alpha": "g"} if plans[0].correlation is not None else {"alpha": "g"}
    detected = {"sd": ".4f", "MDE": ".4f", "churn fails": ".1%", **{f"n {size}": "d" for size in sizes}}
    rows = []
    for plan in plans:
        head = [getattr(plan, name) for name in known]
        needed = [effect.topics_needed for effect in plan.effects]
        rows.append((*head, plan.standard_deviation, plan.minimum_detectable_effect, plan.churn_power, *needed))
    return Table("", known | detected, rows, none="-")


def _notes(plans: Sequence[Plan]) -> list[str]:
    first = plans[0]
    notes = []
    if first.topics < MIN_TOPICS:
        notes.append(f"too few topics: below {MIN_TOPICS} every gate is inconclusive")
    if first.changed == 0 or first.standard_deviation == 0:
        notes.append("nothing varies: there is nothing to plan from")
    elif first.cannot_fail:
        needed = "more" if first.changes_needed is None else f"at least {first.changes_needed}"
        notes.append(
            f"{counted(first.changed or 0, 'changed topic')} would not fail this gate even if all of them lost: "
            f"{needed} are needed. n assumes that the same share of topics changes"
        )
    if first.correlation is None:
        notes += [_shown(plan) for plan in plans if plan.changed]
    else:
        notes.append(
            "assumed, not observed: differences are normal with mean 0; the candidate's scores vary as the "
            "baseline's do and have the given correlation with them"
        )
    return notes


def _shown(plan: Plan) -> str:
    bound, urisk = short(-plan.tolerance + 0.0), signed(plan.urisk)
    if plan.topics_for_tolerance is None:
        return f"alpha {short(plan.alpha)}: no number of topics shows that a URisk of {urisk} is above {bound}"
    topics = counted(plan.topics_for_tolerance, "topic")
    return f"alpha {short(plan.alpha)}: {topics} are needed to show that a URisk of {urisk} is above {bound}"
