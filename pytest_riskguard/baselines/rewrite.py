"""A baseline written anew: a replicate more or fewer, an earlier run more, or every run scored again.

Each function writes into an empty temporary folder, which then takes the place of the baseline's, so that the
manifest changes together with the replicates and earlier runs that it lists. The caller holds the store's lock.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_riskguard.baselines import atomic_folder
from pytest_riskguard.baselines.entry import (
    HISTORY,
    MANIFEST,
    REPLICATES,
    RUN,
    SCORES,
    StoredBaseline,
)
from pytest_riskguard.baselines.manifest import FIXED, EarlierRun, Manifest, StoredReplicate
from pytest_riskguard.baselines.names import history_folder
from pytest_riskguard.baselines.scored_run import ScoredRun
from pytest_riskguard.errors import BaselineError, DataError, UsageError
from pytest_riskguard.rounding import ROUNDING_ERROR


@dataclass(frozen=True)
class MeanChange:
    """A measure's mean over today's judged topics, of the run that a baseline holds and of the one accepted."""

    measure: str
    before: float
    after: float

    @property
    def falls(self) -> bool:
        """Whether it falls by more than rounding; a mean that is no number falls."""
        return not self.after >= self.before - ROUNDING_ERROR


@dataclass(frozen=True)
class Promotion:
    """What became of a baseline for which another run was accepted.

    Attributes
    ----------
    manifest : Manifest
        Of what it holds now.
    moved : bool
        Whether that is the run accepted; false where a ``best`` baseline stays, because a mean falls.
    changes : tuple of MeanChange
        For each measure; one that the run before cannot be scored with any more is left out.
    """

    manifest: Manifest
    moved: bool
    changes: tuple[MeanChange, ...]


def with_earlier(baseline: StoredBaseline, folder: Path) -> tuple[EarlierRun, ...]:
    """Write the history of a baseline with the run that it holds added, replicates included; return the list of it.

    Raises
    ------
    BaselineError
        ``bad_baseline``: the baseline or something of its history is damaged, which a history must not preserve.
    """
    if problems := baseline.problems():
        raise BaselineError(problems[0])
    history = with_history(baseline, folder)
    number = 1 + max((earlier.number for earlier in history), default=0)
    _copy(baseline, folder / HISTORY / history_folder(number))
    return (*history, baseline.as_earlier(number))


def with_history(baseline: StoredBaseline, folder: Path) -> tuple[EarlierRun, ...]:
    """Write the history of a baseline as it is, damaged parts included; return the list of it.

    Raises
    ------
    BaselineError
        ``bad_baseline``: there are earlier runs, and no manifest that lists them.
    """
    try:
        manifest = baseline.manifest()
    except DataError as error:
        if not baseline.holds_history():
            return ()
        raise baseline.error(
            f"{error.problem.partition(': ')[2]}. Its {HISTORY} would be lost: say --forget-history if it shall be"
        ) from None
    if baseline.history(manifest) and (baseline.folder / HISTORY).is_dir():
        (folder / HISTORY).mkdir()
        atomic_folder.copy_folder(baseline.folder / HISTORY, folder / HISTORY)
    return manifest.history


def rescored(held: StoredBaseline, scored: ScoredRun, folder: Path) -> list[str]:
    """Write a baseline with its history and all replicates, each run that was kept scored as ``scored`` was.

    Returns
    -------
    list of str
        The places of those that have the scores they had: their runs were not kept.

    Raises
    ------
    DataError
        Something is damaged, or a run answers no judged topic.
    """
    manifest = held.manifest()
    held.table(manifest)
    held.check_run(manifest)
    left = []
    for replicate in held.replicates(manifest):
        left += rescored(replicate, scored, _made(folder / REPLICATES / replicate.folder.name))
    history = []
    for earlier, listed in zip(held.history(manifest), manifest.history, strict=True):
        place = _made(folder / HISTORY / earlier.folder.name)
        left += rescored(earlier, scored, place)
        history.append(StoredBaseline(held.root, held.name, place).as_earlier(listed.number))
    manifest = replace(manifest, history=tuple(history))
    if not manifest.run_kept:
        _copy_files(held, manifest, folder)
        return [held.place, *left]
    same = manifest.digests.run == scored.digest
    again = scored if same else scored.likewise(held.file(RUN), note=manifest.note)
    again.write(
        folder,
        store=held.root,
        replicates=manifest.replicates,
        kind=manifest.kind,
        history=manifest.history,
        stored=manifest,
    )
    return left


def with_replicate(baseline: StoredBaseline, scored: ScoredRun, folder: Path) -> int:
    """Write the baseline with a run added to its replicates; return the number that it gets.

    Raises
    ------
    UsageError
        The run is stored there already.
    BaselineError
        ``bad_baseline``: the manifest cannot be used, or does not list what is there.
    """
    manifest = baseline.manifest()
    replicates = baseline.replicates(manifest)
    for held in (baseline, *replicates):
        run = manifest.digests.run if held.replicate is None else held.replicate.run
        if run == scored.digest:  # would make the system look less noisy than it is
            raise UsageError(
                f"{held.root / held.place}: holds this very run; a copy is no replicate, expected the output of "
                "another run of the same system"
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
    """Write the baseline without one replicate, which nobody need be able to read.

    Raises
    ------
    BaselineError
        ``missing_input``: there is none of that number; ``bad_baseline``: the manifest cannot be used.
    """
    manifest = baseline.manifest()
    gone = baseline.find(manifest, number)
    atomic_folder.copy_folder(baseline.folder, folder, without=baseline.folder / REPLICATES / str(number))
    with suppress(OSError):  # not empty, unless this was the last one
        (folder / REPLICATES).rmdir()
    _write_list(folder, manifest, tuple(replicate for replicate in manifest.replicates if replicate != gone))


def rescored_replicates(baseline: StoredBaseline, scored: ScoredRun, folder: Path) -> tuple[StoredReplicate, ...]:
    """Write the replicates of a baseline beside the run that replaces it; none if that is another run.

    A run that was kept is scored like the baseline's. A replicate that has no run, or is damaged, is taken over as it
    is. Where the baseline itself is damaged, it has no replicates any more.
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
        again = _rescored_replicate(replicate, scored)
        if again is not None:
            again.write(target, store=baseline.root)
        elif replicate.folder.is_dir():
            atomic_folder.copy_folder(replicate.folder, target)
    return manifest.replicates


def _copy(held: StoredBaseline, target: Path) -> None:
    """A baseline as an earlier run: its files and replicates, with neither kind nor history."""
    manifest = replace(held.manifest(), kind=FIXED, history=())
    _copy_files(held, manifest, _made(target))
    for replicate in held.replicates(manifest):
        _copy(replicate, target / REPLICATES / replicate.folder.name)


def _copy_files(held: StoredBaseline, manifest: Manifest, target: Path) -> None:
    """Contents, never links: a link would lead somewhere else from there."""
    for file in (SCORES, RUN) if manifest.run_kept else (SCORES,):
        shutil.copyfile(held.file(file), target / file)
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
    atomic_folder.clear(path)  # it may be a link, which must not be written through
    path.write_bytes(replace(manifest, replicates=replicates).to_bytes())
