"""Reports over time: each gate's estimates and verdicts run by run, and the topics that lose again and again.

A report without a date has that of its file; a gate that a run did not judge has a gap there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_riskguard.errors import FileError
from pytest_riskguard.reports import Plot, Section, Table, clean, counted, document, listed, read

SCHEMA = "riskguard-trend/1"
#: Topics that lose in at least so many runs lose again and again.
MIN_RUNS = 2
#: The newest runs that a chart and a table show, topics of a gate, and gates that are open; the JSON has all of them.
MAX_RUNS, MAX_TOPICS, MAX_OPEN = 60, 10, 6


@dataclass(frozen=True)
class Run:
    """One report; with a ``problem`` it says nothing about any gate. The ``date`` is in UTC."""

    report: str
    date: str | None
    commit: str | None
    run_url: str | None
    not_judged: tuple[str, ...]
    problem: str | None

    @property
    def day(self) -> str:
        """The date to the minute."""
        return "" if self.date is None else self.date[:16].replace("T", " ")


@dataclass(frozen=True)
class Point:
    """A gate in one run; ``estimate`` has the sign of the report, ``bound`` is what its limit is compared with.

    ``changed_inputs`` names what is not the same as at the point before: the two estimates are about other data.
    ``churn``: it passed because churn may.
    """

    outcome: str
    passed: bool
    churn: bool
    estimate: float | None
    lower: float | None
    upper: float | None
    bound: float | None
    mean_difference: float | None
    problem: str | None
    changed_inputs: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The outcome, in capitals where it stops a build."""
        if self.churn:
            return f"{self.outcome}, churn"
        return self.outcome if self.passed else self.outcome.upper()


@dataclass(frozen=True)
class WeakTopic:
    """A topic that lost: in how many runs, and by how much on average."""

    topic: str
    query: str | None
    runs: int
    mean_difference: float


@dataclass(frozen=True)
class Series:
    """One question about one baseline over all runs; a point is None where the run did not answer it.

    ``figure`` names the estimate; ``topics`` are those that lost most often.
    """

    gate: str
    kind: str
    measure: str | None
    slice: str | None
    baselines: tuple[str, ...]
    figure: str
    points: tuple[Point | None, ...]
    topics: tuple[WeakTopic, ...]


@dataclass(frozen=True)
class Trend:
    """Runs, oldest first, and what each gate said in them, failures of the newest run first."""

    runs: tuple[Run, ...]
    series: tuple[Series, ...]

    @property
    def problems(self) -> list[str]:
        """What is wrong with reports that say nothing about a gate."""
        return [f"{run.report}: {run.problem}" for run in self.runs if run.problem is not None]


#: What makes two verdicts points of one series; the last part tells the same question twice in a report apart.
_Question = tuple[Any, ...]


def trend(paths: Sequence[Path]) -> Trend:
    """The trend of these reports, oldest first; those of the same date stay in the order given.

    A report that cannot be read is a run with a ``problem`` and no points.
    """
    read_runs = sorted((_read(path) for path in paths), key=lambda found: found[0].date or "~")
    answers = [of_run for _, of_run in read_runs]
    questions = dict.fromkeys(question for of_run in reversed(answers) for question in of_run)
    series = [_series([of_run.get(question) for of_run in answers]) for question in questions]
    series.sort(key=lambda one: (last := one.points[-1]) is None or last.passed)
    return Trend(tuple(run for run, _ in read_runs), tuple(series))


def _read(path: Path) -> tuple[Run, dict[_Question, Mapping[str, Any]]]:
    """A run, and its verdicts by what they ask."""
    report, problem = dict[str, Any](), None
    try:
        report = read(path)
    except FileError as error:
        problem = error.fault
    answers, seen = dict[_Question, Mapping[str, Any]](), Counter[_Question]()
    for verdict in report.get("verdicts", ()):
        asked = [verdict[key] for key in ("gate", "kind", "measure", "alpha")]
        question = (*asked, *(verdict["options"][key] for key in ("tradeoff", "slice")), *verdict["baselines"])
        answers[*question, seen[question]] = verdict
        seen[question] += 1
    if problem is None and all(verdict["outcome"] == "incomparable" for verdict in answers.values()):
        problem = "every gate is incomparable" if answers else "no gate was judged"
    origin = report.get("provenance") or {}
    not_judged = [gate["id"] for gate in report.get("gates", ()) if gate["became"] not in ("judged", "no_verdict")]
    when = _date(path, origin.get("date", ""))
    return Run(
        path.as_posix(), when, origin.get("commit"), origin.get("run_url"), tuple(not_judged), problem
    ), answers


