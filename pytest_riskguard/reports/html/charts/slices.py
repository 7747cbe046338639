"""Slices of the topics: the risk of each with its interval."""

from __future__ import annotations

import altair as alt

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts.drawing import (
    INK,
    LOSS,
    SAME,
    WIDE,
    WIN,
    Chart,
    Row,
    chart,
    colours,
    line_at,
    plot,
    risk_name,
    sign,
    unique,
    with_unit,
)
from pytest_riskguard.reports.sections import slices_are_tested
from pytest_riskguard.text import clean, counted, signed

#: The most slices of a chart: those with the lowest URisk; the table has all.
MOST = 30


def slices(verdict: Verdict) -> Chart | None:
    """A point for each slice, with the interval where it has one."""
    if verdict.explanation is None or not verdict.explanation.slices:
        return None
    turn = sign(verdict)
    worst = sorted(verdict.explanation.slices, key=lambda each: round(each.urisk, 12))[:MOST]
    names = unique(f"{clean(each.tag, limit=40)}: {clean(each.value, limit=40)}" for each in worst)
    found: list[Row] = []
    for each, name in zip(worst, names, strict=True):
        row: Row = {
            "slice": name,
            "urisk": turn * each.urisk,
            "state": "risky" if each.risky else "few" if each.risky is None else "fine",
            "label": f"{name}: URisk {signed(turn * each.urisk)}, {counted(each.count, 'topic')}",
        }
        if each.lower is not None and each.upper is not None:
            row["lower"], row["upper"] = sorted((turn * each.lower, turn * each.upper))
            row["label"] += f" [{signed(row['lower'])}, {signed(row['upper'])}]"
        found.append(row)
    colour = colours("state", risky=LOSS, fine=WIN, few=SAME)
    y = alt.Y("slice:N", sort=names, title=None, axis=alt.Axis(labelLimit=220, labelColor=INK, ticks=False))
    title = with_unit(verdict, risk_name(verdict))
    drawn = alt.layer(
        line_at(0.0 - turn * verdict.tolerance, axis="x"),
        plot(row for row in found if "lower" in row)
        .mark_rule(strokeWidth=3, aria=False)
        .encode(x=alt.X("lower:Q", title=title), x2="upper:Q", y=y, color=colour),
        plot(found)
        .mark_circle(size=80, opacity=1)
        .encode(x=alt.X("urisk:Q", title=title), y=y, color=colour, description=alt.Description("label:N")),
    ).properties(width=WIDE - 240, height=26 * len(found))
    risky = [name for name, each in zip(names, worst, strict=True) if each.risky]
    return chart(
        "slices",
        "Slices",
        drawn,
        description=f"Lowest first: {', '.join(names[:5])}. Significantly risky: {', '.join(risky) or 'none'}.",
        caption=(
            "The risk on the topics of each tag, with its interval. Orange: significantly risky for itself (Holm "
            "over all slices); blue: not; grey: fewer than 10 topics, so no interval. The dashed line is the bound."
            if slices_are_tested(verdict)
            else "The risk on the topics of each tag. There are no intervals: this gate asks about single topics."
        ),
        wide=True,
        margin=60,
    )
