"""The systems that gates compare: runs, score files, live systems, data in memory, baselines stored or computed.

``ScoreCache`` holds what the sources of one collection contain: each is read and scored once, and again when its file
changes.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from pytest_riskguard.baselines.scored import Scored
from pytest_riskguard.data import cache
from pytest_riskguard.data.formats import system_name
from pytest_riskguard.data.given_file import GivenFile, Ties
from pytest_riskguard.data.judged import JudgedRun, RankedRun, depth_for, kept_depth, rank_order
from pytest_riskguard.data.measures import measure_name, parse_measure
from pytest_riskguard.data.memory import InputData
from pytest_riskguard.data.metadata import Latency
from pytest_riskguard.data.qrels import Qrels, read_qrels
from pytest_riskguard.data.records import Agreement, TopicKeys
from pytest_riskguard.data.run_scores import ScoredRun, scored_run
from pytest_riskguard.data.runs import Run, keyed, read_run
from pytest_riskguard.data.score_files import read_scores
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics, read_topics
from pytest_riskguard.errors import DataError, RiskguardError, UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.origins import Origin

if TYPE_CHECKING:
    from ir_measures import Measure

    from pytest_riskguard.baselines.store import Store


@frozen
class _File:
    """``name`` is what the verdict calls the system (default: the file's name); ``metadata`` changes no answer.

    ``given`` says how the file is read, if that is not found out.
    """

    path: Path
    name: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict, compare=False)
    given: GivenFile | None = None

    @property
    def file(self) -> GivenFile:
        """The path and how it is read."""
        return self.given or GivenFile.of(self.path)


class RunFile(_File):
    """A run on disk."""


class ScoreFile(_File):
    """Per-topic scores on disk."""


@frozen(eq=False)
class LiveRun:
    """Rankings that a system gives in this process when ``retrieve`` is called."""

    retrieve: Callable[[], Run]
    name: str = "candidate"
    metadata: Mapping[str, str] = field(default_factory=dict)


@frozen
class Stored:
    """A baseline in the store, or the run that it held ``earlier``: its number, its note or ``oldest``."""

    name: str
    earlier: str | None = None


@frozen
class Computed:
    """A baseline computed topic by topic from several: their ``mean``, ``median`` or ``max`` (ECIR 2014, Eq. 2).

    ``candidate_inside`` says whether the candidate is one of them.
    """

    kind: str
    systems: tuple[RunFile | ScoreFile | LiveRun | Run | Stored | TopicScores, ...]
    candidate_inside: bool = False

    @property
    def name(self) -> str:
        """The name in the verdict: ``mean(prod, bm25)``."""
        return f"{self.kind}({', '.join(self.names)})"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the systems, without the candidate."""
        return tuple(label(system) for system in self.systems)


#: What has rankings that are not stored.
Ranked = RunFile | LiveRun | Run
Source = Ranked | ScoreFile | Stored | TopicScores
Baseline = Source | Computed


@frozen(eq=False)
class Question:
    """A gate and the systems that it compares; ``pool`` holds all baselines but the first of a gate over a pool."""

    gate: Gate
    candidate: Source
    baseline: Baseline
    measure: str | None
    pool: tuple[Source, ...] = ()

    @property
    def baselines(self) -> tuple[Baseline, ...]:
        """All baselines, in the order given."""
        return (self.baseline, *self.pool)

    @property
    def sources(self) -> tuple[Source, ...]:
        """Everything that is scored for the question, the candidate first."""
        named = self.baseline.systems if isinstance(self.baseline, Computed) else (self.baseline,)
        return (self.candidate, *named, *self.pool)


def label(source: Baseline) -> str:
    """The name of a source."""
    if isinstance(source, Stored) and source.earlier is not None:
        return f"{source.name}/{source.earlier}"
    return source.name or system_name(source.file) if isinstance(source, _File) else source.name


def metadata_of(source: Source) -> Mapping[str, str]:
    """What people say about a system that is not stored."""
    return source.metadata if isinstance(source, Ranked | ScoreFile) else {}


#: The most bytes of judged runs that are held; the run that was asked for last is held whatever its size.
MOST_BYTES = 512 * 2**20


class RecentRuns:
    """Judged runs by key; those that were not asked for longest are dropped, to be read again if need be."""

    def __init__(self) -> None:
        self._runs: dict[Hashable, JudgedRun] = {}

    def keep(self, key: Hashable, run: JudgedRun) -> None:
        """Hold a run instead of what was held under this key."""
        self._runs.pop(key, None)
        self._runs[key] = run
        size = sum(run.nbytes for run in self._runs.values())
        for other in list(self._runs)[:-1]:
            if size <= MOST_BYTES:
                break
            size -= self._runs.pop(other).nbytes

    def get(self, key: Hashable) -> JudgedRun | None:
        """The run under a key, if it is still held."""
        run = self._runs.pop(key, None)
        if run is not None:
            self._runs[key] = run
        return run


Stamp = tuple[int, int, int, int] | None
Result = TypeVar("Result")


class ScoreCache:
    """Scores and rankings of one collection; without qrels, only sources that already hold scores work.

    ``measures`` are those that will be asked for, so that one pass over a run scores them all.
    """

    def __init__(
        self,
        *,
        qrels: Path | GivenFile | Qrels | None,
        topics: Path | GivenFile | Topics | None,
        store: Store | None,
        measures: Sequence[str],
    ) -> None:
        self._given_qrels, self._given_topics, self._store = qrels, topics, store
        self._measures = list(measures)
        self._results: dict[Hashable, object] = {}
        self._runs = RecentRuns()
        self._ties: dict[Hashable, Ties] = {}

    @property
    def qrels(self) -> Qrels:
        """The collection's judgements."""
        given = self._given_qrels
        if isinstance(given, Qrels):
            return given
        if given is None:
            raise UsageError(
                "a run needs qrels to be scored with: give --qrels, or a riskguard.yaml; files that hold a score for "
                "each topic need --scores"
            )
        key = ("qrels", given, _stamp(given), _stamp(self._given_topics))
        return self._once(key, lambda: read_qrels(given, TopicKeys(self._texts)))

    @property
    def judges(self) -> Agreement | None:
        """How far several judges agree; None where there is one judge, or no judgements that can be read."""
        try:
            return None if self._given_qrels is None else self.qrels.agreement
        except RiskguardError:  # the verdict says what is wrong
            return None

    @property
    def topics(self) -> Topics | None:
        """The collection's topics with their texts, tags and weights; None without a topics file."""
        given = self._given_topics
        if given is None or isinstance(given, Topics):
            return given
        return self._once(("topics", given, _stamp(given)), lambda: read_topics(given))

    @property
    def queries(self) -> Mapping[str, str]:
        """The topics' query texts: those of the topics file, else those that came with the judgements."""
        if self.topics is not None or self._given_qrels is None:
            return self._texts
        return self.qrels.texts

    @property
    def _texts(self) -> Mapping[str, str]:
        """The texts of the topics file."""
        return {} if self.topics is None else self.topics.queries

    def _once(self, key: Hashable, work: Callable[[], Result]) -> Result:
        """What ``work`` returns or raises, once for each key; a key holds the stamps of the files that are read."""
        if key not in self._results:
            try:
                self._results[key] = work()
            except RiskguardError as error:
                self._results[key] = error
        result = self._results[key]
        if isinstance(result, RiskguardError):
            raise result
        return cast(Result, result)

    def scored(self, source: Source, measure: str | None) -> Scored:
        """A source's scores with a measure, spelled as ir-measures does.

        ``UsageError`` if the source was scored with another measure, or a run has no measure or no qrels to score it
        with; ``DataError`` if the source is bad or missing.
        """
        if isinstance(source, TopicScores):
            if measure is not None and source.measure is not None and source.measure != measure:
                raise UsageError(f"{source.name} was scored with {source.measure}, the gate asks for {measure}")
            return Scored(source)
        return self._once((source, self._stamps(source), measure), lambda: self._score(source, measure))

    def _score(self, source: Ranked | ScoreFile | Stored, measure: str | None) -> Scored:
        if isinstance(source, ScoreFile):
            wanted = None if measure is None else [measure]
            (scores,) = read_scores(source.file, wanted, name=label(source))
            return Scored(replace(scores, queries=self.queries))
        if measure is None:
            raise UsageError("a run needs a measure to be scored with, such as nDCG@10")
        if isinstance(source, Stored):
            stored = self._stored_scores(source, measure)
            return replace(stored, scores=replace(stored.scores, queries=self.queries), run=None)
        together = self._together(measure)
        try:  # one pass over the run scores it with all measures that will be asked for
            key = (source, self._stamps(source), together)
            by_measure = self._once(key, lambda: self._score_run(source, together))
        except DataError:
            # what is wrong may concern another measure only (grades above the scale of ERR, say)
            by_measure = self._score_run(source, (measure,))
        return Scored(by_measure[measure])

    def _together(self, measure: str) -> tuple[str, ...]:
        """All measures that will be asked for, and this one."""
        names = []
        for text in self._measures:
            with suppress(UsageError):  # a gate whose measure is wrong says so itself
                names.append(measure_name(text))
        return tuple(dict.fromkeys([*names, measure]))

    def _stored_scores(self, source: Stored, measure: str) -> Scored:
        """A stored baseline's scores; the first that are asked for are computed with all that will be."""
        store, qrels = self.store_of(source), self._judgements_of(source)
        if source.earlier is not None:
            found = store.scores(source.name, measure, qrels=qrels, topics=self.topics, earlier=source.earlier)
            return replace(found, scores=replace(found.scores, name=label(source)))
        if qrels is None:
            return store.scores(source.name, measure, qrels=None, topics=self.topics)
        together = self._together(measure)

        def read() -> Mapping[str, Scored | RiskguardError]:
            found = store.scores_together(source.name, together, qrels=qrels, topics=self.topics)
            for scored in found.values():
                if isinstance(scored, Scored) and scored.run is not None:
                    self._keep(source, scored.run)
            return {name: replace(one, run=None) if isinstance(one, Scored) else one for name, one in found.items()}

        scored = self._once((source, self._stamps(source), together), read)[measure]
        if isinstance(scored, RiskguardError):
            raise scored
        return scored

    def _score_run(self, source: Ranked, measures: Sequence[str]) -> dict[str | None, TopicScores]:
        """The scores of a run, which is read unless the cache on disk has them."""
        run = self._cache_key(source)
        found = cache.find(run, self.qrels, measures, name=label(source), queries=self.queries)
        if found is None:
            scored = self._read_run(source, measures)
            self._keep(source, scored.run)
            found = scored.scores, scored.ties
            if run == self._cache_key(source):  # the file may have changed while it was read
                cache.keep(run, self.qrels, *found)
        scores, self._ties[source, self._stamps(source)] = found
        return {one.measure: one for one in scores}

    def _cache_key(self, source: Ranked) -> str | None:
        return cache.key_of_file(source.file, self._texts) if isinstance(source, RunFile) else None

    def _keep(self, source: Ranked | Stored, run: JudgedRun) -> None:
        """Hold a run for reports."""
        self._runs.keep((source, self._stamps(source)), run)

    def _read_run(self, source: Ranked, measures: Sequence[str]) -> ScoredRun:
        """A run scored with some measures."""
        run, depth = self._run(source), self._depth(measures[0])
        return scored_run(run, self.qrels, measures, name=label(source), queries=self.queries, depth=depth)

    def _depth(self, measure: str) -> int:
        """How many ranks are kept whole: the same for each reading, so that each finds what another has kept."""
        return depth_for(list(map(parse_measure, self._together(measure))), self.qrels)

    def _run(self, source: Ranked) -> Run:
        """A run; a live system is queried once, even if that failed."""
        if isinstance(source, RunFile):
            return read_run(source.file, TopicKeys(self._texts))
        if isinstance(source, LiveRun):
            return self._once(("live", source), source.retrieve)
        return keyed(InputData(label(source), reason="bad_run"), source, TopicKeys(self.queries))

    def origin(self, source: Source) -> Origin:
        """Where a baseline comes from, as far as that is known; its age depends on when that is asked."""
        unknown = Origin(label(source), {})
        if not isinstance(source, Stored):
            return replace(unknown, metadata=metadata_of(source))
        try:
            store = self.store_of(source)
            key = ("manifest", source, self._stamps(source))
            held = self._once(key, lambda: store.manifest(source.name, earlier=source.earlier))
        except RiskguardError:  # the verdict says what is wrong with it
            return unknown
        commit = None if held.git is None else held.git.commit
        known = replace(unknown, commit=commit, note=held.note, stored=held.created)
        return replace(known, metadata=held.metadata, latency=held.latency)

    def ties(self, source: Source) -> Ties | None:
        """Which order counted for equal scores of a source's run; None without a run that could be read."""
        if not isinstance(source, Ranked):
            return None
        if (ties := self._ties.get((source, self._stamps(source)))) is not None:
            return ties
        run = self._results.get(("live", source))
        return run.source.ties if isinstance(run, Run) else None

    def latency(self, source: Source) -> Latency | None:
        """How long a live system that was queried took to answer."""
        retrieved = self._results.get(("live", source))
        return retrieved.source.latency if isinstance(retrieved, Run) else None

    def replicates(self, source: Stored, measure: str | None) -> tuple[Scored, ...]:
        """The scores of other runs of a stored baseline."""
        if measure is None:
            return ()
        store, key = self.store_of(source), ("replicates", source, self._stamps(source), measure)
        return self._once(
            key,
            lambda: store.replicates(source.name, measure, qrels=self._judgements_of(source), topics=self.topics),
        )

    def lineage(self, source: Stored, measure: str | None) -> tuple[Scored, ...]:
        """The scores of the runs that a stored baseline has held, oldest first; none where it never changed."""
        store = self.store_of(source)
        newest = store.manifest(source.name).number
        first = 1 if source.earlier is None else store.manifest(source.name, earlier=source.earlier).number
        if measure is None or first == newest:
            return ()
        return store.lineage(source.name, measure, qrels=self._judgements_of(source))[first - 1 :]

    def _judgements_of(self, source: Stored) -> Qrels | None:
        """The judgements that a baseline is scored on now; None if it was stored from scores."""
        return self.qrels if self.store_of(source).manifest(source.name).has_run else None

    def store_of(self, source: Stored) -> Store:
        """The store that a stored baseline is in."""
        if self._store is None:
            raise UsageError(
                f"no run and no store for baseline {source.name!r}: give a path, or a riskguard.yaml with a store"
            )
        return self._store

    def ranked(self, source: Source, scores: TopicScores, measure: Measure, qrels: Qrels) -> RankedRun:
        """The rankings behind a source's scores, as the measure ranks them, which the first reading kept.

        ``RiskguardError`` if the source is not a run, cannot be read, or has changed since it was scored.
        """
        if isinstance(source, TopicScores | ScoreFile) or (isinstance(source, Stored) and source.earlier):
            raise DataError("there is no run, only scores", reason="missing_input")
        key = (source, self._stamps(source))
        run = self._runs.get(key)
        if run is None or run.depth < kept_depth(measure, qrels) or rank_order(measure) not in run.ranks:
            run = self._read_again(source, str(scores.measure))
            self._keep(source, run)
        if (run.digest, run.qrels_digest) != (scores.digest, scores.qrels_digest):
            raise DataError(
                f"{scores.name} or its judgements changed while they were read; try again", reason="inputs_changed"
            )
        return RankedRun(run, qrels, measure)

    def _read_again(self, source: Ranked | Stored, measure: str) -> JudgedRun:
        """What a reading keeps of a run whose scores were known without one, or that is no longer held."""
        if isinstance(source, Stored):
            depth = self._depth(measure)
            return self.store_of(source).judged_run(source.name, measure, qrels=self.qrels, depth=depth)
        return self._read_run(source, (measure,)).run

    def _stamps(self, source: Ranked | ScoreFile | Stored) -> tuple[Stamp, ...]:
        """What differs when the source or the collection is rewritten."""
        paths: list[Path | GivenFile | Qrels | Topics | None] = [self._given_qrels, self._given_topics]
        if isinstance(source, RunFile | ScoreFile):
            paths.append(source.file)
        elif isinstance(source, Stored) and self._store is not None:
            paths.append(self._store.root / source.name / "manifest.json")
        return tuple(_stamp(path) for path in paths)


def _stamp(given: Path | GivenFile | Qrels | Topics | None) -> Stamp:
    """What differs when a file is rewritten; None if there is no file."""
    if not isinstance(given, Path | GivenFile):
        return None
    path = GivenFile.of(given).path
    try:
        status = path.stat()
        inner = [file.stat() for file in path.iterdir()] if stat.S_ISDIR(status.st_mode) else []
    except OSError:
        return None
    # nobody can set the time of the last change to what it was
    times = [(file.st_size, file.st_mtime_ns, file.st_ctime_ns) for file in (status, *inner)]
    sizes, modified, changed = zip(*times, strict=True)
    return status.st_ino, sum(sizes), max(modified), max(changed)
