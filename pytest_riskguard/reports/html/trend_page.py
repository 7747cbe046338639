"""The page of a trend: a chart for each gate, its runs, the topics that lose again and again. It has no script."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from pytest_riskguard.gates.kinds import KINDS
from pytest_riskguard.reports.html.trend_chart import NARROW, WIDE, Mark, chart
from pytest_riskguard.reports.html.whole_page import whole_page
from pytest_riskguard.reports.studies import trend_table as words
from pytest_riskguard.reports.studies.trend_series import Point, Series, Trend, TrendRun, WeakTopic
from pytest_riskguard.text import clean, counted, signed

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
