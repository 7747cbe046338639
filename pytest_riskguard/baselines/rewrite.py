"""Rewriting a baseline: one replicate more or less, one earlier run more, or every run rescored.

Each function writes into an empty temporary folder, which then takes the place of the baseline's, so that the
manifest changes together with the replicates and earlier runs that it lists. The caller holds the store's lock.
Damage raises a ``DataError``, unless a function says otherwise.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_riskguard.baselines import atomic_folder
from pytest_riskguard.baselines.entry import HISTORY, MANIFEST, REPLICATES, RUN, SCORES, StoredBaseline
from pytest_riskguard.baselines.manifest import FIXED, EarlierRun, Manifest, StoredReplicate
from pytest_riskguard.baselines.names import history_folder
from pytest_riskguard.baselines.scored_run import ScoredRun
from pytest_riskguard.errors import BaselineError, DataError, UsageError
from pytest_riskguard.risk.checks import ROUNDING_ERROR


@dataclass(frozen=True)
class MeanChange:
    """The mean of a measure over the judged topics: of the run that a baseline holds, and of the accepted one."""

    measure: str
    before: float
    after: float

    @property
    def falls(self) -> bool:
        """Whether it falls by more than rounding; NaN counts as a fall."""
        return not self.after >= self.before - ROUNDING_ERROR


@dataclass(frozen=True)
class Promotion:
    """The result of promoting a run to a baseline.

    Attributes
    ----------
    manifest : Manifest
        Of what the baseline holds now.
    moved : bool
        Whether that is the promoted run; false if a ``best`` baseline stays because a mean falls.
    changes : tuple of MeanChange
        For each measure that the previous run can still be scored with.
    """

    manifest: Manifest
    moved: bool
    changes: tuple[MeanChange, ...]


def with_earlier(baseline: StoredBaseline, folder: Path) -> tuple[EarlierRun, ...]:
    """Write the history of a baseline with its present run added, replicates included; return the new list."""
    if problems := baseline.problems():
        raise BaselineError(problems[0])
    history = with_history(baseline, folder)
    number = 1 + max((earlier.number for earlier in history), default=0)
    _copy(baseline, folder / HISTORY / history_folder(number))
    return (*history, baseline.as_earlier(number))


def with_history(baseline: StoredBaseline, folder: Path) -> tuple[EarlierRun, ...]:
    """Write the history of a baseline as it is, damaged parts included; return its list."""
    try:
        manifest = baseline.manifest()
    except DataError as error:
        if not baseline.holds_history():
            return ()
        raise baseline.error(
            f"{error.problem.partition(': ')[2]}. Its {HISTORY} would be lost; pass --forget-history to drop it"
        ) from None
    if baseline.history(manifest) and (baseline.folder / HISTORY).is_dir():
        (folder / HISTORY).mkdir()
        atomic_folder.copy_folder(baseline.folder / HISTORY, folder / HISTORY)
    return manifest.history


def rescored(baseline: StoredBaseline, scored: ScoredRun, folder: Path) -> list[str]:
    """Write a baseline with its history and all replicates, every kept run scored as ``scored`` was.

    Returns the places of those whose scores stay, because their runs were not kept.
    """
    manifest = baseline.manifest()
    baseline.table(manifest)
    baseline.check_run(manifest)
    not_rescored = []
    for replicate in baseline.replicates(manifest):
        not_rescored += rescored(replicate, scored, _made(folder / REPLICATES / replicate.folder.name))
    history = []
    for earlier, listed in zip(baseline.history(manifest), manifest.history, strict=True):
        place = _made(folder / HISTORY / earlier.folder.name)
        not_rescored += rescored(earlier, scored, place)
        history.append(StoredBaseline(baseline.root, baseline.name, place).as_earlier(listed.number))
    manifest = replace(manifest, history=tuple(history))
    if not manifest.run_kept:
        _copy_files(baseline, manifest, folder)
        return [baseline.place, *not_rescored]
    same = manifest.digests.run == scored.digest
    written = scored if same else scored.likewise(baseline.file(RUN), note=manifest.note)
    written.write(
        folder,
        store=baseline.root,
        replicates=manifest.replicates,
        kind=manifest.kind,
        history=manifest.history,
        stored=manifest,
    )
    return not_rescored


def with_replicate(baseline: StoredBaseline, scored: ScoredRun, folder: Path) -> int:
    """Write the baseline with a run added to its replicates; return its number."""
    manifest = baseline.manifest()
    replicates = baseline.replicates(manifest)
    for entry in (baseline, *replicates):
        run = manifest.digests.run if entry.replicate is None else entry.replicate.run
        if run == scored.digest:  # a copy would make the system look less noisy than it is
            raise UsageError(
                f"{entry.root / entry.place}: holds this run already; a replicate is the output of another run "
                "of the same system"
            )
    number = 1 + max((replicate.number for replicate in manifest.replicates), default=0)
    atomic_folder.copy_folder(baseline.folder, folder)
    place = folder / REPLICATES / str(number)
    atomic_folder.clear(place)
    place.mkdir(parents=True)
    scored.write(place, store=baseline.root)
    _write_list(folder, manifest, (*manifest.replicates, StoredReplicate(number, scored.digest)))
    return number


def without_replicate(baseline: StoredBaseline, number: int, folder: Path) -> None:
    """Write the baseline without one replicate, which may be damaged."""
    manifest = baseline.manifest()
    removed = baseline.find(manifest, number)
    atomic_folder.copy_folder(baseline.folder, folder, without=baseline.folder / REPLICATES / str(number))
    with suppress(OSError):  # not empty, unless this was the last one
        (folder / REPLICATES).rmdir()
    _write_list(folder, manifest, tuple(replicate for replicate in manifest.replicates if replicate != removed))


def rescored_replicates(baseline: StoredBaseline, scored: ScoredRun, folder: Path) -> tuple[StoredReplicate, ...]:
    """Write the replicates of a baseline beside the run that replaces it; none if that is a different run.

    A run that was kept is scored like the baseline's. A replicate that has no run, or is damaged, is copied as it is.
    The replicates of a damaged baseline are dropped.
    """
    try:
        manifest = baseline.manifest()
        replicates = baseline.replicates(manifest)
    except DataError:
        return ()
    if manifest.digests.run != scored.digest:
        return ()
    for replicate in replicates:
        target = folder / replicate.folder.relative_to(baseline.folder)
        target.mkdir(parents=True)
        rescored_run = _rescored_replicate(replicate, scored)
        if rescored_run is not None:
            rescored_run.write(target, store=baseline.root)
        elif replicate.folder.is_dir():
            atomic_folder.copy_folder(replicate.folder, target)
    return manifest.replicates


def _copy(baseline: StoredBaseline, target: Path) -> None:
    """Copy a baseline as an earlier run: its files and replicates, without kind and history."""
    manifest = replace(baseline.manifest(), kind=FIXED, history=())
    _copy_files(baseline, manifest, _made(target))
    for replicate in baseline.replicates(manifest):
        _copy(replicate, target / REPLICATES / replicate.folder.name)


def _copy_files(baseline: StoredBaseline, manifest: Manifest, target: Path) -> None:
    """Copy contents and never links: a link would lead somewhere else from there."""
    for file in (SCORES, RUN) if manifest.run_kept else (SCORES,):
        shutil.copyfile(baseline.file(file), target / file)
    (target / MANIFEST).write_bytes(manifest.to_bytes())


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def _rescored_replicate(replicate: StoredBaseline, scored: ScoredRun) -> ScoredRun | None:
    try:
        manifest = replicate.manifest()
        replicate.check_run(manifest)
        return scored.likewise(replicate.folder / RUN, note=manifest.note) if manifest.run_kept else None
    except DataError:
        return None


def _write_list(folder: Path, manifest: Manifest, replicates: tuple[StoredReplicate, ...]) -> None:
    path = folder / MANIFEST
    atomic_folder.clear(path)  # it may be a link, whose target must not be overwritten
    path.write_bytes(replace(manifest, replicates=replicates).to_bytes())
