"""Judged documents that no longer exist: no candidate can retrieve them, and the baseline once could."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from pytest_riskguard.errors import DataError, FileError
from pytest_riskguard.evaluation.document_titles import DocumentTitles
from pytest_riskguard.evaluation.judgements.qrels import Qrels
from pytest_riskguard.run_context import report_failure
from pytest_riskguard.text import clean, counted, listed


@dataclass(frozen=True)
class StaleLabels:
    """Scored topics with relevant documents that the documents ``file`` lacks, and how many these are.

    ``is_foreign``: the file has no relevant document at all.
    """

    file: str
    by_topic: Mapping[str, int]
    is_foreign: bool

    def among(self, topics: Collection[str]) -> StaleLabels:
        """What concerns these topics."""
        return replace(self, by_topic={topic: gone for topic, gone in self.by_topic.items() if topic in topics})

    @property
    def documents(self) -> int:
        """How many documents are gone, those of several topics counted for each."""
        return sum(self.by_topic.values())

    def refused(self, outcome: str, other_outcome: str) -> DataError:
        """The error to raise where an outcome rests on these topics."""
        names, one = tuple(self.by_topic), self.documents == 1
        foreign = f" {self.file} has no judged document at all: does it write ids as the judgements do?"
        return DataError(
            f"{counted(self.documents, 'relevant document')} of {counted(len(names), 'topic')} "
            f"({listed(names, most=5)}) {'is' if one else 'are'} not in {self.file}, so no system can retrieve "
            f"{'it' if one else 'them'} any more.{foreign if self.is_foreign else ''} The gate's answer is {outcome} "
            f"with {'this topic' if len(names) == 1 else 'these topics'} and {other_outcome} without; judge "
            f"{'it' if len(names) == 1 else 'them'} again, or remove the judgements of documents that are gone",
            reason="stale_labels",
        )


def stale_labels(qrels: Qrels, documents: DocumentTitles) -> StaleLabels | None:
    """What is stale in the judgements; None if nothing is, or if there is no documents file.

    If it cannot be read, a line says so and the run ends with the status of incomparable data, whatever the verdict.
    """
    file = documents.file_name
    if file is None:
        return None
    relevant = {
        topic: [document for document, grade in qrels.grades[topic].items() if qrels.rules.is_relevant(grade)]
        for topic in qrels.topics
    }
    names = {document for documents_of_topic in relevant.values() for document in documents_of_topic}
    try:
        gone = documents.gone(names, qrels.rules)
    except FileError as error:
        report_failure(f"pytest-riskguard: {clean(str(error), limit=1000)}; reports show ids instead of titles")
        return None
    counts = {topic: sum(document in gone for document in of_topic) for topic, of_topic in relevant.items()}
    by_topic = {topic: count for topic, count in counts.items() if count}
    return StaleLabels(file, by_topic, len(gone) == len(names)) if gone else None
