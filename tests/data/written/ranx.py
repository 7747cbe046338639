"""JSON as ranx and pytrec_eval write it."""

import json

from tests.data.world import Case

CASES = (
    Case("ranx", "judgements", "judged.json", lambda world: json.dumps(world.grades).encode()),
    Case("ranx", "rankings", "candidate.json", lambda world: json.dumps(world.scored).encode()),
)
