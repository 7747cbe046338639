"""A chart of points, bars and lines, for a report of any kind: elements of SVG, scales, axes, legend and marks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from functools import cache, cached_property, partial
from xml.sax.saxutils import escape

from pytest_riskguard.frozen import frozen
from pytest_riskguard.reports.parts import ends
from pytest_riskguard.text import clean, columns

# ---- elements of SVG, their colours and lettering

#: The width in em of a column of text, of which ideographs and emoji take two: few letters of a sans-serif are wider.
_COLUMN = 0.7


#: The size of text: a chart is narrow, so that it can be read where a phone draws it at three quarters of its size.
SMALL = 12.0


def text_width(text: str) -> float:
    """At most about the width of a line of text, in the unit of the chart."""
    return _COLUMN * SMALL * columns(text)


def clipped(text: str, *, width: float) -> str:
    """The text if it is no wider than ``width``, else its two ends around an ellipsis."""
    return ends(text, width / _COLUMN / SMALL)


#: All charts have this width, in units of their text; the page gives each the width it has room for.
WIDTH = 420.0
#: Between a drawing and its edge.
MARGIN = 8.0
#: The longest text that stands in a tooltip.
_MAX_TITLE = 300

Point = tuple[float, float]


#: So many lines of a chart differ in colour or dashes; colours of Okabe and Ito (2008) that can be seen on any page.
SERIES = tuple(
    (colour, dash)
    for dash in (None, "6 3")
    for colour in ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a7300", "#56a0c9")
)


class Colour:
    """The page's colours; a file beside a report has the ones after the comma, which are those of the light page.

    Losses and wins can be told apart by any colour vision (Okabe and Ito, 2008), and never by colour alone.
    """

    PAGE = "var(--page, #ffffff)"
    INK = "var(--ink, #1f2328)"
    MUTED = "var(--muted, #59636e)"
    LINE = "var(--line, #d8dee4)"
    GREY = "var(--grey, #7d8690)"
    LOSS = "var(--loss, #d55e00)"
    WIN = "var(--win, #0072b2)"
    LIMIT = "var(--limit, #007a59)"


def number(value: float) -> str:
    """A coordinate with two decimals at most."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if round(value, 2) else "0"


