"""The part of a chart that has two axes: its room, grid, ticks and titles."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_riskguard.reports.html.charts.chart import MARGIN, WIDTH
from pytest_riskguard.reports.html.charts.labels import LINE_HEIGHT, Box, apart
from pytest_riskguard.reports.html.charts.lettering import text_width
from pytest_riskguard.reports.html.charts.markup import SMALL, Colour, line, lines, words
from pytest_riskguard.reports.html.charts.scale import Scale, tick_labels

#: Below a plot: tick labels and the title of the axis; without labels the title alone.
BELOW, BELOW_TITLE = 40.0, 24.0


@dataclass(frozen=True)
class Plot:
    """A plot's scales, already in the drawing's coordinates, and the SVG of its axes."""

    x: Scale
    y: Scale
    axes: str

    @property
    def room(self) -> Box:
        """Where its marks are."""
        return Box(self.x.start, self.y.end, self.x.end, self.y.start)

    def across(self, value: float, *, colour: str, dash: str | None = "5 4", width: float = 1.5) -> str:
        """A line through the plot at a value of its y axis."""
        return line((self.x.start, self.y(value)), (self.x.end, self.y(value)), colour=colour, dash=dash, width=width)

    def upright(self, value: float, *, colour: str, dash: str | None = "5 4", width: float = 1.5) -> str:
        """A line through the plot at a value of its x axis."""
        return line((self.x(value), self.y.start), (self.x(value), self.y.end), colour=colour, dash=dash, width=width)


def plot(
    x: Scale,
    y: Scale,
    *,
    top: float,
    height: float,
    x_title: str = "",
    y_title: str = "",
    left: float | None = None,
    right: float = WIDTH - 2 * MARGIN,
    x_labels: bool = True,
    y_labels: bool = True,
    percents: bool = False,
    whole: bool = False,
) -> Plot:
    """A plot of this height with its axes; the title of the y axis stands above it, so that it need not be turned.

    ``left`` is where it begins, by default beside the widest label. With ``whole`` only whole numbers stand on the x
    axis. What is below a plot takes ``BELOW`` more.
    """
    unit = "%" if percents else ""
    y_ticks = y.ticks(max(int(height / 32), 2)) if y_labels else []
    y_texts = [text + unit for text in tick_labels(y_ticks)]
    if left is None:
        left = MARGIN + max((text_width(text, SMALL) for text in y_texts), default=0.0) + 6
    if y_title:
        top += LINE_HEIGHT + 8
    x, y = x.between(left, right), y.between(top + height, top)
    parts = [words(MARGIN, top - 12, y_title, width=WIDTH - 2 * MARGIN, size=SMALL)] if y_title else []
    parts.append(lines([((left, y(tick)), (right, y(tick))) for tick in y_ticks], colour=Colour.LINE))
    for tick, text in zip(y_ticks, y_texts, strict=True):
        parts.append(words(left - 6, y(tick) + 4, text, size=SMALL, anchor="end", colour=Colour.MUTED))
    parts.append(x_axis(x, top=top, bottom=top + height, title=x_title, labels=x_labels, unit=unit, whole=whole))
    return Plot(x, y, "".join(parts))


def x_axis(
    x: Scale, *, top: float, bottom: float, title: str, labels: bool = True, unit: str = "", whole: bool = False
) -> str:
    """Lines from ``top`` to ``bottom`` at the ticks, their labels below them, and the title below these."""
    ticks = x.ticks(max(int((x.end - x.start) / 60), 2))
    ticks = [tick for tick in ticks if not whole or tick == round(tick)]
    parts = [lines([((x(tick), top), (x(tick), bottom)) for tick in ticks if labels], colour=Colour.LINE)]
    parts.append(line((x.start, bottom), (x.end, bottom), colour=Colour.GREY))
    if labels:
        texts = zip(map(x, ticks), (text + unit for text in tick_labels(ticks)), strict=True)
        for middle, text in apart(texts, low=MARGIN, high=WIDTH - MARGIN):
            parts.append(words(middle, bottom + 17, text, size=SMALL, anchor="middle", colour=Colour.MUTED))
    if title:
        parts.append(
            words(
                WIDTH - MARGIN,
                bottom + (34 if labels else 17),
                title,
                width=WIDTH - 2 * MARGIN,
                size=SMALL,
                anchor="end",
            )
        )
    return "".join(parts)
