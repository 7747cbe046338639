"""Honest use, which must stay green; and the regression under the same use, which must stay red."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from tests.sabotage.case import CLI, EVERY, PYTEST, SERIAL, Case, Sabotage, harmless
from tests.sabotage.processes import CHECKOUT
from tests.sabotage.project import BASELINES
from tests.sabotage.sabotages import (
    CANDIDATE,
    CONFIG,
    KEPT_RUN,
    MANIFEST,
    QRELS,
    SCORES,
    TOPICS_FILE,
    append,
    bom,
    chmod,
    crlf,
    delete,
    on_bytes,
    on_columns,
    on_lines,
    on_manifest,
    replace_line,
    replace_text,
    riskguard,
    run_program,
    write,
)

NEW_TOPIC = (
    append(QRELS, "".join(f"t61 0 doc-t61-0{n} {n % 3}\n" for n in range(1, 6))),
    append(TOPICS_FILE, "t61\ta new query\tbuy\n"),
)
ANSWERED = append(CANDIDATE, "".join(f"t61 Q0 doc-t61-0{n} {n} {9 - n} new\n" for n in range(1, 6)))
COMMIT = (
    "git -c init.defaultBranch=main init -q",
    "git add -A",
    "git -c user.name=a -c user.email=a@example.org commit -q -m all",
)
IN_GIT = [run_program(line) for line in COMMIT]
#: A store made by the command, checked out with the line ends of Windows.
CRLF_CHECKOUT = [
    *(run_program(f"gzip -dc baselines/{name}/run.gz > {name}.run") for name in BASELINES),
    delete("baselines"),
    *(riskguard(f"baseline add {name} {name}.run") for name in BASELINES),
    *IN_GIT,
    run_program("git clone -q -c core.autocrlf=true file://{project} clone"),
]
#: Killed between its two renames.
INTERRUPTED = run_program(
    'python -c "import os; from pathlib import Path; from pytest_riskguard.baselines.atomic_folder import '
    "replaced; work = replaced(Path('baselines'), 'prod'); new = work.__enter__(); "
    "Path('baselines/prod').rename('baselines/.tmp-old-prod'); os._exit(0)\""
)
CLONE = [*IN_GIT, run_program("git clone -q --depth 1 file://{project} clone")]


def moved(name: str) -> Sabotage:
    """The whole project in another folder."""

    def sabotage(folder: Path) -> None:
        entries = list(folder.iterdir())
        (folder / name).mkdir()
        for entry in entries:
            entry.rename(folder / name / entry.name)

    return sabotage


def only(name: str, source: Path) -> Sabotage:
    """Another project in place of this one."""

    def sabotage(folder: Path) -> None:
        for entry in folder.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))

    return sabotage


def tutorial(version: str) -> list[Sabotage]:
    """The tutorial's shop, its files written and its baseline stored as the page says."""

    def shop(folder: Path) -> None:
        page = (CHECKOUT / "docs" / "tutorial.md").read_text(encoding="utf-8")
        (folder / "shop").mkdir()
        code = re.search(r"<!-- file: shop\.py -->\n```python\n(.*?)```", page, re.DOTALL)
        (folder / "shop" / "shop.py").write_text(code[1], encoding="utf-8")

    commands = [
        "python shop.py topics > topics.tsv",
        "python shop.py qrels > qrels.txt",
        "python shop.py as_typed > prod.run",
        "riskguard init --topics topics.tsv --candidate candidate.run",
        "riskguard baseline add prod prod.run --note 'in production since January'",
        f"python shop.py {version} > candidate.run",
    ]
    strict = replace_text("shop/riskguard.yaml", "on_churn: warn", "on_churn: fail")
    return [shop, *(run_program(command, cwd="shop") for command in commands), strict]


def both(name: str, *breaks: Sabotage, **settings: Any) -> list[Case]:
    """The same use with the improvement, which must be green, and with the regression, which must be red."""
    red: dict[str, Any] = {"status": 1, "words": ["losses"]}
    return [harmless(f"{name}-green", breaks, **settings), Case(f"{name}-red", breaks, **(red | settings))]


def example(name: str, system: str, status: int, *words: str, passes: int = 0) -> Case:
    """The shipped example with one of its systems."""
    project = [only("help_center", CHECKOUT / "examples" / "help_center")]
    return Case(
        f"example-{name}",
        project,
        status=status,
        words=words,
        ways=PYTEST,
        cwd="help_center",
        env={"HELP_CENTER_SYSTEM": system},
        passes=passes,
    )