def _date(path: Path, text: str) -> str | None:
    """The date of the report, or else of its file."""
    try:
        when = datetime.fromisoformat(text)
        when = (when if when.tzinfo is not None else when.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        try:
            when = datetime.fromtimestamp(int(path.stat().st_mtime), UTC)
        except (OSError, ValueError, OverflowError):
            return None
    return when.isoformat(timespec="seconds").replace("+00:00", "Z")


def _series(answers: Sequence[Mapping[str, Any] | None]) -> Series:
    """A question, as each run answered it."""
    points, before = list[Point | None](), dict[str, str]()
    losses, queries = dict[str, list[float]](), dict[str, str | None]()
    for answer in answers:
        if answer is None:
            points.append(None)
            continue
        inputs = answer["inputs"] or {"qrels": None, "baselines": {}}
        digests = {"judgements": inputs["qrels"], **inputs["baselines"]}
        known = {name: digest for name, digest in digests.items() if digest is not None}
        changed = tuple(name for name, digest in known.items() if before.get(name, digest) != digest)
        points.append(replace(_point(answer), changed_inputs=changed))
        before |= known
        for topic in _losers(answer):
            losses.setdefault(topic["topic"], []).append(topic["difference"])
            queries[topic["topic"]] = topic["query"]
    weak = [
        WeakTopic(topic, queries[topic], len(lost), math.fsum(lost) / len(lost))
        for topic, lost in losses.items()
        if len(lost) >= MIN_RUNS
    ]
    weak.sort(key=lambda topic: (-topic.runs, round(topic.mean_difference, 12), topic.topic))
    named = [answer for answer in answers if answer is not None]
    comparable = [answer for answer in named if answer["outcome"] != "incomparable"]
    last = (comparable or named)[-1]
    return Series(
        gate=last["gate"],
        kind=last["kind"],
        measure=last["measure"],
        slice=last["options"]["slice"],
        baselines=tuple(last["baselines"]),
        figure=_figure(last),
        points=tuple(points),
        topics=tuple(weak),
    )


def _losers(verdict: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if verdict["kind"] == "no_topic_collapse":
        return [topic for topic in verdict["responsible_topics"] if topic.get("exceeds")]
    return [topic for topic in verdict["responsible_topics"] if topic["difference"] < 0]


def _figure(verdict: Mapping[str, Any]) -> str:
    options, estimates = verdict["options"], verdict["estimates"]
    if verdict["kind"] == "no_topic_collapse":
        return "largest loss"
    parameter = "smooth" if options["tradeoff"] == "smooth" else f"alpha={verdict['alpha']:g}"
    if verdict["kind"] == "georisk_not_worse":
        return f"GeoRisk difference({parameter})"
    excess = "excess " if estimates.get("noise_urisk") is not None else ""
    return f"{excess}{'weighted ' if options.get('weighted') else ''}URisk({parameter})"


def _point(verdict: Mapping[str, Any]) -> Point:
    estimates, outcome, options = verdict["estimates"], verdict["outcome"], verdict["options"]
    decisive: Mapping[str, float] = next((one for one in verdict["intervals"] if one["decisive"]), {})
    estimate, tolerance = estimates["urisk"], verdict["tolerance"]
    if verdict["kind"] == "georisk_not_worse":
        estimate = estimates.get("georisk_difference")
    elif verdict["kind"] == "no_topic_collapse":
        tolerance = options["max_loss"]
        lost = [topic["difference"] for topic in _losers(verdict) or verdict["responsible_topics"]]
        estimate = None if outcome == "incomparable" else min(lost, default=0.0)
    return Point(
        outcome=outcome,
        passed=outcome == "pass" or (outcome == "inconclusive" and options.get("on_inconclusive") == "warn"),
        churn=outcome == "pass" and any(warning["code"] == "churn" for warning in verdict["warnings"]),
        estimate=estimate,
        lower=decisive.get("lower"),
        upper=decisive.get("upper"),
        bound=None if tolerance is None else 0.0 - tolerance,
        mean_difference=estimates["mean_difference"],
        problem=verdict["problem"],
    )


# ---- in words, tables and charts


def dumps(trend: Trend) -> str:
    """The trend as JSON text."""
    return document(SCHEMA, {"runs": trend.runs, "series": trend.series, "problems": trend.problems})


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
    """Each gate, failures of the newest run first."""
    newest = [point for series in trend.series if (point := series.points[-1]) is not None]
    passed = sum(point.passed for point in newest)
    said = f"{passed} of {counted(len(newest), 'gate')} passed in the newest run" if newest else "no newest verdict"
    not_judged = [
        f"{run.report}: not judged: {listed(run.not_judged, most=5)}" for run in trend.runs if run.not_judged
    ]
    return Section(
        "Risk over time",
        [said, f"{counted(len(trend.runs), 'run')}, oldest first"],
        [_gate(series, trend.runs, is_open=place < MAX_OPEN) for place, series in enumerate(trend.series)],
        warnings=[*trend.problems, *not_judged],
        notes=["The JSON of `riskguard study trend` has every run, figure and topic."],
    )


def _gate(series: Series, runs: Sequence[Run], *, is_open: bool) -> Section:
    about = (clean(series.measure or "", limit=40), clean(series.slice or "", limit=60))
    title = f"{clean(series.gate, limit=80)} against {listed(series.baselines, most=5)}"
    numbered = [*zip(runs, series.points, strict=True)][-MAX_RUNS:]
    columns = {"date": "text", "commit": "name", "outcome": "text", clean(series.figure, limit=40): "+.4f"}
    rows = [
        (
            run.day,
            ((run.commit or "")[:7], run.run_url),
            "no verdict" if point is None else point.words,
            *((point.estimate, (point.lower, point.upper), point.mean_difference) if point else (None,) * 3),
            ", ".join(point.changed_inputs) if point else "",
        )
        for run, point in numbered
    ]
    weak = [
        (topic.topic, f"{topic.runs} runs", topic.mean_difference, topic.query)
        for topic in series.topics[:MAX_TOPICS]
    ]
    of_topics = {"topic": "name", "lost in": "text", "mean loss": "+.4f", "query": "name"}
    more = f"and {len(series.topics) - MAX_TOPICS} more" if len(series.topics) > MAX_TOPICS else ""
    columns |= {"interval": "+.4f", "mean change": "+.4f", "changed": "text"}
    last = series.points[-1]
    return Section(
        ": ".join(filter(None, [title, ", ".join(filter(None, about))])),
        [_conclusion(series)],
        [
            _chart(series, numbered),
            *([Table("Topics that lose again and again", of_topics, weak, note=more)] if weak else []),
            Section("Runs", parts=[Table("", columns, rows)], is_open=False),
        ],
        notes=[f"{run.day}: {clean(point.problem, limit=200)}" for run, point in numbered if point and point.problem],
        state="" if last is None else "pass" if last.passed else last.outcome,
        is_open=is_open,
    )


def _conclusion(series: Series) -> str:
    """How often the gate failed, or could not be judged, and how it ended in the newest run."""
    judged = [point for point in series.points if point is not None]
    ended, last = Counter(point.outcome for point in judged if not point.passed), series.points[-1]
    parts = [f"{word} in {ended[outcome]}" for outcome, word in _NOT_PASSED.items() if ended[outcome]]
    first, *rest = parts or [f"passed in {len(judged)}"]
    said = ", ".join([f"{first} of {counted(len(judged), 'run')}", *rest])
    if len(judged) < len(series.points):
        said += f", no verdict in {len(series.points) - len(judged)}"
    return f"{said}; the newest: {'no verdict' if last is None else last.words}"


def _chart(series: Series, numbered: Sequence[tuple[Run, Point | None]]) -> Plot:
    """The estimates with their intervals, the bound, and a cross where there is nothing to draw."""
    plot = Plot(
        f"{clean(series.figure)} over {counted(len(numbered), 'run')}",
        labels=[run.day[5:10] for run, _ in numbered],
        description=_conclusion(series),
        zero=True,
        wide=True,
    )
    points = [point for _, point in numbered]
    for sign in (1, -1) if series.kind == "equivalent" else (1,):
        bounds = [None if point is None or point.bound is None else sign * point.bound for point in points]
        edges = [(place + half, bound) for place, bound in enumerate(bounds) for half in (-0.5, 0.5)]
        plot.line(edges, means="bound", colour="limit", dashed=True)
    plot.line([(place, None if point is None else point.estimate) for place, point in enumerate(points)])
    for place, (run, point) in enumerate(numbered):
        if point is None or point.estimate is None:
            symbol, colour, means = _GAP
            said = "no verdict" if point is None else point.words
            plot.point(place, None, f"{run.day}: {said}", symbol=symbol, colour=colour, means=means)
            continue
        symbol, colour, means = _MARKS[point.outcome]
        said = f"{run.day}: {point.words}, {clean(series.figure)} {point.estimate:+.4f}"
        low, high = point.lower, point.upper
        plot.point(place, point.estimate, said, symbol=symbol, colour=colour, means=means, low=low, high=high)
    return plot
