"""The Pareto curve of trained models: mean against risk, and which of them no other model beats in both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_riskguard.gates.verdict import Outcome
from pytest_riskguard.ltr import report_tables as words
from pytest_riskguard.ltr.report import JudgedAgainst, JudgedModel, MeasuredModels, TrainReport
from pytest_riskguard.reports.html.charts.axes import BELOW, Box, Entry, Scale, Symbol, beside, legend, plot, scale_of
from pytest_riskguard.reports.html.charts.drawing import (
    MARGIN,
    SMALL,
    WIDTH,
    Chart,
    Colour,
    Point,
    clipped,
    curve,
    diamond,
    disc,
    element,
    mark,
    outline,
    ring,
    stroke,
    text_width,
    up,
)
from pytest_riskguard.reports.html.whole_page import whole_page
from pytest_riskguard.reports.markdown import prose, table
from pytest_riskguard.reports.names import shortened
from pytest_riskguard.reports.sections import Table
from pytest_riskguard.text import clean, counted, plain

#: The part of an axis beyond the outermost marks.
_ROOM = 0.06
#: Between points of the line that no label may cover.
_STEP = 4.0
#: The room that the name of a model may take, and the names at one point together.
_NAME_WIDTH, _LABEL_WIDTH = 118.0, 190.0
_BASELINE = "The cross is the baseline: models below it have a lower mean. "
#: How many models a description names.
_MAX_NAMED = 12
_SYMBOLS: dict[Outcome, tuple[Symbol, str, str]] = {
    "pass": (disc, Colour.WIN, "passes"),
    "fail": (diamond, Colour.LOSS, "fails"),
    "inconclusive": (up, Colour.MUTED, "inconclusive"),
    "incomparable": (ring, Colour.GREY, "cannot be compared"),
}


def pareto_curve(table: JudgedAgainst, *, key: str, measure: str | None) -> Chart:
    """Every model as a point; those on the Pareto front have a circle, and a line that no model lies beyond.

    A single baseline is a point too, whose risk is 0; it is not a model and never on the front.
    """
    models, name = table.models, clean(measure or "score", limit=40)
    states = [_state(model) for model in models]
    front = sorted(
        (model for model in models if model.figures.on_front),
        key=lambda model: (model.figures.risk, model.figures.mean),
    )
    baseline = [table.baseline_mean] if len(table.baselines) == 1 else []
    entries = [Entry(symbol, colour, said) for state, (symbol, colour, said) in _SYMBOLS.items() if state in states]
    keys, top = legend(
        [
            *entries,
            Entry(_circle, Colour.INK, "on the front"),
            Entry(stroke, Colour.GREY, "no model beyond"),
            *([Entry(_cross, Colour.INK, "baseline")] if baseline else []),
        ],
        left=MARGIN,
        top=2,
        right=WIDTH - MARGIN,
    )
    frame = plot(
        _scale([*(model.figures.risk for model in models), *(0.0 for _ in baseline)]),
        _scale([*(model.figures.mean for model in models), *baseline]),
        top=top,
        height=270,
        x_title="risk: mean loss, less is better",
        y_title=f"mean {name}, more is better",
    )
    at = [(frame.x(model.figures.risk), frame.y(model.figures.mean)) for model in models]
    marks = [
        mark(f"{_said(model)}{_also(model, shared)}: {_SYMBOLS[state][2]}", *_shapes(model, state, place))
        for model, shared, state, place in zip(models, _sharing(models, at), states, at, strict=True)
    ]
    edge = _corners([(frame.x(model.figures.risk), frame.y(model.figures.mean)) for model in front], frame.room)
    names = _names(models, at)
    if baseline:
        own = (frame.x(0.0), frame.y(baseline[0]))
        said = f"baseline {clean(table.baselines[0], limit=60)}: mean {plain(baseline[0])}, risk {plain(0.0)}"
        marks.append(mark(said, _cross(*own, 4.5, Colour.INK)))
        names.append((own, f"baseline {clipped(clean(table.baselines[0]), width=_NAME_WIDTH, size=SMALL)}"))
        at = [*at, own]
    return Chart(
        key,
        f"Mean and risk {_against(table)}",
        description=_description(table, front, states),
        caption=(
            "Each mark is a model. The line runs through the models on the Pareto front; no model lies above and to "
            f"the left of it. {_BASELINE if baseline else ''}The table has every name and figure."
        ),
        drawing=frame.axes
        + keys
        + curve(edge, colour=Colour.GREY, width=1.5)
        + "".join(marks)
        + beside(names, within=frame.room, taken=at, along=_along(edge), limit=_LABEL_WIDTH),
        height=frame.y.start + BELOW,
    )


def _sharing(models: Sequence[JudgedModel], at: Sequence[Point]) -> list[list[JudgedModel]]:
    """For each model, all models at its point."""
    by_place: dict[Point, list[JudgedModel]] = {}
    for model, (x, y) in zip(models, at, strict=True):
        by_place.setdefault((round(x), round(y)), []).append(model)
    return [by_place[round(x), round(y)] for x, y in at]


def _names(models: Sequence[JudgedModel], at: Sequence[Point]) -> list[tuple[Point, str]]:
    """A label for each point, those on the front first: its models, or one of them and how many others there are."""
    every = [model.figures.model for model in models]
    cut = shortened(every, lambda name: clipped(name, width=_NAME_WIDTH, size=SMALL, middle=True))
    shown = dict(zip(every, cut, strict=True))
    labels = []
    rows = zip(models, at, _sharing(models, at), strict=True)
    for model, place, shared in sorted(rows, key=lambda row: not row[0].figures.on_front):
        if model is not shared[0]:
            continue
        names = [shown[one.figures.model] for one in shared]
        label = ", ".join(names)
        if text_width(label, SMALL) > _LABEL_WIDTH:
            label = f"{names[0]} and {len(names) - 1} more"
        labels.append((place, label))
    return labels


def _also(model: JudgedModel, shared: Sequence[JudgedModel]) -> str:
    """Other models at the same point, of whose marks only one can be pointed at."""
    others = [clean(one.figures.model, limit=60) for one in shared if one is not model]
    return f" (same as {_first(others)})" if others else ""


def _cross(x: float, y: float, radius: float, colour: str) -> str:
    """Two lines that cross."""
    ends = [
        ((x - radius, y - radius), (x + radius, y + radius)),
        ((x - radius, y + radius), (x + radius, y - radius)),
    ]
    return element("path", d="".join(map(outline, ends)), stroke=colour, stroke_width=2.2)


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
    number, passing = len(table.models), states.count("pass")
    verb = "passes" if passing == 1 else "pass"
    found = [
        f"{counted(number, 'model')} {_against(table)}, {passing} of which {verb} the gate."
        if number > 1
        else f"1 model {_against(table)}, which {'passes' if passing else 'does not pass'} the gate.",
        *([_below(table)] if len(table.baselines) == 1 else []),
        f"On the Pareto front, least risk first: {_first([_said(model) for model in front])}.",
    ]
    stopped = [
        f"{clean(model.figures.model, limit=60)} ({_SYMBOLS[state][2]})"
        for model, state in zip(table.models, states, strict=True)
        if state != "pass"
    ]
    return " ".join([*found, f"Not passing: {_first(stopped)}."] if stopped else found)


def _below(table: JudgedAgainst) -> str:
    """How many models lie below the baseline."""
    name, mean = clean(table.baselines[0], limit=60), table.baseline_mean
    lower = sum(model.figures.mean < mean for model in table.models)
    of_them = f"{counted(lower, 'model')} {'has' if lower == 1 else 'have'}"
    return f"The baseline {name} has mean {plain(mean)} and risk 0; {of_them} a lower mean."


def _first(texts: list[str]) -> str:
    more = len(texts) - _MAX_NAMED
    return ", ".join(texts[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def markdown(report: TrainReport) -> str:
    """For each measure the conclusions and the tables of every baseline, then what to know about all of them."""
    lines = ["## riskguard: trained models", ""]
    for measured in report.measures:
        lines += _measured(report, measured)
    lines += [line for remark in words.remarks(report) for line in (prose(remark), "")]
    return "\n".join(lines)


def _measured(report: TrainReport, measured: MeasuredModels) -> Iterator[str]:
    yield from (f"### {prose(words.heading(report, measured))}", "")
    yield from (*(f"- {prose(line)}" for line in words.conclusions(measured)), "")
    for against in measured.tables:
        tables = [words.figures_table(against)]
        if against is not measured.macro_average:
            tables.append(words.verdicts_table(against, alphas=len(report.gate.alphas)))
        for one in tables:
            yield from (f"**{prose(one.title)}**", "", *table(one, most=len(one.rows)), "")
    if problems := words.problems(measured):
        yield from (*(f"- {prose(line)}" for line in problems), "")


#: Baselines that are open from the start, beside the average over them.
MAX_OPEN = 2


@dataclass(frozen=True)
class AgainstView:
    """Models against one baseline, or on average: the chart, and the tables behind it."""

    title: str
    is_open: bool
    chart: Chart
    tables: tuple[Table, ...]


@dataclass(frozen=True)
class MeasureView:
    """All of one measure."""

    heading: str
    conclusions: list[str]
    problems: list[str]
    against: list[AgainstView]


def page(report: TrainReport) -> str:
    """The page; the same report gives the same text."""
    return whole_page(
        "models.html",
        title=_title(report),
        style="models.css",
        views=[_view(report, measured, place) for place, measured in enumerate(report.measures, 1)],
        remarks=words.remarks(report),
    )


def _title(report: TrainReport) -> str:
    """The answer where there is one measure, else what was compared."""
    if len(report.measures) == 1:
        return words.conclusions(report.measures[0])[0]
    return f"{counted(len(report.models), 'model')} by {counted(len(report.measures), 'measure')}"


def _view(report: TrainReport, measured: MeasuredModels, place: int) -> MeasureView:
    return MeasureView(
        heading=words.heading(report, measured),
        conclusions=words.conclusions(measured)[len(report.measures) == 1 :],  # the first one is the page's title
        problems=words.problems(measured),
        against=[
            _against_baseline(report, measured, table, key=f"{place}-{number}")
            for number, table in enumerate(measured.tables, 1)
        ],
    )


def _against_baseline(
    report: TrainReport, measured: MeasuredModels, table: JudgedAgainst, *, key: str
) -> AgainstView:
    tables = [words.figures_table(table)]
    is_average = table is measured.macro_average
    if not is_average:
        tables.append(words.verdicts_table(table, alphas=len(report.gate.alphas)))
    return AgainstView(
        title=words.title_of(table),
        is_open=is_average or len(report.baselines) <= MAX_OPEN,
        chart=pareto_curve(table, key=key, measure=measured.measure),
        tables=tuple(tables),
    )
