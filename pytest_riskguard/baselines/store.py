"""Baselines on disk: ``<store>/<name>/`` with ``manifest.json``, ``scores.tsv`` and usually ``run.gz``.

``<store>/<name>/replicates/<number>/`` holds further runs of the same system, with the same files, and
``<store>/<name>/history/<number>/`` what the baseline was before another run took its place. Both change together
with the whole folder of their baseline, whose manifest has the digests of theirs.

Reading takes no lock, writes nothing, and compares everything with its digest each time it is read. Writing happens
under a lock and is all or nothing, even if the process is killed.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pytest_riskguard.baselines import atomic_folder
from pytest_riskguard.baselines.entry import HISTORY, MANIFEST, REPLICATES, Entry, sha256
from pytest_riskguard.baselines.manifest import Manifest, name_problem
from pytest_riskguard.baselines.new_entry import NewEntry
from pytest_riskguard.baselines.rescoring import score
from pytest_riskguard.baselines.stored_files import Scored
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.runs import Run
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import BaselineError, DataError, Remedy, UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.text import did_you_mean

_Result = TypeVar("_Result")


def stored_scores(store: Path | str, measure: str, *names: str) -> dict[str, TopicScores]:
    """The scores of stored baselines with a measure, as they were stored, by name; without names those of all.

    ``store`` is the folder of the baselines. ``BaselineError`` for a baseline that is missing, damaged or was not
    stored with this measure.
    """
    held = Store(Path(store))
    return {name: held.scores(name, measure, qrels=None).scores for name in names or held.names()}


#: The scores before and after, for each measure that the run before can be scored with, on the judgements of today.
Changes = Sequence[tuple[TopicScores, TopicScores]]


@frozen
class Store:
    """A folder of baselines; it need not exist before the first one is added.

    Every method raises ``UsageError`` for text that cannot be a name or a measure, and ``BaselineError`` with reason
    ``missing_input`` for a baseline that does not exist and a store that cannot be read, ``bad_baseline`` for damage,
    and for a store that cannot be written or that another process keeps locked. ``earlier`` is what ``Entry.held``
    takes. ``scoring`` is what ``NewEntry.read`` takes; without measures those of the baseline.
    """

    root: Path

    def names(self) -> tuple[str, ...]:
        """Every stored name, sorted, including the names of damaged baselines."""
        with self._reading():
            held = atomic_folder.held_names(self.root)
        return tuple(sorted(name for name in held if name_problem(name) is None))

    def manifest(self, name: str, *, earlier: str | None = None) -> Manifest:
        """The manifest of a baseline; its scores and its run are not checked."""
        return self.read(name, lambda entry: entry.held(earlier).manifest)

    def scores(
        self, name: str, measure: str, *, qrels: Qrels | None, topics: Topics | None = None, accept: bool = False
    ) -> Scored:
        """A baseline's scores on the present judgements, exactly as ``score_run`` gives them for its run.

        They are those of the stored run; ``rescored`` is true if the judgements changed or the run scores otherwise
        than was stored. Without a stored run the stored scores are read; a ``BaselineError`` has reason
        ``missing_input`` if the measure was not stored, ``inputs_changed`` if the judgements changed. It has the
        latter also, unless told to ``accept`` it, if a topic that the baseline was scored on no longer has a relevant
        document or, with ``topics``, has another query text. Scores that were stored without a run are read, whatever
        the judgements; without ``qrels`` those of a run are, too.
        """
        return self.read(name, lambda entry: score(entry, measure, qrels, topics, accept=accept))

    def replicates(
        self, name: str, measure: str, *, qrels: Qrels | None, topics: Topics | None = None
    ) -> tuple[Scored, ...]:
        """Scores of a baseline's replicates, ``NAME/replicates/NUMBER``, each as ``scores`` gives its own."""
        return self.read(name, lambda entry: tuple(score(one, measure, qrels, topics) for one in entry.replicates()))

    def lineage(self, name: str, measure: str, *, qrels: Qrels | None = None) -> tuple[Scored, ...]:
        """Scores of every run that a baseline has held, oldest first, the present one last, on the same judgements.

        Their names are ``NAME/history/0001`` and so on, and last ``NAME``. Without ``qrels`` these are the stored
        scores, all of which must come from the same judgements.
        """

        def work(entry: Entry) -> tuple[Scored, ...]:
            chain = (*entry.history(), entry)
            if qrels is None and len({one.manifest.digests.qrels for one in chain}) > 1:
                raise entry.error(
                    "its runs were scored with different judgements",
                    "name the present ones in a riskguard.yaml",
                    reason="inputs_changed",
                )
            return tuple(score(one, measure, qrels, accept=True) for one in chain)

        return self.read(name, work)

    def verify(self, name: str) -> list[str]:
        """Everything in which a baseline, its replicates and earlier runs are not what was stored, as text."""
        with self._reading():
            return self.entry(name).problems()

    def read(self, name: str, work: Callable[[Entry], _Result]) -> _Result:
        """The result of ``work`` on a baseline; what fails is done again where another took its place meanwhile.

        Every file is compared with its digest, so two baselines are never mixed unseen.
        """
        while True:
            entry = self.entry(name)
            before = _stamp(entry)
            try:
                with self._reading():
                    return work(entry)
            except DataError:
                if _stamp(entry) == before:
                    raise

    def entry(self, name: str) -> Entry:
        """A baseline, of which nothing is read yet."""
        check_name(name)
        with self._reading():
            folder = atomic_folder.newest(self.root, name)
        if folder is None:
            names = self.names()
            contents = f"the store holds {', '.join(names) or 'none'}" if self.root.exists() else "no such folder"
            raise self._missing(
                f"no baseline {name!r} ({contents}){did_you_mean(name, names)}",
                Remedy("store it with {}", f"add {name} RUN"),
            )
        return Entry(self.root, name, folder)

    def _missing(self, problem: str, remedy: Remedy | None = None) -> BaselineError:
        return BaselineError(problem, where=self.root, reason="missing_input", remedy=remedy)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._missing(f"the store cannot be read ({error.strerror or error})") from None

    # Writing.

    def add(self, name: str, run: Path | GivenFile | Run, **scoring: Any) -> Manifest:
        """Score a run and keep it under a new name; a ``Run`` is what a live system has just answered."""
        check_name(name)
        with self._reading():
            is_taken = atomic_folder.newest(self.root, name) is not None
        if is_taken:
            given = "" if isinstance(run, Run) else f" {shlex.quote(str(GivenFile.of(run).path))}"
            raise UsageError(
                f"{self.root / name}: a baseline of that name already exists",
                remedy=Remedy("replace it with {}, or choose another name", f"update {name}{given} --note WHY"),
            )
        scored = NewEntry.read(name, run, **scoring)
        with self._replaced(name) as folder:
            return scored.write(folder, name=name, store=self.root)

    def update(
        self, name: str, run: Path | GivenFile | Run, *, dry_run: bool = False, **scoring: Any
    ) -> Changes | None:
        """Store a run in the place of another, which becomes the newest of the baseline's earlier runs.

        Its replicates go with it. The measures of the baseline are kept, so that its history can be compared. None,
        and nothing is written, if it is the same run. ``DataError`` for damage, which would go into the history.
        """
        before = self.manifest(name)
        self._refuse_without_scores(before, scoring)
        if not scoring.get("scores"):
            scoring["measures"] = [*before.measures, *scoring.get("measures", ())]
        scored = NewEntry.read(name, run, **scoring)
        if scored.digest == before.digests.run:
            return None
        changes = tuple(self._changes(name, scored))
        if dry_run:
            return changes
        with self._replaced(name) as folder:
            old = self.entry(name)
            if damage := old.problems():
                raise BaselineError(damage[0])
            number = old.manifest.number
            _copy(old.folder / HISTORY, folder / HISTORY)
            _copy(old.folder, folder / HISTORY / f"{number:04d}", but=HISTORY)
            scored.write(folder, name=name, store=self.root, number=number + 1, predecessor=_digest_of(old.folder))
        return changes

    def add_replicate(self, name: str, run: Path | GivenFile | Run, **scoring: Any) -> int:
        """Score another run of a baseline's system, and store it as a replicate; returns the replicate's number.

        A ``UsageError`` if the run is stored already, as the baseline or as a replicate.
        """
        before = self.manifest(name)
        if not before.has_run:
            raise UsageError(f"{self.root / name}: was stored from scores, and replicates are runs of one system")
        self._refuse_without_scores(before, scoring)
        scoring["measures"] = scoring.get("measures") or before.measures
        scored = NewEntry.read(name, run, **scoring)
        with self._replaced(name) as folder:
            entry = self.entry(name)
            for held in (entry, *entry.replicates()):
                if held.manifest.digests.run == scored.digest:  # a copy would make the system look less noisy
                    raise UsageError(
                        f"{self.root / held.place}: already holds this run; a replicate is the output of another run "
                        "of the same system"
                    )
            listed = entry.manifest.replicates
            number = 1 + len(listed)
            _copy(entry.folder, folder)
            place = folder / REPLICATES / str(number)
            scored.write(place, name=name, store=self.root)
            manifest = replace(entry.manifest, replicates={**listed, str(number): _digest_of(place)})
            (folder / MANIFEST).write_bytes(manifest.to_bytes())
            return number

    def rescore(self, name: str, **scoring: Any) -> None:
        """Rescore the kept runs of a baseline and of its replicates, and store the scores.

        Time, commit and note of each run stay as they are, and so does the history.
        """
        with self._replaced(name) as folder:
            entry = self.entry(name)
            scoring["measures"] = scoring.get("measures") or entry.manifest.measures
            _copy(entry.folder / HISTORY, folder / HISTORY)
            digests = dict[str, str]()
            for one in (*entry.replicates(), entry):
                one.check_run()
                scoring["allow_unanswered"] = one.manifest.allow_unanswered
                scored = NewEntry.read(name, one.kept_run, **scoring)
                place = folder if one is entry else folder / REPLICATES / one.folder.name
                replicates = digests.copy() if one is entry else {}
                scored.write(place, name=name, store=self.root, like=one.manifest, replicates=replicates)
                digests[one.folder.name] = _digest_of(place)

    def remove(self, name: str) -> None:
        """Delete a baseline with its replicates and its earlier runs, even if it is damaged."""
        self.entry(name)
        with atomic_folder.locked(self.root):
            Entry(self.root, name, self.root / name).refuse_foreign()
            atomic_folder.delete(self.root, name)

    def _refuse_without_scores(self, before: Manifest, scoring: Mapping[str, Any]) -> None:
        """Refuse a run that nothing scores where the baseline has scores."""
        if before.is_judged and scoring["qrels"] is None and not scoring.get("scores"):
            raise UsageError(f"{self.root / before.name}: has scores, and this run would have none: give --qrels")

    def _changes(self, name: str, scored: NewEntry) -> Iterator[tuple[TopicScores, TopicScores]]:
        for new in scored.scores:
            with suppress(DataError):  # stored without this measure, or damaged
                yield self.scores(name, str(new.measure), qrels=scored.judgements, accept=True).scores, new

    @contextmanager
    def _replaced(self, name: str) -> Iterator[Path]:
        """An empty folder that takes the place of a baseline at the end; the store is locked meanwhile."""
        with atomic_folder.locked(self.root):
            Entry(self.root, name, self.root / name).refuse_foreign()
            with atomic_folder.replaced(self.root, name) as folder:
                yield folder


def check_name(name: str) -> None:
    """Raise ``UsageError`` for a text that cannot name a baseline."""
    if problem := name_problem(name):
        raise UsageError(f"{name!r} cannot name a baseline: {problem}")


def _stamp(entry: Entry) -> tuple[Path, int, int] | None:
    """Something that changes when the baseline is replaced, and while it is; None if its folder is gone."""
    try:
        status = entry.folder.stat()
    except OSError:
        return None
    return entry.folder, status.st_ino, status.st_mtime_ns


def _copy(source: Path, target: Path, *, but: str = "") -> None:
    """Copy a folder, if it is there, files without their modes."""
    if source.exists():
        ignored = shutil.ignore_patterns(but)
        shutil.copytree(source, target, copy_function=shutil.copyfile, dirs_exist_ok=True, ignore=ignored)


def _digest_of(folder: Path) -> str:
    return sha256((folder / MANIFEST).read_bytes())
