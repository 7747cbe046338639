"""The commit that a work tree is at, and files of other commits."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pytest_riskguard.baselines.manifest import GitState
from pytest_riskguard.frozen import frozen

#: Files of a new store. If line ends were changed, the scores would not match the digest in the manifest.
FILES = {".gitattributes": "* -text\n", ".gitignore": ".lock\n.tmp-*\n"}


def prepare(root: Path) -> None:
    """Write git's files into a new store; existing ones are left alone, and failures are ignored."""
    for name, content in FILES.items():
        with suppress(OSError), (root / name).open("x", encoding="utf-8", newline="\n") as file:
            file.write(content)


_TIMEOUT = 10.0  # seconds; the status of a large working tree on a cold disk
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
#: Instead of every variable that redirects git.
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "",  # a partial clone fetches what it lacks, as its configuration says
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
#: What keeps git from saying something: no such commit, a broken repository, a time-out, no program.
_UNKNOWN = (OSError, subprocess.SubprocessError, ValueError)
#: For the first step. A folder with files named HEAD, objects and refs is not a repository: only `.git` makes one.
_IN_REPOSITORY = (
    *("-c", "safe.bareRepository=explicit"),
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
)
_STATUS = ("status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all")


def git_state(folder: Path) -> GitState | None:
    """Commit and dirtiness of the repository around an existing folder, or None if git cannot say.

    Changes inside the folder do not count: storing one baseline does not make the next one dirty. Neither do changes
    inside submodules.
    """
    commit, _ = checked_out(folder)
    git, root = _found(folder)
    if commit is None or git is None or root is None:
        return None
    store = f":(exclude,literal){folder.resolve().relative_to(root).as_posix()}"
    try:
        changes = _printed(git, root, {}, *_IN_REPOSITORY, *_STATUS, "--", ":/", store)
    except _UNKNOWN:
        return None
    return GitState(commit, dirty=bool(changes.strip()))


def checked_out(folder: Path) -> tuple[str | None, str | None]:
    """The commit and the branch of the repository around a folder; None where git cannot say."""
    git, root = _found(folder)
    if git is None or root is None:
        return None, None
    arguments = ("rev-parse", "HEAD", "--abbrev-ref", "HEAD")
    try:
        names = os.fsdecode(_printed(git, root, {}, *_IN_REPOSITORY, *arguments)).split("\n")
    except _UNKNOWN:
        return None, None
    if len(names) != 3 or not _COMMIT.fullmatch(names[0]):
        return None, None
    return names[0], None if names[1] == "HEAD" else names[1]


@frozen
class Blob:
    """A file of a commit: the name of its content, and its size in bytes."""

    name: str
    size: int

    def is_of(self, content: bytes) -> bool:
        """Whether this is the content."""
        method = "sha1" if len(self.name) == 40 else "sha256"
        digest = hashlib.new(method, b"blob %d\0" % len(content), usedforsecurity=False)
        digest.update(content)
        return digest.hexdigest() == self.name


@frozen
class Repository:
    """The repository around a folder, of which commits are read; an answer is None or empty where git cannot say."""

    git: str
    root: Path

    @classmethod
    def around(cls, folder: Path) -> Repository | None:
        """The repository; None without one, or without git."""
        git, root = _found(folder)
        return None if git is None or root is None else cls(git, root)

    def head(self) -> tuple[str, ...]:
        """The commit that is checked out, then its parents as far as the clone has them."""
        commits = tuple(self._said("rev-list", "--parents", "--max-count=1", "HEAD").split())
        return commits if all(map(_COMMIT.fullmatch, commits)) else ()

    def merge_base(self, other: str) -> str | None:
        """The last commit that HEAD and ``other``, a commit or a full name of a branch, have in common."""
        commit = self._said("merge-base", "HEAD", other).strip()
        return commit if _COMMIT.fullmatch(commit) else None

    def files(self, commit: str, paths: Iterable[str]) -> dict[str, Blob]:
        """The regular files of a commit that these paths from the root name, or that are in the folders they name."""
        found = {}
        for line in self._said("ls-tree", "-r", "-l", "-z", "--full-tree", commit, "--", *paths).split("\0"):
            entry, _, path = line.partition("\t")
            mode, _, name, size, *_ = [*entry.split(), "", "", "", ""]
            if mode.startswith("100") and size.isdecimal():
                found[path] = Blob(name, int(size))
        return found

    def contents(self, blobs: Iterable[Blob], *, most: int) -> dict[str, bytes]:
        """By the name of each, as far as the clone has them and all together have at most so many bytes."""
        names: dict[str, int] = {}
        for blob in blobs:
            if sum(names.values()) + blob.size <= most:
                names[blob.name] = blob.size
        try:
            printed = self._printed("cat-file", "--batch", given="".join(f"{name}\n" for name in names).encode())
        except _UNKNOWN:
            return {}
        contents = {}
        for name, size in names.items():
            header, _, rest = printed.partition(b"\n")
            if header == f"{name} blob {size}".encode():
                contents[name], printed = rest[:size], rest[size + 1 :]
            else:  # "missing": one line alone
                printed = rest
        return contents

    def _said(self, *arguments: str) -> str:
        try:
            return os.fsdecode(self._printed(*arguments))
        except _UNKNOWN:
            return ""

    def _printed(self, *arguments: str, given: bytes | None = None) -> bytes:
        return _printed(self.git, self.root, {"GIT_LITERAL_PATHSPECS": "1"}, *_IN_REPOSITORY, *arguments, given=given)


def _found(folder: Path) -> tuple[str | None, Path | None]:
    """The program, and the root of the repository around a folder."""
    git = shutil.which("git")
    if git is None or not Path(git).is_absolute():  # Windows looks in the current folder first
        return None, None
    folder = folder.resolve()
    return git, next((place for place in (folder, *folder.parents) if os.path.lexists(place / ".git")), None)


def _printed(git: str, root: Path, environment: dict[str, str], *arguments: str, given: bytes | None = None) -> bytes:
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith("GIT_")}
    done = subprocess.run(  # noqa: S603 - no shell, and no argument that a repository could choose
        [git, "--no-pager", *arguments],
        cwd=root,
        # without the ceiling git goes on to the folders above when `.git` is not a repository
        env={**kept, **_ENVIRONMENT, "GIT_CEILING_DIRECTORIES": str(root.parent), **environment},
        capture_output=True,
        check=True,
        timeout=_TIMEOUT,
        stdin=subprocess.DEVNULL if given is None else None,
        input=given,
    )
    return done.stdout
