"""Reading a store of baselines: no lock is taken, nothing is written, and everything is compared with its digest."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from pytest_riskguard.baselines import atomic_folder, provenance
from pytest_riskguard.baselines.entry import RUN, Scored, StoredBaseline
from pytest_riskguard.baselines.manifest import Manifest, name_problem
from pytest_riskguard.errors import BaselineError, DataError, UsageError
from pytest_riskguard.evaluation.measures import measure_name
from pytest_riskguard.evaluation.qrels import Qrels
from pytest_riskguard.text import did_you_mean

#: How often a baseline that is replaced while it is being read is read again.
_MAX_ATTEMPTS = 50

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Staleness:
    """Age of a baseline: whole days since it was stored, and how many other runs the store has accepted since.

    It depends on the clock, so it is only shown and never changes a verdict.
    """

    days: int
    accepted_since: int


class StoreReader:
    """What a store, which need not exist, holds, for code that only reads.

    Every method raises ``BaselineError`` with reason ``missing_input`` for a baseline that does not exist and a store
    that cannot be read, ``bad_baseline`` for damage, and ``UsageError`` for text that cannot be a name or a measure.
    """

    def __init__(self, root: Path) -> None:
        self.root = Path(root)

    def names(self) -> tuple[str, ...]:
        """Every stored name, sorted; damaged baselines are among them."""
        with self._reading():
            held = atomic_folder.held_names(self.root)
        return tuple(sorted(name for name in held if name_problem(name) is None))

    def manifest(self, name: str) -> Manifest:
        """The manifest of a baseline; its scores and its run are not checked."""
        return self._read(name, StoredBaseline.manifest)

    def scores(self, name: str, measure: str, *, qrels: Qrels, queries: Mapping[str, str] | None = None) -> Scored:
        """A baseline's scores on the present judgements, exactly as ``score_run`` gives them for its run.

        They are read if the measure, the judgements and the scoring libraries are those it was stored with. Otherwise
        the stored run is scored in memory; ``rescored`` is then true if the judgements changed or a library gives
        other values, and false for a measure that was not stored. Without a stored run a ``BaselineError`` has reason
        ``missing_input`` if the measure was not stored, ``inputs_changed`` if the judgements changed.
        """
        measure = measure_name(measure)
        return self._read(name, lambda baseline: baseline.scores(measure, qrels, queries))

    def replicates(
        self, name: str, measure: str, *, qrels: Qrels, queries: Mapping[str, str] | None = None
    ) -> tuple[Scored, ...]:
        """Scores of a baseline's replicates, by number, each as ``scores`` gives those of the baseline itself.

        All are from one state of the store, which may be a later one than an earlier call of ``scores`` saw. Their
        names are ``NAME/replicates/NUMBER``.
        """
        measure = measure_name(measure)

        def work(baseline: StoredBaseline) -> tuple[Scored, ...]:
            replicates = baseline.replicates(baseline.manifest())
            return tuple(replicate.scores(measure, qrels, queries) for replicate in replicates)

        return self._read(name, work)

    def replicate_numbers(self, name: str) -> tuple[int, ...]:
        """Numbers of the replicates of a baseline; if its manifest cannot be used, of those that have a folder."""
        with self._reading():
            return self._baseline(name).numbers()

    def replicate_manifest(self, name: str, number: int) -> Manifest:
        """The manifest of one replicate; its scores and its run are not checked."""
        return self._read(name, lambda entry: entry.listed(entry.find(entry.manifest(), number)).manifest())

    def verify(self, name: str) -> list[str]:
        """Every problem of a baseline and its replicates, as text; empty if there is none."""
        baseline = self._baseline(name)
        with self._reading():
            return baseline.problems()

    def lineage(
        self, name: str, measure: str, *, qrels: Qrels | None = None, queries: Mapping[str, str] | None = None
    ) -> tuple[Scored, ...]:
        """Scores of every run that a baseline has held, oldest first, the present one last, on equal judgements.

        All are from one state of the store. Their names are ``NAME/history/0001`` and so on, and last ``NAME``.
        Without the present judgements the scores are those stored, which must be of equal judgements.
        """
        measure = measure_name(measure)

        def work(baseline: StoredBaseline) -> tuple[Scored, ...]:
            chain = (*baseline.history(baseline.manifest()), baseline)
            if qrels is not None:
                return tuple(entry.scores(measure, qrels, queries) for entry in chain)
            digests = {entry.manifest().digests.qrels for entry in chain}
            if len(digests) > 1:
                raise baseline.error(
                    "its runs were scored with different judgements; give the present ones with --qrels, or rescore "
                    f"all runs with `riskguard baseline rescore {name}`",
                    reason="inputs_changed",
                )
            return tuple(Scored(entry.as_stored(measure, queries)) for entry in chain)

        return self._read(name, work)

    def staleness(self, name: str, *, now: str | None = None) -> Staleness:
        """How old a baseline is at a time, ISO 8601, by default the present; damaged others are skipped."""
        manifests = {name: self.manifest(name)}
        for other in set(self.names()) - {name}:
            with suppress(BaselineError):
                manifests[other] = self.manifest(other)
        return staleness(name, manifests, now=now or provenance.now())

    def run(self, name: str) -> Path:
        """The path of the run of a baseline, after checking that it is the one that was stored."""

        def work(baseline: StoredBaseline) -> Path:
            manifest = baseline.manifest()
            if not manifest.run_kept:
                raise baseline.error("its run was not kept", reason="missing_input")
            baseline.check_run(manifest)
            return baseline.file(RUN)

        return self._read(name, work)

    def _read(self, name: str, work: Callable[[StoredBaseline], _Result]) -> _Result:
        """``work`` on a baseline; repeated if the baseline was replaced meanwhile and so looked damaged."""
        for attempt in range(_MAX_ATTEMPTS - 1):
            baseline = self._baseline(name)
            before = baseline.stamp()
            try:
                with self._reading():
                    return work(baseline)
            except DataError:
                if before is not None and self._baseline(name).stamp() == before:
                    raise
                time.sleep(min(0.005 * 2**attempt, 0.16))  # a process that keeps replacing it gets out of step
        with self._reading():
            return work(self._baseline(name))

    def _baseline(self, name: str) -> StoredBaseline:
        check_name(name)
        with self._reading():
            folder = atomic_folder.newest(self.root, name)
        if folder is None:
            names = self.names()
            has = f"it holds {', '.join(names)}" if names else "it holds none"
            raise self._missing(
                f"no baseline {name!r} ({has}){did_you_mean(name, names)}; store it with "
                f"`riskguard baseline add {name} RUN`"
            )
        baseline = StoredBaseline(self.root, name, folder)
        if not folder.resolve().is_relative_to(self.root.resolve()):
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


def check_name(name: str) -> None:
    """Raise ``UsageError`` for a text that cannot name a baseline."""
    if problem := name_problem(name):
        raise UsageError(f"{name!r} cannot name a baseline: {problem}")


def staleness(name: str, manifests: Mapping[str, Manifest], *, now: str) -> Staleness:
    """Age of one of the baselines of a store, by the manifests that can be read."""
    own = manifests[name]
    stored = _time(own.created)
    accepted = {run for manifest in manifests.values() for run, when in _accepted(manifest) if _time(when) > stored}
    return Staleness(max((_time(now) - stored).days, 0), len(accepted - {own.digests.run}))


def _accepted(manifest: Manifest) -> list[tuple[str, str]]:
    """The digest of each run that was accepted to replace another, and when."""
    chain = [(earlier.run, earlier.created) for earlier in manifest.history]
    return [*chain, (manifest.digests.run, manifest.created)][1:]


def _time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
