"""Baselines on disk: ``<store>/<name>/`` with ``manifest.json``, ``scores.tsv`` and mostly ``run.gz``.

``<store>/<name>/replicates/<number>/`` holds further runs of the same system, with the same files, and
``<store>/<name>/history/<number>/`` what the baseline was before another run was accepted in its place. Both change
together with the whole folder of their baseline, whose manifest lists them.

Reading takes no lock and writes nothing; everything is compared with its digest each time it is read. Writing happens
under a lock and is all or nothing, even if the process is killed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Required, TypedDict, Unpack

from pytest_riskguard.baselines import atomic_folder, provenance
from pytest_riskguard.baselines.entry import StoredBaseline, mean_score
from pytest_riskguard.baselines.manifest import FIXED, KINDS, EarlierRun, Manifest, StoredReplicate
from pytest_riskguard.baselines.reader import StoreReader, check_name
from pytest_riskguard.baselines.rewrite import (
    MeanChange,
    Promotion,
    ScoredRun,
    rescored,
    rescored_replicates,
    with_earlier,
    with_history,
    with_replicate,
    without_replicate,
)
from pytest_riskguard.errors import BaselineError, DataError, UsageError

LOCK = ".lock"
#: Seconds that a writer waits for another one.
LOCK_TIMEOUT = 60.0


class Scoring(TypedDict, total=False):
    """How a run is scored and kept."""

    qrels: Required[Path]
    topics: Required[Path | None]  # only its digest is kept
    measures: Sequence[str]  # default: those of the baseline
    note: str  # why this run is trusted
    keep_run: bool  # without its run a baseline cannot be rescored when judgements change


class Store(StoreReader):
    """A folder of baselines; it need not exist before the first one is added.

    Methods that store a run raise ``UsageError`` for a name that is not allowed, an unknown measure or kind, a note
    that is not text, and where a CI service runs this without ``allow_ci``; ``DataError`` for a file that cannot be
    used or a run that answers no judged topic; and ``BaselineError`` if the store cannot be written or another
    process keeps it locked.
    """

    def __init__(self, root: Path, *, lock_timeout: float = LOCK_TIMEOUT) -> None:
        super().__init__(root)
        self._lock_timeout = lock_timeout

    def add(
        self,
        name: str,
        run: Path,
        *,
        kind: str | None = None,
        replace: bool = False,
        forget_history: bool = False,
        allow_ci: bool = False,
        **scoring: Unpack[Scoring],
    ) -> Manifest:
        """Score a run and keep it under a name, by default with the kind of the baseline replaced, else ``fixed``.

        With ``replace`` a baseline of that name may exist. Its replicates are rescored if ``run`` is the run it had,
        and removed otherwise, since they would be replicates of another system. Its earlier runs are kept, unless
        ``forget_history`` is set; without it, a ``BaselineError`` where the replaced baseline is damaged and they
        would be lost. The replaced run is not added to them: only ``promote`` says that a run was accepted in its
        place.
        """
        self._check_place(allow_ci=allow_ci)
        _check_kind(kind)
        self._check_free(name, replace=replace)
        scored = ScoredRun.read(run, name=name, **scoring)
        with self._replacing(name) as folder:
            self._check_free(name, replace=replace)
            replicates: tuple[StoredReplicate, ...] = ()
            history: tuple[EarlierRun, ...] = ()
            replaced = None
            with suppress(DataError):  # there is none yet, or it is a link out of the store
                replaced = self._baseline(name)
            if replaced is not None:
                replicates = rescored_replicates(replaced, scored, folder)
                history = () if forget_history else with_history(replaced, folder)
                with suppress(DataError):  # damaged: its kind is unknown
                    kind = kind or replaced.manifest().kind
            return scored.write(folder, store=self.root, replicates=replicates, kind=kind or FIXED, history=history)

    def add_replicate(self, name: str, run: Path, *, allow_ci: bool = False, **scoring: Unpack[Scoring]) -> int:
        """Score another run of a baseline's system, and store it as a replicate; returns the replicate's number.

        A ``UsageError`` if the run is stored already, as the baseline or as a replicate; a ``BaselineError`` if the
        baseline cannot be scored with these judgements and measures, so that nothing could be compared.
        """
        self._check_place(allow_ci=allow_ci)
        before = self.manifest(name)
        scoring["measures"] = scoring.get("measures") or before.measure_names
        scored = ScoredRun.read(run, name=name, **scoring)
        for measure in scored.measures:
            self.scores(name, measure, qrels=scored.judgements)
        with self._replacing(name) as folder:
            return with_replicate(self._unchanged(name, before), scored, folder)

    def remove_replicate(self, name: str, number: int) -> None:
        """Delete one replicate, even if it is damaged or lost; the others keep their numbers."""
        self._read(name, lambda baseline: baseline.find(baseline.manifest(), number))
        with self._replacing(name) as folder:
            without_replicate(self._baseline(name), number, folder)

    def promote(
        self, name: str, run: Path, *, kind: str | None = None, allow_ci: bool = False, **scoring: Unpack[Scoring]
    ) -> Promotion:
        """Score a run that was accepted to replace a baseline's run, and store it there.

        The previous run, with its replicates, becomes the newest of the baseline's earlier runs. A ``best`` baseline
        stays as it is if the mean of any measure would fall, so that no question about it gets easier. The measures
        of the baseline are always kept, so that its history can be compared. Without ``kind`` it stays as it is. A
        ``UsageError`` if the baseline is ``fixed`` or holds this run already; a ``BaselineError`` if part of it is
        damaged, or it is ``best`` and cannot be scored any more.
        """
        self._check_place(allow_ci=allow_ci)
        _check_kind(kind)
        before = self.manifest(name)
        kind = kind or before.kind
        if kind == FIXED:
            raise UsageError(
                f"{self.root / name}: is fixed, so accepted changes do not replace it; pass --kind previous, release "
                f"or best to let it move from now on, or run `riskguard baseline update {name} RUN`"
            )
        scoring["measures"] = [*before.measure_names, *scoring.get("measures", ())]
        scored = ScoredRun.read(run, name=name, **scoring)
        if scored.digest == before.digests.run:
            raise UsageError(
                f"{self.root / name}: holds this run already; to rescore it, run `riskguard baseline rescore {name}`"
            )
        changes = self._mean_changes(name, scored, every_measure=kind == "best")
        if kind == "best" and any(change.falls for change in changes):
            return Promotion(before, moved=False, changes=changes)
        with self._replacing(name) as folder:
            history = with_earlier(self._unchanged(name, before), folder)
            manifest = scored.write(folder, store=self.root, kind=kind, history=history)
        return Promotion(manifest, moved=True, changes=changes)

    def rescore(self, name: str, *, allow_ci: bool = False, **scoring: Unpack[Scoring]) -> tuple[str, ...]:
        """Rescore the kept runs of a baseline, its earlier runs and all replicates, and store the scores.

        The time, commit and note of each run stay as they are. Returns the places of replicates and earlier runs
        whose scores stay, because their runs were not kept.
        """
        self._check_place(allow_ci=allow_ci)
        self.run(name)
        with self._replacing(name) as folder:
            manifest = self.manifest(name)
            scoring |= {"measures": scoring.get("measures") or manifest.measure_names, "note": manifest.note}
            scored = ScoredRun.read(self.run(name), name=name, **scoring)
            return tuple(rescored(self._baseline(name), scored, folder))

    def remove(self, name: str) -> None:
        """Delete a baseline with its replicates and its earlier runs, even if it is damaged."""
        self._baseline(name)
        with self._writing():
            self._baseline(name)
            atomic_folder.withdraw(self.root / name)

    def _mean_changes(self, name: str, scored: ScoredRun, *, every_measure: bool) -> tuple[MeanChange, ...]:
        """Means of a baseline's run and of a scored run, on the judgements of the latter."""
        changes = []
        for new in scored.scores:
            measure = str(new.measure)
            try:
                old = self.scores(name, measure, qrels=scored.judgements).scores
            except BaselineError:
                if every_measure:
                    raise
                continue
            changes.append(MeanChange(measure, mean_score(old), mean_score(new)))
        return tuple(changes)

    def _check_place(self, *, allow_ci: bool) -> None:
        if (variable := provenance.ci_variable()) and not allow_ci:
            raise UsageError(
                f"{self.root}: baselines are not stored inside CI ({variable} is set), where nobody reviews "
                "them; store them on your machine and commit them, or pass --allow-ci"
            )

    def _check_free(self, name: str, *, replace: bool) -> None:
        check_name(name)
        for taken in self.names():
            if taken == name and not replace:
                raise UsageError(
                    f"{self.root / name}: a baseline of that name exists; replace it with "
                    f"`riskguard baseline update {name} RUN`, or choose another name"
                )
            if taken != name and taken.lower() == name.lower():
                raise UsageError(
                    f"{self.root / name}: {taken!r} differs only in upper and lower case, which is the same "
                    "folder on many systems; choose another name"
                )

    def _unchanged(self, name: str, before: Manifest) -> StoredBaseline:
        """A baseline that still holds the run that it held ``before``."""
        baseline = self._baseline(name)
        if baseline.manifest().digests.run != before.digests.run:
            raise baseline.error("was replaced while the run was being scored; try again")
        return baseline

    @contextmanager
    def _replacing(self, name: str) -> Iterator[Path]:
        """An empty folder that takes the place of a baseline's at the end; the store is locked meanwhile."""
        with self._writing(), atomic_folder.temporary_folder(self.root) as folder:
            yield folder
            atomic_folder.publish(folder, self.root / name)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Hold the store's lock, after removing what killed writers have left behind."""
        from filelock import FileLock, Timeout

        lock = self.root / LOCK
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with FileLock(lock, timeout=self._lock_timeout):
                atomic_folder.tidy(self.root)
                yield
        except Timeout:
            raise BaselineError(
                f"{lock}: another process has been writing to this store for over {self._lock_timeout:g} "
                "seconds; wait until it is done and try again"
            ) from None
        except (OSError, NotImplementedError) as error:
            why = getattr(error, "strerror", None) or error
            raise BaselineError(f"{self.root}: the store cannot be written ({why})") from error


def _check_kind(kind: str | None) -> None:
    if kind is not None and kind not in KINDS:
        raise UsageError(f"{kind!r} is not a kind of baseline; expected one of {', '.join(KINDS)}")
