"""What charts say about a verdict: topics with their changes, names with their units, figures as people read them."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from pytest_riskguard.gates.findings import Exhibits, TopicColumns
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.html.charts.axes import (
    BELOW_TITLE,
    Entry,
    Frame,
    Scale,
    legend,
    plot,
    scale_of,
)
from pytest_riskguard.reports.html.charts.drawing import (
    MARGIN,
    WIDTH,
    Chart,
    Colour,
    area,
    bar,
    coloured,
    dashes,
    diamond,
    element,
    mark,
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


#: With more topics than this all losses are one mark, and all wins; and at how many topics its edge bends at most.
MAX_SINGLE, _MAX_BENDS = 250, 200

_COLOURS: dict[str, str] = {"loss": Colour.LOSS, "win": Colour.WIN, "same": Colour.GREY}


def differences(verdict: Verdict) -> Chart | None:
    """A bar for each topic, or an area for all losses and one for all wins where there are too many topics."""
    topics = topics_of(verdict)
    number = Counter(topic.change for topic in topics)
    if not number["loss"] and not number["win"]:
        return None
    critical, allowed = exhibits(verdict).topics.critical_value, verdict.max_loss
    flagged = [topic for topic in topics if topic.flagged]
    single = len(topics) <= MAX_SINGLE
    entries = [Entry(bar, Colour.LOSS, "worse")] if number["loss"] else []
    entries += [Entry(bar, Colour.WIN, "better")] if number["win"] else []
    entries += [Entry(diamond, Colour.INK, "flagged")] if flagged and single else []
    entries += [Entry(dashes, Colour.MUTED, "largest loss allowed")] if allowed is not None else []
    keys, top = legend(entries, left=MARGIN, top=2, right=WIDTH - MARGIN)
    frame = plot(
        Scale(0, len(topics)),
        scale_of([*(topic.difference for topic in topics), *([] if allowed is None else [-allowed])], zero=True),
        top=top,
        height=190,
        x_title=f"{counted(len(topics), 'topic')}, largest loss first",
        y_title=with_unit(verdict, "difference"),
        x_labels=False,
    )
    losers = [f"{clean(topic.topic, limit=60)} ({figure(topic.difference)})" for topic in topics[: number["loss"]]]
    some = len(topics) < verdict.topics.count
    shown = f"The {len(topics)} of {verdict.topics.count} topics with the largest parts in the risk"
    description = (
        f"{shown if some else counted(len(topics), 'topic')}: {number['loss']} lost, {number['win']} won, "
        f"{number['same']} did not change. Largest loss first: {', '.join(losers[:5]) or 'no topic lost'}."
    )
    if flagged:
        names = ", ".join(clean(topic.topic, limit=60) for topic in flagged[:12])
        description += f" Flagged by TRi: {names}{' and others' if len(flagged) > 12 else ''}."
    caption = "Each bar is a topic, the largest loss on the left." if single else "The largest loss is on the left."
    caption += f" {shown}." if some else ""
    if critical is not None and single:
        caption += (
            " A topic is flagged if its TRi, its part in the risk in standard deviations, lies beyond "
            f"±{plain(critical, 2)} ({level_of(verdict)})."
        )
    return Chart(
        "topics",
        "Difference of each topic",
        description=description,
        caption=caption,
        drawing=frame.axes
        + keys
        + frame.across(0, colour=Colour.GREY, dash=None, width=1)
        + ("" if allowed is None else frame.across(-allowed, colour=Colour.MUTED))
        + (_bars(topics, frame) if single else _areas(topics, frame)),
        height=frame.y.start + BELOW_TITLE,
    )


def _bars(topics: Sequence[Topic], frame: Frame) -> str:
    marks = []
    gap = 0.12 if len(topics) <= 100 else 0.0
    for place, topic in enumerate(topics):
        left, right = frame.x(place + gap), frame.x(place + 1 - gap)
        end, away = frame.y(topic.difference), -7 if topic.difference > 0 else 7
        if topic.change == "same":
            continue
        sign = diamond((left + right) / 2, min(max(end + away, frame.room.top), frame.room.bottom), 2.8, Colour.INK)
        tooltip = f"{topic.tooltip}; TRi {signed(topic.standardised, 2)}{', flagged' * topic.flagged}"
        shape = element("path", d=upright_bar(left, right, frame.y(0), end))
        marks.append((_COLOURS[topic.change], mark(tooltip, shape, sign * topic.flagged, topic=topic.topic)))
    return coloured(marks)


def _areas(topics: Sequence[Topic], frame: Frame) -> str:
    marks = []
    for change, several in (("loss", "losses"), ("win", "wins")):
        places = [place for place, topic in enumerate(topics) if topic.change == change]
        if not places:
            continue
        bends = [*places[:: math.ceil(len(places) / _MAX_BENDS)], places[-1]]
        edge = [(frame.x(place + 0.5), frame.y(topics[place].difference)) for place in bends]
        ends = [(edge[0][0], frame.y(0)), *edge, (edge[-1][0], frame.y(0))]
        largest = topics[places[0 if change == "loss" else -1]]
        said = f"{counted(len(places), change, several)}, the largest {figure(largest.difference)}"
        marks.append(mark(said, area(ends, colour=_COLOURS[change], opacity=1.0)))
    return "".join(marks)
