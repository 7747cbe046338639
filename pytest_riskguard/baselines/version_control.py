"""Git's files in a new store: line ends are not changed, and the lock and unfinished work are not committed."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

#: Files of a new store. If line ends were changed, the scores would not match the digest in the manifest.
FILES = {".gitattributes": "* -text\n", ".gitignore": ".lock\n.tmp-*\n"}


def prepare(root: Path) -> None:
    """Write git's files into a new store; existing ones are left alone, and failures are ignored."""
    for name, content in FILES.items():
        with suppress(OSError), (root / name).open("x", encoding="utf-8", newline="\n") as file:
            file.write(content)
