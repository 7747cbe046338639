"""Reports over time: each gate's estimates and verdicts run by run, and the topics that lose again and again.

Where a report has no date, or does not have the gate, nothing is made up: dates come from the file and say so, gates
have gaps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pytest_riskguard.errors import FileError
from pytest_riskguard.reports import document, read

SCHEMA = "riskguard-trend/1"
#: Topics that are kept for each gate: first those that lost in most failed runs, then those that lost most.
MAX_TOPICS = 50
#: Topics that lose in at least so many runs lose again and again.
MIN_RUNS = 2


@dataclass(frozen=True)
class TrendRun:
    """One report: ``dated_by`` says where its date is from, ``problem`` why it cannot be used."""

    report: str
    date: str | None
    dated_by: str
    commit: str | None
    branch: str | None
    run_url: str | None
    not_judged: tuple[str, ...]
    problem: str | None


@dataclass(frozen=True)
class Point:
    """A gate in one run; ``estimate`` has the sign of the report, ``bound`` is what its limit is compared with.

    ``changed_inputs`` names what is not the same as at the previous point: the two estimates are about other data.
    ``churn``: it passed because churn may.
    """

    outcome: str
    passed: bool
    reason: str | None
    candidate: str
    topics: int
    level: float
    estimate: float | None
    lower: float | None
    upper: float | None
    bound: float | None
    candidate_mean: float | None
    baseline_mean: float | None
    mean_difference: float | None
    problem: str | None
    changed_inputs: tuple[str, ...] = ()
    churn: bool = False


@dataclass(frozen=True)
class WeakTopic:
    """A topic that lost: in how many runs, in how many of those that failed, by how much on average and at last."""

    topic: str
    query: str | None
    runs: int
    failed_runs: int
    mean_difference: float
    last_difference: float


@dataclass(frozen=True)
class Series:
    """One question about one baseline over all runs; a point is None where the run did not answer it.

    ``figure`` names the estimate; ``losing_topics`` is how many topics lost in two runs or more; ``topics`` are the
    first of them.
    """

    gate: str
    kind: str
    measure: str | None
    alpha: float
    tradeoff: str
    slice: str | None
    baselines: tuple[str, ...]
    figure: str
    points: tuple[Point | None, ...]
    losing_topics: int
    topics: tuple[WeakTopic, ...]

    @property
    def judged(self) -> list[tuple[int, Point]]:
        """The points that there are, with the place of their run."""
        return [(place, point) for place, point in enumerate(self.points) if point is not None]

    @property
    def failures(self) -> int:
        """In how many runs the gate did not pass."""
        return sum(not point.passed for _, point in self.judged)

    @property
    def last(self) -> Point | None:
        """The point of the newest run, if that has one."""
        return self.points[-1]


@dataclass(frozen=True)
class Trend:
    """Runs, oldest first, and what each gate said in them."""

    runs: tuple[TrendRun, ...]
    series: tuple[Series, ...]

    @property
    def problems(self) -> list[str]:
        """What is wrong with the reports, a sentence for each that says nothing about a gate."""
        found = []
        for place, run in enumerate(self.runs):
            points = [point for series in self.series if (point := series.points[place]) is not None]
            problem = run.problem or ("no gate was judged" if not points else None)
            if points and all(point.outcome == "incomparable" for point in points):
                problem = "every gate is incomparable"
            if problem is not None:
                found.append(f"{run.report}: {problem}")
        return found


def dumps(trend: Trend) -> str:
    """The trend as JSON text."""
    return document(SCHEMA, {"runs": trend.runs, "series": trend.series, "problems": trend.problems})


class _Question(NamedTuple):
    """What makes two verdicts points of one series; ``number`` tells the same question twice in a report apart."""

    gate: str
    kind: str
    measure: str | None
    alpha: float
    tradeoff: str
    slice: str | None
    baselines: tuple[str, ...]
    number: int


@dataclass(frozen=True)
class _Answer:
    """What is kept of a verdict: digests of its inputs by name; the topics that lost, with query and difference."""

    point: Point
    figure: str
    digests: Mapping[str, str | None]
    losers: tuple[tuple[str, str | None, float], ...]


@dataclass(frozen=True)
class _Reading:
    """A report once it is read: when it is from, and its answers."""

    run: TrendRun
    when: datetime
    answers: Mapping[_Question, _Answer]


def trend(paths: Sequence[Path]) -> Trend:
    """The trend of these reports, oldest first; those of the same date stay in the order given.

    A report that cannot be read is a run with a ``problem`` and no points.
    """
    readings = sorted((_reading(path) for path in paths), key=lambda reading: reading.when)
    questions = dict.fromkeys(question for reading in reversed(readings) for question in reading.answers)
    series = [_series(question, readings) for question in questions]
    series.sort(key=lambda one: one.last is None or one.last.passed)  # failures of the newest run first
    return Trend(tuple(reading.run for reading in readings), tuple(series))


def _reading(path: Path) -> _Reading:
    problem, report = None, dict[str, Any]()
    try:
        report = read(path)
    except FileError as error:
        problem = error.fault
    answers: dict[_Question, _Answer] = {}
    seen: Counter[_Question] = Counter()
    for verdict in report.get("verdicts", ()):
        question = _Question(
            verdict["gate"],
            verdict["kind"],
            verdict["measure"],
            verdict["alpha"],
            verdict["options"]["tradeoff"],
            verdict["options"]["slice"],
            tuple(verdict["baselines"]),
            0,
        )
        answers[question._replace(number=seen[question])] = _answer(verdict)
        seen[question] += 1
    return _Reading(*_run(path, report, problem), answers)


def _run(path: Path, report: Mapping[str, Any], problem: str | None) -> tuple[TrendRun, datetime]:
    origin: Mapping[str, Any] = report.get("provenance") or {}
    when, dated_by = _date(origin.get("date", "")), "report"
    if when is None:
        when, dated_by = _file_time(path), "file"
    run = TrendRun(
        report=path.as_posix(),
        date=None if when is None else when.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        dated_by="nothing" if when is None else dated_by,
        commit=origin.get("commit"),
        branch=origin.get("branch"),
        run_url=origin.get("run_url"),
        not_judged=tuple(
            gate["id"] for gate in report.get("gates", ()) if gate["became"] not in ("judged", "no_verdict")
        ),
        problem=problem,
    )
    return run, when or datetime.max.replace(tzinfo=UTC)


def _date(text: str) -> datetime | None:
    try:
        when = datetime.fromisoformat(text)
        return (when if when.tzinfo is not None else when.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _file_time(path: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(path.stat().st_mtime), UTC)
    except (OSError, ValueError, OverflowError):
        return None


def _answer(verdict: Mapping[str, Any]) -> _Answer:
    estimates, inputs = verdict["estimates"], verdict["inputs"] or {}
    decisive: dict[str, float] = next((one for one in verdict["intervals"] if one["decisive"]), {})
    kind, outcome, topics = verdict["kind"], verdict["outcome"], verdict["responsible_topics"]
    options = verdict["options"]
    parameter = "smooth" if options["tradeoff"] == "smooth" else f"alpha={verdict['alpha']:g}"
    excess = "excess " if estimates.get("noise_urisk") is not None else ""
    figure = f"{excess}{'weighted ' if options.get('weighted') else ''}URisk({parameter})"
    tolerance, estimate = verdict["tolerance"], estimates["urisk"]
    losers = [topic for topic in topics if topic["difference"] < 0]
    if kind == "georisk_not_worse":
        estimate, figure = estimates.get("georisk_difference"), f"GeoRisk({parameter})"
        figure += f" against {options.get('reference') or verdict['baselines'][0]}"
    elif kind == "no_topic_collapse":
        losers = [topic for topic in topics if topic.get("exceeds")]
        lost = [topic["difference"] for topic in losers or topics]
        estimate, figure = None if outcome == "incomparable" else min(lost, default=0.0), "largest loss"
        tolerance = options["max_loss"]
    digests = {"judgements": inputs.get("qrels")}
    digests |= {name: inputs.get("baselines", {}).get(name) for name in verdict["baselines"]}
    point = Point(
        outcome=outcome,
        passed=outcome == "pass" or (outcome == "inconclusive" and options.get("on_inconclusive") == "warn"),
        reason=verdict["reason"],
        candidate=verdict["candidate"],
        topics=verdict["topics"]["count"],
        level=verdict["level"],
        estimate=estimate,
        lower=decisive.get("lower"),
        upper=decisive.get("upper"),
        bound=None if tolerance is None else 0.0 - tolerance,
        candidate_mean=estimates["candidate_mean"],
        baseline_mean=estimates["baseline_mean"],
        mean_difference=estimates["mean_difference"],
        problem=verdict["problem"],
        churn=outcome == "pass" and any(warning["code"] == "churn" for warning in verdict["warnings"]),
    )
    return _Answer(
        point, figure, digests, tuple((topic["topic"], topic["query"], topic["difference"]) for topic in losers)
    )


def _series(question: _Question, readings: Sequence[_Reading]) -> Series:
    answers = [reading.answers.get(question) for reading in readings]
    points: list[Point | None] = []
    losses: dict[str, list[tuple[float, bool]]] = {}
    queries: dict[str, str | None] = {}
    before: Mapping[str, str | None] = {}
    for answer in answers:
        if answer is None:
            points.append(None)
            continue
        points.append(replace(answer.point, changed_inputs=_changed(before, answer.digests)))
        before = {**before, **{name: digest for name, digest in answer.digests.items() if digest is not None}}
        for topic, query, difference in answer.losers:
            losses.setdefault(topic, []).append((difference, not answer.point.passed))
            queries[topic] = query
    named = [answer for answer in answers if answer is not None]
    comparable = [answer for answer in named if answer.point.outcome != "incomparable"]
    weak = []
    for topic, lost in losses.items():
        if len(lost) >= MIN_RUNS:
            mean = sum(difference for difference, _ in lost) / len(lost)
            failed = sum(failed for _, failed in lost)
            weak.append(WeakTopic(topic, queries[topic], len(lost), failed, mean, lost[-1][0]))
    weak.sort(key=lambda topic: (-topic.failed_runs, round(topic.mean_difference * topic.runs, 12), topic.topic))
    return Series(
        *question[:-1],
        figure=(comparable or named)[-1].figure,
        points=tuple(points),
        losing_topics=len(weak),
        topics=tuple(weak[:MAX_TOPICS]),
    )


def _changed(before: Mapping[str, str | None], now: Mapping[str, str | None]) -> tuple[str, ...]:
    """What is not the same as it was; digests that are not known say nothing."""
    names = [name for name, digest in now.items() if digest is not None and before.get(name, digest) != digest]
    kinds = ("judgements" if name == "judgements" else "baselines" for name in names)
    return tuple(dict.fromkeys(kinds))
