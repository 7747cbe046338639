"""Tables with tabs: topics without quotes, judgements and rankings with named columns."""

from tests.data.world import Case, World, rows
from tests.data.written.named_columns import table


def _ranked(world: World) -> bytes:
    """A frame of PyTerrier, with its index and the number of each document inside the search index."""
    found = [
        (place, topic, 100 + place, document, rank, score, world.texts[topic])
        for topic, scored in world.scored.items()
        for place, (rank, (document, score)) in enumerate(enumerate(scored.items()))
    ]
    return table(("", "qid", "docid", "docno", "rank", "score", "query"), found, delimiter="\t")


CASES = (
    Case("tsv", "judgements", "judged.tsv", lambda world: table(("qid", "docno", "label"), rows(world.grades), "\t")),
    Case("tsv", "rankings", "results.tsv", _ranked),
)
