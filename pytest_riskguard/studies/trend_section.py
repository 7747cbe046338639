"""A trend in words, tables and charts: the same for a terminal and for a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_riskguard.reports import Plot, Section, Table, clean, counted, listed
from pytest_riskguard.studies.trend_series import Point, Series, Trend, TrendRun

#: Runs that a chart draws, runs that a table has, the newest, and topics, of one gate and of all gates together; the
#: JSON has all of them.
MAX_DRAWN, MAX_RUNS, MAX_TOPICS = (90, 450), (20, 100), (10, 60)
#: Gates that are open from the start.
MAX_OPEN = 6
_MAX_NAMED = 5
#: Outcomes that do not pass, as a conclusion counts them.
_NOT_PASSED = {"fail": "failed", "incomparable": "incomparable", "inconclusive": "inconclusive"}
#: The symbol of an outcome, its colour, and what the legend says.
_MARKS = {
    "pass": ("disc", "win", "passed"),
    "fail": ("diamond", "loss", "failed"),
    "inconclusive": ("square", "muted", "inconclusive"),
}
_GAP = ("cross", "grey", "no verdict")


def section(trend: Trend) -> Section:
    """Each gate, failures of the newest run first; then the runs."""
    gates = [
        _gate(series, trend.runs, of=len(trend.series), is_open=place < MAX_OPEN)
        for place, series in enumerate(trend.series)
    ]
    return Section(
        "Risk over time",
        [_answer(trend), f"{counted(len(trend.runs), 'run')}, oldest first.{_order(trend.runs)}"],
        [*gates, _runs(trend)],
        warnings=trend.problems,
        notes=["The JSON of `riskguard study trend` has every run, figure and topic."],
    )


def _answer(trend: Trend) -> str:
    newest = [point for series in trend.series if (point := series.last) is not None]
    stopped = [point.outcome for point in newest if not point.passed]
    if not newest:
        return "The newest run has no verdict"
    if not stopped:
        return f"{counted(len(newest), 'gate')} passed in the newest run"
    ended = "failed" if set(stopped) == {"fail"} else "did not pass"
    return f"{len(stopped)} of {counted(len(newest), 'gate')} {ended} in the newest run"


def _order(runs: Sequence[TrendRun]) -> str:
    """How the runs are ordered, where reports do not say it themselves."""
    undated = tuple(run.report for run in runs if run.dated_by == "file" and run.problem is None)
    named = f" {counted(len(undated), 'report')} without a date ({listed(undated, most=2)}): "
    return f"{named}ordered by the modification time of the file." if undated else ""


def _gate(series: Series, runs: Sequence[TrendRun], *, of: int, is_open: bool) -> Section:
    about = [clean(series.measure, limit=40)] if series.measure else []
    about += [clean(series.slice, limit=60)] if series.slice is not None else []
    title = f"{clean(series.gate, limit=80)} against {listed(series.baselines, most=_MAX_NAMED)}"
    drawn, rows, topics = (
        min(most, max(most // 5, whole // of)) for most, whole in (MAX_DRAWN, MAX_RUNS, MAX_TOPICS)
    )
    numbered = [*zip(range(1, len(runs) + 1), runs, series.points, strict=True)]
    newest = f"Runs, the newest {rows}" if len(runs) > rows else "Runs"
    columns = {"run": "d", "date": "text", "outcome": "text", clean(series.figure, limit=40): "+.4f"}
    figures = [(p.estimate, (p.lower, p.upper), p.mean_difference) if p else (None,) * 3 for p in series.points]
    table = Table(
        "",
        columns | {"interval": "+.4f", "mean change": "+.4f"},
        [(place, _day(run), _outcome(p), *figures[place - 1]) for place, run, p in numbered[-rows:]],
    )
    more = series.losing_topics - topics
    weak = Table(
        "Topics that lose again and again",
        {
            "topic": "name",
            "lost in": "text",
            "failures": "text",
            "mean loss": "+.4f",
            "last": "+.4f",
            "query": "name",
        },
        [
            (
                topic.topic,
                f"{topic.runs} of {len(series.judged)}",
                f"{topic.failed_runs} of {series.failures}" if series.failures else "",
                topic.mean_difference,
                topic.last_difference,
                topic.query,
            )
            for topic in series.topics[:topics]
        ],
        note=f"and {more} more, in the JSON" if more > 0 else "",
    )
    last = series.last
    return Section(
        f"{title}: {', '.join(about)}" if about else title,
        [_conclusion(series)],
        [
            _chart(series, numbered[-drawn:]),
            *([weak] if series.topics else []),
            Section(newest, parts=[table], is_open=False),
        ],
        notes=_remarks(series),
        state="" if last is None else "pass" if last.passed else last.outcome,
        is_open=is_open,
    )


def _conclusion(series: Series) -> str:
    """How often the gate failed, or could not be judged, and how it ended in the newest run."""
    judged, last = len(series.judged), series.last
    ended = Counter(point.outcome for _, point in series.judged if not point.passed)
    parts = [f"{word} in {ended[outcome]}" for outcome, word in _NOT_PASSED.items() if ended[outcome]]
    said = f"passed in {counted(judged, 'run')}" if judged > 1 else "passed"
    if parts:
        said = ", ".join([f"{parts[0]} of {counted(judged, 'run')}", *parts[1:]])
    if judged < len(series.points):
        said += f", no verdict in {len(series.points) - judged}"
    if last is None:
        return f"{said} (the newest is one of them)"
    newest = "passed" if last.passed else "failed" if last.outcome == "fail" else f"is {last.outcome}"
    return f"{said}; the newest {newest}" if parts else said


def _day(run: TrendRun) -> str:
    """The date of a run, to the minute, in UTC."""
    return "" if run.date is None else run.date[:16].replace("T", " ")


def _outcome(point: Point | None) -> str:
    """The outcome as a word, those that stop a build in capitals; ``pass, churn`` where churn was let through."""
    if point is None:
        return "no verdict"
    if point.churn:
        return f"{point.outcome}, churn"
    return point.outcome if point.passed else point.outcome.upper()


def _remarks(series: Series) -> list[str]:
    """Why some points are not about the same data, or have no estimate: run numbers count from 1."""
    lines = []
    for what in ("judgements", "baselines"):
        if places := [place for place, point in series.judged if what in point.changed_inputs]:
            lines.append(f"{what} changed at {_numbered(places)}")
    levels = dict.fromkeys(f"{100 * point.level:g}%" for _, point in series.judged)
    lines += [f"intervals have different levels: {', '.join(levels)}"] if len(levels) > 1 else []
    for problem in dict.fromkeys(point.problem for _, point in series.judged if point.problem):
        places = [place for place, point in series.judged if point.problem == problem]
        lines.append(f"{_numbered(places)} cannot be compared: {clean(problem, limit=200)}")
    return lines


def _numbered(places: Sequence[int]) -> str:
    return f"run{'s' if len(places) > 1 else ''} {listed(tuple(str(place + 1) for place in places), most=10)}"


def _chart(series: Series, numbered: Sequence[tuple[int, TrendRun, Point | None]]) -> Plot:
    """The estimates with their intervals, the bound, and a cross where there is nothing to draw."""
    plot = Plot(
        f"{clean(series.figure)} over {counted(len(numbered), 'run')}",
        labels=[_day(run)[5:10] for _, run, _ in numbered],
        description=_conclusion(series),
        zero=True,
        wide=True,
    )
    points = [point for _, _, point in numbered]
    for sign in (1, -1) if series.kind == "equivalent" else (1,):
        bounds = [None if point is None or point.bound is None else sign * point.bound for point in points]
        edges = [(place + half, bound) for place, bound in enumerate(bounds) for half in (-0.5, 0.5)]
        plot.line(edges, means="bound", colour="limit", dashed=True)
    plot.line([(place, None if point is None else point.estimate) for place, point in enumerate(points)])
    for place, (_, run, point) in enumerate(numbered):
        said = f"{_day(run)}: {_outcome(point)}"
        if point is None or point.estimate is None:
            symbol, colour, means = _GAP
            plot.point(place, None, said, symbol=symbol, colour=colour, means=means)
            continue
        symbol, colour, means = _MARKS[point.outcome]
        interval = f" [{point.lower:+.4f}, {point.upper:+.4f}]" if point.lower is not None else ""
        plot.point(
            place,
            point.estimate,
            f"{said}, {clean(series.figure)} {point.estimate:+.4f}{interval}",
            symbol=symbol,
            colour=colour,
            means=means,
            low=point.lower,
            high=point.upper,
        )
    return plot


def _runs(trend: Trend) -> Section:
    most = MAX_RUNS[0]
    columns = {"run": "d", "date": "text", "commit": "name", "branch": "name", "not judged": "text"}
    rows = [
        (
            place,
            _day(run),
            ((run.commit or "")[:7], run.run_url),
            run.branch,
            f"{len(run.not_judged)}: {listed(run.not_judged, most=_MAX_NAMED)}" if run.not_judged else "",
            run.report,
        )
        for place, run in enumerate(trend.runs, 1)
    ]
    columns |= {"report": "name"}
    title = f"Runs, the newest {most}" if len(rows) > most else "Runs"
    return Section(title, parts=[Table("", columns, rows[-most:])], is_open=True)
