"""Baselines on disk: ``<store>/<name>/`` with ``manifest.json``, ``scores.tsv`` and usually ``run.gz``.

``<store>/<name>/replicates/<number>/`` holds further runs of the same system, with the same files, and
``<store>/<name>/history/<number>/`` what the baseline was before another run was accepted in its place. Both change
together with the whole folder of their baseline, whose manifest lists them.

Reading takes no lock and writes nothing; everything is compared with its digest each time it is read. Writing happens
under a lock and is all or nothing, even if the process is killed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Required, TypedDict, TypeVar, Unpack

from pytest_riskguard.baselines import atomic_folder, foreign_files, provenance, rewrite
from pytest_riskguard.baselines.backing import problems
from pytest_riskguard.baselines.entry import RUN, StoredBaseline, mean_score, resolved
from pytest_riskguard.baselines.lock import locked
from pytest_riskguard.baselines.manifest import (
    FIXED,
    KINDS,
    EarlierRun,
    Manifest,
    Staleness,
    StoredReplicate,
    name_problem,
    staleness,
)
from pytest_riskguard.baselines.rewrite import MeanChange, Promotion, ScoredRun
from pytest_riskguard.baselines.scored import Scored, as_stored, present_scores
from pytest_riskguard.errors import BaselineError, DataError, UsageError
from pytest_riskguard.evaluation.measures import measure_name
from pytest_riskguard.evaluation.qrels import Qrels
from pytest_riskguard.evaluation.topics import Topics
from pytest_riskguard.text import did_you_mean

#: How often a baseline that is replaced while it is being read is read again.
_MAX_ATTEMPTS = 50

_Result = TypeVar("_Result")


class Scoring(TypedDict, total=False):
    """How a run is scored and kept."""

    qrels: Required[Path]
    topics: Required[Path | None]  # only its digest is kept
    measures: Sequence[str]  # default: those of the baseline
    note: str  # why this run is trusted
    keep_run: bool  # without its run a baseline cannot be rescored when judgements change


class Store:
    """A folder of baselines; it need not exist before the first one is added.

    Every method raises ``UsageError`` for text that cannot be a name or a measure, and ``BaselineError`` with reason
    ``missing_input`` for a baseline that does not exist and a store that cannot be read, ``bad_baseline`` for damage
    and a store that cannot be written or that another process keeps locked. Methods that store a run raise
    ``UsageError`` also for an unknown kind, a note that is not text, and where a CI service runs this without
    ``allow_ci``; ``DataError`` for a file that cannot be used or a run that answers no judged topic.
    """

    def __init__(self, root: Path) -> None:
        self.root = Path(root)

    def names(self) -> tuple[str, ...]:
        """Every stored name, sorted, including the names of damaged baselines."""
        with self._reading():
            held = atomic_folder.held_names(self.root)
        return tuple(sorted(name for name in held if name_problem(name) is None))

    def manifest(self, name: str) -> Manifest:
        """The manifest of a baseline; its scores and its run are not checked."""
        return self._read(name, lambda baseline: baseline.manifest)

    def scores(
        self, name: str, measure: str, *, qrels: Qrels, topics: Topics | None = None, shrink: int | None = 0
    ) -> Scored:
        """A baseline's scores on the present judgements, exactly as ``score_run`` gives them for its run.

        They are read if the measure, the judgements and the scoring libraries are those it was stored with; the first
        time in a process they are compared with what the stored run scores. Otherwise the stored run is scored in
        memory; ``rescored`` is then true if the judgements changed or a library gives other values, and false for a
        measure that was not stored. Without a stored run a ``BaselineError`` has reason ``missing_input`` if the
        measure was not stored, ``inputs_changed`` if the judgements changed. It has the latter also if more than
        ``shrink`` (None: any number) of the topics that the baseline was scored on have no relevant document any more
        or, with ``topics``, another query text.
        """
        measure = measure_name(measure)
        return self._read(
            name, lambda baseline: present_scores(baseline, measure, qrels, topics=topics, shrink=shrink)
        )

    def replicates(
        self, name: str, measure: str, *, qrels: Qrels, topics: Topics | None = None, shrink: int | None = 0
    ) -> tuple[Scored, ...]:
        """Scores of a baseline's replicates, by number, each as ``scores`` gives the baseline's own.

        All come from one state of the store, which may be later than the state that an earlier call of ``scores``
        saw. Their names are ``NAME/replicates/NUMBER``.
        """
        measure = measure_name(measure)
        return self._read(
            name,
            lambda baseline: tuple(
                present_scores(replicate, measure, qrels, topics=topics, shrink=shrink)
                for replicate in baseline.replicates()
            ),
        )

    def replicate_numbers(self, name: str) -> tuple[int, ...]:
        """Numbers of the replicates of a baseline; if its manifest cannot be used, of those that have a folder."""
        with self._reading():
            return self._baseline(name).numbers()

    def replicate_manifest(self, name: str, number: int) -> Manifest:
        """The manifest of one replicate; its scores and its run are not checked."""
        return self._read(name, lambda baseline: baseline.listed(baseline.find(number)).manifest)

    def verify(self, name: str, *, qrels: Qrels | None = None) -> list[str]:
        """Every problem of a baseline, its replicates and earlier runs, as text; empty if there is none.

        Scores that were computed with ``qrels`` are compared with what their runs score.
        """
        baseline = self._baseline(name)
        with self._reading():
            return problems(baseline, qrels)

    def lineage(self, name: str, measure: str, *, qrels: Qrels | None = None) -> tuple[Scored, ...]:
        """Scores of every run that a baseline has held, oldest first, the present one last, on the same judgements.

        All come from one state of the store. Their names are ``NAME/history/0001`` and so on, and last ``NAME``.
        Without ``qrels`` these are the stored scores, all of which must come from the same judgements.
        """
        measure = measure_name(measure)

        def work(baseline: StoredBaseline) -> tuple[Scored, ...]:
            chain = (*baseline.history(), baseline)
            if qrels is not None:
                return tuple(present_scores(entry, measure, qrels) for entry in chain)
            digests = {entry.manifest.digests.qrels for entry in chain}
            if len(digests) > 1:
                raise baseline.error(
                    "its runs were scored with different judgements; give the present ones with --qrels, or rescore "
                    f"all runs with `riskguard baseline rescore {name}`",
                    reason="inputs_changed",
                )
            return tuple(Scored(as_stored(entry, measure)) for entry in chain)

        return self._read(name, work)

    def staleness(self, name: str) -> Staleness:
        """How old a baseline is now; other baselines that are damaged are not counted."""
        manifests = {name: self.manifest(name)}
        for other in set(self.names()) - {name}:
            with suppress(BaselineError):
                manifests[other] = self.manifest(other)
        return staleness(name, manifests, now=provenance.now())

    def run(self, name: str) -> Path:
        """The path of the run of a baseline, after checking that it is the one that was stored."""

        def work(baseline: StoredBaseline) -> Path:
            if not baseline.manifest.run_kept:
                raise baseline.error("its run was not kept", reason="missing_input")
            baseline.check_run()
            return baseline.file(RUN)

        return self._read(name, work)

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
        ``forget_history`` is set; without it, a ``BaselineError`` is raised if they would be lost because the
        replaced baseline is damaged. The replaced run is not added to them: only ``promote`` says that a run was
        accepted in its place.
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
                replicates = rewrite.rescored_replicates(replaced, scored, folder)
                history = () if forget_history else rewrite.with_history(replaced, folder)
                with suppress(DataError):  # damaged: its kind is unknown
                    kind = kind or replaced.manifest.kind
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
            return rewrite.with_replicate(self._unchanged(name, before), scored, folder)

    def remove_replicate(self, name: str, number: int) -> None:
        """Delete one replicate, even if it is damaged or lost; the others keep their numbers."""
        self._read(name, lambda baseline: baseline.find(number))
        with self._replacing(name) as folder:
            rewrite.without_replicate(self._baseline(name), number, folder)

    def promote(
        self, name: str, run: Path, *, kind: str | None = None, allow_ci: bool = False, **scoring: Unpack[Scoring]
    ) -> Promotion:
        """Score a run that was accepted to replace a baseline's run, and store it there.

        The previous run, with its replicates, becomes the newest of the baseline's earlier runs. A ``best`` baseline
        stays as it is if the mean of any measure would fall, so that no gate against it gets easier. The measures
        of the baseline are always kept, so that its history can be compared. Without ``kind`` it keeps its kind. A
        ``UsageError`` if the baseline is ``fixed`` or already holds this run; a ``BaselineError`` if part of it is
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
                f"{self.root / name}: already holds this run; to rescore it, run `riskguard baseline rescore {name}`"
            )
        changes = self._mean_changes(name, scored, every_measure=kind == "best")
        if kind == "best" and any(change.falls for change in changes):
            return Promotion(before, moved=False, changes=changes)
        with self._replacing(name) as folder:
            history = rewrite.with_earlier(self._unchanged(name, before), folder)
            manifest = scored.write(folder, store=self.root, kind=kind, history=history)
        return Promotion(manifest, moved=True, changes=changes)

    def rescore(self, name: str, *, allow_ci: bool = False, **scoring: Unpack[Scoring]) -> tuple[str, ...]:
        """Rescore the kept runs of a baseline, its earlier runs and all replicates, and store the scores.

        The time, commit and note of each run stay as they are. Returns the places of replicates and earlier runs
        that keep their old scores, because their runs were not kept.
        """
        self._check_place(allow_ci=allow_ci)
        self.run(name)
        with self._replacing(name) as folder:
            manifest = self.manifest(name)
            scoring |= {"measures": scoring.get("measures") or manifest.measure_names, "note": manifest.note}
            scored = ScoredRun.read(self.run(name), name=name, **scoring)
            return tuple(rewrite.rescored(self._baseline(name), scored, folder))

    def remove(self, name: str) -> None:
        """Delete a baseline with its replicates and its earlier runs, even if it is damaged."""
        self._baseline(name)
        with locked(self.root):
            foreign_files.check_removable(self._baseline(name))
            atomic_folder.withdraw(self.root / name)

    def _read(self, name: str, work: Callable[[StoredBaseline], _Result]) -> _Result:
        """The result of ``work`` on a baseline; tried again if a replacement meanwhile made it look damaged."""
        for attempt in range(_MAX_ATTEMPTS - 1):
            baseline = self._baseline(name)
            before = baseline.stamp()
            try:
                with self._reading():
                    return work(baseline)
            except DataError:
                if before is not None and self._baseline(name).stamp() == before:
                    raise
                time.sleep(min(0.005 * 2**attempt, 0.16))  # longer pauses miss a process that keeps replacing it
        with self._reading():
            return work(self._baseline(name))

    def _baseline(self, name: str) -> StoredBaseline:
        _check_name(name)
        with self._reading():
            folder = atomic_folder.newest(self.root, name)
        if folder is None:
            names = self.names()
            contents = f"the store holds {', '.join(names)}" if names else "the store holds none"
            raise self._missing(
                f"no baseline {name!r} ({contents}){did_you_mean(name, names)}; store it with "
                f"`riskguard baseline add {name} RUN`"
            )
        baseline = StoredBaseline(self.root, name, folder)
        if not resolved(folder).is_relative_to(resolved(self.root)):
            raise baseline.error("is a link to a folder outside the store; store the run itself")
        return baseline

    def _missing(self, problem: str) -> BaselineError:
        return BaselineError(
            f"{self.root}: {problem}", reason="missing_input", problem=f"{self.root.name}: {problem}"
        )

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._missing(f"the store cannot be read ({error.strerror or error})") from None

    def _mean_changes(self, name: str, scored: ScoredRun, *, every_measure: bool) -> tuple[MeanChange, ...]:
        """Means of a baseline's run and of a scored run, on the judgements of the latter."""
        changes = []
        for new in scored.scores:
            measure = str(new.measure)
            try:
                old = self.scores(name, measure, qrels=scored.judgements, shrink=None).scores
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
        _check_name(name)
        for taken in self.names():
            if taken == name and not replace:
                raise UsageError(
                    f"{self.root / name}: a baseline of that name already exists; replace it with "
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
        if baseline.manifest.digests.run != before.digests.run:
            raise baseline.error("was replaced while the run was being scored; try again")
        return baseline

    @contextmanager
    def _replacing(self, name: str) -> Iterator[Path]:
        """An empty folder that takes the place of a baseline's at the end; the store is locked meanwhile.

        What others keep beside the files of the baseline moves along.
        """
        with locked(self.root):
            target = self.root / name
            carried = foreign_files.carried(StoredBaseline(self.root, name, target))
            with atomic_folder.temporary_folder(self.root, name) as folder:
                yield folder
                atomic_folder.copy_folder(target, folder, only=carried)
                atomic_folder.publish(folder, target)


def _check_name(name: str) -> None:
    """Raise ``UsageError`` for a text that cannot name a baseline."""
    if problem := name_problem(name):
        raise UsageError(f"{name!r} cannot name a baseline: {problem}")


def _check_kind(kind: str | None) -> None:
    if kind is not None and kind not in KINDS:
        raise UsageError(f"{kind!r} is not a kind of baseline; expected one of {', '.join(KINDS)}")
