"""Rankings of passages as rankings of their documents: a document stands where its best passage does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_riskguard.evaluation.runs.chunks import Chunk, Documents
from pytest_riskguard.evaluation.runs.order import as_written
from pytest_riskguard.formats.given_file import LabelRules


def by_document(chunks: Iterable[Chunk], rules: LabelRules) -> Iterator[Chunk]:
    """Some topics of a run after the other, with one entry for each document."""
    for chunk in chunks:
        yield {topic: _best_of(documents, rules) for topic, documents in chunk.items()} if rules.separator else chunk


def _best_of(passages: Documents, rules: LabelRules) -> Documents:
    """The best passage of each document: the first in the order as written, which begins with the highest score."""
    ranks = None if passages.ranks is None else dict(zip(passages, passages.ranks, strict=True))
    written = as_written(list(passages), list(passages.values()), passages.ranks)
    best: dict[str, str] = {}
    for passage in written.ranking:
        best.setdefault(rules.document(passage), passage)
    documents = Documents((document, passages[passage]) for document, passage in best.items())
    documents.ranks = None if ranks is None else [ranks[passage] for passage in best.values()]
    return documents
