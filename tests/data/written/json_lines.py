"""JSON Lines with named keys, and a JSON list of the same objects."""

import json

from tests.data.world import Case, World, rows


def _judged(world: World) -> list[dict[str, object]]:
    rated = [{"query": world.texts[t], "docid": d, "rating": g} for t, d, g in rows(world.grades)]
    return [*rated, {"query": world.texts["q01"], "docid": "not judged yet", "rating": None}]


def _scored(world: World) -> list[dict[str, object]]:
    return [{"query_id": t, "doc_id": d, "score": s} for t, d, s in rows(world.scored)]


def _topics(world: World) -> list[dict[str, object]]:
    return [{"qid": topic, "query": text} for topic, text in world.texts.items()]


def lines(objects: list[dict[str, object]]) -> bytes:
    """One object in each line."""
    return "".join(json.dumps(row) + "\n" for row in objects).encode()


CASES = (
    Case("jsonl", "judgements", "judged.jsonl", lambda world: lines(_judged(world))),
    Case("jsonl", "rankings", "candidate.jsonl", lambda world: lines(_scored(world))),
    Case("jsonl", "rankings", "candidate.json", lambda world: json.dumps(_scored(world), indent=1).encode()),
    Case("jsonl", "topics", "topics.jsonl", lambda world: lines(_topics(world))),
)
