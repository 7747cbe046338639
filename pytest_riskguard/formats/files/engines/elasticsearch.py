"""Elasticsearch and OpenSearch: responses of ``_search`` and ``_msearch``."""

from __future__ import annotations

from pytest_riskguard.formats.engine_answers import Answer, Engine, identifier, inner, message, objects
from pytest_riskguard.formats.response_files import ResponseFiles


class Elasticsearch(Engine):
    """``hits.hits`` with ``_id`` and ``_score``, which is null where hits are sorted by a field."""

    title, several, score_key = "Elasticsearch", "responses", "_score"
    beside = (*Engine.beside, "is_partial", "is_running", "state")

    def is_answer(self, answer: Answer) -> bool:
        """Whether it has ``hits.hits``, a list of objects."""
        return objects(inner(answer, "hits").get("hits")) is not None

    def is_error(self, answer: Answer) -> bool:
        """Whether it has ``error`` and ``status``."""
        return "error" in answer and isinstance(answer.get("status"), int)

    def problem(self, answer: Answer) -> str | None:
        """An error, a time-out, shards or clusters without an answer."""
        if answer.get("error"):
            error = inner(answer, "error")
            what = message(error.get("type"), error.get("reason")) if error else message(answer["error"])
            return message(f"error {answer.get('status', '')}".strip(), what)
        if answer.get("timed_out"):
            return "the search timed out, so its hits are incomplete"
        if answer.get("terminated_early"):
            return "the search was terminated early, so its hits are incomplete"
        if answer.get("is_partial") or answer.get("is_running") or answer.get("state") == "RUNNING":
            return "the asynchronous search was not complete, so its hits are incomplete"
        shards, clusters = inner(answer, "_shards"), inner(answer, "_clusters")
        if shards.get("failed") or shards.get("failures"):
            failures = objects(shards.get("failures")) or [{}]
            reason = inner(failures[0], "reason")
            which = f"{shards.get('failed') or len(failures)} of {shards.get('total', '?')} shards failed"
            return message(which, reason.get("type"), reason.get("reason"))
        total, successful = shards.get("total"), shards.get("successful")
        if isinstance(total, int) and isinstance(successful, int) and successful < total:
            # a shard without a server is not among those that failed
            return f"only {successful} of {total} shards answered"
        missing = [name for name in ("skipped", "partial", "failed") if clusters.get(name)]
        if missing:
            return f"{clusters[missing[0]]} of {clusters.get('total', '?')} clusters {missing[0]}"
        return None

    def found(self, answer: Answer) -> list[Answer]:
        """``hits.hits``."""
        return list(answer["hits"]["hits"])

    def document(self, hit: Answer) -> str:
        """``_id``."""
        return identifier(hit.get("_id"), "_id")


ENGINE = Elasticsearch()
_FILES = ResponseFiles(ENGINE)
fits, rankings = _FILES.fits, _FILES.rankings
