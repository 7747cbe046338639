"""Slices of the topics: the risk of each with its interval."""

from __future__ import annotations

import altair as alt

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts.drawing import Chart, Row, chart, colours, line_at, plot
from pytest_riskguard.reports.html.charts.labels import risk_name, unique, with_unit
from pytest_riskguard.reports.html.charts.palette import WIDE, Colour
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.text import clean, counted, signed

#: How many slices a chart shows: those with the lowest URisk; the table has all.
MAX_SLICES = 30


def slices(verdict: Verdict) -> Chart | None:
    """A point for each slice, with the interval where it has one."""
    if verdict.explanation is None or not verdict.explanation.slices:
        return None
    turn = Shown(verdict).sign
    worst = sorted(verdict.explanation.slices, key=lambda part: round(part.urisk, 12))[:MAX_SLICES]
    names = unique(f"{clean(part.tag, limit=40)}: {clean(part.value, limit=40)}" for part in worst)
    rows: list[Row] = []
    for name, part in zip(names, worst, strict=True):
        row: Row = {
            "slice": name,
            "urisk": turn * part.urisk,
            "state": "few" if part.risky is None else "risky" if part.risky else "fine",
            "label": f"{name}: URisk {signed(turn * part.urisk)}, {counted(part.count, 'topic')}",
        }
        if part.lower is not None and part.upper is not None:
            row["lower"], row["upper"] = sorted((turn * part.lower, turn * part.upper))
            row["label"] += f" [{signed(row['lower'])}, {signed(row['upper'])}]"
        rows.append(row)
    title = with_unit(verdict, risk_name(verdict))
    axis = alt.Axis(labelLimit=220, labelColor=Colour.INK, ticks=False)
    shared = {
        "y": alt.Y("slice:N", sort=names, title=None, axis=axis),
        "color": colours("state", risky=Colour.LOSS, fine=Colour.WIN, few=Colour.SAME),
    }
    bars = plot((row for row in rows if "lower" in row), "rule", strokeWidth=3, aria=False)
    points = plot(rows, "circle", size=80, opacity=1)
    drawing = alt.layer(
        line_at(0.0 - turn * verdict.tolerance, axis="x"),
        bars.encode(x=alt.X("lower:Q", title=title), x2="upper:Q", **shared),
        points.encode(x=alt.X("urisk:Q", title=title), description="label:N", **shared),
        width=WIDE - 240,
        height=26 * len(rows),
    )
    risky = [row["slice"] for row in rows if row["state"] == "risky"]
    return chart(
        "slices",
        "Slices",
        drawing,
        description=f"Lowest first: {', '.join(names[:5])}. Significantly risky: {', '.join(risky) or 'none'}.",
        caption=(
            "The risk on the topics of each tag, with its interval. Orange: significantly risky by itself (Holm "
            "over all slices); blue: not; grey: fewer than 10 topics, so no interval. The dashed line is the bound."
            if Shown(verdict).slices_are_tested
            else "The risk on the topics of each tag. There are no intervals: this gate asks about single topics."
        ),
        wide=True,
        margin=60,
    )
