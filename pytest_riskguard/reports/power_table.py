"""What gates can detect, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from pytest_riskguard.gates.kinds import MIN_TOPICS
from pytest_riskguard.gates.power_plan import Chances, NextTopics, Plan
from pytest_riskguard.reports.json import document
from pytest_riskguard.reports.parts import Section, Table
from pytest_riskguard.text import clean, counted, percent, plain, short, signed

SCHEMA = "riskguard-power/1"
#: Below about this many topics parametric and nonparametric intervals disagree (ADCS 2019).
MIN_PARAMETRIC_TOPICS = 250


def dumps(plans: Sequence[Plan], divisions: Sequence[NextTopics] = ()) -> str:
    """The plans as JSON text, with how the next topics are divided if that was asked."""
    more = {"next_topics": divisions} if divisions else {}
    return document(SCHEMA, {"plans": plans, **more})


def section(plans: Sequence[Plan], divisions: Sequence[NextTopics] = ()) -> Section:
    """For each measure and baseline an answer, a table with one line for each alpha, and notes; then a legend.

    Then how the next topics are divided among strata, if that was asked.
    """
    parts = []
    for _, group in groupby(plans, key=lambda plan: (plan.measure, plan.baseline, plan.slice)):
        together = list(group)
        parts.append(Section(_heading(together[0]), _answer(together), _tables(together), _notes(together)))
    legend = [_legend(plans[0], simulated=any(plan.cost is not None for plan in plans))]
    parts += map(_division, divisions)
    if len(parts) == 1:
        return replace(parts[0], notes=legend)
    return Section("What gates detect", parts=parts, notes=legend)


def _division(division: NextTopics) -> Section:
    """How many topics of each stratum to judge next, and the standard error before and after."""
    systems = clean(division.baseline)
    what, error = "the baseline's scores, up to a factor", "the standard error falls"
    if division.candidate is not None:
        systems = f"{clean(division.candidate)} against {systems}"
        what, error = f"trade-off scores at alpha {short(division.alpha)}", "the standard error of URisk falls"
    if division.candidate is None:
        error += f" to {percent(division.standard_error_after / (division.standard_error or 1.0), 1)} of what it is"
    else:
        error += f" from {plain(division.standard_error)} to {plain(division.standard_error_after)}"
    more = counted(sum(row.next for row in division.strata), "topic")
    columns = {"stratum": "name", "share": ".1%", "topics": "d", "sd": ".4f", "next": "d"}
    rows = [(row.stratum, row.share, row.topics, row.standard_deviation, row.next) for row in division.strata]
    return Section(
        f"{systems}: {clean(division.measure or 'scores')}, the next {more} to judge",
        parts=[Table("", columns, rows, note=f"{error}; sd is that of {what}")],
    )


def _legend(plan: Plan, *, simulated: bool) -> str:
    text = (
        f"MDE: minimum detectable effect, the smallest fall of {_what(plan)} that fails the gate with "
        f"{percent(plan.power)} power, at level {short(plan.level)}, method {plan.method}, tolerance "
        f"{short(plan.tolerance)}, on_churn {plan.on_churn}. n X: topics needed to detect a fall of X; - where "
        "no number is enough. churn fails: probability that a change that moves topics as much but does not move the "
        "mean fails at this alpha, which is churn."
    )
    if not simulated:
        return text
    return (
        f"{text} Pull requests: drawn with a fixed "
        "generator and judged by the rule; each topic moves as far as here, up or down by chance. Harmless: with "
        "equal chances; -X: so that the mean falls by X. With on_churn: warn only the losses fail."
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
    """In a sentence: what these topics detect at the first alpha, and what a smaller fall takes."""
    first = [plan for plan in plans if plan.alpha == plans[0].alpha]
    found = sorted(plan.minimum_detectable_effect for plan in first if plan.minimum_detectable_effect is not None)
    if not found:
        return []
    seen = plain(found[0]) if found[0] == found[-1] else f"{plain(found[0])} to {plain(found[-1])}"
    assumed = " (by the correlation)" if len(found) > 1 else ""
    text = (
        f"With {counted(plans[0].topics, 'topic')} a gate at alpha {short(plans[0].alpha)} detects a fall of "
        f"{_what(plans[0])} of {seen}{assumed} with {percent(plans[0].power)} power"
    )
    smaller = sorted(zip(*(plan.effects for plan in first), strict=True), key=lambda effects: -effects[0].size)
    for effects in smaller:
        needed = sorted(effect.topics_needed for effect in effects if effect.topics_needed is not None)
        if effects[0].size < found[0] and len(needed) == len(effects):
            topics = f"{needed[0]}" if needed[0] == needed[-1] else f"{needed[0]} to {needed[-1]}"
            text += f"; a fall of {short(effects[0].size)} takes {topics} topics"
            break
    return [f"{text}."]


def _tables(plans: Sequence[Plan]) -> list[Table]:
    """What each alpha detects; and how many of 100 pull requests fail, where that was simulated."""
    sizes = [short(effect.size) for effect in plans[0].effects]
    known = {"correlation": "g", "alpha": "g"} if plans[0].correlation is not None else {"alpha": "g"}
    detected = {"sd": ".4f", "MDE": ".4f", "churn fails": ".1%", **{f"n {size}": "d" for size in sizes}}
    rows, costs = [], []
    for plan in plans:
        head = [getattr(plan, name) for name in known]
        needed = [effect.topics_needed for effect in plan.effects]
        rows.append((*head, plan.standard_deviation, plan.minimum_detectable_effect, plan.churn_power, *needed))
        if plan.cost is not None:
            costs.append((*head, *map(_failing, (plan.cost.harmless, *plan.cost.harmful))))
    tables = [Table("", known | detected, rows, none="-")]
    if costs:
        failing = dict.fromkeys(["harmless", *(f"-{size}" for size in sizes)], "number")
        tables.append(Table("of 100 pull requests so many fail, as loss + churn:", known | failing, costs))
    return tables


def _failing(chances: Chances) -> str:
    return f"{_in_100(chances.loss)} + {_in_100(chances.churn)}"


def _in_100(number: float) -> str:
    """A number of 100, below 10 with one decimal."""
    return f"{number:.1f}" if 0 < number < 9.95 else f"{number:.0f}"


def _notes(plans: Sequence[Plan]) -> list[str]:
    first = plans[0]
    notes = []
    if first.topics < MIN_TOPICS:
        notes.append(f"too few topics: below {MIN_TOPICS} every gate is inconclusive")
    if first.changed == 0:
        notes.append("no topic changed: there is nothing to plan from")
    elif first.standard_deviation == 0:
        notes.append("scores do not vary: there is nothing to plan from")
    elif first.cannot_fail:
        needed = "more" if first.changes_needed is None else f"at least {first.changes_needed}"
        notes.append(
            f"{counted(first.changed or 0, 'changed topic')} would not fail this gate even if all of them lost: "
            f"{needed} are needed. n assumes that the same share of topics changes"
        )
    if first.method == "student_t" and first.topics < MIN_PARAMETRIC_TOPICS:
        notes.append(f"below about {MIN_PARAMETRIC_TOPICS} topics a nonparametric interval is safer (method auto)")
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
