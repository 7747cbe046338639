"""Tables whose header names the columns."""

import csv
import io
from collections.abc import Iterable

from tests.data.world import Case, World, rows


def table(header: Iterable[str], body: Iterable[Iterable[object]], delimiter: str = ",") -> bytes:
    """A delimited table, quoted where needed."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows([tuple(header), *body])
    return text.getvalue().encode()


def _judged_by_text(world: World) -> bytes:
    return table(("query", "docid", "rating"), rows(world.named_by_text().grades), delimiter=";")


def _ranked(world: World) -> bytes:
    ranked = [
        (t, d, rank) for rank in range(1, 9) for t, ids in world.candidate.items() for d in ids[rank - 1 : rank]
    ]
    return table(("qid", "docno", "rank"), ranked)


CASES = (
    Case(
        "csv",
        "judgements",
        "judged.csv",
        lambda world: table(("query_id", "doc_id", "relevance"), rows(world.grades)),
    ),
    Case("csv", "judgements", "by_text.csv", _judged_by_text),
    Case(
        "csv", "rankings", "candidate.tsv", lambda world: table(("qid", "docno", "score"), rows(world.scored), "\t")
    ),
    Case("csv", "rankings", "candidate.csv", _ranked),
    Case("csv", "topics", "queries.csv", lambda world: table(("_id", "text"), world.texts.items())),
)
