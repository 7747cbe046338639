"""Meilisearch: responses of ``search`` and ``multi-search``."""

from __future__ import annotations

from pytest_riskguard.formats.engine_answers import (
    Answer,
    AnswerError,
    Engine,
    identifier,
    message,
    objects,
)
from pytest_riskguard.formats.response_files import ResponseFiles

_COUNTS = frozenset({"processingTimeMs", "estimatedTotalHits", "totalHits"})


class Meilisearch(Engine):
    """``hits``, which are the documents themselves.

    The id is ``id``, else the only field whose name ends so, as Meilisearch finds the primary key. The score
    ``_rankingScore`` is there where ``showRankingScore`` asks for it.
    """

    title, several, query_at, score_key = "Meilisearch", "results", ("query",), "_rankingScore"

    def is_answer(self, answer: Answer) -> bool:
        """Whether it has hits, and how many there are or how long they took."""
        return objects(answer.get("hits")) is not None and bool(answer.keys() & _COUNTS)

    def is_error(self, answer: Answer) -> bool:
        """Whether it has a ``message``, a ``code`` and a ``type``."""
        return isinstance(answer.get("message"), str) and {"code", "type"} <= answer.keys()

    def problem(self, answer: Answer) -> str | None:
        """An error, a search that was cut off, or servers without an answer."""
        if "hits" not in answer:
            return message("error", answer.get("code"), answer.get("message"))
        if remotes := answer.get("remoteErrors"):
            return message("these servers did not answer", ", ".join(map(str, remotes)))
        if answer.get("degraded"):
            return "the search was cut off, so its hits are incomplete"
        return None

    def found(self, answer: Answer) -> list[Answer]:
        """``hits``."""
        return list(answer["hits"])

    def document(self, hit: Answer) -> str:
        """``id``, or the only field whose name ends so."""
        if "id" in hit:
            return identifier(hit["id"], "the field id")
        names = [name for name in hit if name.lower().endswith("id") and not name.startswith("_")]
        if len(names) != 1:
            raise AnswerError(
                f"Meilisearch: expected a field id, or one whose name ends so, found {', '.join(names) or 'none'}"
            )
        return identifier(hit[names[0]], f"the field {names[0]}")


ENGINE = Meilisearch()
_FILES = ResponseFiles(ENGINE)
fits, rankings = _FILES.fits, _FILES.rankings
