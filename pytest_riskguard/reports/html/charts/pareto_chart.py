"""The Pareto curve of trained models: mean against risk, and which of them no other model beats in both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from pytest_riskguard.gates.verdict import Outcome
from pytest_riskguard.reports.html.charts.axes import BELOW, plot
from pytest_riskguard.reports.html.charts.chart import MARGIN, WIDTH, Chart
from pytest_riskguard.reports.html.charts.labels import Box, Entry, Symbol, beside, legend
from pytest_riskguard.reports.html.charts.lettering import clipped
from pytest_riskguard.reports.html.charts.markup import (
    SMALL,
    Colour,
    Point,
    curve,
    diamond,
    disc,
    element,
    mark,
    ring,
    stroke,
    up,
)
from pytest_riskguard.reports.html.charts.scale import Scale, scale_of
from pytest_riskguard.reports.names import shortened
from pytest_riskguard.reports.studies.judged_models import JudgedAgainst, JudgedModel
from pytest_riskguard.text import clean, counted, plain

#: The part of an axis beyond the outermost marks.
_ROOM = 0.06
#: Between points of the line that no label may cover.
_STEP = 4.0
#: The room that the name of a model may take.
_NAME_WIDTH = 118.0
#: How many models a description names.
_MAX_NAMED = 12
_SYMBOLS: dict[Outcome, tuple[Symbol, str, str]] = {
    "pass": (disc, Colour.WIN, "passes"),
    "fail": (diamond, Colour.LOSS, "fails"),
    "inconclusive": (up, Colour.MUTED, "inconclusive"),
    "incomparable": (ring, Colour.GREY, "cannot be compared"),
}


def pareto_curve(table: JudgedAgainst, *, key: str, measure: str | None) -> Chart:
    """Every model as a point; those on the Pareto front have a circle, and a line that no model lies beyond."""
    models, name = table.models, clean(measure or "score", limit=40)
    states = [_state(model) for model in models]
    front = sorted(
        (model for model in models if model.figures.on_front),
        key=lambda model: (model.figures.risk, model.figures.mean),
    )
    entries = [Entry(symbol, colour, said) for state, (symbol, colour, said) in _SYMBOLS.items() if state in states]
    keys, top = legend(
        [*entries, Entry(_circle, Colour.INK, "on the front"), Entry(stroke, Colour.GREY, "no model beyond")],
        left=MARGIN,
        top=2,
        right=WIDTH - MARGIN,
    )
    frame = plot(
        _scale([model.figures.risk for model in models]),
        _scale([model.figures.mean for model in models]),
        top=top,
        height=270,
        x_title="risk: mean loss, less is better",
        y_title=f"mean {name}, more is better",
    )
    at = [(frame.x(model.figures.risk), frame.y(model.figures.mean)) for model in models]
    marks = [
        mark(f"{_said(model)}: {_SYMBOLS[state][2]}", *_shapes(model, state, place))
        for model, state, place in zip(models, states, at, strict=True)
    ]
    edge = _corners([(frame.x(model.figures.risk), frame.y(model.figures.mean)) for model in front], frame.room)
    labels = sorted(zip(at, _labels(models), models, strict=True), key=lambda one: not one[2].figures.on_front)
    return Chart(
        key,
        f"Mean and risk {_against(table)}",
        description=_description(table, front, states),
        caption=(
            "Each mark is a model. The line leads along the models on the Pareto front; no model lies above and to "
            "the left of it. The table has every name and figure."
        ),
        drawing=frame.axes
        + keys
        + curve(edge, colour=Colour.GREY, width=1.5)
        + "".join(marks)
        + beside([(place, label) for place, label, _ in labels], within=frame.room, taken=at, along=_along(edge)),
        height=frame.y.start + BELOW,
    )


def _labels(models: Sequence[JudgedModel]) -> list[str]:
    """A name for each model that has room in the picture, all different."""
    names = [model.figures.model for model in models]
    return shortened(names, lambda name: clipped(name, width=_NAME_WIDTH, size=SMALL, middle=True))


def _state(model: JudgedModel) -> Outcome:
    return "pass" if model.passes else model.outcome


def _scale(values: list[float]) -> Scale:
    """An axis with some room on both sides, so that no mark lies on its end."""
    room = _ROOM * (max(values) - min(values))
    if room <= 0:
        return scale_of(values)
    return Scale(min(values) - room, max(values) + room)


def _shapes(model: JudgedModel, state: Outcome, place: Point) -> tuple[str, ...]:
    symbol, colour, _ = _SYMBOLS[state]
    around = (_circle(*place, 4.5, Colour.INK),) if model.figures.on_front else ()
    return (symbol(*place, 4.5, colour), *around)


def _circle(x: float, y: float, radius: float, colour: str) -> str:
    return element("circle", cx=x, cy=y, r=1.7 * radius, fill="none", stroke=colour, stroke_width=1.2)


def _corners(front: Sequence[Point], room: Box) -> list[Point]:
    """From the lower edge up to the first model, then right and up to each next one, and on to the right edge."""
    corners = [(front[0][0], room.bottom)]
    for x, y in front:
        corners += [(x, corners[-1][1]), (x, y)]
    return [*corners, (room.right, front[-1][1])]


def _along(corners: Sequence[Point]) -> Iterator[Point]:
    """Points on the line."""
    for (x1, y1), (x2, y2) in pairwise(corners):
        steps = math.ceil(max(abs(x2 - x1), abs(y2 - y1)) / _STEP)
        yield from ((x1 + (x2 - x1) * i / steps, y1 + (y2 - y1) * i / steps) for i in range(steps))


def _against(table: JudgedAgainst) -> str:
    if len(table.baselines) > 1:
        return f"on average against {counted(len(table.baselines), 'baseline')}"
    return f"against {clean(table.baselines[0], limit=60)}"


def _said(model: JudgedModel) -> str:
    figures = model.figures
    return f"{clean(figures.model, limit=60)}: mean {plain(figures.mean)}, risk {plain(figures.risk)}"


def _description(table: JudgedAgainst, front: list[JudgedModel], states: list[Outcome]) -> str:
    passing = [state for state in states if state == "pass"]
    found = [
        f"{counted(len(table.models), 'model')} {_against(table)}, {len(passing)} of which pass the gate.",
        f"On the Pareto front, least risk first: {_first([_said(model) for model in front])}.",
    ]
    stopped = [
        f"{clean(model.figures.model, limit=60)} ({_SYMBOLS[state][2]})"
        for model, state in zip(table.models, states, strict=True)
        if state != "pass"
    ]
    return " ".join([*found, f"Not passing: {_first(stopped)}."] if stopped else found)


def _first(texts: list[str]) -> str:
    more = len(texts) - _MAX_NAMED
    return ", ".join(texts[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
