"""What stands under the figures of a failure: documents that moved, slices of the topics, unjudged documents."""

from __future__ import annotations

from pytest_riskguard.gates.findings import MovedDocument, ResponsibleTopic, Slice, TopicDocuments
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.figures import between, probability, shown
from pytest_riskguard.run_context import Screen
from pytest_riskguard.text import clean, counted, signed

#: Topics, documents that moved and documents in their place, unless everything is asked for.
_TOPICS, _MOVED, _NEW = 3, 2, 1
_LONGEST_ID = 60


def moved_documents(verdict: Verdict, topics: tuple[ResponsibleTopic, ...], screen: Screen) -> list[str]:
    """A paragraph for each of the first topics; with ``-vv`` for all, with every document and its effect."""
    by_topic = {documents.topic: documents for documents in verdict.documents or ()}
    found = [by_topic[topic.topic] for topic in topics if topic.topic in by_topic]
    everything = screen.topics is None
    texts = [
        _topic_documents(documents, everything=everything) for documents in found[: None if everything else _TOPICS]
    ]
    return [text for text in texts if text]


def _topic_documents(documents: TopicDocuments, *, everything: bool) -> str | None:
    # A win of a document is no reason for the topic's loss, so it is left to -vv.
    moved = documents.moved if everything else tuple(d for d in documents.moved if d.effect < 0)
    most_moved, most_new = (len(moved), len(documents.replacements)) if everything else (_MOVED, _NEW)
    parts = [_moved(document, effect=everything) for document in moved[:most_moved]]
    if (rest := len(moved) - most_moved) > 0:
        parts.append(f"{counted(rest, 'more relevant document')} lost ranks")
    if new := documents.replacements[:most_new]:
        parts += [f"new at rank {document.candidate_rank}: {_named(document)}" for document in new]
    return f"{clean(documents.topic, limit=_LONGEST_ID)}: {'; '.join(parts)}" if parts else None


def _moved(document: MovedDocument, *, effect: bool) -> str:
    if document.baseline_rank is None:
        text = f"{_named(document)} came in at rank {document.candidate_rank}"
    elif document.candidate_rank is None:
        text = f"{_named(document)} fell from rank {document.baseline_rank} out of the run"
    else:
        text = f"{_named(document)} rank {document.baseline_rank} -> {document.candidate_rank}"
    return f"{text}, {signed(document.effect)}" if effect else text


def _named(document: MovedDocument) -> str:
    grade = "not judged" if document.grade is None else f"grade {document.grade}"
    return f"{clean(document.document, limit=_LONGEST_ID)} ({grade})"


#: How many risky slices are told of where not everything was asked for: tags overlap, so the first ones say most.
_MAX_SLICES = 2


def slices_are_tested(verdict: Verdict) -> bool:
    """Whether slices of this kind of gate have an interval, given enough topics: one on single topics has none."""
    return verdict.kind != "no_topic_collapse"


def slices(verdict: Verdict, screen: Screen) -> list[str]:
    """A paragraph for each of the worst risky slices; with ``-vv`` for every slice."""
    all_slices = verdict.explanation.slices if verdict.explanation is not None else ()
    worst = sorted(all_slices, key=lambda one: (not one.risky, round(one.urisk, 12)))
    if screen.topics is None:
        return [_slice(verdict, one) for one in worst]
    risky = [one for one in worst if one.risky]
    texts = [_slice(verdict, one) for one in risky[:_MAX_SLICES]]
    if (rest := len(risky) - _MAX_SLICES) > 0:
        texts.append(
            f"{counted(rest, 'more slice')} {'is' if rest == 1 else 'are'} significantly risky, -vv shows all"
        )
    return texts


def _slice(verdict: Verdict, one: Slice) -> str:
    risk = shown(verdict, one.urisk)
    if one.lower is not None and one.upper is not None:
        risk += f" {between(verdict, one.lower, one.upper)}"
    name = f"slice {clean(one.tag, limit=40)}={clean(one.value, limit=60)}"
    said = "significantly risky, " if one.risky else ""
    moved = f"{counted(one.losses, 'loss', 'losses')} and {counted(one.wins, 'win')} on {counted(one.count, 'topic')}"
    text = f"{name}: {said}URisk {risk}, mean {signed(one.mean_difference)}; {moved}"
    if one.adjusted_p_value is not None:
        return f"{text}; p {probability(one.adjusted_p_value)} among the slices (Holm)"
    return f"{text}; too few topics for an interval" if slices_are_tested(verdict) else text


_IF = {
    "irrelevant": "if none of them is relevant",
    "relevant": "if they have their topic's highest grade",
    "candidate_relevant": "if only the candidate's are relevant",
    "baseline_relevant": "if only the baseline's are relevant",
}
_WOULD = {"pass": "passes", "fail": "fails", "inconclusive": "is inconclusive"}


def unjudged(verdict: Verdict, screen: Screen) -> list[str]:
    """A paragraph where the outcome depends on unjudged documents; with ``-vv`` also where it does not."""
    holes = verdict.judgements
    if holes is None or not holes.documents:
        return []
    everything = screen.topics is None
    where = (
        f"{counted(holes.documents, 'document')} in the first {holes.depth} ranks that nobody judged "
        f"({holes.candidate} of the candidate, {holes.baseline} of the baseline)"
    )
    if not holes.depends:
        return [f"judgements: the outcome does not depend on {where}"] if everything else []
    shown_cases = [case for case in holes.cases if everything or case.outcome != verdict.outcome]
    cases = (
        f"it {_WOULD[case.outcome]} {_IF[case.case]} (URisk {shown(verdict, case.urisk)})" for case in shown_cases
    )
    return [f"judgements: this verdict rests on {where}: {'; '.join(cases)}"]  # a warning says what to do
