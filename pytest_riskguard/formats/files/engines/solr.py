"""Solr: responses of ``select`` as JSON."""

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


class Solr(Engine):
    """``response.docs`` with ``id``, the usual unique key; ``score`` only where ``fl`` asks for it."""

    title, score_key = "Solr", "score"

    def is_answer(self, answer: Answer) -> bool:
        """Whether it has ``response.docs``, a list of objects; or grouped results, which have no single order."""
        return objects(inner(answer, "response").get("docs")) is not None or (
            "responseHeader" in answer and "grouped" in answer
        )

    def is_error(self, answer: Answer) -> bool:
        """Whether it has a header and an ``error``."""
        return "responseHeader" in answer and "error" in answer

    def problem(self, answer: Answer) -> str | None:
        """An error, or partial results."""
        header, error = inner(answer, "responseHeader"), inner(answer, "error")
        if error or header.get("status"):
            return message(f"error {error.get('code', header.get('status'))}", error.get("msg"))
        if partial := header.get("partialResults"):
            what = "omitted" if partial == "omitted" else "partial"
            return message(f"its results are {what}", header.get("partialResultsDetails"))
        return None

    def found(self, answer: Answer) -> list[Answer]:
        """``response.docs``."""
        if "response" not in answer:
            raise AnswerError("Solr: grouped results have no single order; ask without group=true")
        return list(answer["response"]["docs"])

    def document(self, hit: Answer) -> str:
        """``id``."""
        return identifier(hit.get("id"), "the field id")


ENGINE = Solr()
_FILES = ResponseFiles(ENGINE)
fits, rankings = _FILES.fits, _FILES.rankings
