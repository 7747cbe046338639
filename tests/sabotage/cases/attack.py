"""Data made to mislead: what an attacker who knows riskguard would put into a pull request."""

from __future__ import annotations

from pathlib import Path

from tests.sabotage.case import CLI, Case, Sabotage
from tests.sabotage.project import TOPICS
from tests.sabotage.sabotages import CANDIDATE, riskguard

#: Stores ``runs/other.run`` as a replicate of ``prod``.
REPLICATE = riskguard("baseline add prod runs/other.run --replicate")


def other_run(folder: Path) -> None:
    """The candidate's run without its last line, as another file."""
    lines = (folder / CANDIDATE).read_text().splitlines(keepends=True)
    (folder / "runs" / "other.run").write_text("".join(lines[:-1]))


def added_topics(number: int) -> Sabotage:
    """Judged topics that only the candidate answers, and perfectly."""

    def sabotage(folder: Path) -> None:
        topics = [f"u{i:03d}" for i in range(number)]
        with (folder / "qrels.txt").open("a") as qrels, (folder / "topics.tsv").open("a") as texts:
            qrels.writelines(f"{topic} 0 doc-{topic} 2\n" for topic in topics)
            texts.writelines(f"{topic}\tquery {topic}\thelp\n" for topic in topics)
        with (folder / CANDIDATE).open("a") as run:
            run.writelines(f"{topic} Q0 doc-{topic} 1 9.5 c\n" for topic in topics)

    return sabotage


def judged_often(number: int) -> Sabotage:
    """So many judgements in each topic, none of a document that any run retrieves."""

    def sabotage(folder: Path) -> None:
        with (folder / "qrels.txt").open("w") as qrels:
            for topic in TOPICS:
                qrels.writelines(f"{topic} 0 x{topic}-{i} 1\n" for i in range(number))

    return sabotage


CASES = [
    Case(
        "many-judgements-that-do-not-match",
        judged_often(20_000),
        words=["document ids"],
        ways=CLI,
        seconds=20,
    ),
    Case(
        "replicate-scores-as-the-candidate",
        [other_run, REPLICATE],
        words=["replicate 1 of prod", "scores the same on every topic"],
        ways=CLI,
    ),
    *[
        Case(f"added-topics-{number}", added_topics(number), words=["judged after prod", "topics"], ways=CLI)
        for number in (40, 100)
    ],
]
