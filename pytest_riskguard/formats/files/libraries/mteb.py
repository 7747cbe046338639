"""Predictions of MTEB: ``{subset: {split: {topic: {document: score}}}}``, or, in older versions, without subsets.

A ranking for each subset and split: ``FILE#subset/split``, or the name of one of the two where that is enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.files.libraries.ranx import misfit_of
from pytest_riskguard.formats.records import Kind, Ranking, Records

_META = "mteb_model_meta"


def fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether scores of documents stand two or three levels below the top."""
    if not file.looks_like_json:
        return Misfit("it is not JSON")
    value = file.json_or_none
    if not isinstance(value, dict):
        return Misfit("it is not a JSON object", 1)
    parts = _parts(value)
    if parts is None:
        return Misfit("it is not an object of subsets, splits, topics and documents", 4 if _META in value else 1)
    return next((misfit for part in parts.values() if (misfit := misfit_of(part)) is not None), None)


def rankings(file: InputFile) -> Records[Ranking]:
    """The scores of each topic of one subset and split."""
    parts = _parts(file.json) if fits(file, "rankings") is None else None
    if parts is None:
        raise file.refuse(None, "expected predictions as MTEB writes them, found another file")
    rows = {
        name: [Ranking(topic, list(scores), [*map(float, scores.values())]) for topic, scores in part.items()]
        for name, part in parts.items()
    }
    if file.part is not None and file.part not in rows:
        named = [name for name in rows if file.part in name.split("/")]
        if len(named) == 1:
            return Records(rows[named[0]])
    return Records(file.chosen(rows, "subset and split"))


def _parts(value: Mapping[str, Any]) -> dict[str, Mapping[str, Any]] | None:
    """Each ``subset/split``, or each split; None of something else."""
    parts: dict[str, Mapping[str, Any]] = {}
    for name, inner in value.items():
        if name == _META:
            continue
        if not isinstance(inner, dict) or not inner:
            return None
        if _holds_rankings(inner):
            parts[name] = inner
            continue
        for split, topics in inner.items():
            if not isinstance(topics, dict) or not _holds_rankings(topics):
                return None
            parts[f"{name}/{split}"] = topics
    return parts or None


def _holds_rankings(topics: Mapping[str, Any]) -> bool:
    """Whether the first document of a mapping of topics has a number."""
    first = next((documents for documents in topics.values() if documents), None)
    return isinstance(first, dict) and isinstance(next(iter(first.values())), int | float)
