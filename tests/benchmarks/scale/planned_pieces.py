"""What a run in pieces costs, measured on generated files, and from that a plan for a run of 10^9 rows."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tests.benchmarks.scale.comparisons import Collection
from tests.benchmarks.scale.measuring import Measured, alternately

PIECES = 8
#: The run that is planned: topics, documents and judgements of each, bytes of a row, and numbers of workers.
TOPICS, DEPTH, JUDGED, ROW_BYTES = 1_000_000, 1_000, 10, 50
WORKERS = (1, 4, 16, 64)


@dataclass(frozen=True)
class Costs:
    """What the pieces of one run took; seconds are of the processor, megabytes the peak of a process.

    ``sent`` and ``bytes`` are those of what a worker is sent and of all parts.
    """

    size: str
    rows: int
    topics: int
    judgements: int
    depth: int
    seconds: float
    seconds_to_receive: float
    worker: float
    sent: int
    bytes: int
    seconds_to_merge: float
    merging: float


def measured(collection: Collection, folder: Path) -> Costs:
    """The costs of a run in pieces, each scored in a process of its own, and then put together."""
    place = folder / f"pieces-{collection.topics}x{collection.depth}"
    divided(Path(collection.baseline), place / "run", topics=-(-collection.topics // PIECES))
    shared = str(place / "shared")
    sent, _ = _work("send", str(place / "run"), collection.qrels, str(TOPICS), shared)
    workers, parts = [], []
    for number in range(1, PIECES + 1):
        parts.append(str(place / f"{number}.rgpart"))
        workers.append(_work("score", shared, str(number), str(PIECES), parts[-1]))
    merged, process = _work("merge", collection.qrels, *parts)
    found = [one for one, _ in workers]
    return Costs(
        size=collection.size,
        rows=round(sum(one["rows"] for one in found)),
        topics=round(sum(one["topics"] for one in found)),
        judgements=round(sent["judgements"]),
        depth=round(sent["depth"]),
        seconds=sum(one["seconds"] for one in found),
        seconds_to_receive=sum(one["seconds to receive"] for one in found) / PIECES,
        worker=max(one.megabytes for _, one in workers),
        sent=round(sent["bytes"]),
        bytes=round(sum(one["bytes"] for one in found)),
        seconds_to_merge=merged["seconds"],
        merging=process.megabytes,
    )


def divided(run: Path, folder: Path, *, topics: int) -> None:
    """A run as a folder of files with so many topics each."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with run.open("rb") as file:
        for number, (_, rows) in enumerate(groupby(file, lambda row: row[: row.index(b" ")])):
            with (folder / f"part-{number // topics:05d}").open("ab") as part:
                part.writelines(rows)


def costs_as_csv(costs: Sequence[Costs]) -> str:
    """A column for each run."""
    rows = [
        ("what", *(one.size for one in costs)),
        ("a worker: processor time for a million rows", *(f"{1e6 * one.seconds / one.rows:.2f} s" for one in costs)),
        ("a worker: most memory", *(f"{one.worker:.0f} MB" for one in costs)),
        ("sent to each worker", *(f"{one.sent / 1e6:.1f} MB" for one in costs)),
        ("ranks kept whole of each topic", *(str(one.depth) for one in costs)),
        ("parts, for each topic", *(f"{one.bytes / one.topics / 1e3:.1f} kB" for one in costs)),
        ("all parts put together: processor time", *(f"{one.seconds_to_merge:.1f} s" for one in costs)),
        ("all parts put together: most memory", *(f"{one.merging:.0f} MB" for one in costs)),
    ]
    return _csv(rows)


def plan_as_csv(deep: Costs, many: Costs) -> str:
    """A plan for 10^9 rows, from the costs of a run of deep rankings and those of one of many topics.

    Rows and parts cost what they do in deep rankings. The costs of judgements, and the time to put parts together,
    lie on a line through the two runs. Whoever puts parts together holds the judgements as a worker does, and parts
    as in the run of many topics.
    """
    rows, judgements, parts = TOPICS * DEPTH, TOPICS * JUDGED, TOPICS * deep.bytes / deep.topics
    receiving = judgements * many.seconds_to_receive / many.judgements
    merging = _further(deep.bytes, deep.seconds_to_merge, many.bytes, many.seconds_to_merge, parts)
    worker = _further(deep.judgements, deep.worker, many.judgements, many.worker, judgements)
    coordinator = worker + parts * max(many.merging - many.worker, 0) / many.bytes
    lines = [
        ("workers", "wall time", "text for each", "sent to each", "memory of each", "all parts", "memory to merge")
    ]
    for workers in WORKERS:
        seconds = rows * deep.seconds / deep.rows / workers + receiving + merging
        lines.append(
            (
                str(workers),
                f"{seconds / 60:.1f} min",
                f"{rows * ROW_BYTES / workers / 1e9:.1f} GB",
                f"{judgements * many.sent / many.judgements / 1e9:.1f} GB",
                f"{worker / 1e3:.1f} GB",
                f"{parts / 1e9:.1f} GB",
                f"{coordinator / 1e3:.1f} GB",
            )
        )
    return _csv(lines)


def _further(x: float, y: float, other_x: float, other_y: float, at: float) -> float:
    """The straight line through two points further on; it never falls."""
    slope = max(0.0, (other_y - y) / (other_x - x)) if other_x > x else 0.0
    return other_y + slope * (at - other_x)


def _work(*arguments: str) -> tuple[Mapping[str, float], Measured]:
    command = [sys.executable, "-W", "ignore", "-m", "tests.benchmarks.scale.piece_work", *arguments]
    done = alternately({arguments[0]: command}, rounds=1)[arguments[0]]
    return json.loads(done.output), done


def _csv(rows: Sequence[tuple[str, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
