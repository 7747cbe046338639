"""The risk with its intervals and its bootstrap distribution; the risk over alpha; how normal the estimate is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_riskguard.gates.findings import Density, QuantilePair
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts.axes import BELOW, Entry, Frame, Scale, legend, plot, scale_of
from pytest_riskguard.reports.html.charts.drawing import (
    MARGIN,
    SMALL,
    WIDTH,
    Chart,
    Colour,
    area,
    coloured,
    curve,
    dashes,
    diamond,
    disc,
    line,
    mark,
    ring,
    stroke,
    text_width,
    words,
)
from pytest_riskguard.reports.html.charts.topic_charts import (
    exhibits,
    figure,
    level,
    level_of,
    limits,
    risk_name,
    with_unit,
)
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.text import counted, plain, short, signed

#: The axis of alpha reaches this far at least, and is logarithmic from 1 on if alpha goes beyond the second.
_MIN_ALPHA, _MAX_LINEAR_ALPHA = 1.0, 50.0
#: Height of the bootstrap distribution, and of the row of an interval.
_DISTRIBUTION, _ROW = 110.0, 24.0


# ---- intervals


def intervals(verdict: Verdict) -> Chart | None:
    """The distribution above, and under it an interval for each method (as Fig. 1 of Benham et al., ADCS 2019)."""
    estimate = Shown(verdict).risk
    if estimate is None or all(interval.lower == interval.upper for interval in verdict.intervals):
        return None
    density = exhibits(verdict).density
    bounds = [0.0 - verdict.tolerance]
    if verdict.asked.side == "both":
        bounds = [-verdict.tolerance, verdict.tolerance]
    rows = _interval_rows(verdict)
    ends = [end for row in rows for end in (row.low, row.high)]
    x = scale_of([*ends, *([] if density is None else density.values), estimate, *bounds])
    left = MARGIN + max(text_width(row.method, SMALL) for row in rows) + 8
    entries = [Entry(stroke, Colour.INK, "estimate"), Entry(dashes, Colour.LIMIT, "bound")]
    if verdict.decisive_interval is not None:
        entries.append(Entry(diamond, Colour.WIN, "the interval that decided"))
    keys, top = legend(entries, left=MARGIN, top=2, right=WIDTH - MARGIN)
    height = _ROW * len(rows) + (0.0 if density is None else _DISTRIBUTION) + 6
    frame = plot(
        x,
        Scale(0, 1),
        top=top,
        height=height,
        left=left,
        x_title=with_unit(verdict, risk_name(verdict)),
        y_labels=False,
    )
    first = frame.y.start - _ROW * len(rows)
    parts = [frame.axes, keys]
    if density is not None:
        parts.append(_distribution(density, frame.x, top=top + 4, bottom=first))
        parts.append(words(left - 8, first - 6, "bootstrap", size=SMALL, anchor="end", colour=Colour.MUTED))
    parts += [
        frame.upright(estimate, colour=Colour.INK, dash=None),
        *(frame.upright(bound, colour=Colour.LIMIT, width=2) for bound in bounds),
        *(_interval(row, frame.x, first + _ROW * (place + 0.5)) for place, row in enumerate(rows)),
    ]
    at = level(verdict.intervals[0].level)
    outcome, where = "fails", "on the bad side of the bound"
    if verdict.asked.must_show:
        outcome, where = "passes", "on the good side of the bound" if len(bounds) == 1 else "between the bounds"
    decided = drawn = ""
    if verdict.decisive_interval is not None:
        decided = f"The gate {outcome} where all of the {at} interval that decided lies {where}."
    if density is not None:
        drawn = "The curve is the bootstrap distribution of the estimate over resampled topics."
    return Chart(
        "intervals",
        "Intervals and bootstrap distribution",
        description=(
            f"{risk_name(verdict)} is {signed(estimate)}. {at} intervals: "
            f"{'; '.join(row.said for row in rows)}. {_said_of(bounds)}"
        ),
        caption=" ".join(filter(None, (decided, drawn))),
        drawing="".join(parts),
        height=frame.y.start + BELOW,
    )


def _said_of(bounds: Sequence[float]) -> str:
    """Where the bound is, or the bounds are."""
    return f"The bound{'s are' if len(bounds) > 1 else ' is'} {' and '.join(map(signed, bounds))}."


@dataclass(frozen=True)
class _Interval:
    method: str
    low: float
    high: float
    decisive: bool
    said: str


def _interval_rows(verdict: Verdict) -> list[_Interval]:
    """Lower and upper limit of each method."""
    shown, rows = Shown(verdict), []
    for interval in verdict.intervals:
        low, high = sorted((interval.lower, interval.upper))
        name = shown.method_name(interval.method)
        said = f"{name}{' (decisive)' * interval.decisive} {shown.limits(interval.lower, interval.upper)}"
        rows.append(_Interval(name, low, high, interval.decisive, said))
    return rows


def _interval(row: _Interval, x: Scale, y: float) -> str:
    colour = Colour.WIN if row.decisive else Colour.GREY
    ends = [line((x(end), y - 5), (x(end), y + 5), colour=colour, width=2) for end in (row.low, row.high)]
    bar = line((x(row.low), y), (x(row.high), y), colour=colour, width=5 if row.decisive else 2.5)
    diamonds = [diamond(x(end), y, 4.5, colour) for end in (row.low, row.high)] if row.decisive else ends
    name = words(x.start - 8, y + 4, row.method, size=SMALL, anchor="end", colour=Colour.INK)
    return name + mark(row.said, bar, *diamonds)


def _distribution(density: Density, x: Scale, *, top: float, bottom: float) -> str:
    height = Scale(0, max(density.density) or 1.0, bottom, top)
    points = [(x(value), height(mass)) for value, mass in zip(density.values, density.density, strict=True)]
    base = [(points[-1][0], bottom), (points[0][0], bottom)]
    return area([*points, *base], colour=Colour.WIN) + curve(points, colour=Colour.WIN, width=1.5)


# ---- over alpha


@dataclass(frozen=True)
class _Point:
    alpha: float
    value: float
    said: str
    low: float | None = None
    high: float | None = None


def alpha_scale(max_alpha: float) -> Scale:
    """The axis of curves over alpha."""
    return Scale(0, max(max_alpha, _MIN_ALPHA), symlog=max_alpha > _MAX_LINEAR_ALPHA)


#: What its axis is called.
ALPHA = "alpha (a loss counts 1 + alpha times)"


def trisk(verdict: Verdict) -> Chart | None:
    """TRisk with the critical values (as Fig. 1 of Dincer et al., SIGIR 2014)."""
    found = exhibits(verdict)
    if found.curve is None:
        return None
    critical = found.topics.critical_value
    points = [
        _Point(alpha, value, f"alpha {short(alpha)}: TRisk {figure(value)}")
        for alpha, value in zip(found.curve.alphas, found.curve.trisk, strict=True)
        if value is not None
    ]
    if not points:
        return None
    name = "TRisk"
    caption = "How many standard errors URisk is from 0, as losses count more."
    if critical is not None:
        caption += (
            f" Beyond the dashed critical values at ±{plain(critical, 2)} it is significant by Student-t "
            f"({level_of(verdict)})."
        )
    lines = [] if critical is None else [-critical, critical]
    return _over_alpha(
        verdict, points, "trisk", name, f"{name} (standard errors)", lines, "critical values", caption=caption
    )


def urisk(verdict: Verdict) -> Chart | None:
    """URisk with the limits of the interval that decides."""
    shown, data = Shown(verdict), exhibits(verdict).curve
    if data is None or not any((*data.urisk, *data.lower, *data.upper)):
        return None
    points = []
    for alpha, value, lower, upper in zip(data.alphas, data.urisk, data.lower, data.upper, strict=True):
        said, low, high = f"alpha {short(alpha)}: URisk {figure(value)}", None, None
        if lower is not None and upper is not None:
            low, high = sorted((lower, upper))
            said += f", interval {limits(low, high)}"
        points.append(_Point(alpha, value, said, low, high))
    caption = "How the risk changes as losses count more."
    if any(point.low is not None for point in points):
        caption += " The band is the interval that decides at each alpha."
    title, bound = with_unit(verdict, shown.urisk), [0.0 - verdict.tolerance]
    return _over_alpha(verdict, points, "urisk", shown.urisk, title, bound, "bound", caption=caption)


def _over_alpha(
    verdict: Verdict,
    points: list[_Point],
    key: str,
    name: str,
    title: str,
    lines: list[float],
    line_name: str,
    *,
    caption: str,
) -> Chart:
    values = [value for point in points for value in (point.value, point.low, point.high) if value is not None]
    entries = [Entry(stroke, Colour.GREY, f"this gate: alpha {short(verdict.alpha)}")]
    entries += [Entry(dashes, Colour.LIMIT, line_name)] if lines else []
    keys, top = legend(entries, left=MARGIN, top=2, right=WIDTH - MARGIN)
    frame = plot(
        alpha_scale(points[-1].alpha),
        scale_of([*values, *lines], zero=True),
        top=top,
        height=190,
        x_title=ALPHA,
        y_title=title,
    )
    first, last = (f"{figure(point.value)} at alpha {short(point.alpha)}" for point in (points[0], points[-1]))
    return Chart(
        key,
        f"{name} over alpha",
        description=f"{name} goes from {first} to {last}.",
        caption=caption,
        drawing=frame.axes
        + keys
        + _band(points, frame)
        + frame.upright(verdict.alpha, colour=Colour.GREY, dash=None)
        + frame.across(0, colour=Colour.MUTED, dash=None, width=1)
        + "".join(frame.across(value, colour=Colour.LIMIT) for value in lines)
        + curve([(frame.x(point.alpha), frame.y(point.value)) for point in points], colour=Colour.WIN)
        + coloured((Colour.WIN, mark(p.said, disc(frame.x(p.alpha), frame.y(p.value), 4, None))) for p in points),
        height=frame.y.start + BELOW,
    )


def _band(points: list[_Point], frame: Frame) -> str:
    lows = [(frame.x(p.alpha), frame.y(p.low)) for p in points if p.low is not None]
    highs = [(frame.x(p.alpha), frame.y(p.high)) for p in points if p.high is not None]
    if not lows:
        return ""
    edges = "".join(curve(edge, colour=Colour.WIN, width=1, dash="2 2") for edge in (lows, highs))
    return area([*lows, *reversed(highs)], colour=Colour.WIN) + edges


# ---- how normal


def quantiles(verdict: Verdict) -> Chart | None:
    """The normal Q-Q plot of the bootstrap distribution."""
    diagnostics = verdict.diagnostics
    if diagnostics is None or not any(pair.bootstrap for pair in diagnostics.quantiles):
        return None
    pairs = diagnostics.quantiles

    def place(pair: QuantilePair) -> str:
        return f"normal {signed(pair.normal, 2)}, bootstrap {signed(pair.bootstrap, 2)}"

    scale = scale_of(value for pair in pairs for value in (pair.normal, pair.bootstrap))
    keys, top = legend(
        [Entry(ring, Colour.OTHER, "quantile"), Entry(dashes, Colour.LIMIT, "normal distribution")],
        left=MARGIN,
        top=2,
        right=WIDTH - MARGIN,
    )
    frame = plot(
        scale,
        scale,
        top=top,
        height=230,
        x_title="normal quantile (standard errors)",
        y_title="bootstrap quantile (standard errors)",
    )
    ends = [(frame.x(value), frame.y(value)) for value in (scale.low, scale.high)]
    points = [
        mark(f"{place(pair)} standard errors", ring(frame.x(pair.normal), frame.y(pair.bootstrap), 3.5, Colour.OTHER))
        for pair in pairs
    ]
    furthest = max(pairs, key=lambda pair: abs(pair.bootstrap - pair.normal))
    w = diagnostics.shapiro_wilk_w
    return Chart(
        "quantiles",
        "How normal the estimate is",
        description=(
            f"{counted(len(pairs), 'quantile')} of the bootstrap distribution against the normal one. Furthest from "
            f"the diagonal: {place(furthest)}."
        ),
        caption=(
            "Where the points lie on the dashed line, the estimate is normally distributed, and Student-t agrees "
            f"with the bootstrap. Scores: skewness {signed(diagnostics.skewness, 2)}"
            f"{'' if w is None else f', Shapiro-Wilk W {plain(w, 3)}'}."
        ),
        drawing=frame.axes + keys + curve(ends, colour=Colour.LIMIT, width=1.5, dash="5 4") + "".join(points),
        height=frame.y.start + BELOW,
    )
