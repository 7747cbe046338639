"""Typesense: responses of ``documents/search`` and ``multi_search``."""

from __future__ import annotations

from typing import Any

from pytest_riskguard.formats.engine_answers import (
    Answer,
    AnswerError,
    Engine,
    Hit,
    identifier,
    inner,
    message,
    objects,
)
from pytest_riskguard.formats.response_files import ResponseFiles


class Typesense(Engine):
    """``hits`` with ``document.id``.

    A hit's score is that of hybrid search (``hybrid_search_info.rank_fusion_score``) where there is one, else
    ``text_match``, a whole number of 64 bits.
    """

    title, several, query_at = "Typesense", "results", ("request_params", "q")

    def is_answer(self, answer: Answer) -> bool:
        """Whether it has hits with a ``document``, or none and how many there are; or grouped hits."""
        if "grouped_hits" in answer and "found" in answer:
            return True
        hits = objects(answer.get("hits"))
        return hits is not None and (all("document" in hit for hit in hits) if hits else "found" in answer)

    def is_error(self, answer: Answer) -> bool:
        """Whether it has an ``error`` as text, or a ``message`` and nothing else."""
        return (isinstance(answer.get("error"), str) and "status" not in answer) or list(answer) == ["message"]

    def problem(self, answer: Answer) -> str | None:
        """An error, or a search that was cut off."""
        if "hits" not in answer and "grouped_hits" not in answer:
            return message(f"error {answer.get('code', '')}".strip(), answer.get("error", answer.get("message")))
        return "the search was cut off, so that its hits are only a part" if answer.get("search_cutoff") else None

    def hits(self, answer: Answer) -> list[Hit]:
        """The hits in their order."""
        if "hits" not in answer:
            raise AnswerError("Typesense: grouped hits have no single order; ask without group_by")
        hits = answer["hits"]
        scores = _exact(
            [inner(hit, "hybrid_search_info").get("rank_fusion_score", hit.get("text_match")) for hit in hits]
        )
        documents = [identifier(inner(hit, "document").get("id"), "document.id") for hit in hits]
        return [Hit(document, score) for document, score in zip(documents, scores, strict=True)]


def _exact(scores: list[Any]) -> list[float | None]:
    """Scores as 64-bit floating point; their places from the lowest where that cannot tell whole numbers apart."""
    if not all(isinstance(score, int | float) and not isinstance(score, bool) for score in scores):
        return [None] * len(scores)
    if len({*map(float, scores)}) < len({*scores}):
        places = {score: place for place, score in enumerate(sorted({*scores}), 1)}
        return [float(places[score]) for score in scores]
    return [float(score) for score in scores]


ENGINE = Typesense()
_FILES = ResponseFiles(ENGINE)
fits, rankings = _FILES.fits, _FILES.rankings
