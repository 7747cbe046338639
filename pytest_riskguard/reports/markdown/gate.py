"""What one gate says, in Markdown: summary, topics, documents, slices, judgements, warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_riskguard.gates.findings import Judgements, MovedDocument, ResponsibleTopic, Slice, TopicDocuments
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.figures import has, shown
from pytest_riskguard.reports.markdown.escape import code, prose
from pytest_riskguard.reports.markdown.pictures import Picture
from pytest_riskguard.reports.markdown.table import folded, table
from pytest_riskguard.reports.sections import slices_are_tested
from pytest_riskguard.reports.terminal import headline
from pytest_riskguard.reports.topic_table import marks
from pytest_riskguard.text import counted, plain, signed

#: Rows of a table; the JSON report has all of them.
MOST = 10
_MOST_SLICES = 30
_CASES = {
    "irrelevant": "none is relevant (as scored)",
    "relevant": "all are relevant",
    "candidate_relevant": "only the candidate's are relevant",
    "baseline_relevant": "only the baseline's are relevant",
}


@dataclass(frozen=True)
class Extent:
    """How much of a gate is said."""

    topics: bool = True
    details: bool = True


ALL, TOPICS, BRIEF = Extent(), Extent(details=False), Extent(topics=False, details=False)


def section(verdict: Verdict, extent: Extent, pictures: Sequence[Picture] = ()) -> list[str]:
    """The gate in lines, most important first."""
    lines = [prose(_summary(verdict)), ""]
    lines += [line for warning in verdict.warnings for line in (_warning(warning.code, warning.message), "")]
    if verdict.judgements is not None and verdict.judgements.depends and not has(verdict, "rests_on_unjudged"):
        lines += [prose(_rests_on(verdict.judgements)), ""]
    for picture in pictures:
        lines += [f"![{prose(picture.description, limit=500)}]({picture.file})", ""]
    if extent.topics:
        lines += _topics(verdict)
    if extent.details:
        lines += folded("Documents that moved", _documents(verdict.documents or ()))
        lines += folded("Slices", _slices(verdict))
        if verdict.judgements is not None and verdict.judgements.documents:
            lines += folded("Judgements", _judgements(verdict, verdict.judgements))
    return lines


def _summary(verdict: Verdict) -> str:
    if verdict.explanation is not None and verdict.explanation.summary:
        return verdict.explanation.summary
    return headline(verdict)


def _warning(name: str, message: str) -> str:
    return f"Warning ({code(name)}): {prose(message, limit=1000)}"


def _topics(verdict: Verdict) -> list[str]:
    losers = verdict.responsible_topics[: verdict.topics.losses]
    if verdict.kind == "no_topic_collapse":
        losers = tuple(sorted((t for t in losers if t.exceeds), key=lambda topic: topic.difference))
    if not losers:
        return []
    title = f"Topics responsible: {_first(losers)} of {len(losers)} that lost" + (
        " too much." if verdict.kind == "no_topic_collapse" else "."
    )
    with_queries = any(topic.query for topic in losers)
    columns = ["topic", *(["query"] if with_queries else []), "baseline → candidate", "difference:", "of loss:", ""]
    rows = [_topic(topic, with_queries=with_queries) for topic in losers[:MOST]]
    return [title, "", *table(columns, rows), ""]


def _first(items: Sequence[object]) -> str:
    return f"the {MOST} most harmful" if len(items) > MOST else "all"


def _topic(topic: ResponsibleTopic, *, with_queries: bool) -> list[str]:
    return [
        code(topic.topic),
        *([code(topic.query or "")] if with_queries else []),
        f"{plain(topic.baseline)} → {plain(topic.candidate)}",
        signed(topic.difference),
        "" if topic.share is None else f"{100 * topic.share:.1f} %",
        marks(topic),
    ]


def _documents(documents: Sequence[TopicDocuments]) -> list[str]:
    rows = [_document(each.topic, moved) for each in documents[:MOST] for moved in each.moved[:MOST]]
    if not rows:
        return []
    lines = table(("topic", "document", "grade:", "rank: baseline → candidate", "effect:"), rows)
    if any(not each.exact for each in documents[:MOST]):
        lines += ["", "An effect is what putting this document alone back would bring; effects do not add up."]
    if len(documents) > MOST or any(len(each.moved) > MOST for each in documents[:MOST]):
        lines += ["", f"At most {MOST} topics, and {MOST} documents of each, are shown."]
    return lines


def _document(topic: str, moved: MovedDocument) -> list[str]:
    ranks = [("none" if rank is None else str(rank)) for rank in (moved.baseline_rank, moved.candidate_rank)]
    grade = "unjudged" if moved.grade is None else str(moved.grade)
    return [code(topic), code(moved.document), grade, " → ".join(ranks), signed(moved.effect)]


def _slices(verdict: Verdict) -> list[str]:
    slices = () if verdict.explanation is None else verdict.explanation.slices
    if not slices:
        return []
    worst = sorted(slices, key=lambda each: (not each.risky, each.urisk))[:_MOST_SLICES]
    columns = ("slice", "topics:", "wins:", "losses:", "mean change:", "URisk:", "adjusted p:", "")
    lines = table(columns, [_slice(verdict, each) for each in worst])
    if len(worst) < len(slices):
        lines += ["", f"The {len(worst)} with the lowest URisk, of {len(slices)}."]
    return lines


def _slice(verdict: Verdict, each: Slice) -> list[str]:
    risk = shown(verdict, each.urisk)
    if each.lower is not None and each.upper is not None:
        ends = sorted((shown(verdict, each.lower), shown(verdict, each.upper)), key=float)
        risk += f" [{', '.join(ends)}]"
    return [
        code(f"{each.tag}={each.value}"),
        str(each.count),
        str(each.wins),
        str(each.losses),
        signed(each.mean_difference),
        risk,
        ("too few topics" if slices_are_tested(verdict) else "not tested")
        if each.adjusted_p_value is None
        else _p(each.adjusted_p_value),
        "risky" if each.risky else "",
    ]


def _p(value: float) -> str:
    return prose("< 0.0001") if value < 1e-4 else plain(value)


def _rests_on(judgements: Judgements) -> str:
    return (
        f"The verdict depends on documents that nobody judged: {counted(judgements.documents, 'document')} in the "
        f"first {judgements.depth} ranks."
    )


def _judgements(verdict: Verdict, judgements: Judgements) -> list[str]:
    lines = [
        f"Unjudged in the first {judgements.depth} ranks: {judgements.candidate} of the candidate's, "
        f"{judgements.baseline} of the baseline's."
    ]
    if judgements.cases:
        rows = [(_CASES[case.case], shown(verdict, case.urisk), case.outcome) for case in judgements.cases]
        lines += ["", *table(("had they been judged", "URisk:", "outcome"), rows)]
    if judgements.topics:
        most = [(code(t.topic), str(t.candidate), str(t.baseline)) for t in judgements.topics[:MOST]]
        lines += ["", *table(("topics with most", "candidate:", "baseline:"), most)]
    return lines
