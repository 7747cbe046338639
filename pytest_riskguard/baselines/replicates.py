"""The folder of a baseline written anew: with one replicate more, one less, or all of them scored again.

Each function writes into an empty temporary folder, which then takes the place of the baseline's; so manifest and
replicates change together. The caller holds the store's lock.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from pytest_riskguard.baselines import files
from pytest_riskguard.baselines.manifest import Manifest, StoredReplicate
from pytest_riskguard.baselines.scored_run import ScoredRun
from pytest_riskguard.baselines.stored import MANIFEST, REPLICATES, RUN, StoredBaseline
from pytest_riskguard.errors import DataError, UsageError


def one_more(baseline: StoredBaseline, scored: ScoredRun, folder: Path) -> int:
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
    files.copy_folder(baseline.folder, folder)
    place = folder / REPLICATES / str(number)
    files.clear(place)
    place.mkdir(parents=True)
    scored.write(place, store=baseline.root)
    _list(folder, manifest, (*manifest.replicates, StoredReplicate(number, scored.digest)))
    return number


def one_less(baseline: StoredBaseline, number: int, folder: Path) -> None:
    """Write the baseline without one replicate, which nobody need be able to read.

    Raises
    ------
    BaselineError
        ``missing_input``: there is none of that number; ``bad_baseline``: the manifest cannot be used.
    """
    manifest = baseline.manifest()
    gone = baseline.find(manifest, number)
    files.copy_folder(baseline.folder, folder, without=baseline.folder / REPLICATES / str(number))
    with suppress(OSError):  # not empty, unless this was the last one
        (folder / REPLICATES).rmdir()
    _list(folder, manifest, tuple(replicate for replicate in manifest.replicates if replicate != gone))


def scored_again(baseline: StoredBaseline, scored: ScoredRun, folder: Path) -> tuple[StoredReplicate, ...]:
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
        again = _again(replicate, scored)
        if again is not None:
            again.write(target, store=baseline.root)
        elif replicate.folder.is_dir():
            files.copy_folder(replicate.folder, target)
    return manifest.replicates


def _again(replicate: StoredBaseline, scored: ScoredRun) -> ScoredRun | None:
    try:
        manifest = replicate.manifest()
        replicate.check_run(manifest)
        return scored.likewise(replicate.folder / RUN, note=manifest.note) if manifest.run_kept else None
    except DataError:
        return None


def _list(folder: Path, manifest: Manifest, replicates: tuple[StoredReplicate, ...]) -> None:
    path = folder / MANIFEST
    files.clear(path)  # it may be a link, which must not be written through
    path.write_bytes(replace(manifest, replicates=replicates).to_bytes())
