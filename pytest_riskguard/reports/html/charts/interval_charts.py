"""The bootstrap law of the estimate: the limits of each method (as Fig. 1 of Benham et al., ADCS 2019), quantiles."""

from __future__ import annotations

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
from pytest_riskguard.text import counted, percent, plain, signed


def intervals(verdict: Verdict) -> Chart | None:
    """The density above, and under it an interval for each method, on the same axis."""
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
    """Lower and upper limit of each method, in the convention."""
    shown, rows = Shown(verdict), []
    for interval in verdict.intervals:
        method, limits = shown.method_name(interval.method), shown.limits(interval.lower, interval.upper)
        low, high = sorted((shown.sign * interval.lower, shown.sign * interval.upper))
        kind = "decisive" if interval.decisive else "other"
        label = f"{method}{' (decisive)' * interval.decisive}: {limits}"
        rows.append({"method": method, "lower": low, "upper": high, "kind": kind, "limits": limits, "label": label})
    return rows


def quantiles(verdict: Verdict) -> Chart | None:
    """The normal Q-Q plot of the bootstrap law."""
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
