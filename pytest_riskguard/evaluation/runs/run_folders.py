"""Runs in several files: folders of parts, as Spark and other engines write them, on this machine or at an address.

Each topic stands in one part. Files whose names begin with ``_`` or ``.`` are notes of the engine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_riskguard.errors import MissingFileError, RunFormatError
from pytest_riskguard.evaluation.array_files import is_array_file
from pytest_riskguard.formats.files.remote_files import address_of, files_at, is_address
from pytest_riskguard.formats.given_file import GivenFile, Ties
from pytest_riskguard.formats.input_files import is_file, is_folder, open_regular
from pytest_riskguard.formats.limits import Limit

#: What parts may be. Other formats say by the order of their rankings which topic each is of, or hold whole runs.
FORMATS = ("trec", "parquet", "arrow")
#: The kind of ``array_files`` that scored parts are.
PART = "part"
PARTS = Limit(100_000, "files in the folder of a run")


@dataclass(frozen=True)
class RunInPieces:
    """A run that is not one file on this machine: a folder, an address, or what was kept of a run that was scored."""

    given: GivenFile

    @property
    def ties(self) -> Ties:
        """Which order counts where scores are equal, as far as that is known before the run is read."""
        return self.given.ties or "docid"


@dataclass(frozen=True)
class RunFolder:
    """The files of a run, sorted by name; ``place`` is their folder, or the address of a single file."""

    place: Path
    files: tuple[Path, ...]

    @property
    def shown(self) -> str:
        """The path or the address, as messages name it."""
        return address_of(self.place) if is_address(self.place) else str(self.place)


def in_pieces(given: GivenFile) -> RunInPieces | None:
    """A run that has to be put together before anything is known of it; None for one file, or none."""
    path = given.path
    return RunInPieces(given) if is_address(path) or is_folder(path) or is_part(path) else None


def is_part(path: Path) -> bool:
    """Whether a path is a file that begins as scored parts do."""
    if not is_file(path):
        return False
    with open_regular(path) as file:
        return is_array_file(file.read(100), PART)


def folder_of(path: Path) -> RunFolder | None:
    """The files of a run, if its path is a folder or an address; None for anything else.

    ``RunFormatError`` for a folder without files or with folders in it, ``MissingFileError`` if it cannot be read,
    ``UsageError`` as ``files_at``.
    """
    if is_address(path):
        listed = files_at(path)
        if listed is None:
            return RunFolder(path, (path,))
        return _checked(path, [file.address for file in listed])
    if not is_folder(path):
        return None
    try:
        entries = sorted(path.iterdir())
    except OSError as problem:
        raise MissingFileError(path, None, f"cannot be read ({problem.strerror})") from None
    inner = [entry.name for entry in entries if entry.is_dir() and not _is_note(entry)]
    if inner:
        raise RunFormatError(
            path, None, f"expected the parts of a run, found the folder {inner[0]!r:.60} among them; name one run"
        )
    return _checked(path, entries)


def digest_of(parts: Sequence[str]) -> str:
    """The digest of a run in several files, from theirs: it depends on neither their names nor their order.

    That of a single file is its own.
    """
    if len(parts) == 1:
        return parts[0]
    text = "".join(f"{digest}\n" for digest in sorted(parts))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _checked(place: Path, files: Sequence[Path]) -> RunFolder:
    parts = tuple(file for file in files if not _is_note(file))
    if not parts:
        raise RunFormatError(place, None, "expected the parts of a run, found a folder without files")
    if len(parts) > PARTS.value:
        raise RunFormatError(place, None, PARTS.problem(len(parts)))
    return RunFolder(place, parts)


def _is_note(file: Path) -> bool:
    return file.name.startswith(("_", "."))
