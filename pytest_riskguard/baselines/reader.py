"""Reading a store: takes no lock, writes nothing, and compares everything with its digest each time it is read."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from pytest_riskguard.baselines import atomic_folder, environment
from pytest_riskguard.baselines.entry import RUN, StoredBaseline, resolved
from pytest_riskguard.baselines.manifest import EarlierRun, Manifest, Staleness, staleness
from pytest_riskguard.baselines.names import name_problem
from pytest_riskguard.baselines.remote_stores import local_folder, shown
from pytest_riskguard.baselines.rescoring import KeptRun, as_stored, present_scores, problems
from pytest_riskguard.baselines.scored import Scored
from pytest_riskguard.data.judged import JudgedRun
from pytest_riskguard.data.measures import measure_name
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.remote import is_address
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import BaselineError, DataError, RiskguardError, UsageError
from pytest_riskguard.text import did_you_mean

#: How often a baseline that is replaced while it is being read is read again.
_MAX_ATTEMPTS = 30
#: What means the first run that a baseline held.
OLDEST = "oldest"

_Result = TypeVar("_Result")


def stored_scores(store: Path | str, measure: str, *names: str) -> dict[str, TopicScores]:
    """The scores of stored baselines with a measure, as they were stored, by name; without names those of all.

    ``store`` is the folder of the baselines, or their address. ``BaselineError`` for a baseline that is missing,
    damaged or was not stored with this measure.
    """
    reader = StoreReader(Path(store))
    return {name: reader.scores(name, measure, qrels=None).scores for name in names or reader.names()}


class StoreReader:
    """What can be read of a folder of baselines, which need not exist, or of baselines at an address.

    Every method raises ``UsageError`` for text that cannot be a name or a measure, and ``BaselineError`` with reason
    ``missing_input`` for a baseline that does not exist and a store that cannot be read, ``bad_baseline`` for damage.
    """

    def __init__(self, place: Path) -> None:
        self.place = Path(place)

    @cached_property
    def root(self) -> Path:
        """The folder; that of a store at an address is a copy, which is made when it is first read."""
        return local_folder(self.place) if is_address(self.place) else self.place

    def names(self) -> tuple[str, ...]:
        """Every stored name, sorted, including the names of damaged baselines."""
        with self._reading():
            held = atomic_folder.held_names(self.root)
        return tuple(sorted(name for name in held if name_problem(name) is None))

    def manifest(self, name: str) -> Manifest:
        """The manifest of a baseline; its scores and its run are not checked."""
        return self._read(name, lambda baseline: baseline.manifest)

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
        canonical, unknown = _spelled(measure)

        def work(baseline: StoredBaseline) -> Scored:
            if unknown is not None and qrels is not None and baseline.manifest.has_run:
                raise unknown
            return present_scores(baseline, canonical, qrels, topics=topics, accept=accept)

        return self._read(name, work)

    def scores_together(
        self,
        name: str,
        measures: Sequence[str],
        *,
        qrels: Qrels,
        topics: Topics | None = None,
    ) -> Mapping[str, Scored | RiskguardError]:
        """What ``scores`` returns or raises for each of several measures; the stored run is read once for all.

        Measures are spelled as ir-measures prints them.
        """

        def work(baseline: StoredBaseline) -> Mapping[str, Scored | RiskguardError]:
            before, kept = baseline.stamp(), KeptRun(baseline, qrels, measures)
            found: dict[str, Scored | RiskguardError] = {}
            for measure in measures:
                try:
                    found[measure] = present_scores(baseline, measure, qrels, topics=topics, kept=kept)
                except RiskguardError as error:
                    if baseline.stamp() != before:
                        raise
                    found[measure] = error
            return found

        return self._read(name, work)

    def judged_run(self, name: str, measure: str, *, qrels: Qrels, depth: int | None = None) -> JudgedRun:
        """What a reading of the stored run keeps for reports about a measure; ``depth`` as for ``KeptRun``.

        ``BaselineError`` (``missing_input``) where there is no run.
        """

        def work(baseline: StoredBaseline) -> JudgedRun:
            baseline.need_run()
            return KeptRun(baseline, qrels, depth=depth).judged_for(measure)

        return self._read(name, work)

    def replicates(
        self, name: str, measure: str, *, qrels: Qrels | None, topics: Topics | None = None
    ) -> tuple[Scored, ...]:
        """Scores of a baseline's replicates, by number, each as ``scores`` gives the baseline's own.

        All come from one state of the store, which may be later than the state that an earlier call of ``scores``
        saw. Their names are ``NAME/replicates/NUMBER``.
        """
        canonical, _ = _spelled(measure)
        return self._read(
            name,
            lambda baseline: tuple(
                present_scores(replicate, canonical, qrels, topics=topics) for replicate in baseline.replicates()
            ),
        )

    def stored_scores(self, name: str, *, replicate: int | None = None) -> tuple[TopicScores, ...]:
        """The scores of a baseline or of one replicate as stored, for every measure, on the judgements used then."""

        def work(baseline: StoredBaseline) -> tuple[TopicScores, ...]:
            return (baseline if replicate is None else baseline.listed(baseline.find(replicate))).table()

        return self._read(name, work)

    def replicate_manifest(self, name: str, number: int) -> Manifest:
        """The manifest of one replicate; its scores and its run are not checked."""
        return self._read(name, lambda baseline: baseline.listed(baseline.find(number)).manifest)

    def verify(self, name: str, *, qrels: Qrels | None = None) -> list[str]:
        """Every problem of a baseline, its replicates and earlier runs, as text; empty if there is none.

        Scores that were computed with ``qrels`` are compared with what their runs score; on other judgements the run
        must have as much left to lose.
        """
        baseline = self._baseline(name)
        with self._reading():
            found = problems(baseline, qrels)
            if found or qrels is None or not baseline.manifest.run_kept:
                return found
            kept = KeptRun(baseline, qrels, baseline.manifest.measure_names)
            for measure in baseline.manifest.measure_names:
                try:
                    present_scores(baseline, measure, qrels, kept=kept)
                except RiskguardError as error:
                    found.append(error.problem)
            return list(dict.fromkeys(found))

    def lineage(self, name: str, measure: str, *, qrels: Qrels | None = None) -> tuple[Scored, ...]:
        """Scores of every run that a baseline has held, oldest first, the present one last, on the same judgements.

        All come from one state of the store. Their names are ``NAME/history/0001`` and so on, and last ``NAME``.
        Without ``qrels`` these are the stored scores, all of which must come from the same judgements.
        """
        measure, _ = _spelled(measure)

        def work(baseline: StoredBaseline) -> tuple[Scored, ...]:
            chain = (*baseline.history(), baseline)
            if qrels is not None:
                return tuple(present_scores(entry, measure, qrels, accept=True) for entry in chain)
            digests = {entry.manifest.digests.qrels for entry in chain}
            if len(digests) > 1:
                raise baseline.error(
                    "its runs were scored with different judgements; give the present ones with --qrels, or rescore "
                    f"all runs with `riskguard baseline rescore {name}`",
                    reason="inputs_changed",
                )
            return tuple(Scored(as_stored(entry, measure)) for entry in chain)

        return self._read(name, work)

    def earlier_run(self, name: str, run: str) -> EarlierRun | None:
        """The earlier run that a text means: its number, its note, or ``oldest``; None for the present run.

        ``BaselineError`` (``missing_input``) if none is meant, or a note is that of several; a baseline that never
        changed has no ``oldest``, since it would be compared with itself.
        """

        def work(baseline: StoredBaseline) -> EarlierRun | None:
            manifest = baseline.manifest
            meant: list[EarlierRun | None] = [
                earlier
                for earlier in manifest.history
                if run == earlier.note or run.lstrip("0") == str(earlier.number)
            ]
            if run == OLDEST:
                meant = [*manifest.history[:1]]
            elif run == manifest.note:
                meant.append(None)
            if len(meant) == 1:
                return meant[0]
            known = ", ".join(f"{earlier.number:04d}" for earlier in manifest.history) or "none yet, promote adds one"
            found = f"{len(meant)} earlier runs" if meant else "no earlier run"
            raise baseline.error(
                f"has {found} {run!r}; expected the number or the note of one, or {OLDEST}: it has {known}",
                reason="missing_input",
            )

        return self._read(name, work)

    def earlier_scores(
        self, name: str, run: str, measure: str, *, qrels: Qrels | None, topics: Topics | None
    ) -> Scored:
        """What ``scores`` gives, for the run that ``earlier_run`` means."""
        earlier, (canonical, _) = self.earlier_run(name, run), _spelled(measure)
        return self._read(
            name,
            lambda baseline: present_scores(
                baseline if earlier is None else baseline.listed(earlier),
                canonical,
                qrels,
                topics=topics,
            ),
        )

    def staleness(self, name: str) -> Staleness:
        """How old a baseline is now; other baselines that are damaged are not counted."""
        manifests = {name: self.manifest(name)}
        for other in set(self.names()) - {name}:
            with suppress(BaselineError):
                manifests[other] = self.manifest(other)
        return staleness(name, manifests, now=environment.now())

    def run(self, name: str) -> Path:
        """The path of the run of a baseline, after checking that it is the one that was stored."""

        def work(baseline: StoredBaseline) -> Path:
            baseline.need_run()
            baseline.check_run()
            return baseline.file(RUN)

        return self._read(name, work)

    def _read(self, name: str, work: Callable[[StoredBaseline], _Result]) -> _Result:
        """The result of ``work`` on a baseline; tried again if a replacement meanwhile made it look damaged."""
        attempt = 0
        while True:
            baseline = self._baseline(name)
            before = baseline.stamp()
            try:
                with self._reading():
                    return work(baseline)
            except DataError:
                if attempt == _MAX_ATTEMPTS or self._baseline(name).stamp() == before:
                    raise
                attempt += 1
                time.sleep(0.005 * attempt)

    def _baseline(self, name: str) -> StoredBaseline:
        check_name(name)
        with self._reading():
            folder = atomic_folder.newest(self.root, name)
        if folder is None:
            names = self.names()
            contents = f"the store holds {', '.join(names) or 'none'}" if self.root.exists() else "no such folder"
            raise self._missing(
                f"no baseline {name!r} ({contents}){did_you_mean(name, names)}; store it with "
                f"`riskguard baseline add {name} RUN`"
            )
        baseline = StoredBaseline(self.root, name, folder)
        if not resolved(folder).is_relative_to(resolved(self.root)):
            raise baseline.error("is a link to a folder outside the store; store the run itself")
        return baseline

    def _missing(self, problem: str) -> BaselineError:
        return BaselineError(problem, where=shown(self.root), name=self.root.name, reason="missing_input")

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


def _spelled(measure: str) -> tuple[str, UsageError | None]:
    """A measure as ir-measures writes it; or any other text, with the error that says that it is not a measure."""
    try:
        return measure_name(measure), None
    except UsageError as error:
        return measure, error
