"""Tables with tabs: topics without quotes, judgements and rankings with named columns."""

from __future__ import annotations

from tests.data.world import Case, World
from tests.data.written.named_columns import table


def _judged(world: World) -> bytes:
    rows = [(t, d, g) for t, graded in world.grades.items() for d, g in graded.items()]
    return table(("qid", "docno", "label"), rows, delimiter="\t")


def _ranked(world: World) -> bytes:
    """A frame of PyTerrier, with its index and the number of each document inside the search index."""
    rows = [
        (place, topic, 100 + place, document, rank, score, world.texts[topic])
        for topic, scored in world.scored.items()
        for place, (rank, (document, score)) in enumerate(enumerate(scored.items()))
    ]
    return table(("", "qid", "docid", "docno", "rank", "score", "query"), rows, delimiter="\t")


CASES = (
    Case("tsv", "judgements", "judged.tsv", _judged),
    Case("tsv", "rankings", "results.tsv", _ranked),
)
