"""What a gate of a riskguard.yaml asks, and every file that its answer depends on: the key of its verdict.

Only what is known to be covered has a key: files on this machine that were at rest, baselines in a local store and
measures of ir-measures. Anything live, in a folder, at an address or half written has none and is judged.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from pytest_riskguard.baselines.atomic_folder import is_link, newest
from pytest_riskguard.engine.kept_verdicts.asked_file import AskedFile, AskedItem, NamedFile
from pytest_riskguard.engine.kept_verdicts.software import software_digest, switches
from pytest_riskguard.errors import MissingFileError
from pytest_riskguard.evaluation.cache.cache_folder import CacheFolder
from pytest_riskguard.evaluation.cache.file_digests import (
    Stamp,
    file_digest,
    is_at_rest,
    sha256_of,
    stamp_of,
    would_differ,
)
from pytest_riskguard.evaluation.cache.known_measures import may_be_of_project
from pytest_riskguard.formats.files.remote_files import is_address
from pytest_riskguard.formats.given_file import GivenFile
from pytest_riskguard.formats.input_files import open_regular

#: Values of JSON.
Key = dict[str, Any]


class NoKeyError(Exception):
    """A verdict depends on something that is not known to stay the same, or cannot be looked at."""


#: What looking at files raises where no key can be made; ValueError: a NUL in a path.
_UNKNOWN = (NoKeyError, OSError, ValueError, MissingFileError)
#: Where a stored baseline is, and its files as they are there.
_Listed = tuple[Path, dict[Path, Stamp | None]]


class Run(Protocol):
    """A run that takes the place of one that the file names."""

    @property
    def name(self) -> str | None:
        """What the verdict calls it."""

    @property
    def metadata(self) -> Mapping[str, str]:
        """What people say about it."""

    @property
    def file(self) -> GivenFile:
        """Where it is, and how it is read."""


class AskedGates:
    """The keys of the gates of a riskguard.yaml, each by its id.

    ``candidate`` and ``runs`` are as for ``engine.declared_gates.DeclaredGates``; ``report`` as for ``Engine``.
    """

    def __init__(
        self, asked: AskedFile, *, report: bool, candidate: Run | None = None, runs: Mapping[str, Run] | None = None
    ) -> None:
        self._asked, self._report, self._candidate, self._runs = asked, report, candidate, runs or {}
        self._digests: dict[tuple[str, Stamp], str] = {}
        self._first: dict[Path, Stamp | None] = {}
        self._first_listed: dict[str, _Listed | None] = {}
        groups: dict[int, list[AskedItem]] = {}
        for item in asked.items:
            groups.setdefault(item.group, []).append(item)
        #: The items that are judged with each one, and itself.
        self._together = {item.id: groups[item.group] for item in asked.items}

    def look(self, item: str) -> None:
        """Remember how the files behind an item are now, before anything is read for its verdict.

        What is read is held for all gates of a run. Only a file that is still as it was before the first of them has
        a digest that says what verdicts rest on.
        """
        items = self._together[item]
        with suppress(*_UNKNOWN):
            for name in self._stored(items):
                if name not in self._first_listed:
                    self._first_listed[name] = self._listed(name)
            for _, named in self._files(items):
                if (path := Path(named.path)) not in self._first:
                    self._first[path] = _told_apart(path)

    def key(self, item: str, folder: CacheFolder) -> Key:
        """Everything that the verdict on an item depends on; ``NoKeyError`` if that cannot be said.

        ``look`` must have been called before the item was judged.
        """
        items = self._together[item]
        for one in items:
            if may_be_of_project(one.measure):
                raise NoKeyError(f"{one.measure} may be a measure of the project")
        try:
            baselines = {name: self._baseline(name) for name in self._stored(items)}
            stored = {digest for files in baselines.values() for _, digest in files}
            return {
                "item": item,
                # slices were looked up when the gates were collected: topics may say something else by now
                "together": [[one.id, one.slice] for one in items],
                "settings": self._asked.written,
                "path": str(self._asked.path),
                "report": self._report,
                "files": self._known(items, folder, stored),
                "baselines": baselines,
                "switches": switches(),
                "software": software_digest(),
            }
        except _UNKNOWN as problem:
            raise NoKeyError(str(problem)) from None

    def _known(self, items: Iterable[AskedItem], folder: CacheFolder, stored: Collection[str]) -> list[list[str]]:
        """The files that items are about, how they are read, and their digests."""
        found = [(role, named, self._digest_known(Path(named.path), folder)) for role, named in self._files(items)]
        paths = {digest: named.path for _, named, digest in found}
        if any(paths[digest] != named.path or digest in stored for _, named, digest in found):
            raise NoKeyError("two files are the same, and may be one that is compared with itself")
        return [[role, named.read_as, digest] for role, named, digest in found]

    def _files(self, items: Iterable[AskedItem]) -> Iterator[tuple[str, NamedFile]]:
        """The files that these items are about, but for stored baselines."""
        yield from self._asked.files
        for name, run in sorted(self._runs.items()):
            yield f"baseline {name} {_described(run)}", NamedFile.of(run.file)
        if self._candidate is not None:
            yield f"candidate {_described(self._candidate)}", NamedFile.of(self._candidate.file)
            return
        for place, item in enumerate(items):
            if item.candidate is None:
                raise NoKeyError("the candidate is a live system")
            yield f"candidate {place}", item.candidate

    def _stored(self, items: Iterable[AskedItem]) -> list[str]:
        """The names of the stored baselines that these items are about."""
        named = {name for item in items for name in item.stored}
        return sorted(named - self._runs.keys())

    def _baseline(self, name: str) -> list[list[str]]:
        """Every file of a stored baseline with its digest; each file is read in every process, as the store does."""
        if is_address(self._asked.store):
            raise NoKeyError("the store is at an address")
        listed = self._listed(name)
        if listed is None or listed != self._first_listed.get(name):
            raise NoKeyError(f"{name} is not stored here, has a link to another place, or has changed")
        place, files = listed
        found = [[str(place.relative_to(self._asked.store)), "folder"]]
        return found + [[path.relative_to(place).as_posix(), self._digest(path)] for path in files]

    def _listed(self, name: str) -> _Listed | None:
        """Where a stored baseline is, and its files with their stamps; None without one, or if it has links."""
        if is_address(self._asked.store):
            return None
        place, files = newest(self._asked.store, name), dict[Path, Stamp | None]()
        if place is None or is_link(place):
            return None
        for folder, inner, names in os.walk(place):
            inner.sort()
            if any(is_link(Path(folder, part)) for part in (*inner, *names)):
                return None
            files |= {path: _told_apart(path) for path in (Path(folder, file) for file in sorted(names))}
        return place, files

    def _digest(self, path: Path) -> str:
        """The digest of a file at rest, read once by this process."""
        stamp = _resting(path)
        digest = self._digests.get((str(path), stamp))
        if digest is None:
            with open_regular(path) as file:
                digest = self._digests[str(path), stamp] = sha256_of(file)
            if stamp_of(path) != stamp:
                raise NoKeyError(f"{path} changed while it was read")
        return digest

    def _digest_known(self, path: Path, folder: CacheFolder) -> str:
        """The digest of a file at rest, from the cache if it knows it."""
        if _resting(path) != self._first.get(path):
            raise NoKeyError(f"{path} is not as it was before gates were judged")
        digest = file_digest(path, folder)
        if digest is None:
            raise NoKeyError(f"{path} cannot be read whole")
        return digest


def _described(run: Run) -> str:
    return json.dumps([run.name, sorted(run.metadata.items())])


def _resting(path: Path) -> Stamp:
    """What the file system says about a regular file that would look different if it changed."""
    stamp = stamp_of(path)
    if stamp is None or not is_at_rest(stamp):
        raise NoKeyError(f"{path} is no regular file, or changed just now")
    return stamp


def _told_apart(path: Path) -> Stamp | None:
    """As ``_resting``, but None for a file that may change right after it is read and keep its stamp."""
    stamp = stamp_of(path)
    return stamp if stamp is not None and would_differ(stamp) else None


def name_of(key: Key) -> str:
    """The name of the entry with this key: 64 digits."""
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
