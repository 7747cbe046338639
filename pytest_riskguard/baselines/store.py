"""Baselines on disk: ``<store>/<name>/`` with ``manifest.json``, ``scores.tsv`` and mostly ``run.gz``.

More runs of the same system lie in ``<store>/<name>/replicates/<number>/``, with the same files. They come, go and
are replaced together with the whole folder of their baseline, whose manifest lists them.

Reading takes no lock and writes nothing; everything is compared with its digest each time it is read. Writing
happens under a lock and is all or nothing, a process that dies in the middle included.
"""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from pytest_riskguard.baselines import files, surroundings
from pytest_riskguard.baselines.manifest import Manifest, StoredReplicate
from pytest_riskguard.baselines.names import name_problem
from pytest_riskguard.baselines.replicates import one_less, one_more, scored_again
from pytest_riskguard.baselines.scored_run import ScoredRun
from pytest_riskguard.baselines.stored import StoredBaseline, StoredScores
from pytest_riskguard.errors import BaselineError, DataError, UsageError
from pytest_riskguard.evaluation.measures import measure_name
from pytest_riskguard.evaluation.qrels import Qrels

__all__ = ["LOCK", "LOCK_TIMEOUT", "Store", "StoredScores"]

LOCK = ".lock"

LOCK_TIMEOUT = 60.0
"""Seconds that a writer waits for another one."""

_ATTEMPTS = 8
"""How often a baseline is read that is replaced in the middle of being read."""

_Result = TypeVar("_Result")


