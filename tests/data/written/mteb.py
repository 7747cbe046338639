"""MTEB: ``<task>_predictions.json``, with subsets and, as older versions wrote it, without."""

import json
from collections.abc import Callable
from typing import Any

from tests.data.world import Case, World, falling

_META = {"model_name": "me/model", "revision": "1"}


def _written(parts: Callable[[Any, Any], dict[str, Any]]) -> Callable[[World], bytes]:
    """A file whose parts are made of the candidate's scores and those of another system."""

    def content(world: World) -> bytes:
        other = {topic: falling(documents) for topic, documents in world.baseline.items()}
        return json.dumps({"mteb_model_meta": _META, **parts(world.scored, other)}).encode()

    return content


CASES = (
    Case("mteb", "rankings", "one_predictions.json", _written(lambda scored, _: {"default": {"test": scored}})),
    Case(
        *("mteb", "rankings", "languages_predictions.json"),
        _written(lambda scored, other: {"de": {"test": other}, "en": {"dev": other, "test": scored}}),
        part="en/test",
    ),
)
