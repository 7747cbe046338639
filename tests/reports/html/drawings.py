"""What can be read from a drawing: its marks, its labels and the room that they take, where its values stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from pytest_riskguard.reports.html.charts.plots import Plot, text_width


@dataclass(frozen=True)
class Box:
    """A part of the picture."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two share any room."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def within(self, other: Box) -> bool:
        """Whether it lies inside the other one."""
        across = self.left >= other.left and self.right <= other.right
        return across and self.top >= other.top and self.bottom <= other.bottom


@dataclass(frozen=True)
class Label:
    """A line of text and the room that it takes."""

    text: str
    room: Box


def root_of(chart: Plot) -> Element:
    """The drawing as a page has it."""
    return ElementTree.fromstring(chart.svg)  # noqa: S314


def labels(root: Element) -> list[Label]:
    """All text that can be seen."""
    found = []
    for text in root.iter("text"):
        x, y, size = (float(text.attrib[name]) for name in ("x", "y", "font-size"))
        width = text_width(text.text or "")
        left = x - {"end": width, "middle": width / 2}.get(text.get("text-anchor", ""), 0.0)
        found.append(Label(text.text or "", Box(left, y - 0.76 * size, left + width, y + 0.22 * size)))
    return found


def marks(root: Element) -> list[Element]:
    """What stands for a value."""
    return [element for element in root.iter() if element.get("class") == "m"]


def tooltips(root: Element) -> list[str]:
    """What each mark says of itself."""
    return [mark.find("title").text or "" for mark in marks(root)]


def points(root: Element) -> Iterator[tuple[float, float]]:
    """The corners and middles of all shapes."""
    for element in root.iter():
        numbers = {name: float(value) for name, value in element.attrib.items() if re.fullmatch(r"-?[\d.]+", value)}
        if element.tag == "line":
            yield from ((numbers["x1"], numbers["y1"]), (numbers["x2"], numbers["y2"]))
        elif element.tag == "circle":
            x, y, r = (numbers[name] for name in ("cx", "cy", "r"))
            yield from ((x - r, y - r), (x + r, y + r))
        elif element.tag == "rect":
            left, top = numbers["x"], numbers["y"]
            yield from ((left, top), (left + numbers["width"], top + numbers["height"]))
        elif element.tag == "path":
            for x, y in re.findall(r"(-?[\d.]+),(-?[\d.]+)", element.attrib["d"]):
                yield float(x), float(y)
