"""The work on pieces of a run: ``python -m tests.benchmarks.scale.piece_work WHAT ...``, each in its own process.

``send FOLDER QRELS TOPICS FILE`` writes what every worker is sent, with the depth that is kept of a run of so many
topics; ``score FILE NUMBER COUNT PART`` is what a worker does with it, and ``merge QRELS PART...`` what the process
does that puts the pieces together. All print JSON, with seconds of processor time.
"""

from __future__ import annotations

import json
import pickle
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from pytest_riskguard import read_qrels
from pytest_riskguard.evaluation.judgements.qrels import Qrels
from pytest_riskguard.evaluation.measures import parse_measure
from pytest_riskguard.evaluation.scoring.kept_depths import depth_for
from pytest_riskguard.evaluation.shards.merging import merged, scored_part
from pytest_riskguard.evaluation.shards.part_files import content_of, read_part_file
from pytest_riskguard.evaluation.shards.shard_plan import Shard
from pytest_riskguard.evaluation.shards.shard_reading import Asked, read_shard
from pytest_riskguard.formats.given_file import GivenFile
from tests.benchmarks.scale.comparisons import SIX


def send(folder: str, qrels: str, topics: str, file: str) -> Mapping[str, float]:
    """Write what every worker is sent, which is mostly the judgements."""
    judgements = read_qrels(qrels)
    so_many = cast(Qrels, SimpleNamespace(topics=range(int(topics))))
    depth = depth_for([parse_measure(measure) for measure in SIX], so_many)
    sent = pickle.dumps(Asked.of(GivenFile(Path(folder)), judgements, SIX, depth=depth))
    Path(file).write_bytes(sent)
    return {"bytes": len(sent), "judgements": len(judgements.arrays.grades), "depth": depth}


def score(file: str, number: str, count: str, part: str) -> Mapping[str, float]:
    """Score a piece of the folder, and write its part."""
    sent = Path(file).read_bytes()
    start = time.process_time()
    asked: Asked = pickle.loads(sent)  # noqa: S301 - what ``send`` wrote
    received = time.process_time()
    scored = read_shard(Shard(asked.given.path, int(number), int(count), "files"), asked)
    content = content_of(scored, asked.qrels)
    ended = time.process_time()
    Path(part).write_bytes(content)
    return {
        "seconds": ended - received,
        "seconds to receive": received - start,
        "rows": int(scored.kept.retrieved.sum()),
        "topics": len(scored.kept.places),
        "bytes": len(content),
    }


def merge(qrels: str, *parts: str) -> Mapping[str, float]:
    """Put parts together, to the means of the whole run."""
    judgements = read_qrels(qrels)
    start = time.process_time()
    whole = merged([read_part_file(Path(part), judgements) for part in parts], judgements)
    scored = scored_part(whole, judgements, SIX)
    seconds = time.process_time() - start
    return {"seconds": seconds, **{str(one.measure): one.mean for one in scored.scores}}


def main(arguments: Sequence[str]) -> None:
    """Print what was measured."""
    what, *others = arguments
    print(json.dumps({"send": send, "score": score, "merge": merge}[what](*others)))


if __name__ == "__main__":
    main(sys.argv[1:])
