"""The bootstrap law of the estimate with the limits of each method (as Fig. 1 of Benham et al., ADCS 2019)."""

from __future__ import annotations

from typing import Any

import altair as alt

from pytest_riskguard.gates.verdict import NAMES, Verdict
from pytest_riskguard.reports import georisk
from pytest_riskguard.reports.figures import limits, percent
from pytest_riskguard.reports.html.charts.drawing import (
    HALF,
    INK,
    LIMIT,
    OTHER,
    SAME,
    WIN,
    Chart,
    Row,
    chart,
    colours,
    line_at,
    plot,
    risk_name,
    sign,
    with_unit,
)
from pytest_riskguard.text import counted, plain, signed


def intervals(verdict: Verdict) -> Chart | None:
    """The density above, and under it an interval for each method, on the same axis."""
    estimate = verdict.estimates.georisk_difference if verdict.pool else verdict.estimates.urisk
    if estimate is None or not verdict.intervals:
        return None
    turn, name = sign(verdict), risk_name(verdict)
    estimate, bound = turn * estimate, 0.0 - turn * verdict.tolerance
    lines = [line_at(estimate, axis="x", colour=INK, dash=(1, 0)), line_at(bound, axis="x")]
    found = interval_rows(verdict)
    order = [row["method"] for row in found]
    axis = alt.X("lower:Q", title=with_unit(verdict, name), scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5))
    base = plot(found)
    shown = {"color": colours("kind", decisive=WIN, other=SAME), "description": alt.Description("label:N")}
    methods = alt.layer(
        base.mark_rule(strokeWidth=4, strokeCap="round").encode(
            x=axis, x2="upper:Q", y=alt.Y("method:N", sort=order, title=None, axis=alt.Axis(ticks=False)), **shown
        ),
        *lines,
    ).properties(width=HALF, height=24 * len(found))
    panels: list[Any] = [methods]
    density = verdict.exhibits.density if verdict.exhibits else None
    if density is not None:
        points = [{"value": turn * v, "density": d} for v, d in zip(density.values, density.density, strict=True)]
        law = plot(points).mark_area(color=WIN, opacity=0.3, line={"color": WIN, "strokeWidth": 1.5}, aria=False)
        law = law.encode(
            x=alt.X("value:Q", axis=None, scale=alt.Scale(zero=False)),
            y=alt.Y("density:Q", title="bootstrap density", axis=alt.Axis(labels=False, ticks=False)),
        )
        panels.insert(0, alt.layer(law, *lines).properties(width=HALF, height=120))
    drawn = alt.vconcat(*panels, spacing=6).resolve_scale(x="shared")
    said = "; ".join(f"{row['method']} {row['limits']}" for row in found)
    level = percent(verdict.intervals[0].level)
    return chart(
        "intervals",
        "Intervals by method",
        drawn,
        description=f"{name} is {signed(estimate)}. {level} % intervals: {said}. The bound is {signed(bound)}.",
        caption=(
            f"The dark line is the estimate, the dashed one the bound. The {level} % interval in blue decided: "
            f"{_rule(verdict)}{' The area is the law of the estimate over resampled topics.' if density else ''}"
        ),
    )


def _rule(verdict: Verdict) -> str:
    if verdict.kind == "not_inferior":
        return "the gate passes where all of it lies on the good side of the bound."
    return "the gate fails where all of it lies on the bad side of the bound."


def interval_rows(verdict: Verdict) -> list[Row]:
    """Lower and upper limit of each method, in the convention."""
    turn = sign(verdict)
    found = []
    for each in verdict.intervals:
        method = georisk.method_name(each.method) if verdict.pool else NAMES[each.method]
        low, high = sorted((turn * each.lower, turn * each.upper))
        decisive = " (decisive)" if each.decisive else ""
        found.append(
            {
                "method": method,
                "lower": low,
                "upper": high,
                "kind": "decisive" if each.decisive else "other",
                "limits": limits(verdict, each),
                "label": f"{method}{decisive}: {limits(verdict, each)}",
            }
        )
    return found


def quantiles(verdict: Verdict) -> Chart | None:
    """The normal Q-Q plot of the bootstrap law."""
    diagnostics = verdict.diagnostics
    if diagnostics is None or not diagnostics.quantiles:
        return None
    pairs = diagnostics.quantiles
    points = [
        {
            "normal": pair.normal,
            "bootstrap": pair.bootstrap,
            "label": f"normal {signed(pair.normal, 2)}, bootstrap {signed(pair.bootstrap, 2)} standard errors",
        }
        for pair in pairs
    ]
    reach = max(max(abs(pair.normal), abs(pair.bootstrap)) for pair in pairs)
    diagonal = plot([{"x": -reach, "y": -reach}, {"x": reach, "y": reach}])
    dots = plot(points).mark_circle(color=OTHER, size=34, opacity=1)
    drawn = alt.layer(
        diagonal.mark_line(color=LIMIT, strokeDash=[5, 4], strokeWidth=1.5, aria=False).encode(x="x:Q", y="y:Q"),
        dots.encode(
            x=alt.X("normal:Q", title="normal quantile (standard errors)"),
            y=alt.Y("bootstrap:Q", title="bootstrap quantile (standard errors)"),
            description=alt.Description("label:N"),
        ),
    ).properties(width=HALF, height=260)
    furthest = max(pairs, key=lambda pair: abs(pair.bootstrap - pair.normal))
    shapiro = ""
    if diagnostics.shapiro_wilk_w is not None:
        shapiro = f", Shapiro-Wilk W {plain(diagnostics.shapiro_wilk_w, 3)}"
    return chart(
        "quantiles",
        "How normal the estimate is",
        drawn,
        description=(
            f"{counted(len(pairs), 'quantile')} of the bootstrap law against the normal law. Furthest from the "
            f"diagonal: normal {signed(furthest.normal, 2)}, bootstrap {signed(furthest.bootstrap, 2)}."
        ),
        caption=(
            "Points on the dashed line: the law of the estimate is normal, and Student-t says what the bootstrap "
            f"says. Scores: skewness {signed(diagnostics.skewness, 2)}{shapiro}."
        ),
    )
