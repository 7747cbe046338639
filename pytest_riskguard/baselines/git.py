"""The commit that a work tree is at, and files of other commits."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pytest_riskguard.baselines.manifest import GitState
from pytest_riskguard.frozen import frozen
from pytest_riskguard.text import Names

#: Files of a new store. If line ends were changed, the scores would not match the digest in the manifest.
FILES = {".gitattributes": "* -text\n", ".gitignore": ".lock\n.tmp-*\n"}
_TIMEOUT = 10.0  # seconds; the status of a large working tree on a cold disk
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
#: Instead of every variable that redirects git, as in its own hooks.
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "",  # a partial clone fetches what it lacks, as its configuration says
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}


def prepare(root: Path) -> None:
    """Write git's files into a new store; existing ones are left alone, and failures are ignored."""
    for name, content in FILES.items():
        with suppress(OSError), (root / name).open("x", encoding="utf-8", newline="\n") as file:
            file.write(content)


@frozen
class Repository:
    """A git repository, which is only read; an answer is None or empty where git cannot say."""

    root: Path

    @classmethod
    def around(cls, folder: Path) -> Repository | None:
        """The repository that a folder is in."""
        folder = folder.resolve()
        root = next((place for place in (folder, *folder.parents) if os.path.lexists(place / ".git")), None)
        return None if root is None else cls(root)

    def head(self) -> Names:
        """The commit that is checked out, then its parents as far as the clone has them."""
        return self._commits("rev-list", "--parents", "--max-count=1", "HEAD")

    def branch(self) -> str | None:
        """The branch that is checked out."""
        return self._text("symbolic-ref", "--quiet", "--short", "HEAD").strip() or None

    def merge_base(self, other: str) -> str | None:
        """The last commit that HEAD and ``other``, a commit or a full name of a branch, have in common."""
        return next(iter(self._commits("merge-base", "HEAD", other)), None)

    def commits_since(self, commit: str) -> int:
        """How many commits HEAD has that this one has not; 0 where git does not know it."""
        known = _COMMIT.fullmatch(commit)
        return int(self._text("rev-list", "--count", f"{commit}..HEAD").strip() or 0) if known else 0

    def state(self, store: Path) -> GitState | None:
        """The commit, and whether tracked files outside a store, and submodules, differ from it."""
        head = self.head()
        outside = f":(exclude,literal){store.resolve().relative_to(self.root).as_posix()}"
        options = ("--porcelain", "--untracked-files=no", "--ignore-submodules=all")
        changes = self._said("status", *options, "--", ":/", outside)
        return None if changes is None or not head else GitState(head[0], dirty=bool(changes.strip()))

    def files(self, commit: str, paths: Iterable[str]) -> Names:
        """The files of a commit that these paths from the root name, or that are in the folders they name."""
        arguments = ("--literal-pathspecs", "ls-tree", "-r", "--name-only", "-z", "--full-tree", commit, "--")
        return tuple(filter(None, self._text(*arguments, *paths).split("\0")))

    def content(self, commit: str, path: str) -> bytes | None:
        """What a file of a commit holds; None where the clone does not have it."""
        return self._said("cat-file", "blob", f"{commit}:{path}")

    def _commits(self, *arguments: str) -> Names:
        commits = tuple(self._text(*arguments).split())
        return commits if all(map(_COMMIT.fullmatch, commits)) else ()

    def _text(self, *arguments: str) -> str:
        return os.fsdecode(self._said(*arguments) or b"")

    def _said(self, *arguments: str) -> bytes | None:
        """What git prints; None without git or an answer: no such commit, a broken repository, a time-out."""
        program = shutil.which("git")
        if program is None:
            return None
        kept = {name: value for name, value in os.environ.items() if not name.upper().startswith("GIT_")}
        # without the ceiling git goes on to the folders above when `.git` is not a repository
        environment = {**kept, **_ENVIRONMENT, "GIT_CEILING_DIRECTORIES": str(self.root.parent)}
        try:
            done = subprocess.run(  # noqa: S603 - no shell, and no argument that a repository could choose
                [program, "--no-pager", *arguments],
                cwd=self.root,
                env=environment,
                capture_output=True,
                check=True,
                timeout=_TIMEOUT,
                stdin=subprocess.DEVNULL,
            )
        except (OSError, subprocess.SubprocessError, ValueError):
            return None
        return done.stdout
