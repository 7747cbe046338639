"""The risk with its intervals and its bootstrap distribution; URisk, and GeoRisk of a pool, over alpha."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.findings import Lines
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts.axes import BELOW, Entry, Scale, legend, plot, scale_of
from pytest_riskguard.reports.html.charts.drawing import (
    MARGIN,
    SMALL,
    WIDTH,
    Chart,
    Colour,
    area,
    curve,
    dashes,
    diamond,
    line,
    mark,
    stroke,
    text_width,
    words,
)
from pytest_riskguard.reports.html.charts.plots import Plot
from pytest_riskguard.reports.html.charts.topic_charts import (
    exhibits,
    figure,
    level,
    limits,
    risk_name,
    with_unit,
)
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.text import clean, counted, plain, short, signed

#: The axis of alpha is logarithmic if alpha goes beyond this; and of how many systems all are named.
_MAX_LINEAR_ALPHA, _MAX_NAMED = 50.0, 12
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


#: What its axis is called.
_ALPHA = "alpha (a loss counts 1 + alpha times)"


def urisk(verdict: Verdict) -> Chart | None:
    """URisk with the limits of the interval that decides."""
    shown, data = Shown(verdict), exhibits(verdict).curve
    if data is None or not any(any(line) for line in data.lines.values()):
        return None
    values = [value or 0.0 for value in data.lines["urisk"]]
    first, last = (f"{figure(values[end])} at alpha {short(data.x[end])}" for end in (0, -1))
    drawn = _over_alpha(
        verdict,
        data.x,
        f"{shown.urisk} over alpha",
        with_unit(verdict, shown.urisk),
        description=f"{shown.urisk} goes from {first} to {last}.",
        caption="How the risk changes as losses count more. Upright lines: the interval that decides at each alpha.",
    )
    bound = [(-math.inf, -verdict.tolerance), (math.inf, -verdict.tolerance)]
    drawn.line(bound, means="bound", colour="limit", dashed=True)
    drawn.line(zip(data.x, values, strict=True), colour="win")
    limits_of = zip(data.lines["lower"], data.lines["upper"], strict=True)
    for alpha, value, ends in zip(data.x, values, limits_of, strict=True):
        said, low, high = f"alpha {short(alpha)}: URisk {figure(value)}", None, None
        if ends[0] is not None and ends[1] is not None:
            low, high = sorted((ends[0], ends[1]))
            said += f", interval {limits(low, high)}"
        drawn.point(alpha, value, said, low=low, high=high)
    return drawn.chart("urisk")


def georisk(verdict: Verdict) -> Chart | None:
    """A line for each system of a pool (as Figs. 2 and 3 of Dincer et al., SIGIR 2016)."""
    curves = exhibits(verdict).georisk
    if curves is None or not curves.lines or not curves.x or verdict.pool is None:
        return None
    alphas, lines = curves.x, {name: [value or 0.0 for value in line] for name, line in curves.lines.items()}
    highest = sorted(lines, key=lambda system: (-lines[system][0], system))[:5]
    drawn = _over_alpha(
        verdict,
        alphas,
        "GeoRisk over alpha",
        "GeoRisk (no unit)",
        description=(
            f"GeoRisk of {counted(len(lines), 'system')}. At alpha {short(alphas[0])} the highest are "
            f"{', '.join(clean(system, limit=40) for system in highest)}."
        ),
        caption="A line that falls belongs to a system that fails on topics where others do not.",
    )
    looks = {
        verdict.candidate: ("candidate", "diamond", "loss"),
        verdict.pool.decided_by: ("reference", "disc", "win"),
    }
    rest = ("rest of the pool", "ring", "grey")
    # The important ones are drawn last, on top of the others.
    for system in sorted(lines, key=lambda name: (name == verdict.candidate, name in looks, name)):
        role, symbol, colour = looks.get(system, rest)
        ends = zip((alphas[0], alphas[-1]), (lines[system][0], lines[system][-1]), strict=True)
        first, last = (f"{plain(value, 3)} at alpha {short(alpha)}" for alpha, value in ends)
        also = f" ({role})" if system in looks and system != role else ""
        drawn.line(zip(alphas, lines[system], strict=True), colour=colour)
        drawn.point(
            alphas[-1],
            lines[system][-1],
            f"{clean(system, limit=40)}{also}: GeoRisk from {first} to {last}",
            symbol=symbol,
            colour=colour,
            means=_role(role, system) if system in looks else role,
            name=system if system not in looks and len(lines) <= _MAX_NAMED else "",
        )
    return drawn.chart("georisk")


def _role(role: str, name: str) -> str:
    """Candidate or reference with its name, unless the name is that same word."""
    return role if name == role else f"{role} {clean(name, limit=30)}"


def _over_alpha(
    verdict: Verdict, alphas: Sequence[float], title: str, unit: str, *, description: str, caption: str
) -> Plot:
    """A chart over alpha, with a line at that of the gate."""
    log = max(alphas) > _MAX_LINEAR_ALPHA
    drawn = Plot(title, _ALPHA, unit, description=description, caption=caption, log=log)
    at = f"this gate: alpha {short(verdict.alpha)}"
    drawn.line([(verdict.alpha, -math.inf), (verdict.alpha, math.inf)], means=at, colour="muted", dashed=True)
    return drawn
