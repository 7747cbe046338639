"""Files in a baseline's folder that this package did not write, so that they are never lost with the baseline."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_riskguard.baselines.atomic_folder import is_link
from pytest_riskguard.baselines.entry import MANIFEST, QUERIES, RUN, SCORES, StoredBaseline
from pytest_riskguard.errors import BaselineError, DataError
from pytest_riskguard.text import counted, listed

_FILES = (MANIFEST, SCORES, RUN, QUERIES)
#: A folder whose manifest cannot be read is taken for a damaged baseline if it holds at least this many files of one.
_MIN_FILES = 2
_LISTS = ("replicates", "history")
# What file managers write into any folder that somebody looks at.
_LITTER = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})


def carried(baseline: StoredBaseline) -> list[str]:
    """Names of foreign files in the folder of a baseline that is to be replaced; empty if there is no folder.

    A ``BaselineError`` if the folder is not a baseline's, or foreign files lie among its replicates or earlier runs.
    """
    if not os.path.lexists(baseline.folder):
        return []
    foreign = _foreign_of_baseline(baseline)
    if deeper := [path for path in foreign if "/" in path]:
        raise _not_ours(baseline, deeper)
    return foreign


def check_removable(baseline: StoredBaseline) -> None:
    """Raise ``BaselineError`` if a folder is not a baseline's, or foreign files would be lost with it."""
    if foreign := _foreign_of_baseline(baseline):
        raise _not_ours(baseline, foreign)


def _foreign_of_baseline(baseline: StoredBaseline) -> list[str]:
    folder = baseline.folder
    if is_link(folder) or not folder.is_dir():
        what = "a link" if is_link(folder) else "not a folder"
        raise baseline.error(f"is {what}, so it is not touched; delete it yourself, or use another name")
    foreign = list(_foreign(folder, "", _LISTS))
    try:
        _ = baseline.manifest
    except DataError as error:
        if foreign:
            raise _not_ours(baseline, foreign) from None
        if sum(os.path.lexists(folder / name) for name in _FILES) < _MIN_FILES:
            problem = error.problem.partition(": ")[2].partition("; ")[0]
            raise baseline.error(
                f"does not look like a baseline ({problem}), so it is not touched; delete the folder yourself, or "
                "use another name"
            ) from None
    return foreign


def _not_ours(baseline: StoredBaseline, foreign: Sequence[str]) -> BaselineError:
    entries = counted(len(foreign), "file or folder", "files or folders")
    return baseline.error(
        f"holds {entries} that riskguard did not write ({listed(tuple(foreign), most=5)}) and that would be lost; "
        "move them somewhere else and try again"
    )


def _foreign(folder: Path, prefix: str, lists: tuple[str, ...]) -> Iterator[str]:
    """Files and folders that do not belong to a baseline, relative to the baseline's folder.

    A link is never followed. One with the name of a baseline's file counts as ours, since deleting it loses nothing.
    """
    for path in sorted(folder.iterdir()):
        place, is_folder = f"{prefix}{path.name}", path.is_dir() and not is_link(path)
        if path.name in lists and is_folder:
            yield from _foreign_in_list(path, f"{place}/")
        elif path.name in _FILES and is_folder:
            yield from (f"{place}/{held.name}" for held in sorted(path.iterdir()))
        elif path.name not in (*_FILES, *_LITTER) and not (path.name in lists and is_link(path)):
            yield place


def _foreign_in_list(folder: Path, prefix: str) -> Iterator[str]:
    """The same for a folder of replicates or earlier runs, each in a folder whose name is its number."""
    for path in sorted(folder.iterdir()):
        is_numbered = path.name.isascii() and path.name.isdigit()
        if is_numbered and path.is_dir() and not is_link(path):
            yield from _foreign(path, f"{prefix}{path.name}/", _LISTS[:1])
        elif path.name not in _LITTER and not (is_numbered and is_link(path)):
            yield f"{prefix}{path.name}"