def element(tag: str, *children: str, **attributes: str | float | None) -> str:
    """An element; ``_`` in the name of an attribute is a hyphen, and one that is None is left out."""
    texts = (
        f' {name.rstrip("_").replace("_", "-")}="{quoted(value) if isinstance(value, str) else number(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    start = f"<{tag}{''.join(texts)}"
    return f"{start}>{''.join(children)}</{tag}>" if children else f"{start}/>"


def quoted(text: str) -> str:
    """The text escaped for an element and for an attribute."""
    return escape(text, {'"': "&quot;", "'": "&#39;"})


def words(
    x: float,
    y: float,
    text: str,
    *,
    width: float | None = None,
    anchor: str | None = None,
    colour: str = Colour.INK,
) -> str:
    """A line of text on the height ``y``, cut to ``width``; nothing if it is empty."""
    shown = clean(text)
    if not shown:
        return ""
    if width is not None:
        shown = clipped(shown, width=width)
    return element("text", quoted(shown), x=x, y=y, fill=colour, font_size=SMALL, text_anchor=anchor)


def mark(title: str, *shapes: str, topic: str | None = None) -> str:
    """What stands for one value: its tooltip, and the topic that the page opens."""
    tooltip = element("title", quoted(clean(title, limit=_MAX_TITLE)))
    of_topic = None if topic is None else clean(topic, limit=120)  # as the page names it
    return element("g", tooltip, *shapes, class_="m", data_topic=of_topic)


def lines(ends: Sequence[tuple[Point, Point]], *, colour: str, width: float | None = None) -> str:
    """Lines between pairs of points, as one shape."""
    return element("path", d="".join(map(outline, ends)), stroke=colour, stroke_width=width) if ends else ""


def box(left: float, top: float, right: float, bottom: float, *, colour: str) -> str:
    """A filled rectangle."""
    return element("rect", x=left, y=top, width=right - left, height=bottom - top, fill=colour)


def outline(points: Iterable[Point]) -> str:
    """The data of a path through these points."""
    return "M" + "L".join(f"{number(x)},{number(y)}" for x, y in points)


def line(*points: Point, colour: str, width: float = 1.0, dash: str | None = None) -> str:
    """A line through these points."""
    return element(
        "path", d=outline(points), fill="none", stroke=colour, stroke_width=width, stroke_dasharray=dash,
        stroke_linejoin="round",
    )  # fmt: skip


# ---- symbols, each around its middle

Symbol = Callable[[float, float, float, str], str]


def disc(x: float, y: float, radius: float, colour: str) -> str:
    """A filled circle."""
    return element("circle", cx=x, cy=y, r=radius, fill=colour)


def square(x: float, y: float, radius: float, colour: str) -> str:
    """A filled square."""
    return box(x - radius, y - radius, x + radius, y + radius, colour=colour)


def stroke(x: float, y: float, radius: float, colour: str, dash: str | None = None) -> str:
    """A piece of a line."""
    return line((x - 1.6 * radius, y), (x + 1.6 * radius, y), colour=colour, width=2, dash=dash)


@cache
def dashed(dash: str | None) -> Symbol:
    """A piece of a line with these dashes."""
    return partial(stroke, dash=dash)


# ---- scales and axes

#: The part of an axis beyond the outermost points.
_ROOM = 0.06
#: The part of its place that a bar takes.
_BAR = 0.8
#: The height of a row, and the width of the names of rows.
_ROW, _NAMES = 22.0, 140.0

#: Steps between ticks, times a power of ten.
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
#: Values that differ by less are drawn as equal.
_SMALLEST = 1e-200


@frozen
class Scale:
    """Values from ``low`` to ``high`` on an axis from ``start`` to ``end``."""

    low: float
    high: float
    start: float = 0.0
    end: float = 1.0

    def __call__(self, value: float) -> float:
        """The place of a value; one outside the axis is at its end."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def between(self, start: float, end: float) -> Scale:
        """The same values on another axis."""
        return replace(self, start=start, end=end)

    def ticks(self, most: int) -> list[float]:
        """Round values on the axis, at most one more than ``most``."""
        step = _step(self.low, self.high, most)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [place * step for place in range(first, min(last, first + 2 * most) + 1)]


def scale_of(values: Iterable[float], *, zero: bool = False, most: int = 5) -> Scale:
    """A scale on which all of the values lie, from one round value to another; with ``zero`` 0 is on it as well."""
    numbers = [*values, *([0.0] if zero else [])] or [0.0]
    low, high = min(numbers), max(numbers)
    if not high - low > max(1e-12 * abs(low), 1e-12 * abs(high), _SMALLEST):
        half = abs(high) / 2 if abs(high) > _SMALLEST else 0.5
        low, high = low - half, high + half
    step = _step(low, high, most)
    return Scale(math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step)


def _step(low: float, high: float, most: int) -> float:
    rough = high / most - low / most
    power = 10.0 ** math.floor(math.log10(rough))
    return next((step * power for step in _STEPS if step * power >= rough * (1 - 1e-9)), 10 * power)


def tick_labels(ticks: Sequence[float]) -> list[str]:
    """The ticks as text."""
    return [f"{tick + 0.0:.6g}" for tick in ticks]


#: Room that a line of small text takes.
LINE_HEIGHT = 16.0


#: A line of the legend: a symbol, its colour and what it means.
Entry = tuple[Symbol, str, str]


def _legend(entries: Sequence[Entry]) -> tuple[str, float]:
    """The symbols and what they mean, in as many rows as they need, and where the chart below them may begin."""
    parts, x, y, right = [], MARGIN, 2.0, WIDTH - MARGIN
    for symbol, colour, text in entries:
        shown = clipped(clean(text), width=right - MARGIN - 22)
        wide = 22 + text_width(shown)
        if x > MARGIN and x + wide > right:
            x, y = MARGIN, y + LINE_HEIGHT + 2
        parts += [symbol(x + 8, y + 8, 4.5, colour), words(x + 22, y + 12.5, shown, colour=Colour.MUTED)]
        x += wide + 14
    return "".join(parts), y + LINE_HEIGHT + 6 if entries else y


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
    label: str = ""


@frozen
class _Line:
    points: Sequence[Point]
    means: str
    colour: str
    dash: str | None
    width: float = 1.5
    text: str = ""


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
        Whether 0 is on the y axis, with a line; with ``rows`` on the x axis.
    key : str
        Its name among the charts of a gate.
    rows : sequence of str
        Names of rows, from the top, in place of numbers on the y axis: y counts them from 0.
    """

    title: str
    x: str = ""
    y: str = ""
    description: str = ""
    caption: str = ""
    zero: bool = False
    key: str = ""
    rows: Sequence[str] = ()
    marks: list[_Mark] = field(default_factory=list, init=False, repr=False)
    lines: list[_Line] = field(default_factory=list, init=False, repr=False)

    def point(
        self,
        x: float,
        y: float,
        text: str,
        *,
        means: str = "",
        low: float | None = None,
        high: float | None = None,
        series: int = 0,
        label: str = "",
    ) -> None:
        """Add a point; ``text`` is its tooltip, and a ``label`` stands beside it.

        The legend says what it ``means``. An interval reaches from ``low`` to ``high``. Points of a ``series`` share
        a colour.
        """
        colour = SERIES[series % len(SERIES)][0] if series else Colour.WIN
        self.marks.append(_Mark(float(x), float(y), text, disc, colour, means, low, high, label=label))

    def bar(self, x: float, y: float, text: str, *, colour: str, means: str, topic: str) -> None:
        """Add a bar from 0 to ``y``; the page opens the ``topic`` that it stands for."""
        self.marks.append(_Mark(x, y, text, square, getattr(Colour, colour.upper()), means, topic=topic))

    def line(self, points: Iterable[Point], *, means: str = "", colour: str = "grey", dashed: bool = False) -> None:
        """Add a line; infinite values are at the ends of the axes."""
        self.lines.append(_Line([*points], means, getattr(Colour, colour.upper()), "5 4" if dashed else None))

    def curve(self, name: str, xs: Iterable[float], ys: Iterable[float], *, series: int) -> None:
        """Add a line with a tooltip, in a style of its own: the legend has its name. After twelve they are grey.

        Points whose y is NaN are left out.
        """
        known = series < len(SERIES)
        colour, dash = SERIES[series] if known else (Colour.GREY, None)
        points = [(float(x), float(y)) for x, y in zip(xs, ys, strict=True) if not math.isnan(y)]
        self.lines.append(_Line(points, name if known else "", colour, dash, text=name))

    def span(self, row: float, low: float, high: float, text: str, *, width: float = 2.0, series: int = 0) -> None:
        """Add a bar of this width along a row, with a tooltip."""
        self.lines.append(
            _Line([(float(low), row), (float(high), row)], "", SERIES[series % len(SERIES)][0], None, width, text)
        )

    @cached_property
    def svg(self) -> str:
        """The chart as part of a page, whose colours and font it takes."""
        drawing, height = self._drawing()
        view, name = f"0 0 {WIDTH:g} {round(height):d}", clean(self.title)
        described = element("desc", quoted(clean(self.description, limit=2000)))
        return element("svg", described, drawing, viewBox=view, role="img", aria_label=name)

    def _drawing(self) -> tuple[str, float]:
        """The drawing and its height."""
        keys, top = _legend(self._entries())
        has_bars = any(one.topic is not None for one in self.marks)
        # Under the axis there is room for its numbers, and for its title if it has one.
        below = 34.0 if self.x and not has_bars else 17.0
        across, up, axes = self._axes(top, below, has_bars=has_bars)
        zero, half = up(0), (across(_BAR) - across(0)) / 2
        ends = [(across.start, zero), (across.end, zero)]
        if self.rows:
            ends = [(across(0), up.start), (across(0), up.end)]
        under = [line(*ends, colour=Colour.GREY)] if self.zero else []
        over = list[str]()
        for one in self.marks:
            x, y = across(one.x), up(one.y)
            if one.topic is None:
                anchor, side = ("start", 7) if x < WIDTH / 2 else ("end", -7)
                over.append(mark(one.text, one.symbol(x, y, 4.5, one.colour)))
                over.append(words(x + side, y + 4, one.label, width=_NAMES, anchor=anchor, colour=Colour.MUTED))
            else:
                bar = box(x - half, min(zero, y), x + half, max(zero, y), colour=one.colour)
                under.append(mark(one.text, bar, topic=one.topic))
        whiskers = [
            ((across(one.x), up(one.low)), (across(one.x), up(one.high)))
            for one in self.marks
            if one.low is not None and one.high is not None
        ]
        under.append(lines(whiskers, colour=Colour.GREY, width=2))
        for drawn in self.lines:
            corners = [(across(x), up(y)) for x, y in drawn.points]
            shape = line(*corners, colour=drawn.colour, width=drawn.width, dash=drawn.dash)
            under.append(mark(drawn.text, shape) if drawn.text else shape)
        return axes + keys + "".join(under + over), max(up.start, up.end) + below + 7

    def _axes(self, top: float, below: float, *, has_bars: bool) -> tuple[Scale, Scale, str]:
        """Both scales in the coordinates of the drawing, and the SVG of axes.

        The title of the y axis stands above it, so that it need not be turned; that of the x axis, which has numbers
        unless there are bars, stands so far ``below`` it.
        """
        top += LINE_HEIGHT + 8 if self.y else 8
        bottom, right = top + (200 if has_bars else 270), WIDTH - 2 * MARGIN
        x, y = self._scales()
        y_ticks: Sequence[float] = y.ticks(6 if has_bars else 8)
        y_labels = tick_labels(y_ticks)
        if self.rows:
            bottom, y, y_ticks = top + _ROW * len(self.rows), Scale(len(self.rows) - 0.5, -0.5), range(len(self.rows))
            y_labels = [clipped(clean(name), width=_NAMES) for name in self.rows]
        left = MARGIN + max(map(text_width, y_labels)) + 6
        x, y = x.between(left, right), y.between(bottom, top)
        parts = [lines([((left, y(tick)), (right, y(tick))) for tick in y_ticks], colour=Colour.LINE)]
        for tick, text in zip(y_ticks, y_labels, strict=True):
            parts.append(words(left - 6, y(tick) + 4, text, anchor="end", colour=Colour.MUTED))
        ticks = [] if has_bars else x.ticks(max(int((right - left) / 70), 2))
        parts.append(lines([((x(tick), top), (x(tick), bottom)) for tick in ticks], colour=Colour.LINE))
        for tick, text in zip(ticks, tick_labels(ticks), strict=True):
            middle = min(x(tick), WIDTH - MARGIN - text_width(text) / 2)
            parts.append(words(middle, bottom + 17, text, anchor="middle", colour=Colour.MUTED))
        parts.append(line((left, bottom), (right, bottom), colour=Colour.GREY))
        parts.append(words(MARGIN, top - 12, self.y, width=right))
        parts.append(words(WIDTH - MARGIN, bottom + below, self.x, width=right, anchor="end"))
        return x, y, "".join(parts)

    def _scales(self) -> tuple[Scale, Scale]:
        ends = [(one.x, y) for one in self.marks for y in (one.y, one.low, one.high)]
        ends += [end for one in self.lines for end in one.points]
        ends += [(one.x + side, one.y) for one in self.marks if one.topic is not None for side in (-0.5, 0.5)]
        ys = [y for _, y in ends if y is not None and math.isfinite(y)]
        xs = [x for x, _ in ends if math.isfinite(x)]
        if self.rows and self.zero:
            xs.append(0.0)
        return _roomy(xs), scale_of(ys, zero=True) if self.zero else _roomy(ys)

    def _entries(self) -> list[Entry]:
        found: list[Entry] = [(one.symbol, one.colour, one.means) for one in self.marks]
        if any(one.low is not None for one in self.marks):
            found.append((stroke, Colour.GREY, "interval"))
        found += [(dashed(one.dash), one.colour, one.means) for one in self.lines]
        return [entry for entry in dict.fromkeys(found) if entry[2]]


def _roomy(values: Sequence[float]) -> Scale:
    """An axis with some room on both sides, so that no point lies on its end."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    room = _ROOM * (high - low)
    return Scale(low - room, high + room) if room > 0 else scale_of(values)
