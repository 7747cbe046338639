"""Whether a path leads to a file of a stored baseline, under any name: a candidate must not be one."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path


def stored_file(path: Path, store: Path, *, of: Collection[str]) -> str | None:
    """The place in the store, such as ``prod/run.gz``, of the file of these baselines that a path leads to.

    None if it is not such a file. Symbolic and hard links lead to the file itself; a copy is another file.
    """
    files = (Path(place, file) for name in sorted(of) for place, _, names in os.walk(store / name) for file in names)
    return next((file.relative_to(store).as_posix() for file in files if same_file(file, path)), None)


def same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file; not if one of them leads nowhere."""
    try:
        return one.samefile(other)
    except OSError:
        return False
