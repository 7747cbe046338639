"""A chart: a drawing and its words, as part of a page or as a file of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_riskguard.reports.html.charts.markup import box, element, quoted, words
from pytest_riskguard.text import clean

#: All charts have this width, in units of their text; the page gives each the width it has room for.
WIDTH = 420.0
#: Between a drawing and its edge.
MARGIN = 8.0
#: Room for the title of a file.
_TITLE = 30.0
_VARIABLE = re.compile(r'="var\(--\w+, (#[0-9a-f]{6})\)"')


@dataclass(frozen=True)
class Chart:
    """A chart of one verdict.

    ``key`` names it within its gate; ``description`` says what can be seen, ``caption`` how to read it; ``main`` are
    the few that answer what changed, which a page shows first. ``drawing`` is SVG of the given height.
    """

    key: str
    title: str
    description: str
    caption: str
    drawing: str
    height: float
    main: bool = False

    @property
    def svg(self) -> str:
        """The chart as part of a page, whose colours and font it takes."""
        return element(
            "svg",
            self._described,
            self.drawing,
            viewBox=f"0 0 {WIDTH:g} {round(self.height):d}",
            role="img",
            aria_label=self._name,
        )

    @property
    def file(self) -> str:
        """The chart as a file: with its title, on white, in colours of its own."""
        height = round(self.height + _TITLE)
        drawn = element(
            "svg",
            self._described,
            box(0, -_TITLE, WIDTH, self.height, colour="#ffffff"),
            words(MARGIN, -10, self.title, width=WIDTH - 2 * MARGIN, size=15, weight="bold"),
            self.drawing,
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 {-_TITLE:g} {WIDTH:g} {height:d}",
            width=1.5 * WIDTH,
            height=1.5 * height,
            font_family="system-ui, sans-serif",
            role="img",
            aria_label=self._name,
        )
        return _VARIABLE.sub(r'="\1"', drawn)

    @property
    def _name(self) -> str:
        return clean(self.title)

    @property
    def _described(self) -> str:
        return element("desc", quoted(clean(self.description, limit=2000)))


def row_of(top: float, height: float, *texts: str) -> str:
    """The room of a row, all of which can be pointed at, and its texts, which can be selected and keep their look."""
    room = element("rect", x=1, y=top + 1, width=WIDTH - 2, height=height - 2, rx=4, fill="transparent")
    return room + element("g", *texts, stroke="none")
