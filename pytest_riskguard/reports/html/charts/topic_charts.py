"""Topics by difference, by TR_i with its critical values (Fig. 2 of Dincer et al., SIGIR 2014), by score; slices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import altair as alt

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts.drawing import (
    HALF,
    WIDE,
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
    unique,
    with_unit,
)
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from pytest_riskguard.text import clean, counted, percent, plain, signed

#: With more topics than the first, bars have no names; with more than the second, a bar is a range of values.
MAX_NAMED_BARS, MAX_BARS = 60, 400
#: How many topics the chart of the most harmful shows.
MAX_HARMFUL = 25
#: Bins of a histogram: an even number, so that 0 lies between two of them.
BINS = 60
#: Cells on each side of a scatter plot that has too many topics for a point each.
CELLS = 24
#: How many slices a chart shows: those with the lowest URisk; the table has all.
MAX_SLICES = 30

_CHANGE = colours("change", loss=Colour.LOSS, win=Colour.WIN, same=Colour.SAME)
_FLAGGED = alt.condition("datum.flagged", alt.value(1), alt.value(0.5))
_BARS = {"color": _CHANGE, "opacity": _FLAGGED, "description": "label:N"}


def topic_rows(verdict: Verdict) -> list[Row]:
    """All topics, the largest loss first."""
    turn, columns = Shown(verdict).sign, exhibits(verdict).topics
    rows: list[Row] = []
    for place, topic in enumerate(unique(columns.topics)):
        query, standardised = clean(columns.queries[place] or "", limit=60), columns.standardised[place]
        candidate, baseline = columns.candidate[place], columns.baseline[place]
        difference = candidate - baseline
        flagged = columns.flagged(place)
        rows.append(
            {
                "topic": topic,
                "query": query,
                "candidate": candidate,
                "baseline": baseline,
                "difference": difference,
                "contribution": columns.contributions[place] * turn,
                "standardised": standardised * turn,
                "change": "same" if abs(difference) <= ROUNDING_ERROR else "loss" if difference < 0 else "win",
                "flagged": flagged,
                "label": (
                    f"{f'{topic} {query}'.strip()}: {plain(baseline)} → {plain(candidate)}, difference "
                    f"{signed(difference)}, TRi {signed(standardised * turn, 2)}{', flagged' * flagged}"
                ),
            }
        )
    return sorted(rows, key=lambda row: (round(row["difference"], 12), row["topic"]))


def differences(verdict: Verdict) -> Chart | None:
    """A bar for each topic, or for each range of values where there are too many topics."""
    rows = topic_rows(verdict)
    if not rows:
        return None
    critical = exhibits(verdict).topics.critical_value
    loss_limits = [] if verdict.max_loss is None else [-verdict.max_loss]
    critical_values = [] if critical is None else [-critical, critical]
    panel = _bars if len(rows) <= MAX_BARS else _histogram
    panels = [
        panel(rows, "difference", with_unit(verdict, "difference"), loss_limits),
        panel(rows, "standardised", "TRi (standard deviations)", critical_values),
    ]
    number = Counter(row["change"] for row in rows)
    losers = [f"{row['topic']} ({signed(row['difference'])})" for row in rows if row["change"] == "loss"]
    description = (
        f"{counted(len(rows), 'topic')}: {number['loss']} lost, {number['win']} won, {number['same']} did not "
        f"change. Largest loss first: {', '.join(losers[:5]) or 'no topic lost'}."
    )
    if flagged := [row["topic"] for row in rows if row["flagged"]]:
        description += f" Flagged by TRi: {', '.join(flagged[:12])}{' and others' if len(flagged) > 12 else ''}."
    bar = "a topic, the largest loss on the left" if panel is _bars else "a range of values"
    caption = f"Each bar is {bar}."
    caption += " Orange topics lost, blue topics won; those in full colour are flagged"
    if critical is not None:
        caption += (
            f": their TRi, a topic's part in the risk in standard deviations, lies beyond the dashed critical lines "
            f"at ±{plain(critical, 2)} ({percent(verdict.level)})"
        )
    title, drawing = "Difference and TRi of each topic", alt.vconcat(*panels, spacing=14)
    return chart("topics", title, drawing, description=description, caption=f"{caption}.", wide=True)


def _bars(rows: Sequence[Row], field: str, title: str, lines: Sequence[float]) -> Any:
    named = len(rows) <= MAX_NAMED_BARS
    axis = alt.Axis(
        title=f"topic, {'' if named else f'{len(rows)} of them, '}largest loss first",
        labelAngle=-90,
        labels=named,
        ticks=named,
        labelOverlap=False,
        labelLimit=80,
        titlePadding=18 if named else 8,
    )
    topics = alt.X(
        "topic:N",
        sort=[row["topic"] for row in rows],
        axis=axis if field == "standardised" else None,  # the lower panel names the topics of both
        scale=alt.Scale(paddingInner=0.25 if named else 0.1),
    )
    values = alt.Y(f"{field}:Q", title=title, axis=alt.Axis(tickCount=5))
    bars = plot(rows, "bar", stroke=None).encode(x=topics, y=values, **_BARS)
    zero = line_at(0, axis="y", colour=Colour.SAME, dash=(1, 0))
    return alt.layer(bars, zero, *(line_at(line, axis="y") for line in lines), width=WIDE, height=170)


def _histogram(rows: Sequence[Row], field: str, title: str, lines: Sequence[float]) -> Any:
    changed = [row for row in rows if row["change"] != "same"]
    # Not the mark "bar": with two ends on x it reads the count as a position, and draws a line there.
    bars = plot(binned(changed, field), "rect", stroke=None).encode(
        x=alt.X("low:Q", title=title, scale=alt.Scale(nice=False)),
        x2="high:Q",
        y=alt.Y("top:Q", title="topics that changed (number)", axis=alt.Axis(tickCount=5)),
        y2="bottom:Q",
        **_BARS,
    )
    return alt.layer(bars, *(line_at(line, axis="x") for line in lines), width=WIDE, height=170)


def binned(rows: Sequence[Row], field: str) -> list[Row]:
    """How many topics lie in each bin, losses and wins, flagged and not, stacked on one another."""
    reach = max((abs(row[field]) for row in rows), default=0.0) or 1.0
    width = 2 * reach / BINS or 1.0  # the smallest numbers there are have no fortieth part
    counts = Counter(
        (min(int((row[field] + reach) / width), BINS - 1), row["change"], row["flagged"]) for row in rows
    )
    tops: Counter[int] = Counter()
    bins: list[Row] = []
    for (place, change, flagged), count in sorted(counts.items()):
        bottom, low, high = tops[place], place * width - reach, (place + 1) * width - reach
        tops[place] += count
        number = counted(count, change, "losses" if change == "loss" else "wins")
        label = f"{number}{' flagged' * flagged} from {signed(low, 3)} to {signed(high, 3)}"
        box = {"low": low, "high": high, "bottom": bottom, "top": tops[place]}
        bins.append({**box, "count": count, "change": change, "flagged": flagged, "label": label})
    return bins


def most_harmful(verdict: Verdict) -> Chart | None:
    """The topics with the largest part in the risk, by name, if the chart of all topics has no names."""
    rows = topic_rows(verdict)
    turn, losers = Shown(verdict).sign, [row for row in rows if row["change"] == "loss"]
    losers = sorted(losers, key=lambda row: round(turn * row["contribution"], 15))[:MAX_HARMFUL]
    if len(rows) <= MAX_NAMED_BARS or not losers:
        return None
    names = unique(f"{row['topic']}  {row['query']}".strip() for row in losers)
    named = [{**row, "name": name} for row, name in zip(losers, names, strict=True)]
    bars = plot(named, "bar", stroke=None, height=13).encode(
        x=alt.X("contribution:Q", title=with_unit(verdict, "contribution to the risk")),
        y=alt.Y("name:N", sort=names, title=None, axis=alt.Axis(labelLimit=240, labelColor=Colour.INK, ticks=False)),
        **_BARS,
    )
    worst = ", ".join(f"{row['topic']} ({signed(row['contribution'])})" for row in losers[:5])
    return chart(
        "harmful",
        f"The {len(losers)} most harmful topics",
        bars.properties(width=WIDE - 260, height=22 * len(losers)),
        description=f"Most harmful first: {worst}.",
        caption="What each topic adds to the risk; the contributions of all topics add up to it.",
        wide=True,
        margin=60,
    )


def scatter(verdict: Verdict) -> Chart | None:
    """The candidate's score against the baseline's: a point for each topic, or for each cell of a grid."""
    rows = topic_rows(verdict)
    if not rows:
        return None
    scores = [row[role] for row in rows for role in ("candidate", "baseline")]
    low, high, single = min(scores), max(scores), len(rows) <= MAX_BARS
    measure = clean(verdict.measure, limit=40) if verdict.measure else "score"
    baseline = verdict.baselines[0] if verdict.pool is None else verdict.pool.decided_by
    sizes = {} if single else {"size": alt.Size("count:Q", legend=None, scale=alt.Scale(range=[8, 300]))}
    points = plot(rows if single else cells(rows, low, high), "circle", opacity=0.75, size=44).encode(
        x=alt.X("baseline:Q", title=f"{_role('baseline', baseline, limit=30)} ({measure})"),
        y=alt.Y("candidate:Q", title=f"{_role('candidate', verdict.candidate, limit=18)} ({measure})"),
        color=_CHANGE,
        description="label:N",
        **sizes,
    )
    number = Counter(row["change"] for row in rows)
    point = "Each point is a topic" if single else "The larger a point, the more topics it stands for"
    return chart(
        "scatter",
        "Candidate against baseline",
        alt.layer(diagonal(low, high, color=Colour.SAME), points, width=HALF, height=300),
        description=(
            f"{counted(len(rows), 'topic')}: {number['loss']} below the diagonal, {number['win']} above, "
            f"{number['same']} on it."
        ),
        caption=f"{point}: below the diagonal the candidate scores lower (orange), above it higher (blue).",
    )


def _role(role: str, name: str, *, limit: int) -> str:
    """Candidate or baseline with its name, unless the name is that same word."""
    return role if name == role else f"{role} {clean(name, limit=limit)}"


def cells(rows: Sequence[Row], low: float, high: float) -> list[Row]:
    """How many topics lie in each cell of a grid, with losses, wins and ties counted separately."""
    width = (high - low) / CELLS or 1.0

    def cell(score: float) -> int:
        return min(int((score - low) / width), CELLS - 1)

    points = []
    counts = Counter((cell(row["baseline"]), cell(row["candidate"]), row["change"]) for row in rows)
    for (x, y, change), count in sorted(counts.items()):
        middle = {"baseline": low + (x + 0.5) * width, "candidate": low + (y + 0.5) * width}
        near = " and ".join(f"{role} near {plain(score, 2)}" for role, score in middle.items())
        points.append({**middle, "change": change, "count": count, "label": f"{counted(count, 'topic')} with {near}"})
    return points


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
            row["label"] += f" {Shown(verdict).limits(part.lower, part.upper)}"
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
            "The risk on the topics of each tag, with its interval. Orange: significantly risky on its own (Holm "
            "over all slices); blue: not; grey: fewer than 10 topics, so no interval. The dashed line is the bound."
            if Shown(verdict).slices_are_tested
            else "The risk on the topics of each tag. There are no intervals: this gate asks about single topics."
        ),
        wide=True,
        margin=60,
    )
