"""Attempts to make a store read, run or delete something: only what riskguard wrote is read or deleted."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.sabotage.case import Case, Sabotage, harmless
from tests.sabotage.sabotages import (
    MANIFEST,
    PROD,
    copy,
    delete,
    link,
    make_folder,
    rename,
    run_program,
    to_link,
    write,
)

LOCK = "baselines/.lock"
UPDATE = "baseline update prod runs/candidate.run --note x"
GONE = ["no baseline 'prod'"]


def lock_file(folder: Path) -> None:
    """The lock, which the first write to a store makes: here nothing is to change."""
    (folder / LOCK).touch()


def repository(folder: Path) -> None:
    """A commit, and a program that leaves a file behind when it is started."""
    (folder / "program.sh").write_bytes(b"#!/bin/sh\ntouch '" + os.fsencode(folder) + b"/started'\n")
    (folder / "program.sh").chmod(0o755)
    run_program("git init -q")(folder)
    run_program("git add .")(folder)
    run_program("git -c user.name=a -c user.email=a@b.invalid -c commit.gpgsign=false commit -q -m first")(folder)


def bare(folder: Path) -> None:
    """The store as a bare repository, whose work tree is the project."""
    shutil.copytree(folder / ".git", folder / "baselines", dirs_exist_ok=True)
    with (folder / "baselines/config").open("a") as config:
        config.write(f"[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = {folder}/program.sh\n")


def set_up(*settings: tuple[str, str]) -> tuple[Sabotage, ...]:
    """A repository with these settings of its own."""

    def configure(folder: Path) -> None:
        for name, value in settings:
            subprocess.run(["git", "config", name, os.fsencode(value)], cwd=folder, check=True)

    return (repository, configure)


def kept_in(name: str) -> tuple[Sabotage, ...]:
    """The project in a folder of this name."""

    def sabotage(folder: Path) -> None:
        entries = list(folder.iterdir())
        (folder / name).mkdir()
        for entry in entries:
            entry.rename(folder / name / entry.name)
        repository(folder / name)

    return (sabotage,)


def changed_in_latin_1(folder: Path) -> None:
    """A file whose name is no UTF-8, committed and changed."""
    path = folder / os.fsdecode(b"caf\xe9.txt")
    path.write_text("old")
    repository(folder)
    path.write_text("new")


def stored(name: str, *breaks: Sabotage, dirty: str = "false", **settings: Any) -> Case:
    """A baseline is stored with the commit that git is at, whatever else git says."""
    commit = f"grep -q $(git rev-parse HEAD) {MANIFEST} && grep -q 'dirty\": {dirty}' {MANIFEST}"
    return harmless(
        name, breaks, command=UPDATE, writes=True, line=f"{{}} && test ! -e started && {commit}", **settings
    )


CASES = [
    Case("previous-stands-in", rename(PROD, "baselines/.previous-prod"), words=GONE),
    Case("previous-under-another-name", rename(PROD, "baselines/.previous-other"), words=GONE),
    Case("baseline-is-a-file", (delete(PROD), write(PROD, "precious")), words=["no baseline"]),
    Case("baseline-is-empty", make_folder(PROD), words=["manifest.json is missing"]),
    harmless("baseline-is-a-link", to_link(PROD)),
    Case(
        "update-a-folder-of-others",
        (make_folder("baselines/thesis"), write("baselines/thesis/thesis.tex", "precious")),
        command="baseline update thesis runs/candidate.run --note x",
        words=["thesis.tex", "did not write", "move them somewhere else"],
        writes=True,
        line="{}; status=$?; test -e baselines/thesis/thesis.tex || exit 0; exit $status",
    ),
    Case(
        "remove-a-folder-of-others",
        (lock_file, write("baselines/thesis/thesis.tex", "precious")),
        command="baseline remove thesis",
        words=["thesis.tex", "did not write"],
    ),
    Case(
        "remove-with-a-readme",
        (lock_file, write(f"{PROD}/README.md", "ask Ann")),
        command="baseline remove prod",
        words=["README.md", "did not write"],
    ),
    # what git says is text
    stored(
        "git-in-colour", *set_up(("color.ui", "always"), ("color.status", "always"), ("core.pager", "./program.sh"))
    ),
    stored(
        "git-in-another-form", *set_up(("status.short", "true"), ("status.branch", "true"), ("column.ui", "always"))
    ),
    stored("git-setting-no-utf-8", *set_up(("user.name", "Andr\udce9"), ("core.quotePath", "false"))),
    stored("git-setting-of-lines", *set_up(("riskguard.note", "a\ncore.worktree=/\n\x1b[2J"))),
    stored("git-path-no-utf-8", *kept_in("caf\udce9"), cwd="caf\udce9"),
    stored(
        "git-path-odd",
        *kept_in("a $(touch started) 'b\" ::error:: \x1b[2J"),
        cwd="a $(touch started) 'b\" ::error:: \x1b[2J",
    ),
    stored("git-change-no-utf-8", changed_in_latin_1, dirty="true"),
    harmless("lock-cannot-be-read-through", link(LOCK, "../qrels.txt")),
    harmless("readme-beside-the-files", write(f"{PROD}/README.md", "ask Ann")),
    harmless("work-folder-left-behind", copy(PROD, "baselines/.tmp-new-prod")),
]
