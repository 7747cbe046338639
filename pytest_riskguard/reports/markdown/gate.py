"""One gate in Markdown: summary, warnings, topics, documents, slices, judgements; its charts as pictures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_riskguard.gates.findings import Judgements, MovedDocument, ResponsibleTopic, Slice, TopicDocuments
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.markdown.escape import code, folded, prose, table
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.reports.topic_table import marks
from pytest_riskguard.text import counted, percent, plain, probability, signed

#: Rows shown of a table; the JSON report has all of them.
MAX_ROWS = 10
_MAX_SLICES = 30
#: Charts of a gate that did not pass; a gate that passed gets only the first.
_MAX_FAILED = 2


@dataclass(frozen=True)
class Extent:
    """How much is written about a gate."""

    topics: bool = True
    details: bool = True


ALL, TOPICS, BRIEF = Extent(), Extent(details=False), Extent(topics=False, details=False)


@dataclass(frozen=True)
class Picture:
    """A chart as SVG: the name of its file, what it shows in words, the file's content."""

    file: str
    description: str
    svg: str


def section(verdict: Verdict, extent: Extent, pictures: Sequence[Picture] = ()) -> list[str]:
    """The gate in lines, most important first."""
    lines = [prose(_summary(verdict)), ""]
    lines += [line for warning in verdict.warnings for line in (_warning(warning.code, warning.message), "")]
    if verdict.judgements is not None and verdict.judgements.depends and not Shown(verdict).has("rests_on_unjudged"):
        lines += [prose(_rests_on(verdict.judgements)), ""]
    for picture in pictures:
        lines += [f"![{prose(picture.description, limit=500)}]({picture.file})", ""]
    if extent.topics:
        lines += _topics(verdict)
    if extent.details:
        lines += folded("Documents that moved", _documents(verdict.documents or ()))
        lines += folded("Slices", _slices(verdict))
        if verdict.judgements is not None and verdict.judgements.documents:
            lines += folded("Unjudged documents", _judgements(verdict, verdict.judgements))
    return lines


def _summary(verdict: Verdict) -> str:
    if verdict.explanation is not None and verdict.explanation.summary:
        return verdict.explanation.summary
    return Shown(verdict).headline()


def _warning(name: str, message: str) -> str:
    return f"Warning ({code(name)}): {prose(message, limit=1000)}"


def _topics(verdict: Verdict) -> list[str]:
    losers = Shown(verdict).losers
    if not losers:
        return []
    title = f"Topics responsible: {_first(losers)} of {len(losers)} that lost" + (
        " too much." if verdict.asked.by_topic else "."
    )
    with_queries = any(topic.query for topic in losers)
    columns = ["topic", *(["query"] if with_queries else []), "baseline → candidate", "difference:", "of loss:", ""]
    rows = [_topic(topic, with_queries=with_queries) for topic in losers[:MAX_ROWS]]
    return [title, "", *table(columns, rows), ""]


def _first(items: Sequence[object]) -> str:
    return f"the {MAX_ROWS} most harmful" if len(items) > MAX_ROWS else "all"


def _topic(topic: ResponsibleTopic, *, with_queries: bool) -> list[str]:
    return [
        code(topic.topic),
        *([code(topic.query or "")] if with_queries else []),
        f"{plain(topic.baseline)} → {plain(topic.candidate)}",
        signed(topic.difference),
        "" if topic.share is None else percent(topic.share, 1),
        marks(topic),
    ]


def _documents(documents: Sequence[TopicDocuments]) -> list[str]:
    rows = [_document(one.topic, moved) for one in documents[:MAX_ROWS] for moved in one.moved[:MAX_ROWS]]
    if not rows:
        return []
    lines = table(("topic", "document", "grade:", "rank: baseline → candidate", "effect:"), rows)
    if any(not one.exact for one in documents[:MAX_ROWS]):
        lines += ["", "An effect is what restoring this document alone would gain; effects do not add up."]
    if len(documents) > MAX_ROWS or any(len(one.moved) > MAX_ROWS for one in documents[:MAX_ROWS]):
        lines += ["", f"At most {MAX_ROWS} topics, and {MAX_ROWS} documents of each, are shown."]
    return lines


