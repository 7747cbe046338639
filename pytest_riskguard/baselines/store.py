"""Baselines on disk: ``<store>/<name>/`` with ``manifest.json``, ``scores.tsv`` and usually ``run.gz``.

``<store>/<name>/replicates/<number>/`` holds further runs of the same system, with the same files, and
``<store>/<name>/history/<number>/`` what the baseline was before another run was accepted in its place. Both change
together with the whole folder of their baseline, whose manifest lists them.

``reader`` reads it. Writing happens under a lock and is all or nothing, even if the process is killed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Required, TypedDict, Unpack

from pytest_riskguard.baselines import atomic_folder, rewrite
from pytest_riskguard.baselines.atomic_folder import locked
from pytest_riskguard.baselines.entry import CONTENTS, Promotion, Replacement, ScoreChange
from pytest_riskguard.baselines.manifest import FIXED, KINDS, Manifest
from pytest_riskguard.baselines.reader import StoreReader, check_name
from pytest_riskguard.baselines.rewrite import NewEntry
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.remote import address_of, is_address
from pytest_riskguard.data.runs import Run
from pytest_riskguard.errors import BaselineError, DataError, UsageError
from pytest_riskguard.text import listed


class Scoring(TypedDict, total=False):
    """How a run is scored and kept."""

    qrels: Required[Path | GivenFile | None]  # None for scores
    topics: Required[Path | GivenFile | None]  # only its digest is kept
    measures: Sequence[str]  # default: those of the baseline
    note: str  # why this run is trusted
    keep_run: bool  # without its run a baseline cannot be rescored when judgements change
    metadata: Mapping[str, str]  # what people say about the system
    allow_unanswered: bool  # topics without an answer have no result
    scores: bool  # the file holds per-topic scores, not a run; without measures all of them are stored


class Store(StoreReader):
    """A folder of baselines; it need not exist before the first one is added. Baselines at an address are only read.

    Methods that write raise what those of ``StoreReader`` do, ``UsageError`` for an address, and ``bad_baseline``
    also for a store that cannot be written or that another process keeps locked. Methods that store a run raise
    ``UsageError`` also for an unknown kind and a note that is not text; ``DataError`` for a file that cannot be used
    or a run that answers no judged topic.
    """

    def add(
        self,
        name: str,
        run: Path | GivenFile | Run,
        *,
        kind: str = FIXED,
        **scoring: Unpack[Scoring],
    ) -> Manifest:
        """Score a run and keep it under a new name.

        A ``Run`` is what a live system has just answered; how fast it did is kept too.
        """
        self._check_writable()
        _check_kind(kind)
        self._check_free(name)
        scored = NewEntry.read(run, name=name, **scoring)
        with self._replacing(name) as folder:
            return scored.write(folder, store=self.root, kind=kind)

    def update(
        self,
        name: str,
        run: Path | GivenFile | Run,
        *,
        kind: str | None = None,
        dry_run: bool = False,
        **scoring: Unpack[Scoring],
    ) -> Replacement:
        """Store a run in the place of an existing baseline; returns what changes; ``dry_run`` writes nothing.

        Replicates stay if it is the run that the baseline had, and are removed otherwise, since they would be
        replicates of another system. Earlier runs are kept; a ``BaselineError`` is raised if they would be lost
        because the baseline is damaged. The replaced run is not added to them: only ``promote`` says that a run was
        accepted in its place. Without ``kind`` it keeps its kind.
        """
        self._check_writable()
        _check_kind(kind)
        self._baseline(name)
        scored = NewEntry.read(run, name=name, **scoring)
        changes = self._changes(name, scored)
        if dry_run:
            return Replacement(scored.digest, None, changes)
        with self._replacing(name) as folder:
            replaced = self._baseline(name)
            replicates = rewrite.same_replicates(replaced, scored, folder)
            history = rewrite.with_history(replaced, folder)
            with suppress(DataError):  # damaged: its kind is unknown
                kind = kind or replaced.manifest.kind
            manifest = scored.write(
                folder, store=self.root, replicates=replicates, kind=kind or FIXED, history=history
            )
        return Replacement(scored.digest, manifest, changes)

    def add_replicate(self, name: str, run: Path | GivenFile | Run, **scoring: Unpack[Scoring]) -> int:
        """Score another run of a baseline's system, and store it as a replicate; returns the replicate's number.

        A ``UsageError`` if the run is stored already, as the baseline or as a replicate; a ``BaselineError`` if the
        baseline cannot be scored with these judgements and measures, so that nothing could be compared.
        """
        self._check_writable()
        before = self.manifest(name)
        if not before.has_run:
            raise UsageError(f"{self.root / name}: was stored from scores, and replicates are runs of one system")
        scoring["measures"] = scoring.get("measures") or before.measure_names
        scored = NewEntry.read(run, name=name, **scoring)
        for measure in scored.measures:
            self.scores(name, measure, qrels=scored.judgements)
        with self._replacing(name) as folder:
            return rewrite.with_replicate(self._baseline(name), scored, folder)

    def remove_replicate(self, name: str, number: int) -> None:
        """Delete one replicate, even if it is damaged or lost; the others keep their numbers."""
        self._check_writable()
        self._read(name, lambda baseline: baseline.find(number))
        with self._replacing(name) as folder:
            rewrite.without_replicate(self._baseline(name), number, folder)

    def promote(
        self,
        name: str,
        run: Path | GivenFile,
        *,
        kind: str | None = None,
        dry_run: bool = False,
        **scoring: Unpack[Scoring],
    ) -> Promotion:
        """Score a run that was accepted to replace a baseline's run, and store it there.

        The previous run, with its replicates, becomes the newest of the baseline's earlier runs. A ``best`` baseline
        stays as it is if the mean of any measure would fall, so that no gate against it gets easier. The measures
        of the baseline are always kept, so that its history can be compared. Without ``kind`` it keeps its kind. A
        ``UsageError`` if the baseline is ``fixed`` or already holds this run; a ``BaselineError`` if part of it is
        damaged, or it is ``best`` and can no longer be scored. ``dry_run`` writes nothing.
        """
        self._check_writable()
        _check_kind(kind)
        before = self.manifest(name)
        kind = kind or before.kind
        if kind == FIXED:
            raise UsageError(
                f"{self.root / name}: is fixed, so accepted changes do not replace it; pass --kind previous, release "
                f"or best to let it move from now on, or run `riskguard baseline update {name} RUN --note WHY`"
            )
        scoring["measures"] = [*before.measure_names, *scoring.get("measures", ())]
        scored = NewEntry.read(run, name=name, **scoring)
        if scored.digest == before.digests.run:
            raise UsageError(
                f"{self.root / name}: already holds this run; to rescore it, run `riskguard baseline rescore {name}`"
            )
        changes = self._changes(name, scored, every_measure=kind == "best")
        if kind == "best" and any(change.falls for change in changes):
            return Promotion(before, moved=False, changes=changes)
        if dry_run:
            return Promotion(before, moved=True, changes=changes)
        with self._replacing(name) as folder:
            history = rewrite.with_earlier(self._baseline(name), folder)
            manifest = scored.write(folder, store=self.root, kind=kind, history=history)
        return Promotion(manifest, moved=True, changes=changes)

    def rescore(self, name: str, **scoring: Unpack[Scoring]) -> tuple[str, ...]:
        """Rescore the kept runs of a baseline, its earlier runs and all replicates, and store the scores.

        The time, commit and note of each run stay as they are. Returns the places of replicates and earlier runs
        that keep their old scores, because their runs were not kept.
        """
        self._check_writable()
        self.run(name)
        with self._replacing(name) as folder:
            manifest = self.manifest(name)
            scoring |= {"measures": scoring.get("measures") or manifest.measure_names, "note": manifest.note}
            scoring["allow_unanswered"] = manifest.allow_unanswered or scoring.get("allow_unanswered", False)
            scored = NewEntry.read(self.run(name), name=name, **scoring)
            return tuple(rewrite.rescored(self._baseline(name), scored, folder))

    def remove(self, name: str) -> None:
        """Delete a baseline with its replicates and its earlier runs, even if it is damaged."""
        self._check_writable()
        self._baseline(name)
        with locked(self.root):
            self._check_ours(name)
            atomic_folder.withdraw(self.root, name)

    def _changes(self, name: str, scored: NewEntry, *, every_measure: bool = False) -> tuple[ScoreChange, ...]:
        """From a baseline's run to a scored run, on the judgements of the latter, for each measure that both have.

        Measures that the baseline has no scores of are left out, unless ``every_measure`` must be compared.
        """
        changes = []
        for new in scored.scores:
            try:
                old = self.scores(name, str(new.measure), qrels=scored.judgements, accept=True)
            except DataError:
                if every_measure:
                    raise
                continue
            changes.append(replace(ScoreChange.between(old.scores, new), gone=old.gone))
        return tuple(changes)

    def _check_writable(self) -> None:
        if is_address(self.place):
            address = address_of(self.place).partition("#")[0]
            raise UsageError(
                f"{address}: baselines at an address are only read; change a copy of them on this machine, upload "
                "it, and pin the digest that `riskguard baseline list` prints of the copy"
            )

    def _check_free(self, name: str) -> None:
        check_name(name)
        for taken in self.names():
            if taken == name:
                raise UsageError(
                    f"{self.root / name}: a baseline of that name already exists; replace it with "
                    f"`riskguard baseline update {name} RUN --note WHY`, or choose another name"
                )
            if taken.lower() == name.lower():
                raise UsageError(
                    f"{self.root / name}: {taken!r} differs only in upper and lower case, which is the same "
                    "folder on many systems; choose another name"
                )

    @contextmanager
    def _replacing(self, name: str) -> Iterator[Path]:
        """An empty folder that takes the place of a baseline at the end; the store is locked meanwhile."""
        with locked(self.root):
            self._check_ours(name)
            with atomic_folder.temporary_folder(self.root, name) as folder:
                yield folder

    def _check_ours(self, name: str) -> None:
        """Raise ``BaselineError`` if files of somebody else would be lost with a baseline."""
        folder = self.root / name
        if not folder.exists():
            return
        if foreign := tuple(sorted({path.name for path in folder.iterdir()} - CONTENTS)):
            raise BaselineError(
                f"{folder}: holds files that riskguard did not write ({listed(foreign, most=5)}) and that would be "
                "lost; move them somewhere else and try again"
            )


def _check_kind(kind: str | None) -> None:
    if kind is not None and kind not in KINDS:
        raise UsageError(f"{kind!r} is not a kind of baseline; expected one of {', '.join(KINDS)}")
