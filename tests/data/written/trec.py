"""TREC's own formats."""

from tests.data.world import Case

CASES = (
    Case("trec", "judgements", "judged.qrels", lambda world: world.qrels),
    Case("trec", "rankings", "candidate.res", lambda world: world.run),
)
