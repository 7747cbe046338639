"""Baselines on disk: ``<store>/<name>/`` with ``manifest.json``, ``scores.tsv`` and mostly ``run.gz``.

More runs of the same system lie in ``<store>/<name>/replicates/<number>/``, with the same files, and what the
baseline held before another run was accepted in its place in ``<store>/<name>/history/<number>/``. They come, go and
are replaced together with the whole folder of their baseline, whose manifest lists them.

Reading takes no lock and writes nothing; everything is compared with its digest each time it is read. Writing
happens under a lock and is all or nothing, a process that dies in the middle included.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from pytest_riskguard.baselines import atomic_folder, provenance
from pytest_riskguard.baselines.entry import StoredScores, mean_score
from pytest_riskguard.baselines.manifest import FIXED, KINDS, EarlierRun, Manifest, StoredReplicate
from pytest_riskguard.baselines.reader import StoreReader, check_name
from pytest_riskguard.baselines.rewrite import (
    MeanChange,
    Promotion,
    rescored,
    rescored_replicates,
    with_earlier,
    with_history,
    with_replicate,
    without_replicate,
)
from pytest_riskguard.baselines.scored_run import ScoredRun
from pytest_riskguard.errors import BaselineError, DataError, UsageError

__all__ = ["LOCK", "LOCK_TIMEOUT", "Store", "StoredScores"]

LOCK = ".lock"

LOCK_TIMEOUT = 60.0
"""Seconds that a writer waits for another one."""


class Store(StoreReader):
    """A folder of baselines; it need not exist before the first one is added.

    Parameters
    ----------
    root : Path
    lock_timeout : float
        Seconds that writing waits for another writer.
    """

    def __init__(self, root: Path, *, lock_timeout: float = LOCK_TIMEOUT) -> None:
        super().__init__(root)
        self._lock_timeout = lock_timeout

    def add(
        self,
        name: str,
        run: Path,
        *,
        qrels: Path,
        topics: Path | None,
        measures: Sequence[str],
        note: str = "",
        keep_run: bool = True,
        kind: str | None = None,
        replace: bool = False,
        forget_history: bool = False,
        allow_ci: bool = False,
    ) -> Manifest:
        """Score a run and keep it under a name.

        Parameters
        ----------
        name : str
            Letters, digits, ``.``, ``_`` and ``-``.
        run : Path
            Plain or gzip.
        qrels : Path
            Plain or gzip; its digest is kept.
        topics : Path or None
            Only its digest is kept.
        measures : sequence of str
            At least one.
        note : str
            Why this run is trusted, for those who read the manifest.
        keep_run : bool
            Without its run a baseline cannot be scored anew when judgements change.
        kind : str, optional
            What the baseline stands for, one of ``KINDS``. Default: that of the baseline replaced, else ``fixed``.
        replace : bool
            Whether a baseline of that name may be there already; it is then replaced whole. Its replicates are
            stored anew with it where ``run`` is the run it had, and removed where it is another one: they would be
            replicates of another system. The runs that it held earlier are kept; the one replaced is not added to
            them, for only ``promote`` says that a run was accepted in its place.
        forget_history : bool
            Whether the earlier runs are removed instead, damaged or whole.
        allow_ci : bool
            Whether to store even where a CI service runs this.

        Raises
        ------
        UsageError
            A name that cannot be one or is taken, no measure or an unknown one, an unknown kind, a note that is not
            text, or CI without ``allow_ci``.
        DataError
            A file that cannot be used, or a run that answers no judged topic.
        BaselineError
            The store cannot be written, or another writer holds it for too long; or the baseline that is replaced is
            damaged, so that its earlier runs would be lost.
        """
        self._check_place(allow_ci=allow_ci)
        _check_kind(kind)
        self._check_free(name, replace=replace)
        scored = ScoredRun.read(
            run, name=name, qrels=qrels, topics=topics, measures=measures, note=note, keep_run=keep_run
        )
        with self._writing(), atomic_folder.temporary_folder(self.root) as folder:
            self._check_free(name, replace=replace)
            replicates: tuple[StoredReplicate, ...] = ()
            history: tuple[EarlierRun, ...] = ()
            replaced = None
            with suppress(DataError):  # there is none yet, or a link out of the store
                replaced = self._baseline(name)
            if replaced is not None:
                replicates = rescored_replicates(replaced, scored, folder)
                history = () if forget_history else with_history(replaced, folder)
                with suppress(DataError):  # damaged: nobody knows what it stood for
                    kind = kind or replaced.manifest().kind
            manifest = scored.write(
                folder, store=self.root, replicates=replicates, kind=kind or FIXED, history=history
            )
            atomic_folder.publish(folder, self.root / name)
        return manifest

    def add_replicate(
        self,
        name: str,
        run: Path,
        *,
        qrels: Path,
        topics: Path | None,
        measures: Sequence[str] = (),
        note: str = "",
        keep_run: bool = True,
        allow_ci: bool = False,
    ) -> int:
        """Score another run of the system whose run is stored as a baseline, and keep it beside that.

        Parameters
        ----------
        name : str
            The baseline.
        measures : sequence of str
            Default: those of the baseline.
        run, qrels, topics, note, keep_run, allow_ci
            As for ``add``.

        Returns
        -------
        int
            The number of the replicate.

        Raises
        ------
        UsageError
            As for ``add``; or the run is stored already, as the baseline or as a replicate.
        BaselineError
            There is no such baseline, it cannot be scored with these judgements and measures (so that nothing
            could be compared with the replicate), or as for ``add``.
        DataError
            As for ``add``.
        """
        self._check_place(allow_ci=allow_ci)
        before = self.manifest(name)
        scored = ScoredRun.read(
            run,
            name=name,
            qrels=qrels,
            topics=topics,
            measures=measures or [measure.name for measure in before.measures],
            note=note,
            keep_run=keep_run,
        )
        for measure in scored.measures:
            self.scores(name, measure, qrels=scored.judgements)
        with self._writing(), atomic_folder.temporary_folder(self.root) as folder:
            baseline = self._baseline(name)
            if baseline.manifest().digests.run != before.digests.run:
                raise baseline.error("was replaced while the replicate was being scored; try again")
            number = with_replicate(baseline, scored, folder)
            atomic_folder.publish(folder, self.root / name)
        return number

    def remove_replicate(self, name: str, number: int) -> None:
        """Delete one replicate, whole, damaged or lost already; the others keep their numbers.

        Raises
        ------
        BaselineError
            ``missing_input``: no such baseline or replicate; ``bad_baseline``: the manifest of the baseline cannot
            be used; else the store cannot be written.
        UsageError
            The name cannot be one.
        """
        self._read(name, lambda baseline: baseline.find(baseline.manifest(), number))
        with self._writing(), atomic_folder.temporary_folder(self.root) as folder:
            without_replicate(self._baseline(name), number, folder)
            atomic_folder.publish(folder, self.root / name)

    def promote(
        self,
        name: str,
        run: Path,
        *,
        qrels: Path,
        topics: Path | None,
        measures: Sequence[str] = (),
        note: str = "",
        keep_run: bool = True,
        kind: str | None = None,
        allow_ci: bool = False,
    ) -> Promotion:
        """Score a run that was accepted in place of the one that a baseline holds, and put it there.

        What the baseline held, with its replicates, becomes the newest of its earlier runs. A baseline that is
        ``best`` stays where the mean of any measure would fall, so that no question about it gets easier.

        Parameters
        ----------
        name : str
            The baseline.
        measures : sequence of str
            Beside those of the baseline, which are always kept: a chain is followed by what all of it has.
        kind : str, optional
            What the baseline stands for from now on; default: what it did.
        run, qrels, topics, note, keep_run, allow_ci
            As for ``add``.

        Raises
        ------
        UsageError
            As for ``add``; the baseline is ``fixed``, or holds this very run.
        BaselineError
            There is no such baseline, or something of it is damaged; a ``best`` one cannot be scored with these
            judgements; or as for ``add``.
        DataError
            As for ``add``.
        """
        self._check_place(allow_ci=allow_ci)
        _check_kind(kind)
        before = self.manifest(name)
        kind = kind or before.kind
        if kind == FIXED:
            raise UsageError(
                f"{self.root / name}: is fixed, a yardstick that no accepted change moves; say --kind previous, "
                f"release or best to let it move from now on, or replace it (`riskguard baseline update {name} RUN`)"
            )
        scored = ScoredRun.read(
            run,
            name=name,
            qrels=qrels,
            topics=topics,
            measures=[*(measure.name for measure in before.measures), *measures],
            note=note,
            keep_run=keep_run,
        )
        if scored.digest == before.digests.run:
            raise UsageError(
                f"{self.root / name}: holds this very run, so that nothing was accepted in its place; to score it "
                f"again say `riskguard baseline rescore {name}`"
            )
        changes = self._mean_changes(name, scored, all_of_them=kind == "best")
        if kind == "best" and any(change.falls for change in changes):
            return Promotion(before, moved=False, changes=changes)
        with self._writing(), atomic_folder.temporary_folder(self.root) as folder:
            baseline = self._baseline(name)
            if baseline.manifest().digests.run != before.digests.run:
                raise baseline.error("was replaced while the run was being scored; try again")
            history = with_earlier(baseline, folder)
            manifest = scored.write(folder, store=self.root, kind=kind, history=history)
            atomic_folder.publish(folder, self.root / name)
        return Promotion(manifest, moved=True, changes=changes)

    def rescore(
        self,
        name: str,
        *,
        qrels: Path,
        topics: Path | None,
        measures: Sequence[str] = (),
        allow_ci: bool = False,
    ) -> tuple[str, ...]:
        """Score the kept runs of a baseline, its earlier runs and all replicates anew, and store that.

        When and where each run was stored, and its note, stay as they are.

        Parameters
        ----------
        name : str
            The baseline.
        measures : sequence of str
            Default: those of the baseline.
        qrels, topics, allow_ci
            As for ``add``.

        Returns
        -------
        tuple of str
            The places of replicates and earlier runs that keep the scores they had: their runs were not kept.

        Raises
        ------
        UsageError
            As for ``add``.
        BaselineError
            There is no such baseline, its run was not kept, or something of it is damaged; or as for ``add``.
        DataError
            As for ``add``.
        """
        self._check_place(allow_ci=allow_ci)
        self.run(name)
        with self._writing(), atomic_folder.temporary_folder(self.root) as folder:
            manifest = self.manifest(name)
            scored = ScoredRun.read(
                self.run(name),
                name=name,
                qrels=qrels,
                topics=topics,
                measures=measures or [measure.name for measure in manifest.measures],
                note=manifest.note,
                keep_run=True,
            )
            left = rescored(self._baseline(name), scored, folder)
            atomic_folder.publish(folder, self.root / name)
        return tuple(left)

    def remove(self, name: str) -> None:
        """Delete a baseline with its replicates and its earlier runs, whole or damaged.

        Raises
        ------
        BaselineError
            ``missing_input``: no baseline of that name; else the store cannot be written.
        UsageError
            The name cannot be one.
        """
        self._baseline(name)
        with self._writing():
            self._baseline(name)
            atomic_folder.withdraw(self.root / name)

    def _mean_changes(self, name: str, scored: ScoredRun, *, all_of_them: bool) -> tuple[MeanChange, ...]:
        """Means of what a baseline holds and of a run, on the run's judgements."""
        changes = []
        for new in scored.scores:
            measure = str(new.measure)
            try:
                old = self.scores(name, measure, qrels=scored.judgements).scores
            except BaselineError:
                if all_of_them:
                    raise
                continue
            changes.append(MeanChange(measure, mean_score(old), mean_score(new)))
        return tuple(changes)

    def _check_place(self, *, allow_ci: bool) -> None:
        if (variable := provenance.ci_variable()) and not allow_ci:
            raise UsageError(
                f"{self.root}: baselines are not stored inside CI ({variable} is set), where nobody reviews "
                "them; store them on your machine and commit them, or say --allow-ci"
            )

    def _check_free(self, name: str, *, replace: bool) -> None:
        check_name(name)
        for taken in self.names():
            if taken == name and not replace:
                raise UsageError(
                    f"{self.root / name}: there is a baseline of that name; replace it with "
                    f"`riskguard baseline update {name} RUN`, or choose another name"
                )
            if taken != name and taken.lower() == name.lower():
                raise UsageError(
                    f"{self.root / name}: {taken!r} differs in upper and lower case only, which is the same "
                    "folder on many machines; choose another name"
                )

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """The store's lock, with what dead writers left cleared away."""
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
        raise UsageError(f"{kind!r} is no kind of baseline; expected one of {', '.join(KINDS)}")
