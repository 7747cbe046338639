"""Labels that stay apart: rows of ticks, names at the ends of lines, names of points, and the legend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pytest_riskguard.reports.html.charts.lettering import clipped, text_width
from pytest_riskguard.reports.html.charts.markup import SMALL, Colour, Point, words
from pytest_riskguard.text import clean

#: Room that a line of small text takes, and the least gap between two labels beside one another.
LINE_HEIGHT, GAP = 16.0, 7.0

Symbol = Callable[[float, float, float, str], str]


@dataclass(frozen=True)
class Box:
    """The room that a label takes."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two share any room."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def within(self, other: Box) -> bool:
        """Whether it lies inside the other one."""
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.top >= other.top
            and self.bottom <= other.bottom
        )


def apart(labels: Iterable[tuple[float, str]], *, low: float, high: float) -> list[tuple[float, str]]:
    """Of labels centred on one line those that have room, from left to right, each moved between the two ends."""
    kept: list[tuple[float, str]] = []
    free = low
    for centre, label in labels:
        half = text_width(label, SMALL) / 2
        middle = min(max(centre, low + half), high - half)
        if middle - half >= free:
            kept.append((middle, label))
            free = middle + half + GAP
    return kept


def stacked(heights: Sequence[float], *, low: float, high: float) -> list[float]:
    """Heights of labels above one another, as near to the given ones as their own height allows.

    There must be room for all of them. Lines are moved as groups: those that touch stand around their common middle.
    """
    order = sorted(range(len(heights)), key=lambda place: (heights[place], place))
    groups: list[list[int]] = []

    def top(group: list[int]) -> float:
        middle = sum(heights[place] for place in group) / len(group)
        first = middle - (len(group) - 1) * LINE_HEIGHT / 2
        return min(max(first, low), high - (len(group) - 1) * LINE_HEIGHT)

    for place in order:
        groups.append([place])
        while len(groups) > 1 and top(groups[-2]) + len(groups[-2]) * LINE_HEIGHT > top(groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    placed = dict[int, float]()
    for group in groups:
        for step, place in enumerate(group):
            placed[place] = top(group) + step * LINE_HEIGHT
    return [placed[place] for place in range(len(heights))]


def beside(
    points: Sequence[tuple[Point, str]],
    *,
    within: Box,
    taken: Iterable[Point],
    along: Iterable[Point] = (),
    limit: float = 118,
) -> str:
    """Names beside their points, the first ones first; a name that has no room near its point is left out.

    ``taken`` are all points, and ``along`` points of a line; no name may cover either.
    """
    boxes = [Box(x - 5, y - 5, x + 5, y + 5) for x, y in taken]
    boxes += [Box(x - 1.5, y - 1.5, x + 1.5, y + 1.5) for x, y in along]
    texts = []
    for (x, y), name in points:
        shown = clipped(clean(name), width=limit, size=SMALL, middle=True)
        wide = text_width(shown, SMALL)
        places = [
            (x + 9, y - 8), (x - 9 - wide, y - 8), (x - wide / 2, y - 24), (x - wide / 2, y + 8),
            (x + 7, y - 20), (x + 7, y + 5), (x - 7 - wide, y - 20), (x - 7 - wide, y + 5),
            (x - 9 - wide, y - 14), (x + 9, y - 14), (x - 9 - wide, y - 2), (x + 9, y - 2),
        ]  # fmt: skip
        for left, top in places:
            room = Box(left, top, left + wide, top + LINE_HEIGHT)
            if room.within(within) and not any(map(room.overlaps, boxes)):
                boxes.append(room)
                texts.append(words(left, top + 12, shown, size=SMALL))
                break
    return "".join(texts)


@dataclass(frozen=True)
class Entry:
    """A line of the legend: what a symbol means."""

    symbol: Symbol
    colour: str
    text: str


def legend(entries: Sequence[Entry], *, left: float, top: float, right: float) -> tuple[str, float]:
    """The symbols and what they mean, in as many rows as they need, and where the chart below them may begin."""
    parts, x, y = [], left, top
    for entry in entries:
        shown = clipped(clean(entry.text), width=right - left - 22, size=SMALL)
        wide = 22 + text_width(shown, SMALL)
        if x > left and x + wide > right:
            x, y = left, y + LINE_HEIGHT + 2
        parts += [
            entry.symbol(x + 8, y + 8, 4.5, entry.colour),
            words(x + 22, y + 12.5, shown, size=SMALL, colour=Colour.MUTED),
        ]
        x += wide + 14
    return "".join(parts), y + LINE_HEIGHT + 6 if entries else top