CASES = [
    *both("rerun", riskguard(f"compare {CANDIDATE} --baseline bm25 --level 0.5 --on-churn warn", status=None)),
    harmless("twice-in-a-row", line="{} && {}", ways=EVERY),
    Case("twice-in-a-row-red", line="{} ; {}", status=1, ways=PYTEST, words=["5 failed"]),
    harmless("two-at-once", line="{} > __pycache__ & {} && wait $!", ways=SERIAL),
    *both("topic-added", *NEW_TOPIC, ANSWERED),
    *both("topic-added-and-not-answered", *NEW_TOPIC),
    *both("query-added-without-judgements", append(TOPICS_FILE, "t61\ta new query\tbuy\n")),
    *both("document-judged-again", replace_line(QRELS, 3, "t01 0 doc-t01-03 2")),
    *both("document-withdrawn", on_lines(QRELS, lambda lines: lines[1:])),
    *both("other-tags", replace_text(TOPICS_FILE, "buy", "purchase")),
    *both("moved-to-unicode", moved("プロジェクト é"), cwd="プロジェクト é"),
    *both("in-git", *IN_GIT),
    *both("shallow-clone", *CLONE, cwd="clone"),
    *both("checked-out-with-crlf", *CRLF_CHECKOUT, cwd="clone"),
    *both("git-without-commit", run_program("git init -q")),
    *both("git-broken", write(".git/HEAD", "garbage\n")),
    # the same data in another form
    *both("crlf", crlf(CANDIDATE), crlf(QRELS), crlf(TOPICS_FILE), crlf(CONFIG)),
    *both("bom", bom(CANDIDATE), bom(QRELS), bom(TOPICS_FILE)),
    *both("ranks-all-1", on_columns(CANDIDATE, lambda c: [*c[:3], "1", *c[4:]])),
    *both("read-only", chmod("baselines", 0o555), chmod("baselines/prod", 0o555), chmod(SCORES, 0o444)),
    # other files in the project
    *both("lock-left-behind", write("baselines/.lock", "")),
    *both("folder-of-a-writer-left-behind", write("baselines/.tmp-new-prod/scores.tsv", "half")),
    *both("update-interrupted", INTERRUPTED),
    harmless("verify-interrupted", INTERRUPTED, command="baseline verify", words=["prod: ok"]),
    *both("other-baseline-broken", delete("baselines/old/manifest.json"), ways=CLI),
    *both("note-edited-by-hand", on_manifest(lambda manifest: manifest.update(note="in production"))),
    *both("manifest-of-one-line", on_bytes(MANIFEST, lambda content: b" ".join(content.split()))),
    # commands as they are meant
    harmless(
        "identical",
        [on_bytes(KEPT_RUN, lambda content: content), run_program(f"gzip -dc {KEPT_RUN} > {CANDIDATE}")],
        words=["identical to prod"],
        ways=EVERY,
    ),
    harmless("updated", riskguard(f"baseline update prod {CANDIDATE} --note 'released'")),
    harmless("rescored", [replace_line(QRELS, 3, "t01 0 doc-t01-03 2"), riskguard("baseline rescore prod")]),
    harmless("another-baseline", riskguard(f"baseline add next {CANDIDATE}")),
    harmless(
        "baseline-from-a-file",
        run_program(f"gzip -dc {KEPT_RUN} > prod.run"),
        compare=f"{CANDIDATE} --baseline prod.run",
        ways=CLI,
    ),
    *both(
        "without-a-kept-run",
        run_program(f"gzip -dc {KEPT_RUN} > prod.run"),
        riskguard("baseline update prod prod.run --no-run --note 'too large'"),
    ),
    harmless("subset", options="-k 'risk or ranking'", ways=PYTEST),
    harmless("last-failed", options="--lf", ways=PYTEST, words=["5 passed"]),
    harmless("report", write("reports/keep", ""), options="--riskguard-report=reports/r.json", ways=PYTEST),
    harmless("strict", options="--riskguard-strict", ways=PYTEST, words=["5 passed"]),
    # the shipped example and the tutorial
    example("improved", "improved", 0, "passed"),
    example("synonyms", "synonyms", 1, "queries lost more than 0.30; at most 6 may", passes=1),  # the mean rises
    harmless("tutorial", tutorial("repaired"), cwd="shop", compare="candidate.run --baseline prod"),
    Case(
        "tutorial-red",
        tutorial("letters"),
        cwd="shop",
        compare="candidate.run --baseline prod",
        status=1,
        words=["got worse"],
    ),
]
