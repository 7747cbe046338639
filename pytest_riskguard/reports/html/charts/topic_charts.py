"""All topics: by difference, by TR_i with its critical values (Fig. 2 of Dincer et al., SIGIR 2014), by score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts.axes import BELOW, BELOW_TITLE, Plot, plot
from pytest_riskguard.reports.html.charts.chart import MARGIN, WIDTH, Chart
from pytest_riskguard.reports.html.charts.labels import Entry, Symbol, legend
from pytest_riskguard.reports.html.charts.markup import (
    Colour,
    bar,
    box,
    coloured,
    curve,
    dashes,
    diamond,
    disc,
    down,
    element,
    mark,
    ring,
    up,
    upright_bar,
)
from pytest_riskguard.reports.html.charts.quantities import (
    Change,
    Topic,
    compared_with,
    exhibits,
    figure,
    how_many,
    level_of,
    measure_name,
    topics_of,
    with_unit,
)
from pytest_riskguard.reports.html.charts.scale import Scale, scale_of
from pytest_riskguard.text import clean, counted, plain, signed

#: With more topics than this a mark is a range of values.
MAX_SINGLE = 250
#: Bins of a histogram: an even number, so that 0 lies between two of them.
BINS = 40
#: Cells on each side of a scatter plot that has too many topics for a point each.
CELLS = 20

_COLOURS: dict[str, str] = {"loss": Colour.LOSS, "win": Colour.WIN, "same": Colour.GREY}
_SYMBOLS: dict[str, Symbol] = {"loss": down, "win": up, "same": ring}
_HEIGHT = 130.0


def differences(verdict: Verdict) -> Chart | None:
    """A bar for each topic, or for each range of values where there are too many topics."""
    topics = topics_of(verdict)
    number = Counter(topic.change for topic in topics)
    if not number["loss"] and not number["win"]:
        return None
    critical = exhibits(verdict).topics.critical_value
    flagged = [topic for topic in topics if topic.flagged]
    single = len(topics) <= MAX_SINGLE
    keys = [Entry(bar, Colour.LOSS, "worse")] if number["loss"] else []
    keys += [Entry(bar, Colour.WIN, "better")] if number["win"] else []
    keys += [Entry(diamond, Colour.INK, "flagged")] if flagged and single else []
    keys += [Entry(dashes, Colour.LIMIT, "critical value")] if critical is not None else []
    keys += [Entry(dashes, Colour.MUTED, "largest loss allowed")] if verdict.max_loss is not None else []
    drawn, top = legend(keys, left=MARGIN, top=2, right=WIDTH - MARGIN)
    draw = _bars if single else _histograms
    drawing, height = draw(verdict, topics, critical, top)
    losers = [
        f"{clean(topic.topic, limit=60)} ({figure(topic.difference)})" for topic in topics if topic.change == "loss"
    ]
    description = (
        f"{how_many(verdict)}: {number['loss']} lost, {number['win']} won, {number['same']} did not "
        f"change. Largest loss first: {', '.join(losers[:5]) or 'no topic lost'}."
    )
    if flagged:
        names = ", ".join(clean(topic.topic, limit=60) for topic in flagged[:12])
        description += f" Flagged by TRi: {names}{' and others' if len(flagged) > 12 else ''}."
    caption = f"Each bar is {'a topic, the largest loss on the left' if single else 'a range of values'}."
    caption += _drawn(verdict)
    if critical is not None:
        caption += (
            " A topic is flagged if its TRi, its part in the risk in standard deviations, lies beyond the dashed "
            f"critical lines at ±{plain(critical, 2)} ({level_of(verdict)})."
        )
    return Chart(
        "topics",
        "Difference and TRi of each topic",
        description=description,
        caption=caption,
        drawing=drawn + drawing,
        height=height,
    )


def _drawn(verdict: Verdict) -> str:
    """Which topics a chart has, if not all; empty otherwise."""
    some = len(exhibits(verdict).topics.topics) < verdict.topics.count
    return f" {how_many(verdict)}." if some else ""


def _bars(verdict: Verdict, topics: Sequence[Topic], critical: float | None, top: float) -> tuple[str, float]:
    """Two panels; a topic's bars in both are one mark."""
    loss = [] if verdict.max_loss is None else [-verdict.max_loss]
    lines = [] if critical is None else [-critical, critical]
    places = Scale(0, len(topics))
    upper, lower = _panels(
        places,
        scale_of([*(topic.difference for topic in topics), *loss], most=4, zero=True),
        scale_of([*(topic.standardised for topic in topics), *lines], most=4, zero=True),
        titles=(with_unit(verdict, "difference"), "TRi (standard deviations)"),
        top=top,
        x_titles=("", f"{counted(len(topics), 'topic')}, largest loss first"),
    )
    lying = "".join(_lines(upper, lower, loss, lines))
    marks = []
    gap = 0.12 if len(topics) <= 100 else 0.0
    for place, topic in enumerate(topics):
        left, right = upper.x(place + gap), upper.x(place + 1 - gap)
        shapes = ""
        for panel, value in ((upper, topic.difference), (lower, topic.standardised)):
            base, end = panel.y(0), panel.y(value)
            if abs(end - base) >= 0.05:
                shapes += upright_bar(left, right, base, end)
        if not shapes:
            continue
        tooltip = f"{topic.tooltip}; TRi {signed(topic.standardised, 2)}{', flagged' * topic.flagged}"
        flag = ""
        if topic.flagged:
            end, away = lower.y(topic.standardised), -7 if topic.standardised > 0 else 7
            flag = diamond(
                (left + right) / 2, min(max(end + away, lower.room.top), lower.room.bottom), 2.8, Colour.INK
            )
        bars = mark(tooltip, element("path", d=shapes), flag, topic=topic.topic)
        marks.append((_COLOURS[topic.change], bars))
    return upper.axes + lower.axes + lying + coloured(marks), lower.y.start + BELOW_TITLE


