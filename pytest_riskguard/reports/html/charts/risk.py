"""Risk over alpha: TRisk (as Fig. 1 of Dincer et al., SIGIR 2014), and URisk with its interval."""

from __future__ import annotations

from typing import Any

import altair as alt

from pytest_riskguard.gates.findings import AlphaCurve
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.figures import percent
from pytest_riskguard.reports.html.charts.drawing import (
    HALF,
    MUTED,
    SAME,
    WIN,
    Chart,
    Row,
    chart,
    line_at,
    plot,
    sign,
    with_unit,
)
from pytest_riskguard.text import plain, short, signed

#: Above this alpha the axis is logarithmic, from 1 on.
_LINEAR = 50
_HEIGHT = 220


def alpha_axis(largest: float) -> alt.X:
    """The axis of curves over alpha."""
    scale = alt.Scale(type="symlog", constant=1) if largest > _LINEAR else alt.Scale()
    return alt.X("alpha:Q", title="alpha (a loss counts 1 + alpha times)", scale=scale)


def curve_rows(verdict: Verdict, curve: AlphaCurve) -> list[Row]:
    """A row for each alpha, in the convention."""
    turn = sign(verdict)

    def turned(value: float | None) -> float | None:
        return None if value is None else turn * value

    found: list[Row] = []
    for alpha, urisk, trisk, lower, upper in zip(
        curve.alphas, curve.urisk, curve.trisk, curve.lower, curve.upper, strict=True
    ):
        ends = [turned(lower), turned(upper)]
        found.append(
            {
                "alpha": alpha,
                "urisk": turn * urisk,
                "trisk": turned(trisk),
                "lower": ends[0] if turn > 0 else ends[1],
                "upper": ends[1] if turn > 0 else ends[0],
            }
        )
    return found


def trisk(verdict: Verdict) -> Chart | None:
    """TRisk with the critical values."""
    curve = verdict.exhibits.curve if verdict.exhibits else None
    if verdict.exhibits is None or curve is None:
        return None
    found = [row for row in curve_rows(verdict, curve) if row["trisk"] is not None]
    if not found:
        return None
    for row in found:
        row["label"] = f"alpha {short(row['alpha'])}: TRisk {signed(row['trisk'], 3)}"
    critical = verdict.exhibits.topics.critical_value
    lines = [] if critical is None else [line_at(-critical, axis="y"), line_at(critical, axis="y")]
    drawn = _curve(verdict, found, "trisk", f"TRisk{_minus(verdict)} (standard errors)", lines)
    caption = "How many standard errors URisk is from 0, as losses count more. The grey line is this gate's alpha."
    if critical is not None:
        caption += (
            f" Beyond the dashed critical values at ±{plain(critical, 2)} it is significant by Student-t "
            f"({percent(verdict.level)} %)."
        )
    return chart(
        "trisk",
        "TRisk over alpha",
        drawn,
        description=_ends(found, "trisk", f"TRisk{_minus(verdict)}", 3),
        caption=caption,
    )


def urisk(verdict: Verdict) -> Chart | None:
    """URisk with the limits of the interval that decides."""
    curve = verdict.exhibits.curve if verdict.exhibits else None
    if curve is None:
        return None
    found = curve_rows(verdict, curve)
    for row in found:
        between = ""
        if row["lower"] is not None and row["upper"] is not None:
            between = f" [{signed(row['lower'])}, {signed(row['upper'])}]"
        row["label"] = f"alpha {short(row['alpha'])}: URisk {signed(row['urisk'])}{between}"
    banded = [row for row in found if row["lower"] is not None and row["upper"] is not None]
    band = plot(banded).mark_area(color=WIN, opacity=0.2, aria=False)
    layers: list[Any] = [line_at(0.0 - sign(verdict) * verdict.tolerance, axis="y")]
    if banded:
        layers.append(band.encode(x=alpha_axis(curve.alphas[-1]), y=alt.Y("lower:Q", title=None), y2="upper:Q"))
    excess = "excess " if verdict.estimates.noise_urisk is not None else ""
    name = f"{excess}URisk{_minus(verdict)}"
    drawn = _curve(verdict, found, "urisk", with_unit(verdict, name), layers)
    caption = (
        "How the risk changes as losses count more. The dashed line is the bound, the grey one this gate's alpha."
    )
    if banded:
        caption += " The band is the interval that decides at each alpha."
    return chart("urisk", "URisk over alpha", drawn, description=_ends(found, "urisk", name, 4), caption=caption)


def _minus(verdict: Verdict) -> str:
    return "-" if verdict.convention == "minus" else ""


def _ends(found: list[Row], field: str, name: str, digits: int) -> str:
    first, last = found[0], found[-1]
    return (
        f"{name} goes from {signed(first[field], digits)} at alpha {short(first['alpha'])} to "
        f"{signed(last[field], digits)} at alpha {short(last['alpha'])}."
    )


def _curve(verdict: Verdict, found: list[Row], field: str, title: str, layers: list[Any]) -> Any:
    at = {"x": alpha_axis(found[-1]["alpha"]), "y": alt.Y(f"{field}:Q", title=title)}
    base = plot(found)
    return alt.layer(
        line_at(verdict.alpha, axis="x", colour=SAME, dash=(1, 0)),
        *layers,
        line_at(0, axis="y", colour=MUTED, dash=(1, 0)),
        base.mark_line(color=WIN, strokeWidth=2, aria=False).encode(**at),
        base.mark_circle(color=WIN, size=44, opacity=1).encode(**at, description=alt.Description("label:N")),
    ).properties(width=HALF, height=_HEIGHT)
