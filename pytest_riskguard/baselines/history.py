"""What a baseline held before: kept when another run is accepted in its place, carried along, scored again.

Each function writes into a temporary folder, which then takes the place of the baseline's; so the manifest and the
earlier runs that it lists change together. The caller holds the store's lock.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_riskguard.baselines import files
from pytest_riskguard.baselines.manifest import FIXED, EarlierRun, Manifest
from pytest_riskguard.baselines.names import history_folder
from pytest_riskguard.baselines.scored_run import ScoredRun
from pytest_riskguard.baselines.stored import (
    HISTORY,
    MANIFEST,
    REPLICATES,
    RUN,
    SCORES,
    StoredBaseline,
)
from pytest_riskguard.errors import BaselineError, DataError
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


def one_further(baseline: StoredBaseline, folder: Path) -> tuple[EarlierRun, ...]:
    """Write the history of a baseline with the run that it holds added, replicates included; return the list of it.

    Raises
    ------
    BaselineError
        ``bad_baseline``: the baseline or something of its history is damaged, which a history must not preserve.
    """
    if problems := baseline.problems():
        raise BaselineError(problems[0])
    history = carried(baseline, folder)
    number = 1 + max((earlier.number for earlier in history), default=0)
    _copy(baseline, folder / HISTORY / history_folder(number))
    return (*history, baseline.as_earlier(number))


def carried(baseline: StoredBaseline, folder: Path) -> tuple[EarlierRun, ...]:
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
        files.copy_folder(baseline.folder / HISTORY, folder / HISTORY)
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
