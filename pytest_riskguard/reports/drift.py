"""The history of a baseline as a table: what accepted changes did, one by one and together."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_riskguard.gates.history import Change, Drift
from pytest_riskguard.reports.parts import Table
from pytest_riskguard.reports.terminal import layout
from pytest_riskguard.text import clean, counted, percent, plain, short, signed

_WIDTH = 80
_COLUMNS = {"run": "name", **dict.fromkeys(("mean", "change", "in all", "URisk", "interval", "losses"), "number")}


def explain(drift: Drift, *, names: Sequence[str] | None = None) -> str:
    """One line for each run, oldest first, at most 80 columns wide; then a conclusion.

    ``names`` are shown for the oldest run and each step instead of the names of the runs.
    """
    names = [drift.oldest, *(step.name for step in drift.steps)] if names is None else names
    rows = [(names[0], plain(drift.oldest_mean), *[""] * 5)]
    for name, step in zip(names[1:], drift.steps, strict=True):
        difference = signed(step.against_previous.mean_difference)
        rows.append((name, plain(step.mean), difference, *_in_total(step.against_oldest)))
    lines = [
        f"{clean(drift.measure or 'scores')}, {counted(drift.topics, 'topic')}: in total, URisk(alpha="
        f"{short(drift.alpha)}) and its {percent(drift.level)} interval are against {clean(names[0])}"
    ]
    return "\n".join(
        [*lines, *Table("", _COLUMNS, rows).lines(_WIDTH), *layout.wrapped(_notes(drift, names), width=_WIDTH)]
    )


def _in_total(change: Change) -> tuple[str, ...]:
    limits = "-"
    if change.interval is not None:
        limits = f"[{signed(change.interval.lower)}, {signed(change.interval.upper)}]"
    return signed(change.mean_difference), signed(change.urisk), limits, str(change.losses)


def _notes(drift: Drift, names: Sequence[str]) -> list[str]:
    if not drift.steps:
        return []
    newest, oldest = drift.steps[-1].against_oldest, clean(names[0])
    if newest.interval is None:
        return ["too few topics: an interval needs at least 10"]
    if newest.risky:
        why = "the mean itself is significantly down" if newest.worse else "only because losses weigh more (churn)"
        text = f"significantly risky against {oldest}: {why}"
        if drift.slow_slide:
            text += "; no single change was significantly risky against the run before it: a slow slide"
        return [text]
    if (since := drift.better_since) is not None:
        number = [step.name for step in drift.steps].index(since.name) + 1
        return [f"{oldest} is no longer a yardstick: every run since {clean(names[number])} is significantly better"]
    return []
