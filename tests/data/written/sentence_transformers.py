"""sentence-transformers: ``Information-Retrieval_evaluation_<name>_predictions_<score>.jsonl``."""

from tests.data.world import Case, World
from tests.data.written.json_lines import lines


def _predictions(world: World) -> bytes:
    return lines(
        [
            {
                "query_id": topic,
                "query": world.texts[topic],
                "results": [{"corpus_id": document, "score": score} for document, score in sorted(scored.items())],
            }
            for topic, scored in world.scored.items()
        ]
    )


NAME = "Information-Retrieval_evaluation_dev_predictions_cosine.jsonl"
CASES = (Case("sentence-transformers", "rankings", NAME, _predictions),)