def _document(topic: str, moved: MovedDocument) -> list[str]:
    ranks = [("none" if rank is None else str(rank)) for rank in (moved.baseline_rank, moved.candidate_rank)]
    grade = "unjudged" if moved.grade is None else str(moved.grade)
    return [code(topic), code(moved.document), grade, " → ".join(ranks), signed(moved.effect)]


def _slices(verdict: Verdict) -> list[str]:
    slices = () if verdict.explanation is None else verdict.explanation.slices
    if not slices:
        return []
    worst = sorted(slices, key=lambda one: (not one.risky, one.urisk))[:_MAX_SLICES]
    columns = ("slice", "topics:", "wins:", "losses:", "mean change:", "URisk:", "adjusted p:", "")
    lines = table(columns, [_slice(Shown(verdict), one) for one in worst])
    if len(worst) < len(slices):
        lines += ["", f"The {len(worst)} with the lowest URisk, of {len(slices)}."]
    return lines


def _slice(shown: Shown, one: Slice) -> list[str]:
    risk = shown.value(one.urisk)
    if one.lower is not None and one.upper is not None:
        risk += f" {shown.limits(one.lower, one.upper)}"
    if one.adjusted_p_value is not None:
        p_value = probability(one.adjusted_p_value).replace("<", "&#60;")
    else:
        p_value = "too few topics" if shown.slices_are_tested else "not tested"
    return [
        code(f"{one.tag}={one.value}"),
        str(one.count),
        str(one.wins),
        str(one.losses),
        signed(one.mean_difference),
        risk,
        p_value,
        "risky" if one.risky else "",
    ]


def _rests_on(judgements: Judgements) -> str:
    return (
        f"The verdict depends on {counted(judgements.documents, 'unjudged document')} in the first "
        f"{judgements.depth} ranks."
    )


def _judgements(verdict: Verdict, judgements: Judgements) -> list[str]:
    lines = [
        f"Unjudged in the first {judgements.depth} ranks: {judgements.candidate} of the candidate's, "
        f"{judgements.baseline} of the baseline's."
    ]
    shown = Shown(verdict)
    if judgements.cases:
        rows = [(shown.case(case), shown.value(case.urisk), case.outcome) for case in judgements.cases]
        lines += ["", *table(("if", "URisk:", "outcome"), rows)]
    if judgements.topics:
        most = [(code(t.topic), str(t.candidate), str(t.baseline)) for t in judgements.topics[:MAX_ROWS]]
        lines += ["", *table(("topics with most unjudged", "candidate:", "baseline:"), most)]
    return lines


def pictures(path: Path, verdicts: Sequence[Verdict]) -> list[list[Picture]]:
    """The charts of each verdict, for files beside the report at ``path``: Markdown shows pictures but draws none."""
    from pytest_riskguard.reports.html.charts import charts
    from pytest_riskguard.reports.html.charts.svg import svg

    by_verdict, number = [], 0
    for verdict in verdicts:
        drawings: list[Picture] = []
        if verdict.outcome != "incomparable":
            for chart in charts(verdict)[: 1 if verdict.passed else _MAX_FAILED]:
                number += 1
                drawn = svg(chart.spec, name=chart.key, title=chart.title, description=chart.description)
                name = f"{_plain(path.stem)}.{_plain(verdict.gate)}-{number}.svg"
                drawings.append(Picture(name, f"{chart.title}. {chart.description}", _alone(drawn)))
        by_verdict.append(drawings)
    return by_verdict


def _plain(name: str) -> str:
    """A part of a file name that every system accepts, and every Markdown accepts as the address of a picture."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:60] or "gate"


def _alone(drawn: str) -> str:
    """A chart of the page as a file: of its own size, on white, because it is shown without the page's colours."""
    sized = re.sub(
        r'viewBox="0 0 ([\d.]+) ([\d.]+)"',
        r'viewBox="0 0 \1 \2" width="\1" height="\2" font-family="sans-serif"',
        drawn,
        count=1,
    )
    return sized.replace(">", '><rect width="100%" height="100%" fill="#fff"/>', 1)
