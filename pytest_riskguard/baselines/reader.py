"""Reading a store: takes no lock, writes nothing, and compares everything with its digest each time it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pytest_riskguard.baselines import atomic_folder
from pytest_riskguard.baselines.entry import Entry
from pytest_riskguard.baselines.manifest import Manifest
from pytest_riskguard.baselines.names import name_problem
from pytest_riskguard.baselines.rescoring import KeptRun, present_scores
from pytest_riskguard.baselines.scored import Scored
from pytest_riskguard.data.judged import JudgedRun
from pytest_riskguard.data.measures import measure_name
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import BaselineError, DataError, Remedy, RiskguardError, UsageError
from pytest_riskguard.text import did_you_mean

#: How often a baseline is read that is replaced each time.
_MOST_TIMES = 30
#: What means the first run that a baseline held.
OLDEST = "oldest"

_Result = TypeVar("_Result")


def stored_scores(store: Path | str, measure: str, *names: str) -> dict[str, TopicScores]:
    """The scores of stored baselines with a measure, as they were stored, by name; without names those of all.

    ``store`` is the folder of the baselines. ``BaselineError`` for a baseline that is missing, damaged or was not
    stored with this measure.
    """
    reader = StoreReader(Path(store))
    return {name: reader.scores(name, measure, qrels=None).scores for name in names or reader.names()}


class StoreReader:
    """What can be read of a folder of baselines, which need not exist.

    Every method raises ``UsageError`` for text that cannot be a name or a measure, and ``BaselineError`` with reason
    ``missing_input`` for a baseline that does not exist and a store that cannot be read, ``bad_baseline`` for damage.
    ``earlier`` means a run that a baseline has held: its number, its note or ``oldest``.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def names(self) -> tuple[str, ...]:
        """Every stored name, sorted, including the names of damaged baselines."""
        with self._reading():
            held = atomic_folder.held_names(self.root)
        return tuple(sorted(name for name in held if name_problem(name) is None))

    def manifest(self, name: str, *, earlier: str | None = None, replicate: int | None = None) -> Manifest:
        """The manifest of a baseline; its scores and its run are not checked."""

        def work(entry: Entry) -> Manifest:
            held = _held(entry, earlier)
            return (held if replicate is None else held.replicate(replicate)).manifest

        return self.read(name, work)

    def history(self, name: str) -> list[Manifest]:
        """The manifests of all runs that a baseline has held, oldest first, its present one last."""
        return self.read(name, lambda entry: [one.manifest for one in (*entry.history(), entry)])

    def scores(
        self,
        name: str,
        measure: str,
        *,
        qrels: Qrels | None,
        topics: Topics | None = None,
        accept: bool = False,
        earlier: str | None = None,
    ) -> Scored:
        """A baseline's scores on the present judgements, exactly as ``score_run`` gives them for its run.

        They are those of the stored run; ``rescored`` is true if the judgements changed or the run scores otherwise
        than was stored. Without a stored run the stored scores are read; a ``BaselineError`` has reason
        ``missing_input`` if the measure was not stored, ``inputs_changed`` if the judgements changed. It has the
        latter also, unless told to ``accept`` it, if a topic that the baseline was scored on no longer has a relevant
        document or, with ``topics``, has another query text. Scores that were stored without a run are read, whatever
        the judgements; without ``qrels`` those of a run are, too.
        """

        def work(entry: Entry) -> Scored:
            held = _held(entry, earlier)
            return _scores(held, measure, qrels, topics, accept=accept)

        return self.read(name, work)

    def scores_together(
        self,
        name: str,
        measures: Sequence[str],
        *,
        qrels: Qrels | None,
        topics: Topics | None = None,
        earlier: str | None = None,
    ) -> Mapping[str, Scored | RiskguardError]:
        """What ``scores`` returns or raises for each of several measures; the stored run is read once for all.

        Measures are spelled as ir-measures prints them.
        """
        return self.read(name, lambda entry: present_scores(_held(entry, earlier), measures, qrels, topics=topics))

    def judged_run(self, name: str, measure: str, *, qrels: Qrels, depth: int) -> JudgedRun:
        """What a reading of the stored run keeps for reports about a measure; ``depth`` as for ``KeptRun``.

        ``BaselineError`` (``missing_input``) where there is no run.
        """

        def work(entry: Entry) -> JudgedRun:
            if not entry.manifest.run_kept:
                raise entry.error("its run was not kept, or it was stored from scores", reason="missing_input")
            return KeptRun(entry, qrels, depth=depth).judged(measure)

        return self.read(name, work)

    def replicates(
        self, name: str, measure: str, *, qrels: Qrels | None, topics: Topics | None = None
    ) -> tuple[Scored, ...]:
        """Scores of a baseline's replicates, by number, each as ``scores`` gives the baseline's own.

        Their names are ``NAME/replicates/NUMBER``.
        """

        def work(entry: Entry) -> tuple[Scored, ...]:
            return tuple(_scores(replicate, measure, qrels, topics) for replicate in entry.replicates())

        return self.read(name, work)

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
            return tuple(_scores(one, measure, qrels, None, accept=True) for one in chain)

        return self.read(name, work)

    def stored_scores(self, name: str) -> tuple[TopicScores, ...]:
        """The scores of a baseline as stored, for every measure, on the judgements used then."""
        return self.read(name, lambda entry: entry.table())

    def verify(self, name: str) -> list[str]:
        """Everything in which a baseline, its replicates and earlier runs are not what was stored, as text."""
        with self._reading():
            return self.entry(name).problems()

    def read(self, name: str, work: Callable[[Entry], _Result]) -> _Result:
        """The result of ``work`` on one state of a baseline: it is done again where another took its place."""
        for _ in range(_MOST_TIMES):
            entry = self.entry(name)
            before = _stamp(entry)
            try:
                with self._reading():
                    result = work(entry)
            except DataError:
                if _stamp(self.entry(name)) == before:
                    raise
            else:
                if _stamp(self.entry(name)) == before:
                    return result
        raise self._missing(f"{name} is replaced again and again, try again later")

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


