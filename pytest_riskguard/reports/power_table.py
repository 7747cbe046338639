"""What gates can detect, as text and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import groupby

from pytest_riskguard.gates.kinds import MIN_TOPICS
from pytest_riskguard.gates.power_plan import Chances, NextTopics, Plan
from pytest_riskguard.reports.json import document
from pytest_riskguard.reports.terminal import layout
from pytest_riskguard.text import clean, counted, percent, plain, short, signed

SCHEMA = "riskguard-power/1"
#: Below about this many topics parametric and nonparametric intervals disagree (ADCS 2019).
MIN_PARAMETRIC_TOPICS = 250
#: No table is readable at a smaller width.
MIN_WIDTH = 60


def dumps(plans: Sequence[Plan], divisions: Sequence[NextTopics] = ()) -> str:
    """The plans as JSON text, with how the next topics are divided if that was asked."""
    more = {"next_topics": divisions} if divisions else {}
    return document(SCHEMA, {"plans": plans, **more})


def explain(plans: Sequence[Plan], divisions: Sequence[NextTopics] = (), *, width: int) -> str:
    """A table for each measure and baseline with one line for each alpha, notes under it, and a legend.

    Then how the next topics are divided among strata, if that was asked.
    """
    width = max(width, MIN_WIDTH)
    blocks = []
    for _, group in groupby(plans, key=lambda plan: (plan.measure, plan.baseline, plan.slice)):
        together = list(group)
        lines = [
            _heading(together[0]),
            *layout.wrapped(_answer(together), width=width),
            *_table(together, width),
            *_costs(together, width),
        ]
        lines += layout.wrapped(_notes(together), width=width)
        blocks.append("\n".join(lines))
    blocks.append(
        textwrap.fill(_legend(plans[0], simulated=any(plan.cost is not None for plan in plans)), width=width)
    )
    return "\n\n".join([*blocks, *(_division(division, width) for division in divisions)])


def _division(division: NextTopics, width: int) -> str:
    """How many topics of each stratum to judge next, and the standard error before and after."""
    from rich.text import Text

    systems = clean(division.baseline)
    what, error = "the baseline's scores, up to a factor", "the standard error falls"
    if division.candidate is not None:
        systems = f"{clean(division.candidate)} against {systems}"
        what, error = f"trade-off scores at alpha {short(division.alpha)}", "the standard error of URisk falls"
    table = layout.bare_table()
    table.add_column("stratum")
    for name in ("share", "topics", "sd", "next"):
        table.add_column(name, justify="right", min_width=len(name))
    for row in division.strata:
        cells = (percent(row.share, 1), str(row.topics), plain(row.standard_deviation), str(row.next))
        table.add_row(Text(clean(row.stratum, limit=60)), *map(Text, cells))
    more = counted(sum(row.next for row in division.strata), "topic")
    heading = f"{systems}: {clean(division.measure or 'scores')}, the next {more} to judge"
    if division.candidate is None:
        error += f" to {percent(division.standard_error_after / (division.standard_error or 1.0), 1)} of what it is"
    else:
        error += f" from {plain(division.standard_error)} to {plain(division.standard_error_after)}"
    notes = layout.wrapped([f"{error}; sd is that of {what}"], width=width)
    return "\n".join([heading, *("  " + line for line in layout.lines(table, width=width - 2)), *notes])


def _legend(plan: Plan, *, simulated: bool) -> str:
    text = (
        f"MDE: minimum detectable effect, the smallest fall of {_what(plan)} that fails the gate with "
        f"{percent(plan.power)} power, at level {short(plan.level)}, method {plan.method}, tolerance "
        f"{short(plan.tolerance)}, on_churn {plan.on_churn}. n for X: topics needed to detect a fall of X; - where "
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


def _table(plans: Sequence[Plan], width: int) -> list[str]:
    from rich.text import Text

    assumed = plans[0].correlation is not None
    names = [*(["correlation"] if assumed else []), "alpha", "sd", "MDE", "churn fails"]
    names += [f"n for {short(effect.size)}" for effect in plans[0].effects]
    table = layout.bare_table()
    for name in names:
        table.add_column(name, justify="right", min_width=max(map(len, name.split())))
    for plan in plans:
        cells = [short(plan.correlation)] if plan.correlation is not None else []
        cells += [short(plan.alpha), _or_dash(plan.standard_deviation), _or_dash(plan.minimum_detectable_effect)]
        cells.append("-" if plan.churn_power is None else percent(plan.churn_power, 1))
        cells += ["-" if effect.topics_needed is None else f"{effect.topics_needed}" for effect in plan.effects]
        table.add_row(*(Text(cell) for cell in cells))
    return ["  " + line for line in layout.lines(table, width=width - 2)]


def _costs(plans: Sequence[Plan], width: int) -> list[str]:
    """How many of 100 pull requests fail, where that was simulated."""
    from rich.text import Text

    simulated = [(plan, plan.cost) for plan in plans if plan.cost is not None]
    if not simulated:
        return []
    assumed = plans[0].correlation is not None
    table = layout.bare_table()
    harms = [f"-{short(effect.size)}" for effect in plans[0].effects]
    for name in [*(["correlation"] if assumed else []), "alpha", "harmless", *harms]:
        table.add_column(name, justify="right", min_width=len(name))
    for plan, cost in simulated:
        cells = [short(plan.correlation)] if plan.correlation is not None else []
        cells += [short(plan.alpha), *(_failing(chances) for chances in (cost.harmless, *cost.harmful))]
        table.add_row(*map(Text, cells))
    heading = "of 100 pull requests so many fail, as loss + churn:"
    return [f"  {heading}", *("  " + line for line in layout.lines(table, width=width - 2))]


def _failing(chances: Chances) -> str:
    return f"{_in_100(chances.loss)} + {_in_100(chances.churn)}"


def _in_100(number: float) -> str:
    """A number of 100, below 10 with one decimal."""
    return f"{number:.1f}" if 0 < number < 9.95 else f"{number:.0f}"


def _or_dash(value: float | None) -> str:
    return "-" if value is None else plain(value)


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
