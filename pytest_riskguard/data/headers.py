"""Names of columns and keys as search tools give them: which column holds what, and what a table lacks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from pytest_riskguard.data.input_files import Kind

#: What a column may hold -> its names, in lower case, the usual one first. The document's docno comes before docid:
#: frames of PyTerrier have both, and docid is a number inside the index.
SYNONYMS: Mapping[str, tuple[str, ...]] = {
    what: tuple(names.split(", "))
    for what, names in {
        "topic": "topic, qid, query_id, query-id, queryid, q_id, query id, topic_id, topicid, _id, id",
        "query": "query, query_text, querytext, query text, text, title, keywords, search_term",
        "document": "document, docno, docid, doc_id, doc-id, document_id, documentid, did, pid, passage_id, "
        "corpus-id, corpus_id, corpusid, doc id, product_id, item_id, objectid, _id, id",
        "grade": "grade, label, rating, relevance, rel, judgement, judgment, score, gain",
        "score": "score, sim, similarity, _score",
        "rank": "rank, position, pos, doc position",
        "judge": "judge, rater, assessor, annotator, user, judge_id",
        "measure": "measure, metric",
        "value": "value, score",
        "weight": "weight",
        "system": "name, system, model, run, run_name",
    }.items()
}
#: Names that mean the document in a table of documents.
_OF_DOCUMENTS = frozenset({"_id", "id", "text", "title"})
#: What the columns of a table may hold, those that are hardest to mistake first.
WANTED: Mapping[Kind, tuple[str, ...]] = {
    "judgements": ("document", "topic", "query", "grade", "judge"),
    "rankings": ("document", "topic", "query", "rank", "score"),
    "topics": ("topic", "query", "weight"),
    "scores": ("measure", "topic", "value", "system"),
}
#: What it must hold: of each group one.
_NEEDED: Mapping[Kind, tuple[tuple[str, ...], ...]] = {
    "judgements": (("document",), ("grade",), ("topic", "query")),
    "rankings": (("document",), ("topic", "query"), ("score", "rank")),
    "topics": (("query",),),
    "scores": (("measure",), ("value",), ("topic",)),
}


#: Why a table of data alone does not fit.
NO_HEADER = "its first row is data, no header"


def names_of(what: str, kind: Kind) -> tuple[str, ...]:
    """The names of a column in a table of this kind."""
    is_of_documents = kind in ("judgements", "rankings") and what != "document"
    return tuple(name for name in SYNONYMS[what] if not (is_of_documents and name in _OF_DOCUMENTS))


def places(header: Iterable[str], kind: Kind, given: Mapping[str, str]) -> dict[str, int]:
    """Which column holds what, for those wanted that are there; no column is used twice.

    Names are compared in lower case. Of several columns that could hold one thing, the one whose name comes first
    among its synonyms is taken. ``given`` names the columns of some things, which then have no other.
    """
    names = [name.strip().lower() for name in header]
    said = {what: name.strip().lower() for what, name in given.items()}
    found = {what: names.index(name) for what, name in said.items() if name in names}
    for what in WANTED[kind]:
        free = [name for name in names_of(what, kind) if name in names and names.index(name) not in found.values()]
        if free and what not in given:
            found[what] = names.index(free[0])
    return found


def missing_columns(header: Iterable[str], kind: Kind, given: Mapping[str, str]) -> str | None:
    """What a header lacks to hold rows of this kind, for a message; None if nothing."""
    header = [name.strip() for name in header]
    columns = places(header, kind, given)
    only = f"only {', '.join(map(repr, header[:20])) or 'none'}"
    if absent := next((name for what, name in given.items() if what not in columns), None):
        return f"it has no column {absent!r}, {only}"
    is_score = "grade" in columns and "grade" not in given and header[columns["grade"]].lower() == "score"
    if is_score and "rank" in places(header, "rankings", {}):
        return "its scores stand beside ranks: it holds rankings"
    missing = [
        f"{what} ({', '.join(names_of(what, kind)[:4])}, ...)"
        for what, *others in _NEEDED[kind]
        if not columns.keys() & {what, *others}
    ]
    return f"it names no column for {', '.join(missing)}, {only}" if missing else None


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
