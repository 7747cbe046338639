"""Claims of a stored baseline that can be checked: its run, its name, its topics and its judgements."""

import gzip
from pathlib import Path

from tests.sabotage.project import TOPICS
from tests.sabotage.sabotages import (
    KEPT_RUN,
    TOPICS_FILE,
    on_columns,
    on_lines,
    riskguard,
    run_program,
)

LOST = TOPICS[:45]


def without_run(folder: Path) -> None:
    """prod as it is stored with ``--no-run``."""
    run_program(f"gzip -dc {KEPT_RUN} > prod.run")(folder)
    riskguard("baseline remove prod")(folder)
    riskguard("baseline add prod prod.run --no-run --note 'too large'")(folder)


def losing_topics_score_nothing(folder: Path) -> None:
    """The kept run exchanged for one without the topics that the candidate loses, as the scores say then."""
    run = gzip.decompress((folder / KEPT_RUN).read_bytes()).decode()
    kept = [line for line in run.splitlines(keepends=True) if line.split()[0] not in LOST]
    (folder / KEPT_RUN).write_bytes(gzip.compress("".join(kept).encode(), mtime=0))


def queries_exchanged(folder: Path) -> None:
    """Each topic with the text of another."""

    def change(lines: list[str]) -> list[str]:
        topics = [line.split("\t")[0] for line in lines[1:]]
        texts = [line.split("\t", 1)[1] for line in lines[:0:-1]]
        return [lines[0], *(f"{topic}\t{text}" for topic, text in zip(topics, texts, strict=True))]

    on_lines(TOPICS_FILE, change)(folder)


def losses_weigh_nothing(folder: Path) -> None:
    """A column of weights, tiny where the candidate loses."""
    weights = {"topic": "weight", **dict.fromkeys(LOST, "1e-9")}
    on_columns(TOPICS_FILE, lambda c: [*c, weights.get(c[0], "1")], "\t")(folder)