def _panels(
    x: Scale,
    upper: Scale,
    lower: Scale,
    *,
    titles: tuple[str, str],
    top: float,
    x_titles: tuple[str, str],
    second_x: Scale | None = None,
) -> tuple[Plot, Plot]:
    """Two plots above one another that begin at the same place."""
    labelled = second_x is not None
    left = 52.0
    first = plot(
        x, upper, top=top, height=_HEIGHT, left=left, y_title=titles[0], x_title=x_titles[0], x_labels=labelled
    )
    begin = first.y.start + (BELOW if labelled else 8)
    second = plot(
        second_x or x, lower, top=begin, height=_HEIGHT, left=left, y_title=titles[1], x_title=x_titles[1],
        x_labels=labelled,
    )  # fmt: skip
    return first, second


def _lines(upper: Plot, lower: Plot, loss: Sequence[float], critical: Sequence[float]) -> list[str]:
    zero = [panel.across(0, colour=Colour.GREY, dash=None, width=1) for panel in (upper, lower)]
    allowed = [upper.across(value, colour=Colour.MUTED) for value in loss]
    return [*zero, *allowed, *(lower.across(value, colour=Colour.LIMIT) for value in critical)]


# ---- many topics


@dataclass(frozen=True)
class Bin:
    """How many topics changed by this much in one direction; it stands on ``bottom``."""

    low: float
    high: float
    bottom: int
    count: int
    change: Change


def binned(topics: Sequence[Topic], value: Callable[[Topic], float]) -> list[Bin]:
    """How many topics lie in each bin, wins standing on losses; topics that did not change are left out."""
    changed = [topic for topic in topics if topic.change != "same"]
    reach = max((abs(value(topic)) for topic in changed), default=0.0) or 1.0
    width = 2 * reach / BINS or 1.0  # the smallest numbers there are have no fortieth part
    counts = Counter((min(int((value(topic) + reach) / width), BINS - 1), topic.change) for topic in changed)
    bottoms: Counter[int] = Counter()
    bins = []
    for (place, change), count in sorted(counts.items()):
        bins.append(Bin(place * width - reach, (place + 1) * width - reach, bottoms[place], count, change))
        bottoms[place] += count
    return bins


