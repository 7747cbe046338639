"""A trend as text: the runs, a table for each gate, and the topics that lose again and again."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from pytest_riskguard.gates.verdict import Outcome
from pytest_riskguard.reports.terminal import layout
from pytest_riskguard.studies.trend_series import Point, Series, Trend, TrendRun
from pytest_riskguard.text import clean, counted, listed, percent, plain, signed

#: No table is readable at a smaller width.
MIN_WIDTH = 60
#: Runs of a table, the newest, and topics under it; the JSON has all of them.
MAX_RUNS, MAX_TOPICS = 20, 10
_MAX_NAMED = 5
#: Outcomes that do not pass, as a conclusion counts them.
_NOT_PASSED: Mapping[Outcome, str] = {
    "fail": "failed",
    "incomparable": "incomparable",
    "inconclusive": "inconclusive",
}


def explain(trend: Trend, *, width: int) -> str:
    """The runs, then each gate, failures of the newest run first."""
    width = max(width, MIN_WIDTH)
    blocks = [_runs(trend, width), *(_gate(series, width) for series in trend.series)]
    return "\n\n".join(blocks)


def heading(series: Series) -> str:
    """``no-risk against prod: nDCG@10, kind=code``."""
    about = [clean(series.measure, limit=40)] if series.measure else []
    about += [clean(series.slice, limit=60)] if series.slice is not None else []
    title = f"{clean(series.gate, limit=80)} against {listed(series.baselines, most=_MAX_NAMED)}"
    return f"{title}: {', '.join(about)}" if about else title


def conclusion(series: Series) -> str:
    """How often the gate failed, or could not be judged, and how it ended in the newest run."""
    judged, last = len(series.judged), series.last
    ended = Counter(point.outcome for _, point in series.judged if not point.passed)
    parts = [f"{word} in {ended[outcome]}" for outcome, word in _NOT_PASSED.items() if ended[outcome]]
    if parts:
        said = ", ".join([f"{parts[0]} of {counted(judged, 'run')}", *parts[1:]])
    else:
        said = f"passed in {counted(judged, 'run')}" if judged > 1 else "passed"
    if judged < len(series.points):
        said += f", no verdict in {len(series.points) - judged}"
    if last is None:
        return f"{said} (the newest is one of them)"
    newest = "passed" if last.passed else "failed" if last.outcome == "fail" else f"is {last.outcome}"
    return f"{said}; the newest {newest}" if parts else said


def order(runs: Sequence[TrendRun]) -> str:
    """How the runs are ordered, where reports do not say it themselves."""
    undated = [run.report for run in runs if run.dated_by == "file" and run.problem is None]
    if not undated:
        return ""
    return (
        f"{counted(len(undated), 'report')} without a date ({listed(tuple(undated), most=2)}): ordered by the "
        "modification time of the file"
    )


def day(run: TrendRun) -> str:
    """The date of a run, to the minute, in UTC."""
    return "" if run.date is None else run.date[:16].replace("T", " ")


def estimate(point: Point) -> str:
    """The figure with its sign."""
    return "" if point.estimate is None else signed(point.estimate)


def limits(point: Point) -> str:
    """``[-0.2, -0.01]``; empty where there is no interval."""
    if point.lower is None or point.upper is None:
        return ""
    low, high = sorted((point.lower, point.upper))
    return f"[{signed(low)}, {signed(high)}]"


def figures(point: Point) -> tuple[str, str, str]:
    """Estimate, interval, and how the mean changed."""
    change = "" if point.mean_difference is None else signed(point.mean_difference)
    return estimate(point), limits(point), change


def outcome(point: Point | None) -> str:
    """The outcome as a word, those that stop a build in capitals; ``pass, churn`` where churn was let through."""
    if point is None:
        return "no verdict"
    if point.churn:
        return f"{point.outcome}, churn"
    return point.outcome if point.passed else point.outcome.upper()


def remarks(series: Series) -> list[str]:
    """Why some points are not about the same data, or have no estimate: run numbers count from 1."""
    lines = []
    for what in ("judgements", "baselines"):
        places = [str(place + 1) for place, point in series.judged if what in point.changed_inputs]
        if places:
            lines.append(f"{what} changed at {_numbered(places)}")
    levels = dict.fromkeys(point.level for _, point in series.judged)
    if len(levels) > 1:
        lines.append(f"intervals have different levels: {', '.join(percent(level) for level in levels)}")
    for problem in dict.fromkeys(point.problem for _, point in series.judged if point.problem):
        places = [str(place + 1) for place, point in series.judged if point.problem == problem]
        lines.append(f"{_numbered(places)} cannot be compared: {clean(problem, limit=200)}")
    return lines


def _numbered(places: Sequence[str]) -> str:
    return f"run{'s' if len(places) > 1 else ''} {listed(tuple(places), most=10)}"


def _runs(trend: Trend, width: int) -> str:
    runs = trend.runs
    lines = [
        f"{counted(len(runs), 'run')}, oldest first" + (f", the newest {MAX_RUNS} shown" * (len(runs) > MAX_RUNS))
    ]
    timed = any(run.latency is not None for run in runs)
    names = ["run", "date", "commit", *(["median ms", "p95 ms"] if timed else []), "report"]
    rows = []
    for number, run in _newest(runs):
        latency = [""] * 2 * timed
        if run.latency is not None:
            latency = [plain(run.latency.median_ms, 1), plain(run.latency.p95_ms, 1)]
        rows.append([number, day(run), clean((run.commit or "")[:7]), *latency, clean(run.report)])
    lines += _table(names, rows, right={"run", "median ms", "p95 ms"}, width=width)
    notes = [clean(problem, limit=500) for problem in trend.problems]
    notes += [order(runs)] if order(runs) else []
    for place, run in enumerate(runs, 1):
        if run.not_judged:
            ids = listed(run.not_judged, most=_MAX_NAMED)
            notes.append(f"run {place}: {counted(len(run.not_judged), 'gate')} not judged: {ids}")
    return "\n".join([*lines, *layout.wrapped(notes, width=width)])


def _newest(items: Sequence[TrendRun]) -> list[tuple[str, TrendRun]]:
    return [(str(number), item) for number, item in enumerate(items, 1)][-MAX_RUNS:]


def _gate(series: Series, width: int) -> str:
    lines = textwrap.wrap(f"{heading(series)}: {conclusion(series)}", width=width)
    names = ["run", "outcome", clean(series.figure, limit=40), "interval", "mean change"]
    numbered = [(str(number), point) for number, point in enumerate(series.points, 1)][-MAX_RUNS:]
    rows = [[number, outcome(point), *([""] * 3 if point is None else figures(point))] for number, point in numbered]
    lines += _table(names, rows, right={"run", *names[2:]}, width=width)
    lines += layout.wrapped(remarks(series), width=width)
    if series.topics:
        lines.append("  topics that lose again and again:")
        lines += _table(
            ["topic", "lost in", "failures", "mean loss", "last", "query"],
            [
                [
                    clean(topic.topic, limit=24),
                    f"{topic.runs} of {len(series.judged)}",
                    f"{topic.failed_runs} of {series.failures}" if series.failures else "",
                    signed(topic.mean_difference),
                    signed(topic.last_difference),
                    clean(topic.query or "", limit=80),
                ]
                for topic in series.topics[:MAX_TOPICS]
            ],
            right={"mean loss", "last"},
            width=width,
            indent="    ",
        )
        if series.losing_topics > MAX_TOPICS:
            lines.append(f"    and {series.losing_topics - MAX_TOPICS} more (--json has them)")
    return "\n".join(lines)


def _table(
    names: Sequence[str], rows: Sequence[Sequence[str]], *, right: set[str], width: int, indent: str = "  "
) -> list[str]:
    """A table without empty columns; the last one is cut at the screen's edge."""
    from rich.text import Text

    kept = [place for place in range(len(names)) if any(row[place] for row in rows)]
    table = layout.bare_table()
    for place in kept:
        justify: Literal["left", "right"] = "right" if names[place] in right else "left"
        cells = [Text(text).cell_len for text in (names[place], *(row[place] for row in rows))]
        least = min(cells[0], 8) if place == kept[-1] and justify == "left" else max(cells)
        table.add_column(names[place], justify=justify, no_wrap=True, overflow="ellipsis", min_width=least)
    for row in rows:
        table.add_row(*(Text(row[place]) for place in kept))
    return [indent + line for line in layout.lines(table, width=width - len(indent))]