def check_name(name: str) -> None:
    """Raise ``UsageError`` for a text that cannot name a baseline."""
    if problem := name_problem(name):
        raise UsageError(f"{name!r} cannot name a baseline: {problem}")


def _scores(
    entry: Entry, measure: str, qrels: Qrels | None, topics: Topics | None, *, accept: bool = False
) -> Scored:
    try:
        measure = measure_name(measure)
    except UsageError:  # scores that somebody gave may have any name
        if qrels is not None and entry.manifest.has_run:
            raise
    scored = present_scores(entry, [measure], qrels, topics=topics, accept=accept)[measure]
    if isinstance(scored, RiskguardError):
        raise scored
    return scored


def _held(entry: Entry, run: str | None) -> Entry:
    """The run that a text means; without one the present run."""
    if run is None:
        return entry
    *earlier, present = *entry.history(), entry
    meant = earlier[:1]
    if run != OLDEST:
        meant = [
            one
            for one in (*earlier, present)
            if run == one.manifest.note or run.lstrip("0") == str(one.manifest.number)
        ]
    if len(meant) == 1:
        return meant[0]
    known = ", ".join(f"{one.manifest.number:04d}" for one in earlier) or "none yet, update adds one"
    found = f"{len(meant)} earlier runs" if meant else "no earlier run"
    raise entry.error(
        f"has {found} {run!r}; expected the number or the note of one, or {OLDEST}: it has {known}",
        reason="missing_input",
    )


def _stamp(entry: Entry) -> tuple[Path, int, int] | None:
    """Something that changes when the baseline is replaced, and while it is; None if its folder is gone."""
    try:
        status = entry.folder.stat()
    except OSError:
        return None
    return entry.folder, status.st_ino, status.st_mtime_ns
