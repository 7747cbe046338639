"""Baselines on disk: ``<store>/<name>/`` with ``manifest.json``, ``scores.tsv`` and mostly ``run.gz``.

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

from pytest_riskguard._version import __version__
from pytest_riskguard.baselines import files, surroundings
from pytest_riskguard.baselines.manifest import Digests, Manifest, StoredMeasure, StoredTopics
from pytest_riskguard.baselines.names import name_problem
from pytest_riskguard.baselines.stored import MANIFEST, RUN, SCORES, StoredBaseline, StoredScores
from pytest_riskguard.errors import BaselineError, DataError, UsageError
from pytest_riskguard.evaluation.measures import measure_name, parse_measure, provider_of
from pytest_riskguard.evaluation.qrels import Qrels, read_qrels
from pytest_riskguard.evaluation.score_files import write_scores
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.evaluation.scoring import score_run
from pytest_riskguard.evaluation.topics import read_topics

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

    def verify(self, name: str) -> list[str]:
        """Everything that is wrong with a baseline, as text; empty when it is whole.

        Raises
        ------
        BaselineError
            ``missing_input``: no baseline of that name.
        UsageError
            The name cannot be one.
        """
        baseline = self._baseline(name)
        problems = []
        try:
            manifest = baseline.manifest()
        except DataError as error:
            return [error.problem]
        for check in (baseline.table, baseline.check_run):
            try:
                check(manifest)
            except DataError as error:
                problems.append(error.problem)
        return problems

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
            Whether a baseline of that name may be there already; it is then replaced whole.
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
        if (variable := surroundings.ci_variable()) and not allow_ci:
            raise UsageError(
                f"{self.root}: baselines are not stored inside CI ({variable} is set), where nobody reviews "
                "them; store them on your machine and commit them, or say --allow-ci"
            )
        self._check_free(name, replace=replace)
        wanted = tuple(dict.fromkeys(map(measure_name, measures)))
        if not wanted:
            raise UsageError("expected at least one measure to score the run with, such as nDCG@10; found none")
        _check_note(note)
        judgements = read_qrels(qrels)
        topics_digest = None if topics is None else read_topics(topics).digest
        scores = score_run(run, judgements, wanted, name=name)
        with self._writing(), files.temporary_folder(self.root) as folder:
            self._check_free(name, replace=replace)
            if keep_run and files.copy_compressed(run, folder / RUN) != scores[0].digest:
                raise BaselineError(f"{run} changed while it was being stored; try again")
            write_scores(folder / SCORES, scores)
            manifest = Manifest(
                created=surroundings.now(),
                digests=Digests(
                    run=str(scores[0].digest),
                    qrels=judgements.digest,
                    scores=files.sha256((folder / SCORES).read_bytes()),
                    topics=topics_digest,
                ),
                measures=tuple(_stored_measure(measure) for measure in wanted),
                topics=_stored_topics(scores[0]),
                run_kept=keep_run,
                versions={
                    "ir-measures": surroundings.distribution_version("ir-measures") or "unknown",
                    "pytest-riskguard": __version__,
                },
                git=surroundings.git_state(self.root),
                note=note,
            )
            (folder / MANIFEST).write_bytes(manifest.to_bytes())
            files.publish(folder, self.root / name)
        return manifest

    def remove(self, name: str) -> None:
        """Delete a baseline, whole or damaged.

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


def _check_note(note: str) -> None:
    try:
        note.encode()
    except UnicodeEncodeError:
        raise UsageError(f"the note {note!r} is not text in UTF-8") from None


def _stored_measure(name: str) -> StoredMeasure:
    provider = str(provider_of(parse_measure(name)).NAME)
    return StoredMeasure(name, provider, surroundings.provider_version(provider))


def _stored_topics(scores: TopicScores) -> StoredTopics:
    return StoredTopics(
        scored=len(scores.topics),
        without_relevant=len(scores.without_relevant),
        unanswered=scores.unanswered,
        unknown=scores.unknown,
    )