def _histograms(verdict: Verdict, topics: Sequence[Topic], critical: float | None, top: float) -> tuple[str, float]:
    loss = [] if verdict.max_loss is None else [-verdict.max_loss]
    lines = [] if critical is None else [-critical, critical]
    bins = [binned(topics, attrgetter(field)) for field in ("difference", "standardised")]
    scales = [
        scale_of([edge for b in of_field for edge in (b.low, b.high)] + extra)
        for of_field, extra in zip(bins, (loss, lines), strict=True)
    ]
    heights = [scale_of([b.bottom + b.count for b in of_field], most=4, zero=True) for of_field in bins]
    count = "topics that changed"
    panels = _panels(
        scales[0],
        heights[0],
        heights[1],
        titles=(count, count),
        top=top,
        x_titles=(with_unit(verdict, "difference"), "TRi (standard deviations)"),
        second_x=scales[1],
    )
    parts = [panel.axes for panel in panels]
    for panel, of_field, extra, colour in zip(panels, bins, (loss, lines), (Colour.MUTED, Colour.LIMIT), strict=True):
        for b in of_field:
            said = f"{counted(b.count, b.change, 'losses' if b.change == 'loss' else 'wins')}"
            said += f" from {signed(b.low, 3)} to {signed(b.high, 3)}"
            sides = panel.x(b.low) + 0.4, panel.x(b.high) - 0.4
            shape = box(sides[0], panel.y(b.bottom + b.count), sides[1], panel.y(b.bottom), colour=_COLOURS[b.change])
            parts.append(mark(said, shape))
        parts += [panel.upright(value, colour=colour) for value in extra]
    return "".join(parts), panels[1].y.start + BELOW


# ---- scores


def scatter(verdict: Verdict) -> Chart | None:
    """The candidate's score against the baseline's: a point for each topic, or for each cell of a grid."""
    topics = topics_of(verdict)
    number = Counter(topic.change for topic in topics)
    if not number["loss"] and not number["win"]:
        return None
    values = [score for topic in topics for score in (topic.candidate, topic.baseline)]
    inside, single = all(0 <= value <= 1 for value in values), len(topics) <= MAX_SINGLE
    scale = Scale(0, 1) if inside else scale_of(values)
    words_of: dict[Change, str] = {"loss": "worse", "win": "better", "same": "the same"}
    entries = [Entry(_SYMBOLS[key], _COLOURS[key], said) for key, said in words_of.items() if number[key]]
    keys, top = legend(entries, left=MARGIN, top=2, right=WIDTH - MARGIN)
    measure = measure_name(verdict)
    frame = plot(
        scale,
        scale,
        top=top,
        height=300,
        x_title=f"{_role('baseline', compared_with(verdict))} ({measure})",
        y_title=f"{_role('candidate', verdict.candidate)} ({measure})",
    )
    ends = [(frame.x(end), frame.y(end)) for end in (scale.low, scale.high)]
    points = _points(topics, frame) if single else _cells(topics, scale, frame)
    point = "Each mark is a topic" if single else "The larger a mark, the more topics it stands for"
    return Chart(
        "scatter",
        "Candidate against baseline",
        description=(
            f"{how_many(verdict)}: {number['loss']} below the diagonal, {number['win']} above, "
            f"{number['same']} on it."
        ),
        caption=f"{point}: below the diagonal the candidate scores lower, above it higher.{_drawn(verdict)}",
        drawing=frame.axes + keys + curve(ends, colour=Colour.GREY, width=1.5) + points,
        height=frame.y.start + BELOW,
    )


def _points(topics: Sequence[Topic], frame: Plot) -> str:
    marks = []
    for topic in topics:
        x, y, colour = frame.x(topic.baseline), frame.y(topic.candidate), _COLOURS[topic.change]
        if topic.change == "same":
            shape = ring(x, y, 3.6, colour)
        else:
            shape = (down if topic.change == "loss" else up)(x, y, 3.6, None)
        marks.append((colour, mark(topic.tooltip, shape, topic=topic.topic)))
    return coloured(marks)


def _cells(topics: Sequence[Topic], scale: Scale, frame: Plot) -> str:
    width = (scale.high - scale.low) / CELLS

    def cell(score: float) -> int:
        return min(int((score - scale.low) / width), CELLS - 1)

    counts = Counter((cell(topic.baseline), cell(topic.candidate), topic.change) for topic in topics)
    most = max(counts.values())
    marks = []
    for (x, y, change), count in sorted(counts.items()):
        baseline, candidate = (scale.low + (place + 0.5) * width for place in (x, y))
        radius = 1.5 + 6 * (count / most) ** 0.5
        said = f"{counted(count, 'topic')}: baseline near {plain(baseline, 2)}, candidate near {plain(candidate, 2)}"
        symbol = disc if change == "same" else _SYMBOLS[change]
        marks.append(mark(said, symbol(frame.x(baseline), frame.y(candidate), radius, _COLOURS[change])))
    return "".join(marks)


def _role(role: str, name: str) -> str:
    """Candidate or baseline with its name, unless the name is that same word."""
    return role if name == role else f"{role} {clean(name, limit=30)}"
