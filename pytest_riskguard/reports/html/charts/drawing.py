"""The marks of a chart: elements of SVG, their colours and lettering."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from xml.sax.saxutils import escape

from pytest_riskguard.reports.parts import ends
from pytest_riskguard.text import clean, columns

#: The width in em of a column of text, of which ideographs and emoji take two: few letters of a sans-serif are wider.
_COLUMN = 0.7


#: The size of text: a chart is narrow, so that it can be read where a phone draws it at three quarters of its size.
SMALL = 12.0


def text_width(text: str, size: float = SMALL) -> float:
    """At most about the width of a line of text whose font is ``size`` high, in the same unit."""
    return _COLUMN * size * columns(text)


def clipped(text: str, *, width: float, size: float = SMALL) -> str:
    """The text if it is no wider than ``width``, else its two ends around an ellipsis."""
    return ends(text, width, partial(text_width, size=size))


#: All charts have this width, in units of their text; the page gives each the width it has room for.
WIDTH = 420.0
#: Between a drawing and its edge.
MARGIN = 8.0
#: The longest text that stands in a tooltip.
_MAX_TITLE = 300

Point = tuple[float, float]


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
    size: float = SMALL,
    anchor: str | None = None,
    colour: str = Colour.INK,
    weight: str | None = None,
) -> str:
    """A line of text on the height ``y``, cut to ``width``."""
    shown = clean(text)
    if width is not None:
        shown = clipped(shown, width=width, size=size)
    return element(
        "text", quoted(shown), x=x, y=y, fill=colour, font_size=size, text_anchor=anchor, font_weight=weight
    )


def mark(title: str, *shapes: str, topic: str | None = None) -> str:
    """What stands for one value: its tooltip, and the topic that the page opens."""
    tooltip = element("title", quoted(clean(title, limit=_MAX_TITLE)))
    of_topic = None if topic is None else clean(topic, limit=120)  # as the page names it
    return element("g", tooltip, *shapes, class_="m", data_topic=of_topic)


def line(start: Point, end: Point, *, colour: str, width: float = 1.0, dash: str | None = None) -> str:
    """A straight line."""
    (x1, y1), (x2, y2) = start, end
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=colour, stroke_width=width, stroke_dasharray=dash)


def lines(ends: Sequence[tuple[Point, Point]], *, colour: str, width: float | None = None) -> str:
    """Lines between pairs of points, as one shape."""
    return element("path", d="".join(map(outline, ends)), stroke=colour, stroke_width=width) if ends else ""


def box(left: float, top: float, right: float, bottom: float, *, colour: str) -> str:
    """A filled rectangle."""
    return element("rect", x=left, y=top, width=right - left, height=bottom - top, fill=colour)


def outline(points: Iterable[Point]) -> str:
    """The data of a path through these points."""
    return "M" + "L".join(f"{number(x)},{number(y)}" for x, y in points)


def curve(points: Iterable[Point], *, colour: str, dash: str | None = None) -> str:
    """A line through these points."""
    return element(
        "path", d=outline(points), fill="none", stroke=colour, stroke_width=1.5, stroke_dasharray=dash,
        stroke_linejoin="round",
    )  # fmt: skip


# ---- symbols, each around its middle

Symbol = Callable[[float, float, float, str], str]


def disc(x: float, y: float, radius: float, colour: str) -> str:
    """A filled circle."""
    return element("circle", cx=x, cy=y, r=radius, fill=colour)


def ring(x: float, y: float, radius: float, colour: str) -> str:
    """A hollow circle."""
    return element("circle", cx=x, cy=y, r=radius, fill=Colour.PAGE, stroke=colour, stroke_width=2)


def diamond(x: float, y: float, radius: float, colour: str) -> str:
    """A filled square on its corner."""
    reach = radius * 1.3
    return element("path", d=outline([(x - reach, y), (x, y - reach), (x + reach, y), (x, y + reach)]), fill=colour)


def square(x: float, y: float, radius: float, colour: str) -> str:
    """A filled square."""
    return box(x - radius, y - radius, x + radius, y + radius, colour=colour)


def stroke(x: float, y: float, radius: float, colour: str, dash: str | None = None) -> str:
    """A piece of a line."""
    return line((x - 1.6 * radius, y), (x + 1.6 * radius, y), colour=colour, width=2, dash=dash)


def upright(x: float, y: float, radius: float, colour: str) -> str:
    """A piece of an upright line."""
    return line((x, y - 1.5 * radius), (x, y + 1.5 * radius), colour=colour, width=2)


dashes: Symbol = partial(stroke, dash="4 3")
SYMBOLS: dict[str, Symbol] = {
    "disc": disc,
    "ring": ring,
    "diamond": diamond,
}
