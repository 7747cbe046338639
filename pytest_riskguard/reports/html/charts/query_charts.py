"""The queries that changed most, with both scores; and how few of them carry most of the loss."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.findings import ResponsibleTopic, Slice
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts.axes import BELOW, Entry, Scale, Symbol, legend, plot, scale_of, x_axis
from pytest_riskguard.reports.html.charts.drawing import (
    MARGIN,
    SMALL,
    TEXT,
    WIDTH,
    Chart,
    Colour,
    Point,
    clipped,
    coloured,
    curve,
    dashes,
    diamond,
    disc,
    left,
    line,
    mark,
    right,
    ring,
    row_of,
    stroke,
    text_width,
    words,
)
from pytest_riskguard.reports.html.charts.topic_charts import (
    Topic,
    compared_with,
    decimals,
    figure,
    limits,
    measure_name,
    named,
    scores,
    share,
    topics_of,
    with_unit,
)
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.text import clean, counted, listed, percent, plain

#: How many losses and how many wins are named.
MAX_LOSSES, MAX_WINS = 10, 3
#: A row has a line of text, and its dumbbell below it.
_ROW, _HEADING = 38.0, 24.0
#: Room for the share of the loss, at the end of a row.
_SHARE = 46.0
#: Labels that begin with as many characters of the same text keep their ends where they are cut.
_BEGINNING = 20
#: How many topics of the cumulative loss have a point of their own, and how many the line bends at.
MAX_POINTS, MAX_BENDS = 60, 200
#: The part of the topics that the chart of the cumulative loss speaks about.
_FEW = 0.05


@frozen
class _Row:
    topic: str
    query: str | None
    baseline: float
    candidate: float
    share: float | None = None

    @property
    def label(self) -> str:
        return clean(self.query or self.topic)


def dumbbells(verdict: Verdict) -> Chart | None:
    """Baseline and candidate score of the most harmful topics, and of the largest wins."""
    losses = [_row(topic) for topic in _most_harmful(verdict)[:MAX_LOSSES]]
    wins = [_won(topic) for topic in reversed(topics_of(verdict)[-MAX_WINS:]) if topic.change == "win"]
    if not losses and not wins:
        return None
    of_queries = any(row.query for row in (*losses, *wins))
    noun = "queries" if of_queries else "topics"
    numbers = [number for row in (*losses, *wins) for number in (row.baseline, row.candidate)]
    inside = all(0 <= number <= 1 for number in numbers)
    x = (Scale(0, 1) if inside else scale_of(numbers)).between(MARGIN + 6, WIDTH - MARGIN - 6)
    entries = [Entry(ring, Colour.INK, clean(f"baseline {compared_with(verdict)}", limit=34))]
    entries += [Entry(left, Colour.LOSS, "candidate, worse")] if losses else []
    entries += [Entry(right, Colour.WIN, "candidate, better")] if wins else []
    keys, top = legend(entries, left=MARGIN, top=2, right=WIDTH - MARGIN)
    heading = _headings(top, "largest losses" if losses else "largest wins", shares=bool(losses))
    beginnings = Counter(row.label[:_BEGINNING] for row in (*losses, *wins))
    rows, y = [], top + _HEADING
    for row in (*losses, *wins):
        if losses and row in wins[:1]:
            rows.append(_headings(y, "largest wins", shares=False))
            y += _HEADING
        rows.append(_dumbbell(row, x, y, middle=beginnings[row.label[:_BEGINNING]] > 1))
        y += _ROW
    axes = x_axis(x, top=y - 2, bottom=y + 2, title=measure_name(verdict))
    worst = "; ".join(_said(row) for row in losses[:5])
    best = "; ".join(_said(row) for row in wins)
    said = [f"Most harmful first: {worst}." if losses else "", f"Largest wins: {best}." if wins else ""]
    return Chart(
        "queries",
        f"The {noun} that lost most" if losses else f"The {noun} that won most",
        description=" ".join(filter(None, said)),
        caption=(
            f"The circle is the baseline's score, the triangle the candidate's. The percentage is each one's share "
            f"of the whole loss; {counted(verdict.topics.losses, 'topic')} lost in all."
            if losses
            else "The circle is the baseline's score, the triangle the candidate's."
        ),
        drawing=axes + keys + heading + "".join(rows),
        height=y + BELOW + 2,
        main=True,
    )


def _most_harmful(verdict: Verdict) -> list[ResponsibleTopic]:
    """All topics that lost, as far as the verdict names them: those that the failure lists, then the others."""
    if Shown(verdict).explained_by_wins:
        return []
    listed = Shown(verdict).losers
    names = {topic.topic for topic in listed}
    return [*listed, *(topic for topic in verdict.responsible_topics if topic.topic not in names)]


def _row(topic: ResponsibleTopic) -> _Row:
    return _Row(topic.topic, topic.query, topic.baseline, topic.candidate, topic.share)


def _won(topic: Topic) -> _Row:
    return _Row(topic.topic, topic.query, topic.baseline, topic.candidate)


def _said(row: _Row) -> str:
    return f"{named(row.topic, row.query)}: {scores(row.baseline, row.candidate)}"


def _headings(top: float, title: str, *, shares: bool) -> str:
    what = "scores, share of the loss" if shares else "scores"
    return words(MARGIN, top + 16, title, size=SMALL, colour=Colour.MUTED) + words(
        WIDTH - MARGIN, top + 16, what, size=SMALL, anchor="end", colour=Colour.MUTED
    )


def _dumbbell(row: _Row, x: Scale, top: float, *, middle: bool) -> str:
    digits = decimals([row.baseline, row.candidate])
    numbers = f"{plain(row.baseline, digits)} → {plain(row.candidate, digits)}"
    end = WIDTH - MARGIN - (0.0 if row.share is None else _SHARE)
    room = end - MARGIN - text_width(numbers, TEXT) - 12
    worse = row.candidate < row.baseline
    colour, symbol = (Colour.LOSS, left) if worse else (Colour.WIN, right)
    before, after, y = x(row.baseline), x(row.candidate), top + 26
    part = "" if row.share is None else f", {share(row.share)} of the loss"
    texts = [
        words(MARGIN, top + 15, clipped(row.label, width=room, size=TEXT, middle=middle)),
        words(end, top + 15, numbers, anchor="end"),
        "" if row.share is None else words(WIDTH - MARGIN, top + 15, share(row.share), anchor="end"),
    ]
    return mark(
        f"{_said(row)}{part}",
        row_of(top, _ROW, *texts),
        line((x.start, y), (x.end, y), colour=Colour.LINE),
        line((before, y), (after, y), colour=colour, width=3),
        ring(before, y, 4.5, Colour.INK),
        symbol(after, y, 5, colour),
        topic=row.topic,
    )


def cumulative_loss(verdict: Verdict) -> Chart | None:
    """Topics from the largest loss on against their part of the whole loss."""
    losers = [topic for topic in verdict.responsible_topics if topic.share and topic.difference < 0]
    count = verdict.topics.count
    if len(losers) < 2 or not count:
        return None
    carried = list(accumulate(topic.share or 0.0 for topic in losers))
    more = Shown(verdict).left_out("responsible_topics")
    lost = len(losers) + more
    few = min(max(math.ceil(_FEW * count - 1e-9), 1), len(losers))
    part = f"{percent(few / count, 0)} of topics ({few:,} of {count:,})" if few > 1 else f"1 of {count:,} topics"
    carry = f"{'carry' if few > 1 else 'carries'} {share(carried[few - 1])} of the loss"
    entries = [
        Entry(stroke, Colour.LOSS, "topics, largest loss first"),
        Entry(dashes, Colour.GREY, "if all had lost equally"),
    ]
    keys, top = legend(entries, left=MARGIN, top=2, right=WIDTH - MARGIN)
    area = plot(
        scale_of([0, 100 * lost / count]),
        Scale(0, 100),
        top=top,
        height=190,
        x_title=f"topics (% of {count:,})",
        y_title="share of the loss",
        percents=True,
    )
    places = [(area.x(100 * place / count), area.y(100 * so_far)) for place, so_far in enumerate(carried, 1)]
    origin = (area.x(0), area.y(0))
    every = math.ceil(len(places) / MAX_BENDS)
    bends = [origin, *places[:-1:every], places[-1]]
    end_of_all = (area.x(100 * lost / count), area.y(100)) if more else places[-1]
    x, y = places[few - 1]
    end, foot = area.room.right - 6, area.room.bottom
    note = (
        curve([(area.room.left, y), (x, y), (x, foot)], colour=Colour.INK, width=1, dash="2 3")
        + ring(x, y, 5, Colour.INK)
        + words(end, foot - 30, part, size=TEXT, anchor="end", weight="bold")
        + words(end, foot - 12, carry, size=TEXT, anchor="end", weight="bold")
    )
    return Chart(
        "loss",
        "How few topics carry the loss",
        description=f"{part} {carry}; {counted(lost, 'topic')} lost.",
        caption="Each point is a topic, the largest loss on the left. A steep line: a few topics did the harm.",
        drawing=area.axes
        + keys
        + curve([origin, end_of_all], colour=Colour.GREY, width=1.5, dash="4 3")
        + curve(bends, colour=Colour.LOSS)
        + _points(losers[:MAX_POINTS], places, carried)
        + note,
        height=area.y.start + BELOW,
        main=True,
    )


def _points(losers: Sequence[ResponsibleTopic], places: Sequence[Point], carried: Sequence[float]) -> str:
    """The topics on the line of the cumulative loss."""
    marks = []
    for number, (topic, place, so_far) in enumerate(zip(losers, places, carried, strict=False), 1):
        said = f"{named(topic.topic, topic.query)}: {share(topic.share or 0)} of the loss; "
        said += f"the first {number} carry {share(so_far)}" if number > 1 else "the largest"
        marks.append((Colour.LOSS, mark(said, disc(*place, 3.5, None), topic=topic.topic)))
    return coloured(marks)


#: How many slices the chart shows: those with the lowest URisk; the table has all.
MAX_SLICES = 12
_SLICE_ROW = 38.0


def slices(verdict: Verdict) -> Chart | None:
    """The riskiest slices; without those in which nothing changed."""
    shown = Shown(verdict)
    rows = [part for part in shown.slices_by_risk if part.wins or part.losses][:MAX_SLICES]
    if not rows:
        return None
    bound = 0.0 - verdict.tolerance
    numbers = [value for part in rows for value in (part.urisk, part.lower, part.upper) if value is not None]
    x = scale_of([*numbers, bound], zero=True).between(MARGIN + 8, WIDTH - MARGIN - 8)
    looks = {_look(part) for part in rows}
    entries = [Entry(*_LOOKS[look], _WORDS[look]) for look in _LOOKS if look in looks and shown.slices_are_tested]
    entries.append(Entry(dashes, Colour.LIMIT, "bound"))
    keys, top = legend(entries, left=MARGIN, top=2, right=WIDTH - MARGIN)
    bottom = top + _SLICE_ROW * len(rows) + 4
    parts = [
        x_axis(x, top=bottom - 4, bottom=bottom, title=with_unit(verdict, shown.urisk_name)),
        keys,
        *(_slice(part, x, top + _SLICE_ROW * place, bound=bound) for place, part in enumerate(rows)),
    ]
    risky = tuple(_name(part) for part in rows if part.risky)
    left_out = len(shown.slices_by_risk) - len(rows)
    caption = (
        "The risk on the topics of each tag, with its interval, riskiest first. Risky: significantly so on its own, "
        "corrected for the number of slices."
        if shown.slices_are_tested
        else "The risk on the topics of each tag. There are no intervals: this gate asks about single topics."
    )
    if left_out:
        caption += f" The table has {left_out} more."
    return Chart(
        "slices",
        "Slices by risk",
        description=(
            f"Riskiest first: {'; '.join(f'{_name(part)} {_slice_said(part)}' for part in rows[:5])}. "
            f"Significantly risky: {listed(risky, most=5) or 'none'}."
        ),
        caption=caption,
        drawing="".join(parts),
        height=bottom + BELOW,
        main=True,
    )


_LOOKS: dict[str, tuple[Symbol, str]] = {
    "risky": (diamond, Colour.LOSS),
    "fine": (disc, Colour.WIN),
    "few": (ring, Colour.GREY),
}
_WORDS = {"risky": "risky", "fine": "not significantly risky", "few": "fewer than 10 topics: no interval"}


def _look(part: Slice) -> str:
    return "few" if part.risky is None else "risky" if part.risky else "fine"


def _name(part: Slice) -> str:
    return f"{clean(part.tag, limit=40)}={clean(part.value, limit=120)}"


def _changes(part: Slice) -> str:
    """``24 of 36 worse, 9 better``."""
    return f"{part.losses} of {part.count} worse, {part.wins} better"


def _slice_said(part: Slice) -> str:
    said = f"URisk {figure(part.urisk)}"
    if part.lower is not None and part.upper is not None:
        said += f", interval {limits(*sorted((part.lower, part.upper)))}"
    return said


def _slice(part: Slice, x: Scale, top: float, *, bound: float) -> str:
    changes = _changes(part)
    room = WIDTH - 2 * MARGIN - text_width(changes, TEXT) - 12
    symbol, colour = _LOOKS[_look(part)]
    y = top + 27
    interval = ""
    if part.lower is not None and part.upper is not None:
        low, high = x(part.lower), x(part.upper)
        interval = line((low, y), (high, y), colour=colour, width=3)
    texts = [
        words(MARGIN, top + 15, clipped(_name(part), width=room, size=TEXT, middle=True)),
        words(WIDTH - MARGIN, top + 15, changes, anchor="end"),
    ]
    return mark(
        f"{_name(part)}: {_slice_said(part)}; {_changes(part)}",
        row_of(top, _SLICE_ROW, *texts),
        line((x.start, y), (x.end, y), colour=Colour.LINE),
        line((x(bound), y - 5), (x(bound), y + 6), colour=Colour.LIMIT, width=2, dash="4 3"),
        interval,
        symbol(x(part.urisk), y, 5, colour),
    )
