"""Plans as text and as JSON."""

from __future__ import annotations

import io
import json
import textwrap
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from itertools import groupby
from typing import Any

from pytest_riskguard._version import __version__
from pytest_riskguard.gates.planning import Plan
from pytest_riskguard.gates.spec import FEWEST_TOPICS
from pytest_riskguard.serialization import rounded
from pytest_riskguard.text import clean, counted, plain, short, signed

SCHEMA = "riskguard-power/1"
#: Below about so many topics parametric and nonparametric intervals disagree (ADCS 2019).
NORMAL_TOPICS = 250
#: Narrower than this no table is readable.
NARROWEST = 60


def dumps(plans: Sequence[Plan]) -> str:
    """The plans as JSON text: 12 significant digits, what does not exist is null, ASCII for any console."""
    content = {
        "schema": SCHEMA,
        "generated_by": {"name": "pytest-riskguard", "version": __version__},
        "plans": [_plain(plan) for plan in plans],
    }
    return json.dumps(content, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return rounded(value) if isinstance(value, float) else value


def explain(plans: Sequence[Plan], *, width: int) -> str:
    """A table for each measure and baseline, one line for each alpha, and under it what it means."""
    width = max(width, NARROWEST)
    parts = []
    for _, group in groupby(plans, key=lambda plan: (plan.measure, plan.baseline, plan.slice)):
        together = list(group)
        lines = [_heading(together[0]), *_table(together, width)]
        for note in _notes(together):
            lines += textwrap.wrap(note, width=width, initial_indent="  ", subsequent_indent="    ")
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, *(textwrap.fill(line, width=width) for line in _legend(plans[0]))])


def _legend(plan: Plan) -> list[str]:
    return [
        f"sees: the smallest fall of URisk that fails the gate with {100 * plan.power:g} % power, at level "
        f"{short(plan.level)}, method {plan.method}, tolerance {short(plan.tolerance)}. n for X: the topics with "
        "which it sees a fall of X; - where no number of them would. churn fails: the chance that it fails for a "
        "change that moves topics as much and leaves the mean alone."
    ]


def _heading(plan: Plan) -> str:
    systems = clean(plan.baseline)
    if plan.candidate is not None:
        systems = f"{clean(plan.candidate)} against {systems}"
    topics = counted(plan.topics, "topic")
    if plan.slice is not None:
        topics = f"{clean(plan.slice, limit=60)}, {topics}"
    if plan.changed is not None:
        topics += f", {plan.changed} changed"
    return f"{systems}: {clean(plan.measure or 'scores')}, {topics}"


def _table(plans: Sequence[Plan], width: int) -> list[str]:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="", show_edge=False)
    assumed = plans[0].correlation is not None
    names = [*(["correlation"] if assumed else []), "alpha", "sd", "sees", "churn fails"]
    names += [f"n for {short(effect.size)}" for effect in plans[0].effects]
    for name in names:
        table.add_column(name, justify="right", min_width=max(map(len, name.split())))
    for plan in plans:
        cells = [short(plan.correlation)] if plan.correlation is not None else []
        cells += [short(plan.alpha), _or_dash(plan.standard_deviation), _or_dash(plan.minimum_detectable_effect)]
        cells.append("-" if plan.churn_power is None else f"{100 * plan.churn_power:.1f} %")
        cells += ["-" if effect.topics_needed is None else f"{effect.topics_needed}" for effect in plan.effects]
        table.add_row(*(Text(cell) for cell in cells))
    console = Console(
        file=io.StringIO(),
        width=width - 2,
        color_system=None,
        force_terminal=False,
        legacy_windows=False,
    )
    with console.capture() as capture:
        console.print(table)
    return ["  " + line.rstrip() for line in capture.get().splitlines()]


def _or_dash(value: float | None) -> str:
    return "-" if value is None else plain(value)


def _notes(plans: Sequence[Plan]) -> list[str]:
    first = plans[0]
    notes = []
    if first.topics < FEWEST_TOPICS:
        notes.append(f"too few topics: below {FEWEST_TOPICS} every gate is inconclusive")
    if first.changed == 0:
        notes.append("no topic changed: there is nothing to plan from")
    elif first.standard_deviation == 0:
        notes.append("scores do not vary: there is nothing to plan from")
    elif first.cannot_fail:
        notes.append(
            f"this gate cannot fail with {counted(first.changed or 0, 'changed topic')}, whatever their values: "
            f"{first.changes_needed} are needed. Topics needed assume that the same share of topics changes"
        )
    if first.method == "student_t" and first.topics < NORMAL_TOPICS:
        notes.append(
            f"with fewer than about {NORMAL_TOPICS} topics a nonparametric interval is the safer choice "
            "(--method auto)"
        )
    if first.correlation is None:
        notes += [_shown(plan) for plan in plans if plan.changed]
    else:
        notes.append(
            "assumed, not observed: differences are normal with mean 0, and the candidate's scores vary as the "
            "baseline's do, correlated with them as given"
        )
    return notes


def _shown(plan: Plan) -> str:
    bound, urisk = short(-plan.tolerance + 0.0), signed(plan.urisk)
    if plan.topics_for_tolerance is None:
        return f"alpha {short(plan.alpha)}: no number of topics shows that a URisk of {urisk} is above {bound}"
    topics = counted(plan.topics_for_tolerance, "topic")
    return f"alpha {short(plan.alpha)}: it takes {topics} to show that a URisk of {urisk} is above {bound}"
