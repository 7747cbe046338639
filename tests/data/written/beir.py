"""BEIR: ``qrels/test.tsv`` and ``queries.jsonl``."""

from tests.data.world import Case, World, rows
from tests.data.written.json_lines import lines
from tests.data.written.named_columns import table


def _queries(world: World) -> bytes:
    return lines([{"_id": topic, "text": text, "metadata": {}} for topic, text in world.texts.items()])


CASES = (
    Case(
        "tsv",
        "judgements",
        "test.tsv",
        lambda world: table(("query-id", "corpus-id", "score"), rows(world.grades), "\t"),
    ),
    Case("jsonl", "topics", "queries.jsonl", _queries),
)
