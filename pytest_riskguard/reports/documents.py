"""Documents behind the topics that lost most: which moved, from which rank to which, and what stands there now."""

from __future__ import annotations

from pytest_riskguard.gates.findings import MovedDocument, ResponsibleTopic, TopicDocuments
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.detail import Detail
from pytest_riskguard.reports.text import clean, counted, signed

#: Topics, documents that moved and documents in their place, unless everything is asked for.
_TOPICS, _MOVED, _NEW = 3, 2, 1
_LONGEST_ID = 60


def paragraphs(verdict: Verdict, topics: tuple[ResponsibleTopic, ...], detail: Detail) -> list[str]:
    """A paragraph for each of the first topics; with ``-vv`` for all, with every document and its effect."""
    by_topic = {documents.topic: documents for documents in verdict.documents or ()}
    found = [by_topic[topic.topic] for topic in topics if topic.topic in by_topic]
    everything = detail.topics is None
    told = [_told(documents, everything=everything) for documents in found[: None if everything else _TOPICS]]
    return [text for text in told if text]


def _told(documents: TopicDocuments, *, everything: bool) -> str | None:
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
