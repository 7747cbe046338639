"""BEIR: ``qrels/test.tsv`` and ``queries.jsonl``."""

from __future__ import annotations

from tests.data.world import Case, World
from tests.data.written.json_lines import lines
from tests.data.written.named_columns import table


def _judged(world: World) -> bytes:
    rows = [(t, d, g) for t, graded in world.grades.items() for d, g in graded.items()]
    return table(("query-id", "corpus-id", "score"), rows, delimiter="\t")


def _queries(world: World) -> bytes:
    return lines([{"_id": topic, "text": text, "metadata": {}} for topic, text in world.texts.items()])


CASES = (
    Case("tsv", "judgements", "test.tsv", _judged),
    Case("jsonl", "topics", "queries.jsonl", _queries),
)
