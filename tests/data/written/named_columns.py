"""Tables whose header names the columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from tests.data.world import Case, World


def table(header: Iterable[str], rows: Iterable[Iterable[object]], delimiter: str = ",") -> bytes:
    """A delimited table, quoted where needed."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows([tuple(header), *rows])
    return text.getvalue().encode()


def _judged(world: World) -> bytes:
    rows = [(t, d, g) for t, graded in world.grades.items() for d, g in graded.items()]
    return table(("query_id", "doc_id", "relevance"), rows)


def _judged_by_text(world: World) -> bytes:
    rows = [(world.texts[t], d, g) for t, graded in world.grades.items() for d, g in graded.items()]
    return table(("query", "docid", "rating"), rows, delimiter=";")


def _scored(world: World) -> bytes:
    rows = [(t, d, s) for t, scored in world.scored.items() for d, s in scored.items()]
    return table(("qid", "docno", "score"), rows, delimiter="\t")


def _ranked(world: World) -> bytes:
    rows = [(t, d, rank) for rank in range(1, 9) for t, ids in world.candidate.items() for d in ids[rank - 1 : rank]]
    return table(("qid", "docno", "rank"), rows)


CASES = (
    Case("csv", "judgements", "judged.csv", _judged),
    Case("csv", "judgements", "by_text.csv", _judged_by_text, keyed_by_text=True),
    Case("csv", "rankings", "candidate.tsv", _scored),
    Case("csv", "rankings", "candidate.csv", _ranked),
    Case("csv", "topics", "queries.csv", lambda world: table(("_id", "text"), world.texts.items())),
)
