"""From files, stored baselines and live results to verdicts: the one engine behind fixture, YAML and command line.

Whatever a person can correct about the *question* (a measure that does not exist, say) is raised; whatever is wrong
with the *data* becomes an ``incomparable`` verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar, cast

from pytest_riskguard.baselines.store import Store
from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.evaluation.measures import measure_name
from pytest_riskguard.evaluation.qrels import Qrels, read_qrels
from pytest_riskguard.evaluation.score_files import read_scores
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.evaluation.scoring import score_run
from pytest_riskguard.evaluation.topics import Topics, read_topics
from pytest_riskguard.gates.alignment import on_one_list
from pytest_riskguard.gates.findings import Family, Yardstick
from pytest_riskguard.gates.history import with_lineage
from pytest_riskguard.gates.judge import in_families, judge, rule
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.pool.judge import judge_pool
from pytest_riskguard.gates.pool.ruling import PoolComparison
from pytest_riskguard.gates.slices import slices_of, within
from pytest_riskguard.gates.unjudged import Rejudged
from pytest_riskguard.gates.verdict import Inputs, Verdict, digests, incomparable, warning
from pytest_riskguard.reports.wording import worded
from pytest_riskguard.rereading import Rereader, Side
from pytest_riskguard.risk.reference import reference_scores
from pytest_riskguard.sources import Computed, LiveRun, Question, RunFile, ScoreFile, Source, Stored, label

Stamp = tuple[int, int, int] | None
Key = tuple[RunFile | ScoreFile | LiveRun | Stored, tuple[Stamp, ...], str | None]
Read = TypeVar("Read", Qrels, Topics)


@dataclass(frozen=True)
class _Scored:
    """Scores, and whether a stored baseline was scored anew for them."""

    scores: TopicScores
    rescored: bool = False


class Engine:
    """Judges gates over one collection; reads and scores every source once.

    Parameters
    ----------
    qrels, topics : Path or None
        Files of the collection. Without qrels only sources that hold scores can be judged.
    store : Store or None
        Where stored baselines are.
    measures : sequence of str
        Measures known to be asked for, so that one pass over a run scores them all.
    report : bool
        Whether a report is to be written: verdicts then hold what its charts draw.
    """

    def __init__(
        self,
        *,
        qrels: Path | None,
        topics: Path | None = None,
        store: Store | None = None,
        measures: Sequence[str] = (),
        report: bool = False,
    ) -> None:
        self._report = report
        self._qrels_path, self._topics_path, self._store = qrels, topics, store
        self._measures = list(measures)
        self._read: dict[Path, tuple[Stamp, Qrels | Topics]] = {}
        self._scored: dict[Key, _Scored | DataError] = {}
        self._noise: dict[Key, list[_Scored]] = {}
        self._reread = Rereader(store)

    def verdict(self, question: Question, *, family: Family | None = None, together: int = 1) -> Verdict:
        """The gate's verdict; ``family`` says what the gates that it is judged together with leave of its level.

        ``together`` is how many gates are judged together, those without a p-value among them.

        Raises
        ------
        UsageError
            The question is wrong: an unknown measure, a provider that is not installed, no qrels for a run, weights
            that there are not.
        """
        try:
            systems = self._systems(question)
            topics = self.topics
        except DataError as error:
            return self._incomparable(question, error)
        try:
            verdict = self._judged(question, systems, topics, family, together)
        except ValueError as error:
            raise UsageError(str(error)) from None
        return worded(self._told(verdict, question, systems, topics))

    def _told(
        self, verdict: Verdict, question: Question, systems: Sequence[_Scored], topics: Topics | None
    ) -> Verdict:
        """With its documents and judgements, where it is no pass or is to be written to a file."""
        if verdict.outcome == "incomparable" or (verdict.outcome == "pass" and not self._report):
            return verdict
        names = [label(source) for source in question.sources[1:]]
        if isinstance(question.baseline, Computed) or not all(scored.scores.from_run for scored in systems):
            return verdict
        if question.gate.kind != "georisk_not_worse":
            other = 0
        elif verdict.pool is not None and verdict.pool.decided_by in names:
            other = names.index(verdict.pool.decided_by)
        else:
            return verdict
        gate = question.gate if verdict.family is None else replace(question.gate, level=verdict.family.level)
        candidate, baseline = self._side(question, systems, 0), self._side(question, systems, other + 1)
        try:
            qrels = self.qrels
        except DataError:  # gone since the scoring
            return verdict
        return self._reread.told(verdict, gate, candidate, baseline, qrels=qrels, topics=topics)

    def _side(self, question: Question, systems: Sequence[_Scored], place: int) -> Side:
        source = question.sources[place]
        key = None if isinstance(source, TopicScores) else (source, self._stamps(source))
        return Side(source, systems[place].scores, key)

    def rejudged(self, question: Question) -> Rejudged:
        """The comparison that a gate on one baseline is about, to be asked again under other judgements.

        Raises
        ------
        UsageError
            As for ``verdict``.
        DataError
            A source is bad or missing, or is no run.
        """
        systems = self._systems(question)
        if len(systems) > len(question.sources):
            raise UsageError(f"{label(question.baseline)} has replicates, whose noise depends on judgements too")
        sides = (self._side(question, systems, place) for place in range(2))
        return self._reread.rejudged(question.gate, *sides, qrels=self.qrels, topics=self.topics)

    def _judged(
        self,
        question: Question,
        systems: Sequence[_Scored],
        topics: Topics | None,
        family: Family | None,
        together: int,
    ) -> Verdict:
        gate, (ours, *theirs) = question.gate, [scored.scores for scored in systems]
        rescored = any(scored.rescored for scored in systems[1:])
        if gate.kind == "georisk_not_worse":
            return judge_pool(
                gate,
                ours,
                theirs,
                alphas=question.alphas,
                rescored=rescored,
                family=family,
                together=together,
                topics=topics,
                report=self._report,
            )
        baseline = question.baseline
        if not isinstance(baseline, Computed):
            verdict = judge(
                gate,
                ours,
                theirs[0],
                replicates=theirs[1:],
                topics=topics,
                rescored=rescored,
                family=family,
                report=self._report,
            )
            return self._chained(verdict, gate, baseline, ours, topics) if isinstance(baseline, Stored) else verdict
        try:
            computed = computed_baseline(gate, baseline, ours, theirs)
        except DataError as error:
            return self._incomparable(question, error)
        verdict = judge(gate, ours, computed, topics=topics, rescored=rescored, family=family, report=self._report)
        return replace(
            verdict,
            inputs=digests(ours, theirs),
            yardstick=Yardstick(baseline.kind, baseline.names, baseline.candidate_inside),
        )

    def _chained(
        self, verdict: Verdict, gate: Gate, baseline: Stored, candidate: TopicScores, topics: Topics | None
    ) -> Verdict:
        """With the changes that the baseline went through, where it has any; they decide nothing."""
        if verdict.kind != "not_significantly_risky" or verdict.outcome not in ("pass", "fail"):
            return verdict
        store = self._required_store(baseline)
        if candidate.measure is None or not store.manifest(baseline.name).history:
            return verdict
        try:
            chain = store.lineage(baseline.name, candidate.measure, qrels=self.qrels, queries=self.queries)
            runs = self._restricted(gate, [_Scored(stored.scores) for stored in chain])
            return with_lineage(verdict, gate, [run.scores for run in runs], candidate, topics=topics)
        except DataError as error:
            unusable = warning("history_unusable", baseline=baseline.name, problem=error.problem)
            return verdict.warned(unusable)

    def verdicts(self, questions: Sequence[Question], *, correction: str) -> list[Verdict]:
        """The verdicts of gates that are judged together, their levels corrected for being several.

        Gates that have no p-value (data that cannot be compared, too few topics) are no part of the family.

        Raises
        ------
        UsageError
            A question is wrong, or the gates have different levels.
        """
        if correction == "none":
            return [self.verdict(question) for question in questions]
        together = len(questions)
        p_values = [self._p_value(question, together) for question in questions]
        try:
            families = in_families([question.gate for question in questions], p_values, correction=correction)
        except ValueError as error:
            raise UsageError(str(error)) from None
        return [
            self.verdict(question, family=family, together=together)
            for question, family in zip(questions, families, strict=True)
        ]

    def _p_value(self, question: Question, together: int) -> float | None:
        gate = question.gate
        try:
            ours, *theirs = (scored.scores for scored in self._systems(question))
            if gate.kind == "georisk_not_worse":
                return PoolComparison(gate, ours, theirs, together=together).p_value
            if isinstance(question.baseline, Computed):
                theirs = [computed_baseline(gate, question.baseline, ours, theirs)]
            return rule(gate, ours, theirs[0], replicates=theirs[1:], topics=self.topics).p_value
        except DataError:
            return None
        except ValueError as error:
            raise UsageError(str(error)) from None

    def _systems(self, question: Question) -> list[_Scored]:
        """The candidate, the baselines, and the replicates of a single one, scored."""
        measure = self._measure(question)
        systems = [self._scores(source, measure) for source in question.sources]
        single = question.gate.kind in ("not_significantly_risky", "not_inferior")
        if single and isinstance(question.baseline, Stored):
            systems += self._replicates(question.baseline, measure)
        return self._restricted(question.gate, systems)

    def _restricted(self, gate: Gate, systems: list[_Scored]) -> list[_Scored]:
        """The scores on the topics that the gate is about: everything behind sees no others."""
        if gate.slice is None:
            return systems
        tags = self._tags_for(gate.slice)
        judged = sorted({topic for scored in systems for topic in scored.scores.topics})
        try:
            slices_of(gate.slice, judged, tags)
        except ValueError as error:
            raise UsageError(f"slice: {error}") from None
        return [replace(scored, scores=within(scored.scores, gate.slice, tags)) for scored in systems]

    def _tags_for(self, asked: str) -> Mapping[str, Mapping[str, str]]:
        if self.topics is None:
            raise UsageError(
                f"slice {asked}: there is no topics file, whose further columns are the tags; give --topics, or "
                "`topics:` of `collection:` in a riskguard.yaml"
            )
        return self.topics.tags

    def slices(
        self,
        entries: Sequence[str],
        source: Source,
        measure: str | None,
        *,
        smallest: int,
        option: str = "smallest_slice",
    ) -> tuple[str, ...]:
        """The slices that entries (``TAG=VALUE`` or ``TAG``) ask for, each once; see ``restriction.slices_of``.

        Judged are the topics of the qrels, or those of a ``source`` that holds scores.

        Raises
        ------
        UsageError
            There is no such slice, or none with topics enough.
        DataError
            A file is bad or missing.
        """
        held = isinstance(source, ScoreFile | TopicScores)
        judged = self.scores(source, measure).topics if held else self.qrels.topics
        found: list[str] = []
        for entry in entries:
            try:
                found += slices_of(entry, judged, self._tags_for(entry), smallest=smallest, option=option)
            except ValueError as error:
                raise UsageError(f"slice: {error}") from None
        return tuple(found)

    def _replicates(self, source: Stored, measure: str | None) -> list[_Scored]:
        """Other runs of a stored baseline."""
        if measure is None:
            return []
        key = (source, self._stamps(source), measure)
        if key not in self._noise:
            store = self._required_store(source)
            found = store.replicates(source.name, measure, qrels=self.qrels, queries=self.queries)
            self._noise[key] = [_Scored(stored.scores, stored.rescored) for stored in found]
        return self._noise[key]

    def _measure(self, question: Question) -> str | None:
        if question.measure is None:
            return None
        return _asked_measure(question.measure, *question.sources)

    def scores(self, source: Source, measure: str | None, *, gate: Gate | None = None) -> TopicScores:
        """A source's scores, for questions that need no verdict; on the topics of the gate's slice, if it has one.

        Raises
        ------
        UsageError
            As for ``verdict``.
        DataError
            The source is bad or missing.
        """
        if measure is not None:
            measure = _asked_measure(measure, source)
        scored = self._scores(source, measure)
        return scored.scores if gate is None else self._restricted(gate, [scored])[0].scores

    def _incomparable(self, question: Question, error: DataError) -> Verdict:
        return incomparable(
            question.gate,
            error,
            measure=self._measure(question),
            candidate=label(question.candidate),
            baselines=tuple(label(baseline) for baseline in question.baselines),
            inputs=Inputs(baselines=dict.fromkeys(label(source) for source in question.sources[1:])),
        )

    def _scores(self, source: Source, measure: str | None) -> _Scored:
        """A source's scores; a file that changed since it was scored is scored again."""
        if isinstance(source, TopicScores):
            if measure is not None and source.measure is not None and source.measure != measure:
                raise UsageError(f"{source.name} was scored with {source.measure}, the gate asks for {measure}")
            return _Scored(source)
        stamps = self._stamps(source)
        key = (source, stamps, measure)
        if key not in self._scored:
            try:
                self._scored |= {(source, stamps, m): scored for m, scored in self._score(source, measure).items()}
            except DataError as error:
                self._scored[key] = error
        found = self._scored[key]
        if isinstance(found, DataError):
            raise found
        return found

    def _stamps(self, source: RunFile | ScoreFile | LiveRun | Stored) -> tuple[Stamp, ...]:
        paths = [self._qrels_path, self._topics_path]
        if isinstance(source, RunFile | ScoreFile):
            paths.append(source.path)
        elif isinstance(source, Stored) and self._store is not None:
            paths.append(self._store.root / source.name / "manifest.json")
        return tuple(_stamp(path) for path in paths)

    def _score(
        self, source: RunFile | ScoreFile | LiveRun | Stored, measure: str | None
    ) -> dict[str | None, _Scored]:
        if isinstance(source, ScoreFile):
            wanted = None if measure is None else [measure]
            (scores,) = read_scores(source.path, wanted, name=source.label)
            return {measure: _Scored(scores)}
        if measure is None:
            raise UsageError("a run needs a measure to be scored with, such as nDCG@10")
        if isinstance(source, Stored):
            stored = self._required_store(source).scores(source.name, measure, qrels=self.qrels, queries=self.queries)
            return {measure: _Scored(stored.scores, stored.rescored)}
        run = source.path if isinstance(source, RunFile) else source.rankings
        together = list(dict.fromkeys([measure, *map(measure_name, self._measures)]))
        try:
            scored = score_run(run, self.qrels, together, name=source.label, queries=self.queries)
        except DataError:
            # what is wrong may concern another measure only (grades above the scale of ERR, say)
            scored = score_run(run, self.qrels, [measure], name=source.label, queries=self.queries)
        return {scores.measure: _Scored(scores) for scores in scored}

    def _required_store(self, source: Stored) -> Store:
        if self._store is None:
            raise UsageError(
                f"no run and no store for baseline {source.name!r}: give a path, --store, or a riskguard.yaml"
            )
        return self._store

    @property
    def qrels(self) -> Qrels:
        """The collection's judgements; read again when the file changed."""
        if self._qrels_path is None:
            raise UsageError("a run needs qrels to be scored with: give --qrels, or a riskguard.yaml")
        return self._current(self._qrels_path, read_qrels)

    @property
    def topics(self) -> Topics | None:
        """The collection's topics with their texts, tags and weights; None without a topics file."""
        return None if self._topics_path is None else self._current(self._topics_path, read_topics)

    @property
    def queries(self) -> Mapping[str, str]:
        """The topics' query texts; empty without a topics file."""
        return {} if self.topics is None else self.topics.queries

    def _current(self, path: Path, read: Callable[[Path], Read]) -> Read:
        stamp = _stamp(path)
        if path not in self._read or self._read[path][0] != stamp:
            self._read[path] = (stamp, read(path))
        return cast(Read, self._read[path][1])


def _stamp(path: Path | None) -> Stamp:
    """What differs once a file was written anew; None where there is no file."""
    try:
        status = None if path is None else path.stat()
    except OSError:
        return None
    return None if status is None else (status.st_ino, status.st_size, status.st_mtime_ns)


def _asked_measure(measure: str, *sources: Source) -> str:
    """The measure as ir-measures writes it; scores that were given as such may have a measure of their own."""
    try:
        return measure_name(measure)
    except UsageError:
        if all(isinstance(source, ScoreFile | TopicScores) for source in sources):
            return measure
        raise


def computed_baseline(
    gate: Gate, baseline: Computed, candidate: TopicScores, systems: Sequence[TopicScores]
) -> TopicScores:
    """The scores of a baseline that is computed topic by topic.

    Raises
    ------
    DataError
        The systems do not answer the same topics.
    """
    pool = [*systems, candidate] if baseline.candidate_inside else list(systems)
    together, missing = on_one_list(gate, pool)
    first = together[0]
    return replace(
        first,
        name=baseline.name,
        values=reference_scores([system.values for system in together], kind=baseline.kind),
        digest=None,
        unanswered=tuple(sorted(set.intersection(*(set(gaps) for gaps in missing)))),
    )
