"""SVG as text: elements, escaped words, colours, and the symbols that stand for values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from xml.sax.saxutils import escape

from pytest_riskguard.reports.html.charts.lettering import clipped, without_stacks
from pytest_riskguard.text import clean

#: Sizes of text; a chart is narrow, so that both can be read where a phone draws it at three quarters of its size.
TEXT, SMALL = 13.0, 12.0
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
    OTHER = "var(--other, #b0588a)"


def number(value: float) -> str:
    """A coordinate with two decimals at most."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if round(value, 2) else "0"


def element(tag: str, *children: str, **attributes: str | float | None) -> str:
    """An element; ``_`` in the name of an attribute is a hyphen, and one that is None is left out."""
    texts = (
        f' {name.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    start = f"<{tag}{''.join(texts)}"
    return f"{start}>{''.join(children)}</{tag}>" if children else f"{start}/>"


def _value(value: str | float | None) -> str:
    return quoted(value) if isinstance(value, str) else number(value or 0.0)


def quoted(text: str) -> str:
    """The text escaped for an element and for an attribute."""
    return escape(text, {'"': "&quot;", "'": "&#39;"})


def words(
    x: float,
    y: float,
    text: str,
    *,
    width: float | None = None,
    size: float = TEXT,
    anchor: str | None = None,
    colour: str = Colour.INK,
    weight: str | None = None,
) -> str:
    """A line of text on the height ``y``, cut to ``width``."""
    shown = without_stacks(clean(text))
    if width is not None:
        shown = clipped(shown, width=width, size=size)
    return element(
        "text", quoted(shown), x=x, y=y, fill=colour, font_size=size, text_anchor=anchor, font_weight=weight
    )


def mark(title: str, *children: str, topic: str | None = None) -> str:
    """What stands for one value: its tooltip, and the topic that the page opens.

    A single shape is the mark itself, since there are many of them; several are a group.
    """
    tooltip = element("title", quoted(clean(title, limit=_MAX_TITLE)))
    of_topic = None if topic is None else clean(topic, limit=120)  # as the page names it
    shapes = [child for child in children if child]
    if len(shapes) == 1 and shapes[0].endswith("/>"):
        tag, _, rest = shapes[0].removeprefix("<").removesuffix("/>").partition(" ")
        return f"{element(tag, class_='m', data_topic=of_topic)[:-2]} {rest}>{tooltip}</{tag}>"
    return element("g", tooltip, *shapes, class_="m", data_topic=of_topic)


def coloured(marks: Iterable[tuple[str, str]]) -> str:
    """Marks in groups of those with the same colour, from pairs of a colour and a mark without one."""
    groups = ((colour, [mark for _, mark in group]) for colour, group in groupby(marks, key=itemgetter(0)))
    return "".join(element("g", *group, fill=colour) for colour, group in groups)


def line(start: Point, end: Point, *, colour: str, width: float = 1.0, dash: str | None = None) -> str:
    """A straight line."""
    (x1, y1), (x2, y2) = start, end
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=colour, stroke_width=width, stroke_dasharray=dash)


def lines(ends: Sequence[tuple[Point, Point]], *, colour: str) -> str:
    """Thin lines between pairs of points, as one shape."""
    return element("path", d="".join(map(outline, ends)), stroke=colour) if ends else ""


def box(left: float, top: float, right: float, bottom: float, *, colour: str | None) -> str:
    """A filled rectangle."""
    return element("rect", x=left, y=top, width=right - left, height=bottom - top, fill=colour)


def outline(points: Iterable[Point], *, closed: bool = False) -> str:
    """The data of a path through these points."""
    return "M" + "L".join(f"{number(x)},{number(y)}" for x, y in points) + ("Z" if closed else "")


def upright_bar(left: float, right: float, base: float, end: float) -> str:
    """The data of a path around a bar that stands on ``base``, or hangs from it."""
    return f"M{number(left)},{number(base)}V{number(end)}H{number(right)}V{number(base)}Z"


def curve(points: Iterable[Point], *, colour: str, width: float = 2.0, dash: str | None = None) -> str:
    """A line through these points."""
    return element(
        "path", d=outline(points), fill="none", stroke=colour, stroke_width=width, stroke_dasharray=dash,
        stroke_linejoin="round",
    )  # fmt: skip


def area(points: Iterable[Point], *, colour: str, opacity: float = 0.2) -> str:
    """The inside of these points; what it means is said by the line around it."""
    return element("path", d=outline(points, closed=True), fill=colour, fill_opacity=opacity)


# ---- symbols, each around its middle; a filled one without a colour has that of its group


def disc(x: float, y: float, radius: float, colour: str | None) -> str:
    """A filled circle."""
    return element("circle", cx=x, cy=y, r=radius, fill=colour)


def ring(x: float, y: float, radius: float, colour: str) -> str:
    """A hollow circle."""
    return element("circle", cx=x, cy=y, r=radius, fill=Colour.PAGE, stroke=colour, stroke_width=2)


def diamond(x: float, y: float, radius: float, colour: str) -> str:
    """A filled square on its corner."""
    reach = radius * 1.3
    corners = [(x - reach, y), (x, y - reach), (x + reach, y), (x, y + reach)]
    return element("path", d=outline(corners, closed=True), fill=colour)


def _triangle(dx: float, dy: float) -> Callable[[float, float, float, str | None], str]:
    """A filled triangle that points this way."""

    def draw(x: float, y: float, radius: float, colour: str | None) -> str:
        reach, tip = radius * 1.15, (x + dx * radius * 1.3, y + dy * radius * 1.3)
        back = (x - dx * radius, y - dy * radius)
        corners = [tip, (back[0] + dy * reach, back[1] + dx * reach), (back[0] - dy * reach, back[1] - dx * reach)]
        return element("path", d=outline(corners, closed=True), fill=colour)

    return draw


left, right, up, down = _triangle(-1, 0), _triangle(1, 0), _triangle(0, -1), _triangle(0, 1)


def stroke(x: float, y: float, radius: float, colour: str) -> str:
    """A piece of a line."""
    return line((x - 1.6 * radius, y), (x + 1.6 * radius, y), colour=colour, width=2.5)


def dashes(x: float, y: float, radius: float, colour: str) -> str:
    """A piece of a dashed line."""
    return line((x - 1.6 * radius, y), (x + 1.6 * radius, y), colour=colour, width=2, dash="4 3")


def bar(x: float, y: float, radius: float, colour: str) -> str:
    """A piece of a bar."""
    return box(x - radius, y - radius, x + radius, y + radius, colour=colour)
