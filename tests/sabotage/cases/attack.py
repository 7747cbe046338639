"""Data made to mislead: what an attacker who knows riskguard would put into a pull request."""

from __future__ import annotations

from pathlib import Path

from tests.sabotage.case import CLI, EVERY, Case, Sabotage
from tests.sabotage.project import IMPROVED, TOPICS
from tests.sabotage.sabotages import CANDIDATE, replace_text, riskguard, run_program

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


def of_one_commit(*breaks: Sabotage) -> list[Sabotage]:
    """Changes that the judged commit makes to how it is judged."""
    commit = run_program(
        "git -c user.name=a -c user.email=a@b.invalid -c commit.gpgsign=false commit -q --allow-empty -m x"
    )
    add = run_program("git add .")
    return [run_program("git init -q"), add, commit, *breaks, add, commit]


def ledger(looks: int) -> Sabotage:
    """A ledger of so many looks at some collection."""
    look = '{"collection": "%064d", "gates": ["no-risk"], "inputs": "%064d", "number": %d, "failed": false, '

    def sabotage(folder: Path) -> None:
        lines = (look % (0, number, number) + '"share": 0.001, "looks": 20}\n' for number in range(1, looks + 1))
        (folder / "looks.jsonl").write_text("".join(lines))

    return sabotage


BUDGET = replace_text("riskguard.yaml", "gates:", "budget: 20\ngates:")

CASES = [
    # a colleague moves the bar: no outcome may depend on that being noticed, but it must be said
    Case(
        "own-bar-moved",
        of_one_commit(
            replace_text("riskguard.yaml", "name: no-collapse", "name: no-falls"),
            replace_text("riskguard.yaml", "tolerance: 0.02", "tolerance: 0.2"),
        ),
        status=1,
        words=[
            "changed by this commit: gate no-collapse removed; tolerance of not-worse 0.02 -> 0.2; ",
            "gate no-falls added",
        ],
        command="check -q",
    ),
    Case(
        "own-baseline-replaced",
        of_one_commit(riskguard("baseline update prod runs/candidate.run --note x")),
        status=0,
        words=["changed by this commit: baseline prod replaced"],
        project=IMPROVED,
        ways=EVERY,
    ),
    Case(
        "own-ledger-filled",
        [BUDGET, ledger(1), *of_one_commit(ledger(200))],
        status=1,
        words=["changed by this commit: 199 looks added to the ledger"],
        command="check -q",
    ),
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
