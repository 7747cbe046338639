"""The risk with its intervals and its bootstrap distribution; the risk over alpha."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.findings import Lines
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
from pytest_riskguard.text import plain, short, signed

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
    x = scale_of([*ends, *([] if density is None else density.x), estimate, *bounds])
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


@frozen
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


def _distribution(density: Lines, x: Scale, *, top: float, bottom: float) -> str:
    masses = [mass or 0.0 for mass in density.lines["density"]]
    height = Scale(0, max(masses) or 1.0, bottom, top)
    points = [(x(value), height(mass)) for value, mass in zip(density.x, masses, strict=True)]
    base = [(points[-1][0], bottom), (points[0][0], bottom)]
    return area([*points, *base], colour=Colour.WIN) + curve(points, colour=Colour.WIN, width=1.5)


# ---- over alpha


@frozen
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
    data, critical = exhibits(verdict).curve, exhibits(verdict).topics.critical_value
    if data is None:
        return None
    points = [
        _Point(alpha, value, f"alpha {short(alpha)}: TRisk {figure(value)}")
        for alpha, value in zip(data.x, data.lines["trisk"], strict=True)
        if value is not None
    ]
    if not points:
        return None
    lines, caption = [], "How many standard errors URisk is from 0, as losses count more."
    if critical is not None:
        lines = [-critical, critical]
        caption += f" Beyond the dashed lines at ±{plain(critical, 2)} it is significant by Student-t "
        caption += f"({level_of(verdict)})."
    entry = Entry(dashes, Colour.LIMIT, "critical values")
    return _over_alpha(verdict, points, ("trisk", "TRisk", "TRisk (standard errors)"), lines, entry, caption)


def urisk(verdict: Verdict) -> Chart | None:
    """URisk with the limits of the interval that decides."""
    shown, data = Shown(verdict), exhibits(verdict).curve
    if data is None or not any(any(line) for line in data.lines.values()):
        return None
    points = []
    for alpha, value, *ends in zip(data.x, *(data.lines[name] for name in ("urisk", "lower", "upper")), strict=True):
        value = value or 0.0
        said, low, high = f"alpha {short(alpha)}: URisk {figure(value)}", None, None
        if None not in ends:
            low, high = sorted(ends)
            said += f", interval {limits(low, high)}"
        points.append(_Point(alpha, value, said, low, high))
    caption = "How the risk changes as losses count more."
    if any(point.low is not None for point in points):
        caption += " The band is the interval that decides at each alpha."
    names = ("urisk", shown.urisk, with_unit(verdict, shown.urisk))
    entry = Entry(dashes, Colour.LIMIT, "bound")
    return _over_alpha(verdict, points, names, [0.0 - verdict.tolerance], entry, caption)


def _over_alpha(
    verdict: Verdict,
    points: list[_Point],
    names: tuple[str, str, str],
    across: list[float],
    line_across: Entry,
    caption: str,
) -> Chart:
    """Points over alpha, and lines across; ``names`` are the chart's key, what the points are, and the axis."""
    key, name, title = names
    values = [value for point in points for value in (point.value, point.low, point.high) if value is not None]
    entries = [Entry(stroke, Colour.GREY, f"this gate: alpha {short(verdict.alpha)}")]
    entries += [line_across] if across else []
    keys, top = legend(entries, left=MARGIN, top=2, right=WIDTH - MARGIN)
    frame = plot(
        alpha_scale(points[-1].alpha),
        scale_of([*values, *across], zero=True),
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
        + "".join(frame.across(value, colour=Colour.LIMIT) for value in across)
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
