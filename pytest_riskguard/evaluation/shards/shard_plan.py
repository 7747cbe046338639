"""Which piece of a run a shard is: some of its bytes, some of its files, or some of its topics."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pytest_riskguard.errors import UsageError
from pytest_riskguard.evaluation.runs.run_folders import RunFolder, folder_of
from pytest_riskguard.formats.input_files import GZIP, open_regular

Division = Literal["bytes", "files", "topics"]
DIVISIONS: tuple[Division, ...] = ("bytes", "files", "topics")


@dataclass(frozen=True)
class Shard:
    """Piece ``number`` (from 1) of ``count`` pieces of a run.

    Attributes
    ----------
    run : Path
        A file, a folder of files, or the address of either, as the process that reads it finds it.
    number, count : int
    by : 'bytes', 'files' or 'topics'
        A range of bytes of a plain file, whose ends move to the next topic; every ``count``-th file of a folder; the
        topics whose ids fall to this piece, for which the whole file is read.
    """

    run: Path
    number: int
    count: int
    by: Division

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.count:
            raise UsageError(f"shard {self.number}/{self.count}: expected a piece from 1 to {self.count}")

    @property
    def shown(self) -> str:
        """The piece in messages: ``2/4``."""
        return f"{self.number}/{self.count}"

    def range_of(self, size: int) -> tuple[int, int]:
        """The first byte of the piece, and the one after its last, of a file of this size."""
        return size * (self.number - 1) // self.count, size * self.number // self.count

    def files_of(self, folder: RunFolder) -> tuple[Path, ...]:
        """The files of the piece."""
        return folder.files[self.number - 1 :: self.count]

    def has_topic(self, topic: str) -> bool:
        """Whether a topic falls to the piece; ids that follow each other do not fall to the same one."""
        digest = hashlib.blake2b(topic.encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.count == self.number - 1


def folder_to_read(shard: Shard) -> RunFolder | None:
    """The folder of a run, None for a file; ``UsageError`` for a division that does not fit."""
    folder = folder_of(shard.run)
    if folder is not None and shard.by != "files":
        raise UsageError(f"{folder.shown}: expected a folder to be divided by files, found by {shard.by}")
    if folder is None and shard.by == "files":
        raise UsageError(f"{shard.run}: expected a single file to be divided by bytes or topics, found by files")
    if folder is not None and shard.count > len(folder.files):
        most = f"{len(folder.files)} pieces, one for each file of the run"
        raise UsageError(f"{folder.shown}: expected at most {most}, found {shard.count}")
    return folder


def shards_of(run: Path, count: int, by: Division | None = None) -> tuple[Shard, ...]:
    """All pieces of a run; ``by`` as ``division_of`` unless it is given."""
    by = by or division_of(run)
    return tuple(Shard(run, number, count, by) for number in range(1, count + 1))


def division_of(run: Path) -> Division:
    """How a run is divided unless somebody says otherwise: folders by files, plain files by bytes, gzip by topics."""
    folder = folder_of(run)
    if folder is not None:
        return "files"
    with open_regular(run) as file:
        return "topics" if file.read(len(GZIP)) == GZIP else "bytes"
