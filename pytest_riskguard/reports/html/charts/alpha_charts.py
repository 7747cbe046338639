"""Risk over alpha: TRisk (as Fig. 1 of Dincer et al., SIGIR 2014), and URisk with its interval."""

from __future__ import annotations

from typing import Any

import altair as alt

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts.drawing import (
    HALF,
    Chart,
    Colour,
    Row,
    chart,
    exhibits,
    line_at,
    plot,
    with_unit,
)
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.text import percent, plain, short, signed

#: Above this alpha the axis is logarithmic, from 1 on.
_MAX_LINEAR_ALPHA = 50


def alpha_axis(max_alpha: float) -> alt.X:
    """The axis of curves over alpha."""
    scale = alt.Scale(type="symlog", constant=1) if max_alpha > _MAX_LINEAR_ALPHA else alt.Scale()
    return alt.X("alpha:Q", title="alpha (a loss counts 1 + alpha times)", scale=scale)


def trisk(verdict: Verdict) -> Chart | None:
    """TRisk with the critical values."""
    curve, critical, turn = exhibits(verdict).curve, exhibits(verdict).topics.critical_value, Shown(verdict).sign
    rows: list[Row] = [
        {"alpha": alpha, "trisk": turn * value, "label": f"alpha {short(alpha)}: TRisk {signed(turn * value, 3)}"}
        for alpha, value in (zip(curve.alphas, curve.trisk, strict=True) if curve else ())
        if value is not None
    ]
    if not rows:
        return None
    name = f"TRisk{'-' if turn < 0 else ''}"
    lines = [] if critical is None else [line_at(-critical, axis="y"), line_at(critical, axis="y")]
    caption = "How many standard errors URisk is from 0, as losses count more. The grey line is this gate's alpha."
    if critical is not None:
        caption += (
            f" Beyond the dashed critical values at ±{plain(critical, 2)} it is significant by Student-t "
            f"({percent(verdict.level)})."
        )
    return chart(
        "trisk",
        "TRisk over alpha",
        _curve(verdict, rows, "trisk", f"{name} (standard errors)", lines),
        description=_ends(rows, "trisk", name, 3),
        caption=caption,
    )


def urisk(verdict: Verdict) -> Chart | None:
    """URisk with the limits of the interval that decides."""
    curve, turn, name = exhibits(verdict).curve, Shown(verdict).sign, Shown(verdict).urisk
    if curve is None:
        return None
    rows: list[Row] = []
    for alpha, value, lower, upper in zip(curve.alphas, curve.urisk, curve.lower, curve.upper, strict=True):
        label = f"alpha {short(alpha)}: URisk {signed(turn * value)}"
        row: Row = {"alpha": alpha, "urisk": turn * value, "label": label}
        if lower is not None and upper is not None:
            row["lower"], row["upper"] = sorted((turn * lower, turn * upper))
            row["label"] += f" {Shown(verdict).limits(lower, upper)}"
        rows.append(row)
    layers: list[Any] = [line_at(0.0 - turn * verdict.tolerance, axis="y")]
    caption = (
        "How the risk changes as losses count more. The dashed line is the bound, the grey one this gate's alpha."
    )
    if banded := [row for row in rows if "lower" in row]:
        band = plot(banded, "area", color=Colour.WIN, opacity=0.2, aria=False)
        layers.append(band.encode(x=alpha_axis(curve.alphas[-1]), y=alt.Y("lower:Q", title=None), y2="upper:Q"))
        caption += " The band is the interval that decides at each alpha."
    return chart(
        "urisk",
        "URisk over alpha",
        _curve(verdict, rows, "urisk", with_unit(verdict, name), layers),
        description=_ends(rows, "urisk", name, 4),
        caption=caption,
    )


def _ends(rows: list[Row], field: str, name: str, digits: int) -> str:
    first, last = (f"{signed(row[field], digits)} at alpha {short(row['alpha'])}" for row in (rows[0], rows[-1]))
    return f"{name} goes from {first} to {last}."


def _curve(verdict: Verdict, rows: list[Row], field: str, title: str, layers: list[Any]) -> Any:
    axes = {"x": alpha_axis(rows[-1]["alpha"]), "y": alt.Y(f"{field}:Q", title=title)}
    return alt.layer(
        line_at(verdict.alpha, axis="x", colour=Colour.SAME, dash=(1, 0)),
        *layers,
        line_at(0, axis="y", colour=Colour.MUTED, dash=(1, 0)),
        plot(rows, "line", color=Colour.WIN, strokeWidth=2, aria=False).encode(**axes),
        plot(rows, "circle", color=Colour.WIN, size=44, opacity=1).encode(**axes, description="label:N"),
        width=HALF,
        height=220,
    )
