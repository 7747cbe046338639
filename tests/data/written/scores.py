"""Per-topic scores as evaluation tools print or save them."""

import json

from tests.data.world import Case, World
from tests.data.written.json_lines import lines


def table(world: World) -> bytes:
    """A table with a header."""
    rows = "".join(f"{topic}\t{score!r}\n" for topic, score in sorted(world.scores.items()))
    return f"topic\tAP\n{rows}".encode()


def _trec_eval(world: World) -> bytes:
    rows = "".join(f"map                   \t{topic}\t{score!r}\n" for topic, score in world.scores.items())
    return f"runid                 \tall\tbm25\n{rows}map                   \tall\t0.5000\n".encode()


def _ir_measures(world: World) -> bytes:
    return "".join(f"{t}\tAP\t{score!r}\n" for t, score in {**world.scores, "all": 0.5}.items()).encode()


def _json_lines(world: World) -> bytes:
    scores = {**world.scores, "all": 0.5}
    return lines([{"query_id": topic, "measure": "AP", "value": score} for topic, score in scores.items()])


def _perquery(world: World) -> bytes:
    rows = "".join(
        f"{name},{topic},map,{score * factor!r}\n"
        for name, factor in (("BM25", 1), ("DPH", 0.5))
        for topic, score in world.scores.items()
    )
    return f"name,qid,measure,value\n{rows}".encode()


CASES = (
    Case("scores", "scores", "candidate.tsv", table),
    Case("trec_eval", "scores", "candidate.eval", _trec_eval),
    Case("ir_measures", "scores", "candidate.tsv", _ir_measures),
    Case("jsonl", "scores", "candidate.jsonl", _json_lines),
    Case("csv", "scores", "perquery.csv", _perquery, part="BM25"),
    Case("ranx-scores", "scores", "ranx.json", lambda world: json.dumps({"map": world.scores}).encode()),
    Case(
        "ranx-scores",
        "scores",
        "pytrec_eval.json",
        lambda world: json.dumps({topic: {"map": score} for topic, score in world.scores.items()}).encode(),
    ),
)
