"""What the systems of one collection contain: each is read and scored once, and again when its file changes."""

from __future__ import annotations

import stat
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from pytest_riskguard.baselines.stored_files import Scored
from pytest_riskguard.data.given_file import GivenFile, InputData, Queries, Ties
from pytest_riskguard.data.judged import JudgedRun, RankedRun, depth_for, kept_depth, rank_order
from pytest_riskguard.data.measures import bounds, measure_name, out_of_range, parse_measure
from pytest_riskguard.data.qrels import Qrels, read_qrels
from pytest_riskguard.data.run_scores import ScoredRun, scored_run
from pytest_riskguard.data.runs import Run, first_documents, keyed, read_run
from pytest_riskguard.data.score_files import read_scores
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics, read_topics
from pytest_riskguard.engine.question import LiveRun, Ranked, RunFile, ScoreFile, Source, Stored, label
from pytest_riskguard.errors import DataError, RiskguardError, ScoringError, UsageError
from pytest_riskguard.gates.rankings import DEPTH, LOOKED_AT, LOOKED_DEEP, Rankings
from pytest_riskguard.gates.verdict import Origin, Origins
from pytest_riskguard.text import Names

if TYPE_CHECKING:
    from ir_measures import Measure

    from pytest_riskguard.baselines.manifest import Manifest
    from pytest_riskguard.baselines.store import Store

#: The most bytes of judged runs that are held; the run that was asked for last is held whatever its size.
MOST_BYTES = 512 * 2**20

Result = TypeVar("Result")
#: Scores, or why there are none, by the measure.
ByMeasure = Mapping[str, Scored | RiskguardError]


