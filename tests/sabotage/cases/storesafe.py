"""Attempts to make a store read, run or delete something: only what riskguard wrote is read or deleted."""

import os
import shutil
import subprocess
from pathlib import Path

from tests.sabotage.case import Sabotage
from tests.sabotage.sabotages import (
    run_program,
)

LOCK = "baselines/.lock"


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
