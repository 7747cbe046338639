"""Data made to mislead: what an attacker who knows riskguard would put into a pull request."""

from pathlib import Path

from tests.sabotage.case import Sabotage
from tests.sabotage.project import TOPICS
from tests.sabotage.sabotages import CANDIDATE, run_program


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


def commit(folder: Path) -> None:
    """The project as it is now, as a commit."""
    who = "-c user.name=a -c user.email=a@b.invalid -c commit.gpgsign=false"
    run_program(f"git init -q && git add . && git {who} commit -q --allow-empty -m x")(folder)
