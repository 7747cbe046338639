"""Responses of search engines as a team keeps them."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from tests.data.engine_shapes import SHAPES, typesense
from tests.data.world import Case, World
from tests.data.written.json_lines import lines

Shape = Callable[..., dict[str, Any]]


def _responses(shape: Shape, world: World) -> dict[str, dict[str, Any]]:
    return {topic: shape(world.texts[topic], list(scores.items())) for topic, scores in world.scored.items()}


def _beside(shape: Shape, world: World) -> bytes:
    """JSON Lines with an id beside each response."""
    return lines([{"query_id": topic, "response": answer} for topic, answer in _responses(shape, world).items()])


def _alone(shape: Shape, world: World) -> bytes:
    """JSON Lines with the responses alone, which repeat the text of the query."""
    return lines([*_responses(shape, world).values()])


def _by_id(shape: Shape, world: World) -> bytes:
    """One JSON object."""
    return json.dumps(_responses(shape, world), indent=2).encode()


_ALGOLIA = SHAPES["algolia"]
_TYPESENSE = partial(typesense, scale=1)  # the scores of the collection are whole numbers already
CASES = (
    Case("responses", "rankings", "candidate.jsonl", partial(_beside, SHAPES["elasticsearch"])),
    Case("responses", "rankings", "candidate.jsonl", partial(_beside, SHAPES["solr"])),
    Case("responses", "rankings", "candidate.json", partial(_by_id, SHAPES["solr"])),
    Case("responses", "rankings", "candidate.jsonl", partial(_beside, SHAPES["vespa"])),
    Case("responses", "rankings", "candidate.jsonl", partial(_beside, _ALGOLIA)),
    Case("responses", "rankings", "candidate.ndjson", partial(_alone, _ALGOLIA)),
    Case("responses", "rankings", "candidate.jsonl", partial(_beside, _TYPESENSE)),
    Case("responses", "rankings", "candidate.ndjson", partial(_alone, _TYPESENSE)),
    Case("responses", "rankings", "candidate.jsonl", partial(_beside, SHAPES["meilisearch"])),
    Case("responses", "rankings", "candidate.ndjson", partial(_alone, SHAPES["meilisearch"])),
)
