"""Questions that have only one answer: gates that cannot fail, and the same thing on both sides."""

import gzip
from pathlib import Path

from tests.sabotage.case import Sabotage
from tests.sabotage.sabotages import (
    CANDIDATE,
    CONFIG,
    on_columns,
    replace_text,
)

NO_RISK = "kind: not_significantly_risky, baseline: prod, alpha: 1"


def unpack(path: str, name: str) -> Sabotage:
    """A copy of a compressed file, unpacked."""
    return lambda folder: (folder / name).write_bytes(gzip.decompress((folder / path).read_bytes()))


def weigh(weight: float) -> Sabotage:
    """A column of weights in the topics file: this one for the 45 topics that lost, 1 for the others."""

    def column(columns: list[str]) -> list[str]:
        topic = columns[0]
        return [*columns, "weight" if topic == "topic" else str(weight if topic <= "t45" else 1)]

    return on_columns("topics.tsv", column, "\t")


def better_where_it_did_not_lose(folder: Path) -> None:
    """The candidate ranks the best document first in the topics that the planted regression leaves alone."""
    lines = []
    for line in (folder / CANDIDATE).read_text().splitlines(keepends=True):
        topic, q0, document, _, _, tag = line.split()
        best = topic > "t45" and document == f"doc-{topic}-01"
        lines.append(f"{topic} {q0} {document} 0 999 {tag}\n" if best else line)
    (folder / CANDIDATE).write_text("".join(sorted(lines, key=lambda line: (line[:3], -float(line.split()[4])))))


def in_yaml(keys: str) -> Sabotage:
    """Further keys of the first gate of riskguard.yaml, which is on line 6."""
    return replace_text(CONFIG, NO_RISK, f"{NO_RISK}, {keys}")
