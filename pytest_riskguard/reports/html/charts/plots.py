"""A chart of points, bars and lines, for a report of any kind."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import field
from functools import cached_property

from pytest_riskguard.frozen import frozen
from pytest_riskguard.reports.html.charts.axes import (
    Entry,
    Scale,
    frame,
    legend,
    scale_of,
)
from pytest_riskguard.reports.html.charts.drawing import (
    MARGIN,
    SYMBOLS,
    WIDTH,
    Colour,
    Point,
    Symbol,
    box,
    curve,
    dashes,
    element,
    line,
    lines,
    mark,
    quoted,
    square,
    stroke,
    upright,
)
from pytest_riskguard.text import clean

#: The part of an axis beyond the outermost points.
_ROOM = 0.06
#: The part of its place that a bar takes.
_BAR = 0.8


@frozen
class _Mark:
    """A point, or with a topic a bar."""

    x: float
    y: float
    text: str
    symbol: Symbol
    colour: str
    means: str
    low: float | None = None
    high: float | None = None
    topic: str | None = None


@frozen
class _Line:
    points: Sequence[Point]
    means: str
    colour: str
    dashed: bool


@frozen
class Plot:
    """A chart with two axes, to which points, bars and lines are added; a page draws it, and says it in words.

    Parameters
    ----------
    title : str
    x, y : str
        What the axes show, and its unit.
    description : str
        What can be seen, for those who cannot see it.
    caption : str
        How to read it.
    zero : bool
        Whether 0 is on the y axis, with a line.
    key : str
        Its name among the charts of a gate.
    """

    title: str
    x: str = ""
    y: str = ""
    description: str = ""
    caption: str = ""
    zero: bool = False
    key: str = ""
    _marks: list[_Mark] = field(default_factory=list, init=False, repr=False)
    _lines: list[_Line] = field(default_factory=list, init=False, repr=False)

    def point(
        self,
        x: float,
        y: float,
        text: str,
        *,
        symbol: str = "disc",
        colour: str = "win",
        means: str = "",
        low: float | None = None,
        high: float | None = None,
    ) -> None:
        """Add a point; ``text`` is its tooltip.

        A symbol is a disc, ring or diamond; a colour win, loss, limit, muted, grey or ink.
        The legend says what a symbol ``means``. An interval reaches from ``low`` to ``high``.
        """
        shown, drawn = getattr(Colour, colour.upper()), SYMBOLS[symbol]
        self._marks.append(_Mark(x, y, text, drawn, shown, means, low, high))

    def bar(self, x: float, y: float, text: str, *, colour: str, means: str = "", topic: str = "") -> None:
        """Add a bar from 0 to ``y``; the page opens the ``topic`` that it stands for."""
        self._marks.append(_Mark(x, y, text, square, getattr(Colour, colour.upper()), means, topic=topic))

    def line(self, points: Iterable[Point], *, means: str = "", colour: str = "grey", dashed: bool = False) -> None:
        """Add a line; infinite values are at the ends of the axes."""
        self._lines.append(_Line([*points], means, getattr(Colour, colour.upper()), dashed))

    @cached_property
    def svg(self) -> str:
        """The chart as part of a page, whose colours and font it takes."""
        drawing, height = self._drawing()
        view, name = f"0 0 {WIDTH:g} {round(height):d}", clean(self.title)
        described = element("desc", quoted(clean(self.description, limit=2000)))
        return element("svg", described, drawing, viewBox=view, role="img", aria_label=name)

    def _drawing(self) -> tuple[str, float]:
        """The drawing and its height."""
        keys, top = legend(self._entries(), right=WIDTH - MARGIN)
        has_bars = any(one.topic is not None for one in self._marks)
        below = 34.0 if self.x and not has_bars else 17.0
        axes = frame(
            *self._scales(),
            top=top if self.y else top + 8,
            height=200 if has_bars else 270,
            titles=(self.x, self.y),
            numbered=not has_bars,
            below=below,
        )
        zero, half = axes.y(0), (axes.x(_BAR) - axes.x(0)) / 2
        under = [line((axes.x.start, zero), (axes.x.end, zero), colour=Colour.GREY)] if self.zero else []
        over = list[str]()
        for one in self._marks:
            x, y = axes.x(one.x), axes.y(one.y)
            if one.topic is not None:
                bar = box(x - half, min(zero, y), x + half, max(zero, y), colour=one.colour)
                under.append(mark(one.text, bar, topic=one.topic))
                continue
            over.append(mark(one.text, one.symbol(x, y, 4.5, one.colour)))
        whiskers = [
            ((axes.x(one.x), axes.y(one.low)), (axes.x(one.x), axes.y(one.high)))
            for one in self._marks
            if one.low is not None and one.high is not None
        ]
        under.append(lines(whiskers, colour=Colour.GREY, width=2))
        for drawn in self._lines:
            corners = [(axes.x(x), axes.y(y)) for x, y in drawn.points]
            under.append(curve(corners, colour=drawn.colour, dash="5 4" if drawn.dashed else None))
        return axes.axes + keys + "".join(under + over), axes.y.start + below + 7

    def _scales(self) -> tuple[Scale, Scale]:
        ends = [(one.x, y) for one in self._marks for y in (one.y, one.low, one.high)]
        ends += [end for one in self._lines for end in one.points]
        ends += [(one.x + side, one.y) for one in self._marks if one.topic is not None for side in (-0.5, 0.5)]
        ys = [y for _, y in ends if y is not None and math.isfinite(y)]
        xs = [x for x, _ in ends if math.isfinite(x)]
        return _roomy(xs), scale_of(ys, zero=True) if self.zero else _roomy(ys)

    def _entries(self) -> list[Entry]:
        found = [Entry(one.symbol, one.colour, one.means) for one in self._marks]
        if any(one.low is not None for one in self._marks):
            found.append(Entry(upright, Colour.GREY, "interval"))
        found += [Entry(dashes if one.dashed else stroke, one.colour, one.means) for one in self._lines]
        return [entry for entry in dict.fromkeys(found) if entry.text]


def _roomy(values: Sequence[float]) -> Scale:
    """An axis with some room on both sides, so that no point lies on its end."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    room = _ROOM * (high - low)
    return Scale(low - room, high + room) if room > 0 else scale_of(values)
