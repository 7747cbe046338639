"""What git must know about a store: line ends stay as they are; the lock and unfinished work are no content."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

#: Files of a new store. Scores with other line ends than those stored would not have the digest of the manifest.
FILES = {".gitattributes": "* -text\n", ".gitignore": ".lock\n.tmp-*\n"}


def prepare(root: Path) -> None:
    """Write what git needs into a new store; what is there already is left alone, and failures are ignored."""
    for name, content in FILES.items():
        with suppress(OSError), (root / name).open("x", encoding="utf-8", newline="\n") as file:
            file.write(content)
