"""Algolia: responses to queries, one or several to a request; hits have an order and no scores."""

from __future__ import annotations

from pytest_riskguard.formats.engine_answers import Answer, Engine, identifier, inner, message, objects
from pytest_riskguard.formats.response_files import ResponseFiles


class Algolia(Engine):
    """``hits`` with ``objectID``."""

    title, several, query_at = "Algolia", "results", ("query",)

    def is_answer(self, answer: Answer) -> bool:
        """Whether it has hits with ``objectID``, or none and how many there are."""
        hits = objects(answer.get("hits"))
        return hits is not None and (all("objectID" in hit for hit in hits) if hits else "nbHits" in answer)

    def is_error(self, answer: Answer) -> bool:
        """Whether it has a ``message`` and a ``status`` instead of hits."""
        return isinstance(answer.get("message"), str) and isinstance(answer.get("status"), int)

    def problem(self, answer: Answer) -> str | None:
        """An error, or a time-out."""
        if "hits" not in answer:
            return message(f"error {answer['status']}", answer["message"])
        exhaustive = inner(answer, "exhaustive")
        # the number of hits alone is an estimate where there are very many, of which the first are whole
        counted_all = exhaustive.get("nbHits", answer.get("exhaustiveNbHits", True))
        if answer.get("timeoutHits") or (answer.get("timeoutCounts") and not counted_all):
            return "the search timed out, so its hits are incomplete"
        if exhaustive.get("rulesMatch") is False:
            return "the search timed out before all rules were applied"
        return None

    def found(self, answer: Answer) -> list[Answer]:
        """``hits``."""
        return list(answer["hits"])

    def document(self, hit: Answer) -> str:
        """``objectID``."""
        return identifier(hit.get("objectID"), "objectID")


ENGINE = Algolia()
_FILES = ResponseFiles(ENGINE)
fits, rankings = _FILES.fits, _FILES.rankings
