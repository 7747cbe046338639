"""A figure over runs as SVG: points with their intervals, the bound, and gaps where there is nothing to draw."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from pytest_riskguard.gates.kinds import KINDS
from pytest_riskguard.reports.html.whole_page import whole_page
from pytest_riskguard.studies import trend_table as words
from pytest_riskguard.studies.trend_series import Point, Series, Trend, TrendRun, WeakTopic
from pytest_riskguard.text import clean, counted, signed

#: Widths that the page chooses between, by the width of the screen, so that labels keep their size.
WIDE, NARROW = 900, 330
_HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 220, 58, 12, 12, 30
_MAX_TICKS = 5
#: Pixels that the date of a run takes under the axis.
_DATE_WIDTH, _MAX_DATES = 62, 10


@dataclass(frozen=True)
class Mark:
    """One run: its figure and interval (None for a gap), ``kind`` a class of the style, ``text`` its tooltip."""

    value: float | None
    lower: float | None
    upper: float | None
    bound: float | None
    kind: str
    text: str
    other_bound: float | None = None


def chart(marks: Sequence[Mark], dates: Sequence[str], *, title: str, width: int, tooltips: int) -> Markup:
    """The marks from left to right, at equal distances; ``dates`` are written under some of them.

    The newest marks, ``tooltips`` of them, are elements of their own; the others share one for each kind.
    """
    low, high, step = _scale(
        value
        for mark in marks
        for value in (mark.value, mark.lower, mark.upper, mark.bound, mark.other_bound)
        if value is not None
    )
    inside = width - _LEFT - _RIGHT

    def x(place: float) -> float:
        return round(_LEFT + (place + 0.5) * inside / len(marks), 2)

    def y(value: float) -> float:
        return round(_TOP + (high - value) / (high - low) * (_HEIGHT - _TOP - _BOTTOM), 2)

    shapes = [
        _shape(m.kind, x(place), _HEIGHT - _BOTTOM if m.value is None else y(m.value))
        for place, m in enumerate(marks)
    ]
    shared: dict[str, str] = {}
    for mark, shape in list(zip(marks, shapes, strict=True))[: max(len(marks) - tooltips, 0)]:
        shared[mark.kind] = shared.get(mark.kind, "") + shape
    newest = list(zip(marks, shapes, strict=True))[max(len(marks) - tooltips, 0) :]
    parts = [
        f'<svg viewBox="0 0 {width} {_HEIGHT}" role="img" aria-label="{escape(title)}">',
        *_grid(low, high, step, y, width),
        *(
            f'<text class="tick" x="{x(place):g}" y="{_HEIGHT - 8}" text-anchor="middle">'
            f"{escape(dates[place])}</text>"
            for place in _labelled(len(marks), inside)
        ),
        _path("whisker", _whiskers(marks, x, y)),
        *(
            _path("bound", _steps(bounds, x, y, inside / len(marks) / 2))
            for bounds in ([mark.bound for mark in marks], [mark.other_bound for mark in marks])
        ),
        _path("line", _joined([mark.value for mark in marks], x, y)),
        *(_path(f"m {kind}", d) for kind, d in shared.items()),
        *(f'<path class="m {mark.kind}" d="{d}"><title>{escape(mark.text)}</title></path>' for mark, d in newest),
        "</svg>",
    ]
    return Markup("".join(parts))  # noqa: S704 - numbers and escaped text


def _scale(values: Iterable[float]) -> tuple[float, float, float]:
    """The lowest and the highest tick, and the step between ticks; 0 is always among them."""
    given = [0.0, *values]
    low, high = min(given), max(given)
    span = high - low or 1.0
    magnitude = 10.0 ** math.floor(math.log10(span / _MAX_TICKS))
    step = next(times * magnitude for times in (1, 2, 5, 10) if span / (times * magnitude) <= _MAX_TICKS)
    return math.floor(low / step) * step, (math.ceil(high / step) if high > low else 1) * step, step


def _grid(low: float, high: float, step: float, y: Callable[[float], float], width: int) -> list[str]:
    values = [low + number * step for number in range(round((high - low) / step) + 1)]
    lines = "".join(f"M{_LEFT} {y(value):g}H{width - _RIGHT}" for value in values)
    parts = [_path("grid", lines), _path("zero", f"M{_LEFT} {y(0.0):g}H{width - _RIGHT}")]
    for value in values:
        label = f"{value if abs(value) > step / 2 else 0.0:.6g}"
        parts.append(f'<text class="tick" x="{_LEFT - 8}" y="{y(value) + 4:g}" text-anchor="end">{label}</text>')
    return parts


def _labelled(count: int, inside: float) -> list[int]:
    """Places whose dates are written: the newest, and as many before it as there is room for."""
    every = max(1, math.ceil(count / min(inside // _DATE_WIDTH, _MAX_DATES)))
    return list(range(count - 1, -1, -every))


def _path(kind: str, d: str) -> str:
    return f'<path class="{kind}" d="{d}"/>' if d else ""


def _whiskers(marks: Sequence[Mark], x: Callable[[float], float], y: Callable[[float], float]) -> str:
    return "".join(
        f"M{x(place):g} {y(mark.lower):g}V{y(mark.upper):g}"
        for place, mark in enumerate(marks)
        if mark.lower is not None and mark.upper is not None
    )


def _joined(values: Sequence[float | None], x: Callable[[float], float], y: Callable[[float], float]) -> str:
    """A line through neighbours; a gap breaks it."""
    line = ""
    for place, value in enumerate(values):
        if value is not None:
            before = values[place - 1] if place else None
            line += f"{'M' if before is None else 'L'}{x(place):g} {y(value):g}"
    return line


def _steps(
    values: Sequence[float | None], x: Callable[[float], float], y: Callable[[float], float], half: float
) -> str:
    """A level line at each place, joined where it stays the same."""
    line = ""
    for place, value in enumerate(values):
        if value is not None:
            before = values[place - 1] if place else None
            start = "" if before == value else f"M{x(place) - half:g} {y(value):g}"
            line += f"{start}H{x(place) + half:g}"
    return line


def _shape(kind: str, x: float, y: float) -> str:
    """A circle for a pass, a diamond for a failure, a square for no answer, a cross for nothing at all."""
    shapes = {
        "fail": f"M{x:g} {y - 6:g}l6 6l-6 6l-6-6z",
        "inconclusive": f"M{x - 4.5:g} {y - 4.5:g}h9v9h-9z",
        "gap": f"M{x - 4:g} {y - 4:g}l8 8m0-8l-8 8",
    }
    return shapes.get(kind, f"M{x - 4.5:g} {y:g}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z")


#: Runs that a chart draws, the newest; the JSON has all of them.
MAX_DRAWN = 120
#: Gates that are open from the start.
MAX_OPEN = 6


@dataclass(frozen=True)
class Budget:
    """How much of each gate is in the page, so that one of 30 gates still opens at once: the newest and the worst."""

    tooltips: int
    runs: int
    topics: int

    @classmethod
    def of(cls, gates: int) -> Budget:
        """The share of a gate."""
        return cls(*(min(most, max(least, whole // max(gates, 1))) for most, least, whole in _SHARES))


#: Tooltips, runs and topics: the most of a gate, the least, and all gates together.
_SHARES = ((MAX_DRAWN, 10, 360), (20, 4, 100), (15, 4, 100))


@dataclass(frozen=True)
class Row:
    """One run of a gate, as its table shows it."""

    number: int
    date: str
    outcome: str
    word: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class SeriesView:
    """A gate with its drawings and tables."""

    title: str
    conclusion: str
    state: str
    figure: str
    charts: tuple[Markup, Markup]
    rows: list[Row]
    remarks: list[str]
    topics: list[tuple[WeakTopic, tuple[str, ...]]]
    more_topics: int


def render(trend: Trend) -> str:
    """The page; the same trend gives the same text."""
    budget = Budget.of(len(trend.series))
    return whole_page(
        "trend.html",
        title=_title(trend),
        style="trend.css",
        runs=[(number, words.day(run), run) for number, run in enumerate(trend.runs, 1)][-_SHARES[1][0] :],
        count=len(trend.runs),
        has={name: any(getattr(run, name) for run in trend.runs) for name in ("commit", "branch", "not_judged")},
        order=words.order(trend.runs),
        problems=trend.problems,
        latency=_latency(trend.runs),
        views=[_view(series, trend.runs, budget) for series in trend.series],
        max_open=MAX_OPEN,
    )


def _title(trend: Trend) -> str:
    newest = [point for series in trend.series if (point := series.last) is not None]
    stopped = [point.outcome for point in newest if not point.passed]
    if not newest:
        return "The newest run has no verdict"
    if not stopped:
        return f"{counted(len(newest), 'gate')} passed in the newest run"
    ended = "failed" if set(stopped) == {"fail"} else "did not pass"
    return f"{len(stopped)} of {counted(len(newest), 'gate')} {ended} in the newest run"


def _view(series: Series, runs: tuple[TrendRun, ...], budget: Budget) -> SeriesView:
    first = max(len(runs) - MAX_DRAWN, 0)
    marks = [_mark(series, point, words.day(run)) for point, run in zip(series.points, runs, strict=True)][first:]
    dates = [words.day(run)[5:10] for run in runs][first:]
    title = f"{series.figure} over {counted(len(marks), 'run')}: {words.conclusion(series)}"
    return SeriesView(
        title=words.heading(series),
        conclusion=words.conclusion(series),
        state="none" if series.last is None else "pass" if series.last.passed else series.last.outcome,
        figure=series.figure,
        charts=(
            chart(marks, dates, title=title, width=WIDE, tooltips=budget.tooltips),
            chart(marks, dates, title=title, width=NARROW, tooltips=0),
        ),
        rows=_rows(series, runs)[: budget.runs],
        remarks=words.remarks(series),
        topics=[
            (
                topic,
                (
                    f"{topic.runs} of {len(series.judged)}",
                    f"{topic.failed_runs} of {series.failures}" if series.failures else "",
                    signed(topic.mean_difference),
                    signed(topic.last_difference),
                ),
            )
            for topic in series.topics[: budget.topics]
        ],
        more_topics=max(series.losing_topics - budget.topics, 0),
    )


def _rows(series: Series, runs: tuple[TrendRun, ...]) -> list[Row]:
    rows = [
        Row(
            number,
            words.day(run),
            "none" if point is None else "pass" if point.passed else point.outcome,
            words.outcome(point).lower(),
            ("",) * 3 if point is None else words.figures(point),
        )
        for number, (point, run) in enumerate(zip(series.points, runs, strict=True), 1)
    ]
    return rows[::-1]


def _mark(series: Series, point: Point | None, date: str) -> Mark:
    if point is None or point.estimate is None:
        return Mark(None, None, None, None, "gap", f"{date}: {words.outcome(point)}")
    low, high = point.lower, point.upper
    figures = " ".join(filter(None, (words.estimate(point), words.limits(point))))
    return Mark(
        point.estimate,
        low,
        high,
        point.bound,
        "pass" if point.passed and point.outcome == "pass" else point.outcome,
        f"{date}: {words.outcome(point)}, {clean(series.figure)} {figures}",
        None if point.bound is None or KINDS[series.kind].side != "both" else -point.bound,
    )


def _latency(runs: tuple[TrendRun, ...]) -> tuple[Markup, Markup] | None:
    """Charts of the median and the 95th percentile, if a run has them."""
    if all(run.latency is None for run in runs):
        return None
    marks, dates = [], []
    for run in runs[-MAX_DRAWN:]:
        date, latency = words.day(run), run.latency
        dates.append(date[5:10])
        if latency is None:
            marks.append(Mark(None, None, None, None, "gap", f"{date}: not measured"))
            continue
        text = f"{date}: median {latency.median_ms:.1f} ms, 95th percentile {latency.p95_ms:.1f} ms"
        text += f" of {counted(latency.queries, 'query', 'queries')}"
        marks.append(Mark(latency.median_ms, latency.median_ms, latency.p95_ms, None, "latency", text))
    title = "Latency in milliseconds: median, and the 95th percentile above it"
    wide = chart(marks, dates, title=title, width=WIDE, tooltips=len(marks))
    return wide, chart(marks, dates, title=title, width=NARROW, tooltips=0)
