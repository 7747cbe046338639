"""Vespa: results in its default JSON format."""

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

#: A degradation that the rank profile itself asks for.
_DELIBERATE = "match-phase"


class Vespa(Engine):
    """``root.children``, whose ids are ``id:namespace:type::document``; results without hits have no children."""

    title, score_key = "Vespa", "relevance"

    def is_answer(self, answer: Answer) -> bool:
        """Whether it has a ``root`` with hits, or with how many there are."""
        root = inner(answer, "root")
        return bool(root.keys() & {"children", "coverage"}) or "totalCount" in inner(root, "fields")

    def is_error(self, answer: Answer) -> bool:
        """Whether it has a ``root`` with errors."""
        return "errors" in inner(answer, "root")

    def problem(self, answer: Answer) -> str | None:
        """An error, or documents that were not searched."""
        root = inner(answer, "root")
        if root.get("errors"):
            error = (objects(root["errors"]) or [{}])[0]
            return message(f"error {error.get('code', '')}".strip(), error.get("summary"), error.get("message"))
        coverage = inner(root, "coverage")
        share = coverage.get("coverage", 100)
        reasons = [name for name, holds in inner(coverage, "degraded").items() if holds]
        is_whole = coverage.get("full", True) and isinstance(share, int | float) and share >= 100
        if reasons == [_DELIBERATE] or (is_whole and not reasons):
            return None
        return message(f"only {coverage.get('coverage', '?')} % of the documents were searched", ", ".join(reasons))

    def found(self, answer: Answer) -> list[Answer]:
        """``root.children`` without the groups that may stand beside the hits."""
        children = objects(answer["root"].get("children", []))
        if children is None:
            raise AnswerError("Vespa: expected a list of objects in root.children")
        return [child for child in children if not str(child.get("id", "")).startswith("group:")]

    def document(self, hit: Answer) -> str:
        """What follows ``::`` in the document's id; the hit's own id is another one where no summary was fetched."""
        full = str(inner(hit, "fields").get("documentid") or hit.get("id") or "")
        _, mark, document = full.partition("::")
        if mark:
            return identifier(document, f"what follows '::' in {full!r:.60}")
        if full.startswith("index:"):
            raise AnswerError(
                f"Vespa: {full!r:.60} is not the id of a document; ask for a summary that has documentid"
            )
        return identifier(full, "root.children")


ENGINE = Vespa()
_FILES = ResponseFiles(ENGINE)
fits, rankings = _FILES.fits, _FILES.rankings
