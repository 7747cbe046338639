"""A chart of points, bars and lines, for a report of any kind."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from functools import cached_property
from itertools import pairwise

from pytest_riskguard.frozen import frozen
from pytest_riskguard.reports.html.charts.axes import (
    Box,
    Entry,
    Frame,
    Scale,
    beside,
    frame,
    legend,
    scale_of,
)
from pytest_riskguard.reports.html.charts.drawing import (
    MARGIN,
    SMALL,
    SYMBOLS,
    WIDTH,
    Colour,
    Point,
    Symbol,
    box,
    circle,
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
    words,
)
from pytest_riskguard.text import clean

#: The part of an axis beyond the outermost points, and the pixels between places of a line that no name may cover.
_ROOM, _STEP = 0.06, 4.0
#: The room that a name may take; that of a label of the x axis, and how many it has.
_NAME_WIDTH, _LABEL_WIDTH, _MAX_LABELS = 118.0, 62.0, 10
#: Widths between which a page chooses by that of its screen.
_WIDE, _NARROW = 900.0, 330.0
#: The part of its place that a bar takes.
_BAR = 0.8
#: Room for the title of a file, and the page's colours, which a file has by itself.
_TITLE = 30.0
_VARIABLE = re.compile(r'="var\(--\w+, (#[0-9a-f]{6})\)"')


@frozen
class _Point:
    x: float
    y: float | None
    text: str
    symbol: Symbol
    colour: str
    means: str
    name: str
    circled: str
    low: float | None
    high: float | None


@frozen
class _Bar:
    x: float
    y: float
    text: str
    colour: str
    means: str
    topic: str


@frozen
class _Line:
    points: Sequence[tuple[float, float | None]]
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
    labels : sequence of str
        What stands under x = 0, 1, 2 and so on, such as dates, instead of numbers.
    zero : bool
        Whether 0 is on the y axis, with a line.
    wide : bool
        Whether it takes the whole width of the page.
    key : str
        Its name among the charts of a gate.
    """

    title: str
    x: str = ""
    y: str = ""
    description: str = ""
    caption: str = ""
    labels: Sequence[str] = ()
    zero: bool = False
    wide: bool = False
    key: str = ""
    _points: list[_Point] = field(default_factory=list, init=False, repr=False)
    _bars: list[_Bar] = field(default_factory=list, init=False, repr=False)
    _lines: list[_Line] = field(default_factory=list, init=False, repr=False)

    def point(
        self,
        x: float,
        y: float | None,
        text: str,
        *,
        symbol: str = "disc",
        colour: str = "win",
        means: str = "",
        name: str = "",
        circled: str = "",
        low: float | None = None,
        high: float | None = None,
    ) -> None:
        """Add a point, below the others where ``y`` is None; ``text`` is its tooltip, ``name`` stands beside it.

        A symbol is a disc, ring, diamond, triangle, square or cross; a colour win, loss, limit, muted, grey or ink.
        The legend says what a symbol ``means``, and what that it is ``circled``. An interval reaches from ``low`` to
        ``high``.
        """
        shown, drawn = getattr(Colour, colour.upper()), SYMBOLS[symbol]
        self._points.append(_Point(x, y, text, drawn, shown, means, name, circled, low, high))

    def bar(self, x: float, y: float, text: str, *, colour: str, means: str = "", topic: str = "") -> None:
        """Add a bar from 0 to ``y``; the page opens the ``topic`` that it stands for."""
        self._bars.append(_Bar(x, y, text, getattr(Colour, colour.upper()), means, topic))

    def line(
        self,
        points: Iterable[tuple[float, float | None]],
        *,
        means: str = "",
        colour: str = "grey",
        dashed: bool = False,
    ) -> None:
        """Add a line, broken where y is None; infinite values are at the ends of the axes."""
        self._lines.append(_Line([*points], means, getattr(Colour, colour.upper()), dashed))

    @property
    def drawings(self) -> list[str]:
        """The chart as SVG, for a page; a wide one once for wide screens and once for narrow ones."""
        if not self.wide:
            return [self.svg]
        return [self._svg(_WIDE), self._svg(_NARROW, tooltips=False)]

    @cached_property
    def svg(self) -> str:
        """The chart as part of a page, whose colours and font it takes."""
        return self._svg(WIDTH)

    @cached_property
    def file(self) -> str:
        """The chart as a file: with its title, on white, in colours of its own."""
        drawing, bottom = self._drawing(WIDTH, tooltips=True)
        height = round(bottom + _TITLE)
        drawn = element(
            "svg",
            self._described,
            box(0, -_TITLE, WIDTH, bottom, colour="#ffffff"),
            words(MARGIN, -10, self.title, width=WIDTH - 2 * MARGIN, size=15, weight="bold"),
            drawing,
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 {-_TITLE:g} {WIDTH:g} {height:d}",
            width=1.5 * WIDTH,
            height=1.5 * height,
            font_family="system-ui, sans-serif",
            role="img",
            aria_label=clean(self.title),
        )
        return _VARIABLE.sub(r'="\1"', drawn)

    def _svg(self, width: float, *, tooltips: bool = True) -> str:
        drawing, height = self._drawing(width, tooltips=tooltips)
        view, name = f"0 0 {width:g} {round(height):d}", clean(self.title)
        return element("svg", self._described, drawing, viewBox=view, role="img", aria_label=name)

    @property
    def _described(self) -> str:
        return element("desc", quoted(clean(self.description, limit=2000)))

    def _drawing(self, width: float, *, tooltips: bool) -> tuple[str, float]:
        """The drawing and its height."""
        keys, top = legend(self._entries(), right=width - MARGIN)
        x, y = self._scales()
        below = 34.0 if self.x and not self._bars else 17.0
        axes = frame(
            x,
            y,
            top=top if self.y else top + 8,
            height=200 if self.wide or self._bars else 270,
            width=width,
            titles=(self.x, self.y),
            ticks=not (self.labels or self._bars),
            below=below,
        )
        zero = axes.y(0)
        drawn = [line((axes.x.start, zero), (axes.x.end, zero), colour=Colour.GREY)] if self.zero else []
        half = _BAR / 2
        for bar in self._bars:
            low, high = sorted((zero, axes.y(bar.y)))
            shape = box(axes.x(bar.x - half), low, axes.x(bar.x + half), high, colour=bar.colour)
            drawn.append(mark(bar.text, shape, topic=bar.topic))
        whiskers = [
            ((axes.x(point.x), axes.y(point.low)), (axes.x(point.x), axes.y(point.high)))
            for point in self._points
            if point.low is not None and point.high is not None
        ]
        drawn.append(lines(whiskers, colour=Colour.GREY, width=2))
        taken = list[Box]()
        for one in self._lines:
            for part in _unbroken(one.points):
                corners = [(axes.x(x), axes.y(y)) for x, y in part]
                taken += [_around(place, 1.5) for place in _along(corners)]
                drawn.append(curve(corners, colour=one.colour, dash="5 4" if one.dashed else None))
        at = [(axes.x(p.x), axes.room.bottom if p.y is None else axes.y(p.y)) for p in self._points]
        for point, where in zip(self._points, at, strict=True):
            taken.append(_around(where, 5))
            shapes = [point.symbol(*where, 4.5, point.colour)]
            shapes += [circle(*where, 4.5, Colour.INK)] if point.circled else []
            drawn.append(mark(point.text, *shapes) if tooltips else "".join(shapes))
        named = [(where, point.name) for point, where in zip(self._points, at, strict=True) if point.name]
        names = beside(named, within=axes.room, taken=taken, limit=_NAME_WIDTH)
        drawing = axes.axes + self._labels(axes) + keys + "".join(drawn) + names
        return drawing, axes.y.start + below + 7

    def _scales(self) -> tuple[Scale, Scale]:
        ends = [(point.x, y) for point in self._points for y in (point.y, point.low, point.high)]
        ends += [end for one in self._lines for end in one.points]
        ends += [(bar.x + side, bar.y) for bar in self._bars for side in (-0.5, 0.5)]
        ys = [y for _, y in ends if y is not None and math.isfinite(y)]
        xs = [x for x, _ in ends if math.isfinite(x)]
        x = Scale(-0.5, len(self.labels) - 0.5) if self.labels else _roomy(xs)
        return x, scale_of(ys, zero=True) if self.zero else _roomy(ys)

    def _entries(self) -> list[Entry]:
        found = [Entry(square, bar.colour, bar.means) for bar in self._bars]
        found += [Entry(point.symbol, point.colour, point.means) for point in self._points]
        found += [Entry(circle, Colour.INK, point.circled) for point in self._points]
        if any(point.low is not None for point in self._points):
            found.append(Entry(upright, Colour.GREY, "interval"))
        found += [Entry(dashes if one.dashed else stroke, one.colour, one.means) for one in self._lines]
        return [entry for entry in dict.fromkeys(found) if entry.text]

    def _labels(self, axes: Frame) -> str:
        """The labels of the x axis for which there is room, the last one first."""
        count, y = len(self.labels), axes.room.bottom + 17
        room = min((axes.x.end - axes.x.start) // _LABEL_WIDTH, _MAX_LABELS)
        return "".join(
            words(axes.x(place), y, self.labels[place], size=SMALL, anchor="middle", colour=Colour.MUTED)
            for place in range(count - 1, -1, -max(1, math.ceil(count / room)))
        )


def _roomy(values: Sequence[float]) -> Scale:
    """An axis with some room on both sides, so that no point lies on its end."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    room = _ROOM * (high - low)
    return Scale(low - room, high + room) if room > 0 else scale_of(values)


def _around(place: Point, room: float) -> Box:
    x, y = place
    return Box(x - room, y - room, x + room, y + room)


def _unbroken(points: Sequence[tuple[float, float | None]]) -> list[list[Point]]:
    """The parts of a line between its gaps."""
    parts: list[list[Point]] = [[]]
    for x, y in points:
        if y is None:
            parts.append([])
        else:
            parts[-1].append((x, y))
    return [part for part in parts if len(part) > 1]


def _along(corners: Sequence[Point]) -> Iterator[Point]:
    """Places on a line."""
    for (x1, y1), (x2, y2) in pairwise(corners):
        steps = math.ceil(max(abs(x2 - x1), abs(y2 - y1)) / _STEP)
        yield from ((x1 + (x2 - x1) * i / steps, y1 + (y2 - y1) * i / steps) for i in range(steps))
