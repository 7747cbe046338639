"""Each topic's difference and its TR_i with the critical lines (as Fig. 2 of Dincer et al., SIGIR 2014)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from pytest_riskguard.gates.findings import TopicColumns
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.figures import percent
from pytest_riskguard.reports.html.charts.drawing import (
    INK,
    LOSS,
    SAME,
    WIDE,
    WIN,
    Chart,
    Row,
    chart,
    colours,
    line_at,
    plot,
    sign,
    unique,
    with_unit,
)
from pytest_riskguard.rounding import ROUNDING_ERROR
from pytest_riskguard.text import clean, counted, plain, signed

#: Up to so many topics a bar carries the topic's name, and up to so many each topic has a bar.
NAMED, SINGLE = 60, 400
#: How many of the most harmful topics have a chart of their own where bars carry no names.
HARMFUL = 25
#: Bins of a histogram: an even number, so that 0 lies between two of them.
BINS = 60
_HEIGHT = 170


def rows(verdict: Verdict, columns: TopicColumns) -> list[Row]:
    """All topics, the largest loss first."""
    turn, critical = sign(verdict), columns.critical_value
    found: list[Row] = []
    for topic, query, ours, theirs, part, standing in zip(
        unique(columns.topics),
        columns.queries,
        columns.candidate,
        columns.baseline,
        columns.contributions,
        columns.standardised,
        strict=True,
    ):
        difference = ours - theirs
        change = "same" if abs(difference) <= ROUNDING_ERROR else "loss" if difference < 0 else "win"
        flagged = critical is not None and abs(standing) > critical
        asked = f" {clean(query, limit=60)}" if query else ""
        found.append(
            {
                "topic": topic,
                "query": clean(query, limit=60) if query else "",
                "candidate": ours,
                "baseline": theirs,
                "difference": difference,
                "contribution": part * turn,
                "standing": standing * turn,
                "change": change,
                "flagged": flagged,
                "label": (
                    f"{topic}{asked}: {plain(theirs)} → {plain(ours)}, difference {signed(difference)}, "
                    f"TRi {signed(standing * turn, 2)}{', flagged' if flagged else ''}"
                ),
            }
        )
    return sorted(found, key=lambda row: (round(row["difference"], 12), row["topic"]))


def differences(verdict: Verdict) -> Chart | None:
    """Bars of all topics, or how many topics have which difference where there are too many for bars."""
    if verdict.exhibits is None or not verdict.exhibits.topics.topics:
        return None
    columns = verdict.exhibits.topics
    found = rows(verdict, columns)
    single = len(found) <= SINGLE
    critical = columns.critical_value
    panels = _bars(verdict, found, critical) if single else _histograms(verdict, found, critical)
    flagged = [row["topic"] for row in found if row["flagged"]]
    description = (
        f"{counted(len(found), 'topic')}: {_count(found, 'loss')} lost, {_count(found, 'win')} won, "
        f"{_count(found, 'same')} did not change. Largest loss first: {_first(found)}."
    )
    if flagged:
        description += f" Flagged by TRi: {', '.join(flagged[:12])}{' and others' if len(flagged) > 12 else ''}."
    read = "A bar is a topic, the largest loss on the left." if single else "A bar is a range of values."
    read += " Orange topics lost, blue topics won; those in full colour are flagged"
    if critical is not None:
        read += (
            f": their TRi, a topic's part in the risk in standard deviations, lies beyond the dashed critical lines "
            f"at ±{plain(critical, 2)} ({percent(verdict.level)} %)"
        )
    drawn = alt.vconcat(*panels, spacing=14)
    return chart(
        "topics", "Difference and TRi of each topic", drawn, description=description, caption=f"{read}.", wide=True
    )


def _count(found: Sequence[Row], change: str) -> int:
    return sum(row["change"] == change for row in found)


def _first(found: Sequence[Row]) -> str:
    losers = [row for row in found if row["change"] == "loss"][:5]
    return ", ".join(f"{row['topic']} ({signed(row['difference'])})" for row in losers) or "no topic lost"


def _bars(verdict: Verdict, found: list[Row], critical: float | None) -> list[Any]:
    named = len(found) <= NAMED
    order = [row["topic"] for row in found]

    def panel(field: str, title: str, *, axis: alt.Axis | None, lines: Iterable[float]) -> Any:
        bars = plot(found).mark_bar(stroke=None)
        bars = bars.encode(
            x=alt.X("topic:N", sort=order, axis=axis, scale=alt.Scale(paddingInner=0.25 if named else 0.1)),
            y=alt.Y(f"{field}:Q", title=title, axis=alt.Axis(tickCount=5)),
            color=colours("change", loss=LOSS, win=WIN, same=SAME),
            opacity=alt.condition("datum.flagged", alt.value(1), alt.value(0.5)),
            description=alt.Description("label:N"),
        )
        drawn = alt.layer(
            bars, line_at(0, axis="y", colour=SAME, dash=(1, 0)), *(line_at(each, axis="y") for each in lines)
        )
        return drawn.properties(width=WIDE, height=_HEIGHT)

    title = f"topic, {'largest loss first' if named else f'{len(found)} of them, largest loss first'}"
    below = alt.Axis(
        title=title,
        labelAngle=-90,
        labels=named,
        ticks=named,
        labelOverlap=False,
        labelLimit=80,
        titlePadding=18 if named else 8,
    )
    return [
        panel("difference", with_unit(verdict, "difference"), axis=None, lines=_loss_limit(verdict)),
        panel("standing", "TRi (standard deviations)", axis=below, lines=_critical(critical)),
    ]


def _loss_limit(verdict: Verdict) -> list[float]:
    return [] if verdict.max_loss is None else [-verdict.max_loss]


def _critical(critical: float | None) -> list[float]:
    return [] if critical is None else [-critical, critical]


def _histograms(verdict: Verdict, found: list[Row], critical: float | None) -> list[Any]:
    changed = [row for row in found if row["change"] != "same"]

    def panel(field: str, title: str, lines: Iterable[float]) -> Any:
        # Not mark_bar: of a bar with two ends on x it takes the count for a place, and draws a line there.
        bars = plot(binned(changed, field)).mark_rect(stroke=None)
        bars = bars.encode(
            x=alt.X("low:Q", title=title, scale=alt.Scale(nice=False)),
            x2="high:Q",
            y=alt.Y("top:Q", title="topics that changed (number)", axis=alt.Axis(tickCount=5)),
            y2="bottom:Q",
            color=colours("change", loss=LOSS, win=WIN),
            opacity=alt.condition("datum.flagged", alt.value(1), alt.value(0.5)),
            description=alt.Description("label:N"),
        )
        return alt.layer(bars, *(line_at(each, axis="x") for each in lines)).properties(width=WIDE, height=_HEIGHT)

    return [
        panel("difference", with_unit(verdict, "difference"), _loss_limit(verdict)),
        panel("standing", "TRi (standard deviations)", _critical(critical)),
    ]


def binned(found: Sequence[Row], field: str) -> list[Row]:
    """How many topics lie in each bin, losses and wins, flagged and not, stacked on one another."""
    reach = max((abs(row[field]) for row in found), default=0.0) or 1.0
    width = 2 * reach / BINS
    counts: dict[tuple[int, str, bool], int] = {}
    for row in found:
        place = min(int((row[field] + reach) / width), BINS - 1)
        key = (place, row["change"], row["flagged"])
        counts[key] = counts.get(key, 0) + 1
    tops: dict[int, int] = {}
    bins = []
    for (place, change, flagged), count in sorted(counts.items()):
        low, high, bottom = place * width - reach, (place + 1) * width - reach, tops.get(place, 0)
        tops[place] = bottom + count
        said = counted(count, change, "losses" if change == "loss" else "wins")
        bins.append(
            {
                "low": low,
                "high": high,
                "bottom": bottom,
                "top": tops[place],
                "count": count,
                "change": change,
                "flagged": flagged,
                "label": f"{said}{' flagged' * flagged} from {signed(low, 3)} to {signed(high, 3)}",
            }
        )
    return bins


def most_harmful(verdict: Verdict) -> Chart | None:
    """The topics with the largest part in the risk, by name, where the bars of all topics carry none."""
    if verdict.exhibits is None or len(verdict.exhibits.topics.topics) <= NAMED:
        return None
    turn = sign(verdict)
    losers = [row for row in rows(verdict, verdict.exhibits.topics) if row["change"] == "loss"]
    losers = sorted(losers, key=lambda row: round(turn * row["contribution"], 15))[:HARMFUL]
    if not losers:
        return None
    for row in losers:
        row["name"] = f"{row['topic']}  {row['query']}".strip()
    order = unique(row["name"] for row in losers)
    for row, name in zip(losers, order, strict=True):
        row["name"] = name
    base = plot(losers, width=WIDE - 260, height=22 * len(losers))
    bars = base.mark_bar(stroke=None, height=13).encode(
        x=alt.X("contribution:Q", title=with_unit(verdict, "contribution to the risk")),
        y=alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelLimit=240, labelColor=INK, ticks=False)),
        color=colours("change", loss=LOSS, win=WIN, same=SAME),
        opacity=alt.condition("datum.flagged", alt.value(1), alt.value(0.5)),
        description=alt.Description("label:N"),
    )
    worst = ", ".join(f"{row['topic']} ({signed(row['contribution'])})" for row in losers[:5])
    return chart(
        "harmful",
        f"The {len(losers)} most harmful topics",
        bars,
        description=f"Most harmful first: {worst}.",
        caption="What each topic adds to the risk; the contributions of all topics add up to it.",
        wide=True,
        margin=60,
    )
