"""Named columns of tables and keys of JSON Lines, under the names that search tools give them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from pytest_riskguard.formats.records import Kind

#: What a column may hold -> its names, in lower case, the usual one first.
SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "topic": (
        "topic",
        "qid",
        "query_id",
        "query-id",
        "queryid",
        "q_id",
        "query id",
        "topic_id",
        "topicid",
        "_id",
        "id",
    ),
    "query": ("query", "query_text", "querytext", "query text", "text", "title", "keywords", "search_term"),
    # docno before docid: frames of PyTerrier have both, and docid is a number inside the index
    "document": (
        *("document", "docno", "docid", "doc_id", "doc-id", "document_id", "documentid", "did", "pid", "passage_id"),
        *("corpus-id", "corpus_id", "corpusid", "doc id", "product_id", "item_id", "objectid"),
    ),
    "grade": ("grade", "label", "rating", "relevance", "rel", "judgement", "judgment", "score", "gain"),
    "score": ("score", "sim", "similarity", "relevance", "_score", "value"),
    "rank": ("rank", "position", "pos", "doc position"),
    "judge": ("judge", "rater", "assessor", "annotator", "user", "judge_id"),
    "measure": ("measure", "metric"),
    "value": ("value", "score"),
    "weight": ("weight",),
    "system": ("name", "system", "model", "run", "run_name"),
}
_IDS = ("_id", "id")
_TEXTS_OF_DOCUMENTS = ("text", "title")
#: Names that mean something else in a table of this kind.
_OTHER: Mapping[Kind, Mapping[str, tuple[str, ...]]] = {
    "judgements": {"topic": _IDS, "query": _TEXTS_OF_DOCUMENTS},
    "rankings": {"topic": _IDS, "query": _TEXTS_OF_DOCUMENTS, "score": ("relevance", "value")},
}


def names_of(what: str, kind: Kind | None = None) -> tuple[str, ...]:
    """The names of a column in a table of this kind, or in any; in one of documents, ``id`` names these."""
    other = _OTHER.get(kind, {}) if kind else {}
    names = tuple(name for name in SYNONYMS[what] if name not in other.get(what, ()))
    return (*names, *_IDS) if what == "document" and other else names


def places(
    header: Iterable[str], wanted: Sequence[str], kind: Kind | None = None, given: Mapping[str, str] | None = None
) -> dict[str, int]:
    """Which column holds what, for those wanted that are there; no column is used twice.

    Names are compared in lower case. Of several columns that could hold one thing, the one whose name comes first
    among its synonyms is taken. ``given`` names the columns of some things, which then have no other.
    """
    names = [name.strip().lower() for name in header]
    given = given or {}
    found = {what: names.index(name.strip().lower()) for what, name in given.items() if name.strip().lower() in names}
    for what in wanted:
        free = [name for name in names_of(what, kind) if name in names and names.index(name) not in found.values()]
        if free and what not in given:
            found[what] = names.index(free[0])
    return found


def named(wanted: Sequence[str], kind: Kind | None = None) -> str:
    """For a message: the columns that are needed, each with its usual names."""
    return ", ".join(f"{what} ({', '.join(names_of(what, kind)[:4])}, ...)" for what in wanted)


def number(cell: str) -> float:
    """The finite number in a cell; NaN for anything else."""
    try:
        value = math.nan if "_" in cell else float(cell)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def whole(value: float) -> float:
    """A number to be written: without a decimal point where it needs none."""
    return int(value) if float(value).is_integer() else float(value)