class ScoreCache:
    """Scores and rankings of one collection; without qrels, only sources that already hold scores work.

    ``measures`` are those that will be asked for, so that one pass over a run scores them all.
    """

    def __init__(
        self,
        *,
        qrels: Path | GivenFile | Qrels | None,
        topics: Path | GivenFile | Topics | None = None,
        store: Store | None = None,
        measures: Sequence[str] = (),
    ) -> None:
        self._qrels, self._topics, self.store, self._measures = qrels, topics, store, measures
        self._results: dict[Hashable, object] = {}
        self._ties: dict[Source, Ties] = {}
        #: Judged runs, the one that was asked for last at the end.
        self._runs: dict[Hashable, JudgedRun] = {}

    @property
    def is_judged(self) -> bool:
        """Whether the collection has judgements."""
        return self._qrels is not None

    @property
    def qrels(self) -> Qrels:
        """The collection's judgements."""
        given = self._qrels
        if isinstance(given, Qrels):
            return given
        if given is None:
            raise UsageError(
                "a run needs qrels to be scored with: give --qrels, or a riskguard.yaml; files that hold a score for "
                "each topic need --scores"
            )
        return self.once("qrels", None, lambda: read_qrels(given, self._texts))

    @property
    def topics(self) -> Topics | None:
        """The collection's topics with their texts, tags and weights; None without a topics file."""
        given = self._topics
        if given is None or isinstance(given, Topics):
            return given
        return self.once("topics", None, lambda: read_topics(given))

    @property
    def queries(self) -> Queries:
        """The topics' query texts: those of the topics file, else those that came with the judgements."""
        return self._texts if self._topics is not None or self._qrels is None else self.qrels.texts

    def refuse_other_topics(self) -> None:
        """``DataError`` if the topics file is about none of the judged topics."""
        if self._qrels is None or self.topics is None or not self.topics.queries:
            return
        if {*self.qrels.topics}.isdisjoint(self.topics.queries):
            raise DataError(
                f"{self.topics.path_name} ({next(iter(self.topics.queries))!r}, ...) and {self.qrels.path_name} "
                f"({self.qrels.topics[0]!r}, ...) have no topic in common",
                reason="bad_topics",
                remedy="use the same topic ids",
            )

    @property
    def _texts(self) -> Queries:
        return {} if self.topics is None else self.topics.queries

    def scored(self, source: Source, measure: str | None) -> Scored:
        """A source's scores with a measure, spelled as ir-measures does.

        ``UsageError`` if the source was scored with another measure, or a run has no measure or no qrels to score it
        with; ``DataError`` if the source is bad or missing.
        """
        if isinstance(source, TopicScores):
            return Scored(source if measure is None else _in(measure, source))
        if isinstance(source, ScoreFile):
            wanted = None if measure is None else [measure]
            (table,) = self.once(
                f"scores {measure}", source, lambda: read_scores(source.file, wanted, name=label(source))
            )
            return Scored(replace(table, queries=self.queries))
        if measure is None:
            raise UsageError("a run needs a measure to be scored with, such as nDCG@10")
        together = self._together(measure)

        def read() -> ByMeasure:
            if isinstance(source, Stored):
                return self._read_stored(source, together)
            return self._read_run(source, together)

        found = self.once(f"scores {together}", source, read)[measure]
        if isinstance(found, RiskguardError):
            raise found
        return found

    def _together(self, measure: str) -> Names:
        """All measures that will be asked for, and this one."""
        names = []
        for text in self._measures:
            with suppress(UsageError):  # a gate whose measure is wrong says so itself
                names.append(measure_name(text))
        return tuple(dict.fromkeys([*names, measure]))

    def _read_stored(self, source: Stored, measures: Names) -> ByMeasure:
        """The scores of a stored baseline, or of the run that it held earlier."""
        from pytest_riskguard.baselines.rescoring import present_scores

        qrels, queries, topics = self._judgements_of(source), self.queries, self.topics
        found = self.store_of(source).read(
            source.name, lambda entry: present_scores(entry.held(source.earlier), measures, qrels, topics)
        )
        for measure, one in found.items():
            if isinstance(one, Scored):
                if one.run is not None:
                    self._hold(source, one.run)
                found[measure] = replace(
                    one, scores=replace(one.scores, name=label(source), queries=queries), run=None
                )
        return found

    def _read_run(self, source: Ranked, measures: Names) -> ByMeasure:
        """The scores of a run, which is read once for all measures."""
        try:
            scored = self._scored_run(source, measures)
        except RiskguardError as error:
            if len(measures) == 1:
                return {measures[0]: error}
            # what is wrong may concern one measure only (grades above the scale of ERR, say)
            return {measure: self._read_run(source, (measure,))[measure] for measure in measures}
        self._hold(source, scored.run)
        self._ties[source] = scored.ties
        return {str(one.measure): Scored(one) for one in scored.scores}

    def _scored_run(self, source: Ranked, measures: Sequence[str]) -> ScoredRun:
        depth, run = self._depth(measures[0]), self.run(source)  # without judgements no run is read
        return scored_run(run, self.qrels, measures, name=label(source), queries=self.queries, depth=depth)

    def _depth(self, measure: str) -> int:
        """How many ranks are kept whole: the same for each reading, so that each finds what another has kept."""
        return depth_for(list(map(parse_measure, self._together(measure))), self.qrels)

    def run(self, source: Ranked) -> Run:
        """A run; a live system is queried once, even if that failed."""
        if isinstance(source, RunFile):
            return read_run(source.file, self.queries)
        if isinstance(source, LiveRun):
            return self.once("answers", source, source.retrieve)
        return keyed(InputData(label(source), reason="bad_run"), source, self.queries)

    def rankings(self, source: Source) -> Rankings:
        """The rankings of a system, for which no judgements are needed.

        ``UsageError`` if it has scores alone; ``DataError`` if it is bad or missing.
        """
        if isinstance(source, TopicScores | ScoreFile):
            raise UsageError(f"{label(source)} holds scores of topics; expected rankings, which show what changed")

        def read() -> Rankings:
            if isinstance(source, Stored):
                run = self.store_of(source).read(source.name, lambda entry: entry.held(source.earlier).read_run())
            else:
                run = self.run(source)
            depths = np.full(len(run.topics), DEPTH)
            depths[:LOOKED_AT] = LOOKED_DEEP
            queries = {**run.source.texts, **self._texts}
            lists, reordered = first_documents(run, depths)
            return Rankings(label(source), run.source.digest, lists, queries, reordered)

        return self.once("rankings", source, read)

    def origins(self, candidate: Source, *baselines: Source) -> Origins:
        """Where systems come from, as far as that is known.

        Of the candidate also which order counted for equal scores.
        """
        known = self._origin(candidate)
        if isinstance(candidate, Ranked):
            known = replace(known, ties=self._ties.get(candidate))
        return Origins(known, tuple(map(self._origin, baselines)))

    def _origin(self, source: Source) -> Origin:
        name = label(source)
        if not isinstance(source, Stored):
            return Origin(name)
        try:
            held = self._manifest(source)
        except RiskguardError:  # the verdict says what is wrong with it
            return Origin(name)
        known = Origin(name, None, held.note, held.created)
        if held.git is None:
            return known
        from pytest_riskguard.baselines.git import Repository

        commit, repository = held.git.commit, Repository.around(self.store_of(source).root)
        since = 0 if repository is None else self.once("commits", source, partial(repository.commits_since, commit))
        return replace(known, commit=commit, commits=since)

    def replicates(self, source: Stored, measure: str | None) -> tuple[Scored, ...]:
        """The scores of other runs of a stored baseline."""
        if measure is None:
            return ()
        store, qrels = self.store_of(source), self._judgements_of(source)
        return self.once(
            f"replicates {measure}",
            source,
            lambda: store.replicates(source.name, measure, qrels=qrels, topics=self.topics),
        )

    def lineage(self, source: Stored, measure: str | None) -> tuple[Scored, ...]:
        """The scores of the runs that a stored baseline has held, oldest first; none where it never changed."""
        newest = self._manifest(Stored(source.name)).number
        first = 1 if source.earlier is None else self._manifest(source).number
        if measure is None or first == newest:
            return ()
        return self.store_of(source).lineage(source.name, measure, qrels=self._judgements_of(source))[first - 1 :]

    def _judgements_of(self, source: Stored) -> Qrels | None:
        """The judgements that a baseline is scored on now; None if it was stored from scores."""
        return self.qrels if self._manifest(Stored(source.name)).has_run else None

    def _manifest(self, source: Stored) -> Manifest:
        return self.once(
            "manifest", source, lambda: self.store_of(source).manifest(source.name, earlier=source.earlier)
        )

    def store_of(self, source: Stored) -> Store:
        """The store that a stored baseline is in."""
        if self.store is None:
            raise UsageError(
                f"no run and no store for baseline {source.name!r}: give a path, or a riskguard.yaml with a store"
            )
        return self.store

    def ranked(self, source: Source, scores: TopicScores, measure: Measure, qrels: Qrels) -> RankedRun:
        """The rankings behind a source's scores, as the measure ranks them, which the first reading kept.

        ``RiskguardError`` if the source is not a run, cannot be read, or has changed since it was scored.
        """
        if isinstance(source, TopicScores | ScoreFile) or (isinstance(source, Stored) and source.earlier):
            raise DataError("there is no run, only scores")
        run = self._runs.get(self._key("run", source))
        if run is None or run.depth < kept_depth(measure, qrels) or rank_order(measure) not in run.ranks:
            run = self._read_again(source, str(scores.measure))
        self._hold(source, run)
        if (run.digest, run.qrels_digest) != (scores.digest, scores.qrels_digest):
            raise DataError(
                f"{scores.name} or its judgements changed while they were read",
                reason="inputs_changed",
                remedy="try again",
            )
        return RankedRun(run, qrels, measure)

    def _read_again(self, source: Ranked | Stored, measure: str) -> JudgedRun:
        """What a reading keeps of a run whose scores were known without one, or that is no longer held."""
        if isinstance(source, Stored):
            from pytest_riskguard.baselines.rescoring import KeptRun

            qrels, depth = self.qrels, self._depth(measure)
            return self.store_of(source).read(
                source.name, lambda entry: KeptRun(entry, qrels, depth=depth).judged(measure)
            )
        return self._scored_run(source, (measure,)).run

    def _hold(self, source: Ranked | Stored, run: JudgedRun) -> None:
        """Hold a run for reports; those that were not asked for longest are dropped, to be read again if need be."""
        key = self._key("run", source)
        self._runs.pop(key, None)
        self._runs[key] = run
        while len(self._runs) > 1 and sum(held.nbytes for held in self._runs.values()) > MOST_BYTES:
            del self._runs[next(iter(self._runs))]

    def once(self, what: str, source: Ranked | ScoreFile | Stored | None, work: Callable[[], Result]) -> Result:
        """What ``work`` returns or raises, once until the source, or the collection, is written anew."""
        key = self._key(what, source)
        if key not in self._results:
            try:
                self._results[key] = work()
            except RiskguardError as error:
                self._results[key] = error
        result = self._results[key]
        if isinstance(result, RiskguardError):
            raise result
        return cast(Result, result)

    def _key(self, what: str, source: Ranked | ScoreFile | Stored | None) -> Hashable:
        paths = [given for given in (self._qrels, self._topics) if isinstance(given, Path | GivenFile)]
        if isinstance(source, RunFile | ScoreFile):
            paths.append(source.file)
        elif isinstance(source, Stored):
            paths.append(self.store_of(source).root / source.name / "manifest.json")
        return what, source, *map(_stamp, paths)


def _stamp(given: Path | GivenFile) -> Hashable:
    """What differs when a file, or one in a folder, is rewritten; None if there is no file."""
    path = GivenFile.of(given).path
    try:
        status = path.stat()
        inner = []
        if stat.S_ISDIR(status.st_mode):  # with the judgements of BEIR
            inner = [file.stat() for file in (*path.iterdir(), *path.glob("qrels/*"))]
    except OSError:
        return None
    # nobody can set the time of the last change to what it was
    return tuple((file.st_ino, file.st_size, file.st_mtime_ns, file.st_ctime_ns) for file in (status, *inner))


def _in(measure: str, scores: TopicScores) -> TopicScores:
    """Scores in this measure, which plain mappings do not name; ``ScoringError`` for one out of its range."""
    if scores.measure is not None:
        if scores.measure != measure:
            raise UsageError(f"{scores.name} was scored with {scores.measure}, the gate asks for {measure}")
        return scores
    reach = bounds(parse_measure(measure))
    for topic, value in zip(scores.topics, scores.values.tolist(), strict=True):
        if (problem := out_of_range(measure, reach, topic, value)) is not None:
            raise ScoringError(f"{scores.name}: {problem}")
    return replace(scores, measure=measure)
