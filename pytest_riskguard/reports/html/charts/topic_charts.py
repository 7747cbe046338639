"""What charts say about a verdict: topics with their changes, names with their units, figures as people read them."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Literal, NamedTuple

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.findings import Exhibits, TopicColumns
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts.axes import (
    BELOW,
    BELOW_TITLE,
    Entry,
    Frame,
    Scale,
    Symbol,
    legend,
    plot,
    scale_of,
)
from pytest_riskguard.reports.html.charts.drawing import (
    MARGIN,
    WIDTH,
    Chart,
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
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from pytest_riskguard.text import clean, counted, percent, plain, signed

Change = Literal["loss", "win", "same"]
#: How far shares that add up to 1 may be from it: each is rounded to 12 digits, and there may be thousands.
_SUM_ERROR = 1e-8


class Topic(NamedTuple):  # there may be thousands, and a dataclass takes three times as long to make
    """A topic as charts draw it."""

    topic: str
    query: str | None
    baseline: float
    candidate: float
    standardised: float
    flagged: bool

    @property
    def difference(self) -> float:
        """Candidate minus baseline."""
        return self.candidate - self.baseline

    @property
    def change(self) -> Change:
        """What happened to it."""
        if abs(self.difference) <= ROUNDING_ERROR:
            return "same"
        return "loss" if self.difference < 0 else "win"

    @property
    def tooltip(self) -> str:
        """The topic with both scores."""
        return f"{named(self.topic, self.query)}: {scores(self.baseline, self.candidate)}"


def topics_of(verdict: Verdict) -> list[Topic]:
    """All topics, the largest loss first; none if the verdict does not hold them."""
    columns = exhibits(verdict).topics
    topics = [
        Topic(
            topic,
            columns.queries[place],
            columns.baseline[place],
            columns.candidate[place],
            columns.standardised[place],
            columns.flagged(place),
        )
        for place, topic in enumerate(columns.topics)
    ]
    return sorted(topics, key=lambda topic: (round(topic.difference, 12), topic.topic))


def how_many(verdict: Verdict) -> str:
    """``250 topics``; of very many, a chart has those with the largest parts in the risk."""
    shown = len(exhibits(verdict).topics.topics)
    if shown < verdict.topics.count:
        return f"The {shown} of {verdict.topics.count} topics with the largest parts in the risk"
    return counted(shown, "topic")


def exhibits(verdict: Verdict) -> Exhibits:
    """The data of charts; empty if the verdict has none."""
    return verdict.exhibits or Exhibits(TopicColumns((), (), (), (), (), (), None, {}))


def named(topic: str, query: str | None) -> str:
    """A topic by its query, with its id in brackets; after a query from right to left, a word sets the direction.

    Without it a browser would write ``0.88 → 0.00`` behind an id of digits as ``0.00 → 0.88``.
    """
    shown, asked = clean(topic, limit=60), clean(query or "", limit=160)
    from_right = any(unicodedata.bidirectional(character) in {"R", "AL"} for character in asked)
    words = f"topic {shown}" if from_right else shown
    return f"{asked} ({words})" if asked and asked != shown else shown


def scores(baseline: float, candidate: float) -> str:
    """``0.88 → 0.00, -0.88``."""
    digits = decimals([baseline, candidate])
    before, after = plain(baseline, digits), plain(candidate, digits)
    return f"{before} → {after}, {signed(candidate - baseline, digits)}"


def decimals(values: Iterable[float]) -> int:
    """Two decimals, or as many as the values need to look different, up to four."""
    numbers = list(values)
    different = {round(value, 4) for value in numbers}
    if len(different) == 1 and max(numbers) - min(numbers) > ROUNDING_ERROR:
        return 4
    return next((digits for digits in (2, 3) if len({round(v, digits) for v in different}) == len(different)), 4)


def figure(value: float) -> str:
    """A figure of risk with its sign and two decimals, or four where two would say 0."""
    return signed(value, 2 if abs(value) >= 0.005 or value == 0 else 4)


def limits(low: float, high: float) -> str:
    """An interval as text, lower limit first."""
    return f"{figure(low)} to {figure(high)}"


def share(part: float) -> str:
    """A part of the whole: ``7%``, ``0.3%``, ``99.7%``; 0% and 100% only where they are exact."""
    if part == 0 or part >= 1 - _SUM_ERROR:
        return percent(round(part), 0)
    if part < 0.0005:
        return "under 0.1%"
    return "over 99.9%" if part >= 0.9995 else percent(part, 0 if 0.01 <= part < 0.995 else 1)


def risk_name(verdict: Verdict) -> str:
    """What the gate judges: URisk at its alpha, or the difference of GeoRisk."""
    shown = Shown(verdict)
    return f"difference of {shown.georisk_name}" if verdict.asked.is_pool else shown.urisk_name


def measure_name(verdict: Verdict) -> str:
    """The measure of the scores."""
    return clean(verdict.measure, limit=40) if verdict.measure else "score"


def with_unit(verdict: Verdict, name: str) -> str:
    """An axis title: the quantity and its unit, where the verdict knows it."""
    if verdict.measure is None or name.startswith("difference of GeoRisk"):
        return name
    return f"{name} ({measure_name(verdict)})"


def compared_with(verdict: Verdict) -> str:
    """The name of the baseline, or of the reference in a pool."""
    return Shown(verdict).opponent


def level_of(verdict: Verdict) -> str:
    """The level that the gate was judged at: in a family the one that its correction leaves."""
    return level(verdict.level if verdict.family is None else verdict.family.level)


def level(confidence: float) -> str:
    """A level as text: ``95%``, ``98.33%``."""
    return f"{100 * confidence:.4g}%"


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
) -> tuple[Frame, Frame]:
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


def _lines(upper: Frame, lower: Frame, loss: Sequence[float], critical: Sequence[float]) -> list[str]:
    zero = [panel.across(0, colour=Colour.GREY, dash=None, width=1) for panel in (upper, lower)]
    allowed = [upper.across(value, colour=Colour.MUTED) for value in loss]
    return [*zero, *allowed, *(lower.across(value, colour=Colour.LIMIT) for value in critical)]


# ---- many topics


@frozen
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


def _points(topics: Sequence[Topic], frame: Frame) -> str:
    marks = []
    for topic in topics:
        x, y, colour = frame.x(topic.baseline), frame.y(topic.candidate), _COLOURS[topic.change]
        if topic.change == "same":
            shape = ring(x, y, 3.6, colour)
        else:
            shape = (down if topic.change == "loss" else up)(x, y, 3.6, None)
        marks.append((colour, mark(topic.tooltip, shape, topic=topic.topic)))
    return coloured(marks)


def _cells(topics: Sequence[Topic], scale: Scale, frame: Frame) -> str:
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
