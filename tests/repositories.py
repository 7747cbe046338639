"""Git repositories of tests, made with plain git as a person runs it."""

import shutil
import subprocess
from pathlib import Path

import pytest

NEEDS_GIT = pytest.mark.skipif(shutil.which("git") is None, reason="this system has no git")

_IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "-c", "core.autocrlf=false")


def git(folder: Path, *arguments: str) -> str:
    """What git prints."""
    done = subprocess.run(["git", *_IDENTITY, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(folder: Path, message: str = "a change") -> str:
    """Commit everything in a folder, which becomes a repository if it is none; its name."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")