class Store:
    """A folder of baselines; it need not exist before the first one is added.

    Parameters
    ----------
    root : Path
    lock_timeout : float
        Seconds that writing waits for another writer.
    """

    def __init__(self, root: Path, *, lock_timeout: float = LOCK_TIMEOUT) -> None:
        self.root = Path(root)
        self._lock_timeout = lock_timeout

    def names(self) -> tuple[str, ...]:
        """Every stored name, sorted; damaged baselines are among them.

        Raises
        ------
        BaselineError
            ``missing_input``: the store is there but cannot be read.
        """
        with self._reading():
            held = files.held_names(self.root)
        return tuple(sorted(name for name in held if name_problem(name) is None))

    def manifest(self, name: str) -> Manifest:
        """What is known of a baseline; its scores and its run are not looked at.

        Raises
        ------
        BaselineError
            ``missing_input``: no baseline of that name; ``bad_baseline``: its manifest cannot be used.
        UsageError
            The name cannot be one.
        """
        return self._read(name, StoredBaseline.manifest)

    def scores(
        self, name: str, measure: str, *, qrels: Qrels, queries: Mapping[str, str] | None = None
    ) -> StoredScores:
        """A baseline's scores on the judgements of today, exactly as ``score_run`` gives them for its run.

        They are read where measure, judgements and scoring libraries are those it was stored with. Otherwise
        the kept run is scored in memory: ``rescored`` is then true when the judgements changed or a library
        gives another value than it did, and false for a measure that was not stored.

        Parameters
        ----------
        name : str
            A stored name.
        measure : str
            In any spelling that ``measure_name`` knows.
        qrels : Qrels
            The judgements of today.
        queries : mapping topic -> query text, optional
            Carried along in the scores.

        Raises
        ------
        BaselineError
            ``missing_input``: no such baseline, or neither the measure nor the run was stored;
            ``inputs_changed``: the judgements changed and the run was not kept; ``bad_baseline``: damaged.
        DataError
            The run answers none of today's judged topics.
        UsageError
            The name or the measure cannot be one.
        """
        measure = measure_name(measure)
        texts = MappingProxyType(dict(queries or {}))
        return self._read(name, lambda baseline: baseline.scores(measure, qrels, texts))

    def replicates(
        self, name: str, measure: str, *, qrels: Qrels, queries: Mapping[str, str] | None = None
    ) -> tuple[StoredScores, ...]:
        """Scores of a baseline's replicates, by number, each as ``scores`` gives those of the baseline itself.

        All are from one state of the store, though not from the state that a call of ``scores`` saw. Their names
        are ``NAME/replicates/NUMBER``.

        Parameters
        ----------
        name, measure, qrels, queries
            As for ``scores``.

        Returns
        -------
        tuple of StoredScores
            Empty where the baseline has no replicates.

        Raises
        ------
        BaselineError, DataError, UsageError
            As for ``scores``; the replicate that cannot be used is named.
        """
        measure = measure_name(measure)
        texts = MappingProxyType(dict(queries or {}))

        def work(baseline: StoredBaseline) -> tuple[StoredScores, ...]:
            held = baseline.replicates(baseline.manifest())
            return tuple(replicate.scores(measure, qrels, texts) for replicate in held)

        return self._read(name, work)

    def replicate_numbers(self, name: str) -> tuple[int, ...]:
        """Numbers of the replicates of a baseline; where its manifest cannot be used, those that have a folder.

        Raises
        ------
        BaselineError
            ``missing_input``: no baseline of that name.
        UsageError
            The name cannot be one.
        """
        with self._reading():
            return self._baseline(name).numbers()

    def replicate_manifest(self, name: str, number: int) -> Manifest:
        """What is known of one replicate; its scores and its run are not looked at.

        Raises
        ------
        BaselineError
            ``missing_input``: no such baseline or replicate; ``bad_baseline``: a manifest cannot be used.
        UsageError
            The name cannot be one.
        """

        def work(baseline: StoredBaseline) -> Manifest:
            return baseline.listed(baseline.find(baseline.manifest(), number)).manifest()

        return self._read(name, work)

    def verify(self, name: str) -> list[str]:
        """Everything that is wrong with a baseline and its replicates, as text; empty when all is whole.

        Raises
        ------
        BaselineError
            ``missing_input``: no baseline of that name.
        UsageError
            The name cannot be one.
        """
        baseline = self._baseline(name)
        with self._reading():
            return baseline.problems()

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
        replace: bool = False,
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
        replace : bool
            Whether a baseline of that name may be there already; it is then replaced whole. Its replicates are
            stored anew with it where ``run`` is the run it had, and removed where it is another one: they would be
            replicates of another system.
        allow_ci : bool
            Whether to store even where a CI service runs this.

        Raises
        ------
        UsageError
            A name that cannot be one or is taken, no measure or an unknown one, a note that is not text, or
            CI without ``allow_ci``.
        DataError
            A file that cannot be used, or a run that answers no judged topic.
        BaselineError
            The store cannot be written, or another writer holds it for too long.
        """
        self._check_place(allow_ci=allow_ci)
        self._check_free(name, replace=replace)
        scored = ScoredRun.read(
            run, name=name, qrels=qrels, topics=topics, measures=measures, note=note, keep_run=keep_run
        )
        with self._writing(), files.temporary_folder(self.root) as folder:
            self._check_free(name, replace=replace)
            try:
                replaced = self._baseline(name)
            except DataError:  # there is none yet, or a link out of the store
                replicates: tuple[StoredReplicate, ...] = ()
            else:
                replicates = scored_again(replaced, scored, folder)
            manifest = scored.write(folder, store=self.root, replicates=replicates)
            files.publish(folder, self.root / name)
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
        with self._writing(), files.temporary_folder(self.root) as folder:
            baseline = self._baseline(name)
            if baseline.manifest().digests.run != before.digests.run:
                raise baseline.error("was replaced while the replicate was being scored; try again")
            number = one_more(baseline, scored, folder)
            files.publish(folder, self.root / name)
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
        with self._writing(), files.temporary_folder(self.root) as folder:
            one_less(self._baseline(name), number, folder)
            files.publish(folder, self.root / name)

    def remove(self, name: str) -> None:
        """Delete a baseline with its replicates, whole or damaged.

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
            files.withdraw(self.root / name)

    def _read(self, name: str, work: Callable[[StoredBaseline], _Result]) -> _Result:
        """``work`` on a baseline; once more when it was replaced meanwhile and so looked damaged."""
        for attempt in range(_ATTEMPTS - 1):
            baseline = self._baseline(name)
            before = baseline.stamp()
            try:
                with self._reading():
                    return work(baseline)
            except DataError:
                if self._baseline(name).stamp() == before:
                    raise
                time.sleep(0.005 * 2**attempt)  # whoever replaces it again and again gets out of step
        with self._reading():
            return work(self._baseline(name))

    def _baseline(self, name: str) -> StoredBaseline:
        _check_name(name)
        with self._reading():
            folder = files.newest(self.root, name)
        if folder is None:
            raise self._unknown(name)
        baseline = StoredBaseline(self.root, name, folder)
        if not folder.resolve().is_relative_to(self.root.resolve()):
            raise baseline.error("is a link to a folder outside the store; store the run itself")
        return baseline

    def _unknown(self, name: str) -> BaselineError:
        names = self.names()
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        has = f"it holds {', '.join(names)}" if names else "it holds none"
        problem = f"no baseline {name!r} ({has}){hint}; store it with `riskguard baseline add {name} RUN`"
        return BaselineError(
            f"{self.root}: {problem}", reason="missing_input", problem=f"{self.root.name}: {problem}"
        )

    def _check_place(self, *, allow_ci: bool) -> None:
        if (variable := surroundings.ci_variable()) and not allow_ci:
            raise UsageError(
                f"{self.root}: baselines are not stored inside CI ({variable} is set), where nobody reviews "
                "them; store them on your machine and commit them, or say --allow-ci"
            )

    def _check_free(self, name: str, *, replace: bool) -> None:
        _check_name(name)
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
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            problem = f"the store cannot be read ({error.strerror or error})"
            raise BaselineError(
                f"{self.root}: {problem}", reason="missing_input", problem=f"{self.root.name}: {problem}"
            ) from None

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """The store's lock, with what dead writers left cleared away."""
        from filelock import FileLock, Timeout

        lock = self.root / LOCK
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with FileLock(lock, timeout=self._lock_timeout):
                files.tidy(self.root)
                yield
        except Timeout:
            raise BaselineError(
                f"{lock}: another process has been writing to this store for over {self._lock_timeout:g} "
                "seconds; wait until it is done and try again"
            ) from None
        except (OSError, NotImplementedError) as error:
            why = getattr(error, "strerror", None) or error
            raise BaselineError(f"{self.root}: the store cannot be written ({why})") from error


def _check_name(name: str) -> None:
    if problem := name_problem(name):
        raise UsageError(f"{name!r} cannot name a baseline: {problem}")
