"""The frame of a chart: scale, axes, and labels that do not cover one another."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pytest_riskguard.frozen import frozen
from pytest_riskguard.reports.html.charts.drawing import (
    MARGIN,
    SMALL,
    WIDTH,
    Colour,
    Symbol,
    clipped,
    line,
    lines,
    text_width,
    words,
)
from pytest_riskguard.text import clean

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
        low, high = self.low / 2, self.high / 2  # halves, since the difference may be infinite
        share = (value / 2 - low) / (high - low)
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


@frozen
class Entry:
    """A line of the legend: what a symbol means."""

    symbol: Symbol
    colour: str
    text: str


def legend(entries: Sequence[Entry], *, right: float) -> tuple[str, float]:
    """The symbols and what they mean, in as many rows as they need, and where the chart below them may begin."""
    parts, x, y = [], MARGIN, 2.0
    for entry in entries:
        shown = clipped(clean(entry.text), width=right - MARGIN - 22, size=SMALL)
        wide = 22 + text_width(shown, SMALL)
        if x > MARGIN and x + wide > right:
            x, y = MARGIN, y + LINE_HEIGHT + 2
        parts += [
            entry.symbol(x + 8, y + 8, 4.5, entry.colour),
            words(x + 22, y + 12.5, shown, size=SMALL, colour=Colour.MUTED),
        ]
        x += wide + 14
    return "".join(parts), y + LINE_HEIGHT + 6 if entries else y


@frozen
class Frame:
    """A plot's scales, already in the drawing's coordinates, and the SVG of its axes."""

    x: Scale
    y: Scale
    axes: str


def frame(
    x: Scale,
    y: Scale,
    *,
    top: float,
    height: float,
    titles: tuple[str, str],
    numbered: bool,
    below: float,
) -> Frame:
    """Axes around so much room; the title of the y axis stands above it, so that it need not be turned.

    The title of the x axis, which may be ``numbered``, stands so far ``below`` it.
    """
    x_title, y_title = titles
    y_ticks = y.ticks(max(int(height / 32), 2))
    y_labels = tick_labels(y_ticks)
    left = MARGIN + max(text_width(text, SMALL) for text in y_labels) + 6
    right = WIDTH - 2 * MARGIN
    if y_title:
        top += LINE_HEIGHT + 8
    bottom = top + height
    x, y = x.between(left, right), y.between(bottom, top)
    parts = [lines([((left, y(tick)), (right, y(tick))) for tick in y_ticks], colour=Colour.LINE)]
    for tick, text in zip(y_ticks, y_labels, strict=True):
        parts.append(words(left - 6, y(tick) + 4, text, size=SMALL, anchor="end", colour=Colour.MUTED))
    ticks = x.ticks(max(int((right - left) / 70), 2)) if numbered else []
    parts.append(lines([((x(tick), top), (x(tick), bottom)) for tick in ticks], colour=Colour.LINE))
    for tick, text in zip(ticks, tick_labels(ticks), strict=True):
        middle = min(x(tick), WIDTH - MARGIN - text_width(text, SMALL) / 2)
        parts.append(words(middle, bottom + 17, text, size=SMALL, anchor="middle", colour=Colour.MUTED))
    parts.append(line((left, bottom), (right, bottom), colour=Colour.GREY))
    room, end = WIDTH - 2 * MARGIN, WIDTH - MARGIN
    parts += [words(MARGIN, top - 12, y_title, width=room, size=SMALL)] if y_title else []
    parts += [words(end, bottom + below, x_title, width=room, size=SMALL, anchor="end")] if x_title else []
    return Frame(x, y, "".join(parts))
