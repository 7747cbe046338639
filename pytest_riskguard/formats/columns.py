"""Named columns of tables and keys of JSON Lines, under the names that search tools give them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

#: What a column may hold -> its names, in lower case, the usual one first.
SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "topic": ("topic", "qid", "query_id", "query-id", "queryid", "q_id", "topic_id", "topicid", "_id", "id"),
    "query": ("query", "query_text", "querytext", "query text", "text", "title", "keywords", "search_term"),
    "document": (
        *("document", "docid", "doc_id", "docno", "doc-id", "document_id", "documentid", "did", "pid", "passage_id"),
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


def places(header: Iterable[str], wanted: Sequence[str]) -> dict[str, int]:
    """Which column holds what, for those wanted that are there; no column is used twice.

    Names are compared in lower case. Of several columns that could hold one thing, the one whose name comes first
    among its synonyms is taken.
    """
    names = [name.strip().lower() for name in header]
    found: dict[str, int] = {}
    for what in wanted:
        free = [name for name in SYNONYMS[what] if name in names and names.index(name) not in found.values()]
        if free:
            found[what] = names.index(free[0])
    return found


def named(wanted: Sequence[str]) -> str:
    """For a message: the columns that are needed, each with its usual names."""
    return ", ".join(f"{what} ({', '.join(SYNONYMS[what][:4])}, ...)" for what in wanted)


def number(cell: str) -> float:
    """The finite number in a cell; NaN for anything else."""
    try:
        value = math.nan if "_" in cell else float(cell)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan
