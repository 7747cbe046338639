"""Which run a file holds, found out without reading its lines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_riskguard.evaluation.cache.cache_folder import CacheFolder
from pytest_riskguard.evaluation.cache.environment_digest import environment_digest
from pytest_riskguard.evaluation.cache.file_digests import file_digest
from pytest_riskguard.evaluation.cache.score_entries import entry_name
from pytest_riskguard.formats.given_file import GivenFile


def way_of_reading(given: GivenFile, texts: Mapping[str, str]) -> list[object]:
    """What the run in known bytes depends on besides: how they are read, and the query texts."""
    known_as = hashlib.sha256(json.dumps([*texts.items()]).encode()).hexdigest()
    return [given.format, given.part, environment_digest(), given.ties, sorted(given.columns.items()), known_as]


@dataclass(frozen=True)
class KnownText:
    """A run in TREC's format, ranked by its scores, whose text, decompressed, was found to have this digest."""

    digest: str

    @property
    def lock(self) -> str:
        """The name of the lock for reading it."""
        return entry_name({"lock": self.digest})

    @property
    def run(self) -> str:
        """What identifies the run."""
        return f"trec {self.digest}"

    def was_read(self, digest: str, *, as_trec: bool) -> bool:
        """Whether this is the run that was read, which has this digest."""
        return as_trec and digest == self.digest


@dataclass(frozen=True)
class KnownFile:
    """A run file whose bytes are known; ``texts`` are the query texts by which formats without ids know topics."""

    folder: CacheFolder
    given: GivenFile
    bytes_digest: str
    texts: Mapping[str, str]

    @classmethod
    def of(cls, folder: CacheFolder, given: GivenFile, texts: Mapping[str, str]) -> KnownFile | None:
        """None if the file cannot be read, or changes meanwhile."""
        digest = file_digest(given.path, folder)
        return None if digest is None else cls(folder, given, digest, texts)

    @property
    def lock(self) -> str:
        """The name of the lock for reading it."""
        return entry_name({"lock": self.bytes_digest})

    @property
    def run(self) -> str:
        """What identifies the run in this file, read as it is asked to be."""
        digest = self._trec_digest()
        if digest is not None:
            return KnownText(digest).run
        endings = "".join(Path(self.given.path.name.lower()).suffixes)
        read = [self.bytes_digest, endings, *way_of_reading(self.given, self.texts)]
        return f"file {entry_name({'read': read})}"

    def was_read(self, digest: str, *, as_trec: bool) -> bool:
        """Whether the file still holds what was read, which has this digest; if so, its format is remembered."""
        if file_digest(self.given.path, self.folder) != self.bytes_digest:
            return False
        if as_trec:
            name = self._trec_name
            self.folder.write("files", name, f"{name} {digest}\n".encode())
        return True

    def _trec_digest(self) -> str | None:
        """The digest of its text, if it is known to be in TREC's format and is ranked by its scores."""
        if self.given.ties == "as_returned":
            return None
        name = self._trec_name
        content = (self.folder.read("files", name) or b"").decode("ascii", "replace")
        said, _, digest = content.removesuffix("\n").partition(" ")
        return digest if said == name and digest else None

    @property
    def _trec_name(self) -> str:
        return entry_name({"trec": self._detected_by()})

    def _detected_by(self) -> list[str | None]:
        """All that the format of the file depends on."""
        endings = "".join(Path(self.given.path.name.lower()).suffixes)
        return [self.bytes_digest, endings, self.given.format, self.given.part, environment_digest()]
