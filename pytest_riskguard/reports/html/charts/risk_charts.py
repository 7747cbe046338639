"""The risk with its intervals and its bootstrap distribution; the risk over alpha."""

from __future__ import annotations

from typing import Any

import altair as alt

from pytest_riskguard.gates.findings import QuantilePair
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts.drawing import (
    HALF,
    Chart,
    Colour,
    Row,
    chart,
    colours,
    diagonal,
    exhibits,
    line_at,
    plot,
    risk_name,
    with_unit,
)
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.text import counted, percent, plain, short, signed

#: If alpha goes beyond this, its axis is logarithmic from 1 on.
_MAX_LINEAR_ALPHA = 50


def intervals(verdict: Verdict) -> Chart | None:
    """The density above, and under it an interval for each method (as Fig. 1 of Benham et al., ADCS 2019)."""
    estimate = Shown(verdict).risk
    if estimate is None or not verdict.intervals:
        return None
    turn, name, density = Shown(verdict).sign, risk_name(verdict), exhibits(verdict).density
    estimate, bound = turn * estimate, 0.0 - turn * verdict.tolerance
    rows = interval_rows(verdict)
    lines = [line_at(estimate, axis="x", colour=Colour.INK, dash=(1, 0)), line_at(bound, axis="x")]
    bars = plot(rows, "rule", strokeWidth=4, strokeCap="round").encode(
        x=alt.X("lower:Q", title=with_unit(verdict, name), scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5)),
        x2="upper:Q",
        y=alt.Y("method:N", sort=[row["method"] for row in rows], title=None, axis=alt.Axis(ticks=False)),
        color=colours("kind", decisive=Colour.WIN, other=Colour.SAME),
        description="label:N",
    )
    panels = [alt.layer(bars, *lines, width=HALF, height=24 * len(rows))]
    if density is not None:
        points = [{"value": turn * v, "density": d} for v, d in zip(density.values, density.density, strict=True)]
        outline = {"color": Colour.WIN, "strokeWidth": 1.5}
        area = plot(points, "area", color=Colour.WIN, opacity=0.3, line=outline, aria=False).encode(
            x=alt.X("value:Q", axis=None, scale=alt.Scale(zero=False)),
            y=alt.Y("density:Q", title="bootstrap density", axis=alt.Axis(labels=False, ticks=False)),
        )
        panels.insert(0, alt.layer(area, *lines, width=HALF, height=120))
    level = percent(verdict.intervals[0].level)
    by_method = "; ".join(f"{row['method']} {row['limits']}" for row in rows)
    outcome, side = ("passes", "good") if verdict.asked.side == "lower" else ("fails", "bad")
    return chart(
        "intervals",
        "Intervals by method",
        alt.vconcat(*panels, spacing=6).resolve_scale(x="shared"),
        description=f"{name} is {signed(estimate)}. {level} intervals: {by_method}. The bound is {signed(bound)}.",
        caption=(
            f"The dark line is the estimate, the dashed one the bound. The {level} interval in blue decided: the "
            f"gate {outcome} where all of it lies on the {side} side of the bound."
            f"{' The area is the distribution of the estimate over resampled topics.' if density else ''}"
        ),
    )


def interval_rows(verdict: Verdict) -> list[Row]:
    """Lower and upper limit of each method, in the verdict's convention."""
    shown, rows = Shown(verdict), []
    for interval in verdict.intervals:
        method, limits = shown.method_name(interval.method), shown.limits(interval.lower, interval.upper)
        low, high = sorted((shown.sign * interval.lower, shown.sign * interval.upper))
        kind = "decisive" if interval.decisive else "other"
        label = f"{method}{' (decisive)' * interval.decisive}: {limits}"
        rows.append({"method": method, "lower": low, "upper": high, "kind": kind, "limits": limits, "label": label})
    return rows


def quantiles(verdict: Verdict) -> Chart | None:
    """The normal Q-Q plot of the bootstrap distribution."""
    diagnostics = verdict.diagnostics
    if diagnostics is None or not diagnostics.quantiles:
        return None
    pairs = diagnostics.quantiles

    def place(pair: QuantilePair) -> str:
        return f"normal {signed(pair.normal, 2)}, bootstrap {signed(pair.bootstrap, 2)}"

    points = [
        {"normal": pair.normal, "bootstrap": pair.bootstrap, "label": f"{place(pair)} standard errors"}
        for pair in pairs
    ]
    dots = plot(points, "circle", color=Colour.OTHER, size=34, opacity=1).encode(
        x=alt.X("normal:Q", title="normal quantile (standard errors)"),
        y=alt.Y("bootstrap:Q", title="bootstrap quantile (standard errors)"),
        description="label:N",
    )
    reach = max(abs(value) for pair in pairs for value in (pair.normal, pair.bootstrap))
    furthest = max(pairs, key=lambda pair: abs(pair.bootstrap - pair.normal))
    w = diagnostics.shapiro_wilk_w
    return chart(
        "quantiles",
        "How normal the estimate is",
        alt.layer(diagonal(-reach, reach, color=Colour.LIMIT, strokeDash=[5, 4]), dots, width=HALF, height=260),
        description=(
            f"{counted(len(pairs), 'quantile')} of the bootstrap distribution against the normal one. Furthest from "
            f"the diagonal: {place(furthest)}."
        ),
        caption=(
            "Where the points lie on the dashed line, the estimate is normally distributed, and Student-t agrees "
            f"with the bootstrap. Scores: skewness {signed(diagnostics.skewness, 2)}"
            f"{'' if w is None else f', Shapiro-Wilk W {plain(w, 3)}'}."
        ),
    )


def alpha_axis(max_alpha: float) -> alt.X:
    """The axis of curves over alpha."""
    scale = alt.Scale(type="symlog", constant=1) if max_alpha > _MAX_LINEAR_ALPHA else alt.Scale()
    return alt.X("alpha:Q", title="alpha (a loss counts 1 + alpha times)", scale=scale)


def trisk(verdict: Verdict) -> Chart | None:
    """TRisk with the critical values (as Fig. 1 of Dincer et al., SIGIR 2014)."""
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
