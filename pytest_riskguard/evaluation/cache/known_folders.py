"""Which run a folder of parts holds, found out without reading their lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_riskguard.errors import RiskguardError
from pytest_riskguard.evaluation.cache.cache_folder import CacheFolder
from pytest_riskguard.evaluation.cache.file_digests import files_digest
from pytest_riskguard.evaluation.cache.known_files import way_of_reading
from pytest_riskguard.evaluation.cache.score_entries import entry_name
from pytest_riskguard.evaluation.runs.run_folders import folder_of
from pytest_riskguard.formats.given_file import GivenFile


@dataclass(frozen=True)
class KnownFolder:
    """A run in a folder on this machine, of which the bytes and the name of every part are known."""

    folder: CacheFolder
    given: GivenFile
    bytes_digest: str
    texts: Mapping[str, str]

    @classmethod
    def of(cls, folder: CacheFolder, given: GivenFile, texts: Mapping[str, str]) -> KnownFolder | None:
        """None if the folder holds no run, or a part cannot be read or changes meanwhile."""
        digest = _digest(given, folder)
        return None if digest is None else cls(folder, given, digest, texts)

    @property
    def lock(self) -> str:
        """The name of the lock for reading it."""
        return entry_name({"lock": self.bytes_digest})

    @property
    def run(self) -> str:
        """What identifies the run in this folder, read as it is asked to be."""
        return f"folder {entry_name({'read': [self.bytes_digest, *way_of_reading(self.given, self.texts)]})}"

    def was_read(self, digest: str, *, as_trec: bool) -> bool:  # noqa: ARG002 - as of a file
        """Whether the folder still holds what was read."""
        return _digest(self.given, self.folder) == self.bytes_digest


def _digest(given: GivenFile, folder: CacheFolder) -> str | None:
    try:
        parts = folder_of(given.path)
    except RiskguardError:  # whoever reads the run says what is wrong
        return None
    return None if parts is None else files_digest(parts.files, folder)
