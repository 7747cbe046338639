"""Typesense: responses of ``documents/search`` and ``multi_search``."""

from __future__ import annotations

from pytest_riskguard.formats.engine_answers import (
    Answer,
    AnswerError,
    Engine,
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
        return "the search was cut off, so its hits are incomplete" if answer.get("search_cutoff") else None

    def found(self, answer: Answer) -> list[Answer]:
        """``hits``."""
        if "hits" not in answer:
            raise AnswerError("Typesense: grouped hits have no single order; ask without group_by")
        return list(answer["hits"])

    def document(self, hit: Answer) -> str:
        """``document.id``."""
        return identifier(inner(hit, "document").get("id"), "document.id")

    def score(self, hit: Answer) -> object:
        """The score of hybrid search, else ``text_match``."""
        return inner(hit, "hybrid_search_info").get("rank_fusion_score", hit.get("text_match"))


ENGINE = Typesense()
_FILES = ResponseFiles(ENGINE)
fits, rankings = _FILES.fits, _FILES.rankings
