"""Baselines on disk: ``<store>/<name>/`` with ``manifest.json``, ``scores.tsv`` and usually ``run.gz``.

``<store>/<name>/replicates/<number>/`` holds further runs of the same system, with the same files, and
``<store>/<name>/history/<number>/`` what the baseline was before another run took its place. Both change together
with the whole folder of their baseline, whose manifest has the digests of theirs.

``reader`` reads it. Writing happens under a lock and is all or nothing, even if the process is killed.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_riskguard.baselines import atomic_folder
from pytest_riskguard.baselines.entry import HISTORY, MANIFEST, REPLICATES, RUN, Entry, sha256
from pytest_riskguard.baselines.manifest import Manifest
from pytest_riskguard.baselines.new_entry import NewEntry
from pytest_riskguard.baselines.reader import StoreReader, check_name
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.runs import Run
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.errors import BaselineError, DataError, Remedy, UsageError
from pytest_riskguard.frozen import frozen


@frozen
class Replacement:
    """A baseline whose run was replaced, or would be: ``manifest`` is then None.

    ``is_same``: by the run that it had. ``changes`` has the scores before and after of each measure that the run
    before can be scored with, on the judgements of today.
    """

    manifest: Manifest | None
    is_same: bool
    changes: tuple[tuple[TopicScores, TopicScores], ...]


class Store(StoreReader):
    """A folder of baselines; it need not exist before the first one is added.

    Methods that write raise what those of ``StoreReader`` do, and ``bad_baseline`` also for a store that cannot be
    written or that another process keeps locked. ``scoring`` is what ``NewEntry.read`` takes; without measures those
    of the baseline.
    """

    def add(self, name: str, run: Path | GivenFile | Run, **scoring: Any) -> Manifest:
        """Score a run and keep it under a new name; a ``Run`` is what a live system has just answered."""
        check_name(name)
        for taken in self.names():
            if taken == name:
                raise UsageError(
                    f"{self.root / name}: a baseline of that name already exists",
                    remedy=Remedy("replace it with {}, or choose another name", f"update {name} RUN --note WHY"),
                )
            if taken.lower() == name.lower():
                raise UsageError(
                    f"{self.root / name}: {taken!r} differs only in upper and lower case, which is the same "
                    "folder on many systems; choose another name"
                )
        scored = NewEntry.read(name, run, **scoring)
        with self._replaced(name) as folder:
            return scored.write(folder, name=name, store=self.root)

    def update(self, name: str, run: Path | GivenFile | Run, *, dry_run: bool = False, **scoring: Any) -> Replacement:
        """Store a run in the place of another, which becomes the newest of the baseline's earlier runs.

        Its replicates go with it; if it is the same run, all that stays as it is. The measures of the baseline are
        kept, so that its history can be compared. ``DataError`` for damage, which would go into the history.
        """
        before = self.manifest(name)
        if not scoring.get("scores"):
            scoring["measures"] = [*before.measures, *scoring.get("measures", ())]
        scored = NewEntry.read(name, run, **scoring)
        changes = tuple(self._changes(name, scored))
        if dry_run:
            return Replacement(None, scored.digest == before.digests.run, changes)
        with self._replaced(name) as folder:
            old = self.entry(name)
            number, predecessor, replicates = old.manifest.number, old.manifest.predecessor, old.manifest.replicates
            is_same = scored.digest == old.manifest.digests.run
            if is_same:
                _copy(old.folder / REPLICATES, folder / REPLICATES)
            elif damage := old.problems():
                raise BaselineError(damage[0])
            _copy(old.folder / HISTORY, folder / HISTORY)
            if not is_same:
                _copy(old.folder, folder / HISTORY / f"{number:04d}", but=HISTORY)
                number, predecessor, replicates = number + 1, _digest_of(old.folder), {}
            manifest = scored.write(
                folder, name=name, store=self.root, number=number, predecessor=predecessor, replicates=replicates
            )
        return Replacement(manifest, is_same, changes)

    def add_replicate(self, name: str, run: Path | GivenFile | Run, **scoring: Any) -> int:
        """Score another run of a baseline's system, and store it as a replicate; returns the replicate's number.

        A ``UsageError`` if the run is stored already, as the baseline or as a replicate; a ``BaselineError`` if the
        baseline cannot be scored with these judgements and measures, so that nothing could be compared.
        """
        before = self.manifest(name)
        if not before.has_run:
            raise UsageError(f"{self.root / name}: was stored from scores, and replicates are runs of one system")
        scoring["measures"] = scoring.get("measures") or before.measures
        scored = NewEntry.read(name, run, **scoring)
        for measure in scoring["measures"]:
            self.scores(name, measure, qrels=scored.judgements)
        with self._replaced(name) as folder:
            entry = self.entry(name)
            for held in (entry, *entry.replicates()):
                if held.manifest.digests.run == scored.digest:  # a copy would make the system look less noisy
                    raise UsageError(
                        f"{self.root / held.place}: already holds this run; a replicate is the output of another run "
                        "of the same system"
                    )
            listed = entry.manifest.replicates
            number = 1 + max(map(int, listed), default=0)
            _copy(entry.folder, folder)
            place = folder / REPLICATES / str(number)
            scored.write(place, name=name, store=self.root)
            _write(folder, entry.manifest, replicates={**listed, str(number): _digest_of(place)})
            return number

    def remove_replicate(self, name: str, number: int) -> None:
        """Delete one replicate, even if it is damaged or lost; the others keep their numbers."""
        self.read(name, lambda entry: entry.replicate(number))
        with self._replaced(name) as folder:
            entry = self.entry(name)
            _copy(entry.folder, folder)
            shutil.rmtree(folder / REPLICATES / str(number), ignore_errors=True)
            left = {key: digest for key, digest in entry.manifest.replicates.items() if key != str(number)}
            _write(folder, entry.manifest, replicates=left)

    def rescore(self, name: str, **scoring: Any) -> tuple[str, ...]:
        """Rescore the kept runs of a baseline and of its replicates, and store the scores.

        Time, commit and note of each run stay as they are, and so does the history. Returns the places of replicates
        that keep their old scores, because their runs were not kept.
        """
        with self._replaced(name) as folder:
            entry = self.entry(name)
            if not entry.manifest.run_kept:
                raise entry.error("its run was not kept, or it was stored from scores", reason="missing_input")
            entry.check_run()
            scoring["measures"] = scoring.get("measures") or entry.manifest.measures
            scoring["allow_unanswered"] = entry.manifest.allow_unanswered or scoring.get("allow_unanswered", False)
            scored = NewEntry.read(name, entry.folder / RUN, **scoring)
            unscored, replicates = list[str](), dict[str, str]()
            for replicate in entry.replicates():
                replicate.table()
                replicate.check_run()
                number = replicate.folder.name
                place = folder / REPLICATES / number
                if replicate.manifest.run_kept:
                    same = scored.likewise(replicate.folder / RUN)
                    same.write(place, name=name, store=self.root, like=replicate.manifest)
                else:
                    _copy(replicate.folder, place)
                    unscored.append(replicate.place)
                replicates[number] = _digest_of(place)
            _copy(entry.folder / HISTORY, folder / HISTORY)
            scored.write(folder, name=name, store=self.root, like=entry.manifest, replicates=replicates)
            return tuple(unscored)

    def remove(self, name: str) -> None:
        """Delete a baseline with its replicates and its earlier runs, even if it is damaged."""
        self.entry(name)
        with atomic_folder.locked(self.root):
            self._check_ours(name)
            atomic_folder.delete(self.root, name)

    def _changes(self, name: str, scored: NewEntry) -> Iterator[tuple[TopicScores, TopicScores]]:
        for new in scored.scores:
            with suppress(DataError):  # stored without this measure, or damaged
                yield self.scores(name, str(new.measure), qrels=scored.judgements, accept=True).scores, new

    @contextmanager
    def _replaced(self, name: str) -> Iterator[Path]:
        """An empty folder that takes the place of a baseline at the end; the store is locked meanwhile."""
        with atomic_folder.locked(self.root):
            self._check_ours(name)
            with atomic_folder.replaced(self.root, name) as folder:
                yield folder

    def _check_ours(self, name: str) -> None:
        """Raise ``BaselineError`` if files of somebody else would be lost with a baseline."""
        entry = Entry(self.root, name, self.root / name)
        if entry.foreign:
            raise entry.error(
                f"holds files that riskguard did not write ({entry.foreign}) and that would be lost; move them "
                "somewhere else and try again"
            )


def _copy(source: Path, target: Path, *, but: str = "") -> None:
    """Copy a folder, if it is there, files without their modes."""
    if source.exists():
        ignored = shutil.ignore_patterns(but)
        shutil.copytree(source, target, copy_function=shutil.copyfile, dirs_exist_ok=True, ignore=ignored)


def _write(folder: Path, manifest: Manifest, **more: Any) -> None:
    (folder / MANIFEST).write_bytes(replace(manifest, **more).to_bytes())


def _digest_of(folder: Path) -> str:
    return sha256((folder / MANIFEST).read_bytes())
