"""What a verdict rests on went missing, was cut or diluted: none of it may turn the planted regression green."""

import gzip
import json
from pathlib import Path

from tests.sabotage.case import Sabotage
from tests.sabotage.project import TOPICS
from tests.sabotage.sabotages import CONFIG, QRELS, TOPICS_FILE, drop_topics, on_lines, riskguard, spelt_out

BASELINE = "runs/prod.run"
#: What the candidate loses: 45 topics in part, three altogether.
LOST = TOPICS[:48]


def partial(*topics: str) -> Sabotage:
    """The run of ``prod`` as a file, without these topics."""

    def sabotage(folder: Path) -> None:
        unpack(folder, "prod")
        drop_topics(BASELINE, *topics)(folder)

    return sabotage


def unpack(folder: Path, name: str) -> None:
    """The run of a stored baseline as a file."""
    (folder / f"runs/{name}.run").write_bytes(gzip.decompress((folder / f"baselines/{name}/run.gz").read_bytes()))


def only(gate: str) -> Sabotage:
    """A riskguard.yaml with this gate alone."""
    return on_lines(CONFIG, lambda lines: [*lines[: lines.index("gates:") + 1], gate])


def diluted(*topics: str, grade: str = "1000") -> Sabotage:
    """A high grade for a document that no run finds: all scores of the topic become small, a loss with them."""
    return on_lines(QRELS, lambda lines: [*lines, *(f"{topic} 0 nowhere {grade}" for topic in spelt_out(topics))])


def tiny(folder: Path) -> None:
    """Grades so small that all scores of the lost topics are."""
    on_lines(QRELS, _tiny)(folder)


def one_low(folder: Path) -> None:
    """One document, far down, is all that is relevant in the lost topics."""
    on_lines(QRELS, _one_low)(folder)


def _tiny(lines: list[str]) -> list[str]:
    rows = [line.split() for line in lines]
    rows = [[*row[:3], "1e-6"] if row[0] in LOST and row[2].endswith("-01") else row for row in rows]
    return [*(" ".join(row) for row in rows), *(f"{topic} 0 nowhere 2" for topic in LOST)]


def _one_low(lines: list[str]) -> list[str]:
    kept = [line for line in lines if line.split()[0] not in LOST]
    return [*kept, *(f"{topic} 0 doc-{topic}-10 1" for topic in LOST)]


def column(name: str, lost: str, others: str) -> Sabotage:
    """A new column of the topics, with one value where the candidate loses and another elsewhere."""

    def change(lines: list[str]) -> list[str]:
        head, *rows = lines
        values = (lost if row.split("\t")[0] in LOST else others.format(row.split("\t")[0]) for row in rows)
        return [f"{head}\t{name}", *(f"{row}\t{value}" for row, value in zip(rows, values, strict=True))]

    return on_lines(TOPICS_FILE, change)


def moved(folder: Path) -> None:
    """A baseline that moved twice, to the candidate in the end."""
    unpack(folder, "bm25")
    note = "--note better"
    riskguard(f"baseline update prod runs/bm25.run {note}")(folder)
    riskguard(f"baseline update prod runs/candidate.run {note}")(folder)


def without_history(folder: Path) -> None:
    """The same with its earlier runs taken out of the manifest and the store."""
    moved(folder)
    path = folder / "baselines/prod/manifest.json"
    manifest = json.loads(path.read_text())
    manifest |= {"number": 1, "predecessor": None}
    path.write_text(json.dumps(manifest))
    for place in sorted((folder / "baselines/prod/history").rglob("*"), reverse=True):
        place.rmdir() if place.is_dir() else place.unlink()
