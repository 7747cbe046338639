"""JSON as ranx and pytrec_eval have it: ``{topic: {document: number}}``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_riskguard.formats.columns import places
from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.records import Judgement, Kind, Ranking, Records

#: JSON is read with smaller numbers only, CBOR has none that are too large.
_LARGEST = 2**64


def fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the file is an object of objects of numbers."""
    if not file.looks_like_json:
        return Misfit("it is not JSON")
    return misfit_of(file.json_or_none)


def misfit_of(value: Any) -> Misfit | None:
    """None for a mapping of topics to mappings of documents to numbers."""
    if not isinstance(value, dict) or not value:
        return Misfit("it is not an object of topics", 1)
    for topic, documents in value.items():
        if not isinstance(topic, str) or not isinstance(documents, dict):
            return Misfit(f"{topic!r:.60} is not an object of documents and numbers", 2)
        for document, score in documents.items():
            if not isinstance(document, str) or isinstance(score, bool) or not isinstance(score, int | float):
                return Misfit(f"{document!r:.60} of {topic!r:.60} has no number", 3)
            if abs(score) > _LARGEST and isinstance(score, int):
                return Misfit(f"{document!r:.60} of {topic!r:.60} has a number of more than 64 bits", 3)
    if _is_frame(value):
        return Misfit("it is a frame by columns; write it with orient='records' (pandas)", 4)
    return None


def _is_frame(value: dict[str, dict[str, Any]]) -> bool:
    """Whether pandas wrote it, whose columns look like topics and whose rows like documents."""
    columns = places(value, ("document", "topic", "grade", "score", "rank"))
    return "document" in columns and len(columns) >= 3


def judgements(file: InputFile) -> Records[Judgement]:
    """The grades of each topic."""
    return Records(
        Judgement(topic, d, float(grade)) for topic, graded in _topics(file) for d, grade in graded.items()
    )


def rankings(file: InputFile) -> Records[Ranking]:
    """The scores of each topic; their order in the file means nothing."""
    return Records(Ranking(topic, list(scores), [*map(float, scores.values())]) for topic, scores in _topics(file))


def _topics(file: InputFile) -> Iterator[tuple[str, dict[str, Any]]]:
    if (misfit := fits(file, "rankings")) is not None:
        raise file.refuse(None, f"expected JSON as ranx writes it, found another file: {misfit.reason}")
    yield from file.json.items()
