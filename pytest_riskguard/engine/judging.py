"""Judges gates over one collection, in families where they are corrected for their number.

Whatever a person can correct about the *question* (a measure that does not exist, say) is raised; whatever is wrong
with the *data* becomes an ``incomparable`` verdict.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from pytest_riskguard.baselines.stored_files import own_file, same_file, stored_file
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.measures import measure_name, parse_measure, refuse_uninformative, span
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.titles import DocumentTitles
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.engine.changed_data import (
    StaleLabels,
    refuse_changed,
    refuse_reassigned,
    rescoring,
    rests_on_replicate,
    stale_labels,
    warned_of_stored,
    worse,
)
from pytest_riskguard.engine.sources import (
    Computed,
    Question,
    RunFile,
    ScoreCache,
    ScoreFile,
    Source,
    Stored,
    label,
    metadata_of,
)
from pytest_riskguard.errors import DataError, RiskguardError, UsageError
from pytest_riskguard.gates.alignment import on_one_list
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.judge import compare, judge
from pytest_riskguard.gates.kinds import Gate, Response
from pytest_riskguard.gates.origins import Origin, Origins
from pytest_riskguard.gates.rankings.documents import topic_documents
from pytest_riskguard.gates.rankings.side_by_side import side_by_side, titled
from pytest_riskguard.gates.rankings.unjudged import Known, Rejudged, judgements, rests_on_labels
from pytest_riskguard.gates.slices import all_within, slices_of
from pytest_riskguard.gates.verdict import Family, Inputs, Verdict, Yardstick, digests, incomparable, warning
from pytest_riskguard.plugins import told
from pytest_riskguard.reports.wording import worded
from pytest_riskguard.risk.reference import reference_scores
from pytest_riskguard.text import counted, listed

if TYPE_CHECKING:
    from pytest_riskguard.baselines.scored import Scored
    from pytest_riskguard.baselines.store import Store
    from pytest_riskguard.engine.budget import Budget
    from pytest_riskguard.gates.chain.families import Compared

#: The verdict of a question on its systems, perhaps with other scores.
Judged = Callable[[Sequence["Scored"]], Verdict]
#: How many pairs of runs share what is found about their unjudged documents with the gates that follow.
MOST_KNOWN = 4


class _Context(TypedDict):
    """What every gate is judged with besides its question."""

    topics: Topics | None
    rescored: bool
    family: Family | None
    report: bool


class Engine:
    """Judges gates over one collection; sources are as ``ScoreCache`` takes them.

    ``report``: verdicts hold what the charts of a report draw. ``on_changed_inputs``: whether a verdict warns or is
    incomparable where inputs changed since a baseline was stored. Problems with files in the ``folder`` name them by
    their paths in it.
    """

    def __init__(
        self,
        *,
        qrels: Path | GivenFile | Qrels | None,
        topics: Path | GivenFile | Topics | None = None,
        store: Store | None = None,
        measures: Sequence[str] = (),
        on_changed_inputs: Response = "warn",
        report: bool = False,
        titles: DocumentTitles | None = None,
        folder: Path | None = None,
    ) -> None:
        self._report, self._folder, self._on_changed_inputs = report, folder, on_changed_inputs
        self._titles = DocumentTitles() if titles is None else titles
        self._store = store
        self._stale: dict[str, StaleLabels | None] = {}
        self._known: dict[Hashable, Known] = {}
        self._cache = ScoreCache(qrels=qrels, topics=topics, store=store, measures=measures)

    @property
    def qrels(self) -> Qrels:
        """The collection's judgements."""
        return self._cache.qrels

    @property
    def queries(self) -> Mapping[str, str]:
        """The topics' query texts; empty without a topics file."""
        return self._cache.queries

    @property
    def topics(self) -> Topics | None:
        """The topics file; None without one."""
        return self._cache.topics

    def verdict(self, question: Question, *, family: Family | None = None, together: int = 1) -> Verdict:
        """As ``_verdict``; plugins receive it."""
        return told(self._verdict(question, family, together))

    def _verdict(self, question: Question, family: Family | None, together: int) -> Verdict:
        """The gate's verdict; ``family`` holds the level that a correction over several gates leaves it.

        ``together`` is how many gates are judged together, with or without a p-value. ``UsageError`` for an unknown
        measure, a provider that is not installed, a run without qrels, weights that are not in the topics file.
        """
        try:
            systems = self._systems(question)
            judged = functools.partial(self._judged, question, family, together)
            verdict = judged(systems)
            self._refuse_unasked(verdict, question, systems, judged)
            self._refuse_diluted(verdict, question, systems, judged)
            verdict = self._with_labels(verdict, systems, judged)
            verdict = warned_of_stored(verdict, systems[1:])
            if self._on_changed_inputs == "fail":
                refuse_changed(worded(verdict), question)
        except DataError as error:
            refused = incomparable(
                question.gate,
                error,
                measure=_asked_measure(question.measure, *question.sources),
                candidate=label(question.candidate),
                baselines=tuple(label(baseline) for baseline in question.baselines),
                inputs=Inputs(baselines=dict.fromkeys(label(source) for source in question.sources[1:])),
            )
            return replace(refused, problem=error.problem_seen_from(self._folder), origins=self._origins(question))
        except ValueError as error:
            raise UsageError(str(error)) from None
        verdict = self._with_documents(verdict, question, systems)
        return replace(worded(verdict), origins=self._origins(question))

    def _origins(self, question: Question) -> Origins:
        """Where the candidate and all other systems of the question come from."""
        candidate, *others = question.sources
        return Origins(
            candidate=Origin(
                label(candidate),
                metadata_of(candidate),
                ties=self._cache.ties(candidate),
                latency=self._cache.latency(candidate),
            ),
            baselines=tuple(self._cache.origin(source) for source in others),
            judges=self._cache.judges,
        )

    def verdicts(
        self, questions: Sequence[Question], *, correction: str, budget: Budget | None = None
    ) -> list[Verdict]:
        """The verdicts of gates that are judged together, their levels corrected for their number.

        Gates without a p-value (data that cannot be compared, too few topics) are no part of the family.
        A ``budget`` leaves them the share of one of many looks. Raises like ``verdict``, also where the gates have
        different levels, and where nothing is left.
        """
        if correction == "none" and budget is None:
            return [self.verdict(question) for question in questions]
        from pytest_riskguard.gates.chain.families import at_the_rules_level, in_families

        together, gates = len(questions), [question.gate for question in questions]
        ruled = [self._ruled(question, together) for question in questions]
        p_values = [p_value for p_value, _ in ruled]
        look, of_look = None, p_values
        if budget is not None and any(p_value is not None for p_value in p_values):
            look = budget.look(questions, [*map(self._compared, questions)], lambda: (self.qrels, self.topics))
            of_look = [self._ruled(question, together, of_look=True)[0] for question in questions]
        try:
            compared = [compared for _, compared in ruled]
            families = in_families(gates, of_look, correction=correction, look=look, compared=compared)
        except ValueError as error:
            raise UsageError(str(error)) from None
        families = at_the_rules_level(families, p_values, of_look)
        return [
            self.verdict(question, family=family, together=together)
            for question, family in zip(questions, families, strict=True)
        ]

    def rejudged(self, question: Question) -> Rejudged:
        """The comparison that a gate on one baseline is about, to be repeated under other judgements.

        Raises like ``verdict``, and ``DataError`` for a source that is bad, missing or not a run.
        """
        systems = self._systems(question)
        if len(systems) > len(question.sources):
            raise UsageError(f"{label(question.baseline)} has replicates, whose noise depends on judgements too")
        if systems[0].scores.measure is None:
            raise DataError("scores without a measure have no run that could be judged", reason="missing_input")
        if self.qrels.rules.is_complete:
            raise UsageError(
                "the judgements are complete (`collection: {unjudged: ignore}`): a document without one is not "
                "relevant, so there is nothing to judge"
            )
        return self._rejudged(question.gate, question, systems, 1)

    def scores(self, source: Source, measure: str | None, *, gate: Gate | None = None) -> TopicScores:
        """A source's scores, for questions that need no verdict; on the topics of the gate's slice, if it has one.

        Raises like ``verdict``, and ``DataError`` for a source that is bad or missing.
        """
        scored = self._cache.scored(source, _asked_measure(measure, source))
        return scored.scores if gate is None else self._restricted(gate, [scored])[0].scores

    def slices(
        self,
        entries: Sequence[str],
        source: Source,
        measure: str | None,
    ) -> tuple[str, ...]:
        """The slices that entries (``TAG=VALUE`` or ``TAG``) ask for, each once; see ``gates.slices.slices_of``.

        The judged topics are those of the qrels, or of a ``source`` that holds scores. Raises ``UsageError``
        if there is no such slice or none with enough topics, ``DataError`` if a file is bad or missing.
        """
        holds_scores = isinstance(source, ScoreFile | TopicScores)
        judged = self.scores(source, measure).topics if holds_scores else self.qrels.topics
        slices: list[str] = []
        for entry in entries:
            try:
                slices += slices_of(entry, judged, self._tags_for(entry))
            except ValueError as error:
                raise UsageError(f"slice: {error}") from None
        return tuple(slices)

    def refuse_without_answer(self, question: Question) -> None:
        """``UsageError`` for a question whose answer is known: a gate that cannot fail, the same file on both sides.

        No file is read.
        """
        measure, candidate = question.measure, question.candidate
        if measure is not None:
            refuse_if_it_cannot_fail(question.gate, measure)
        if not isinstance(candidate, RunFile | ScoreFile):
            return
        names = {source.name for source in question.sources if isinstance(source, Stored)}
        place = None if self._store is None else stored_file(candidate.path, self._store.place, of=names)
        if place is not None:
            raise UsageError(own_file(candidate.path.name, place))
        for source in question.sources[1:]:
            if not isinstance(source, RunFile | ScoreFile) or source.file.part != candidate.file.part:
                continue  # a file may hold several systems
            if same_file(candidate.path, source.path):
                raise UsageError(
                    f"{candidate.path.name} is both the candidate and the baseline {label(source)}: a file cannot be "
                    "compared with itself; name another run"
                )

    def _systems(self, question: Question) -> Sequence[Scored]:
        """The candidate, the baselines, and the replicates of a single one, scored."""
        measure = _asked_measure(question.measure, *question.sources)
        self.refuse_without_answer(question)
        systems = [self._cache.scored(source, measure) for source in question.sources]
        if question.gate.takes_replicates and isinstance(question.baseline, Stored):
            systems += self._cache.replicates(question.baseline, measure)
        restricted = self._restricted(question.gate, systems)
        refuse_reassigned(question, self._cache.topics, restricted[1:])
        return restricted

    def _restricted(self, gate: Gate, systems: Sequence[Scored]) -> Sequence[Scored]:
        """The scores on the topics that the gate is about: whatever follows sees no others."""
        if gate.slice is None:
            return systems
        tags = self._tags_for(gate.slice)
        try:
            parts = all_within([scored.scores for scored in systems], gate.slice, tags)
        except ValueError as error:
            raise UsageError(f"slice: {error}") from None
        return [replace(scored, scores=scores) for scored, scores in zip(systems, parts, strict=True)]

    def _tags_for(self, asked: str) -> Mapping[str, Mapping[str, str]]:
        if self._cache.topics is None:
            raise UsageError(
                f"slice {asked}: there is no topics file, whose further columns are the tags; give --topics, or "
                "`topics:` of `collection:` in a riskguard.yaml"
            )
        return self._cache.topics.tags

    def _judged(self, question: Question, family: Family | None, together: int, systems: Sequence[Scored]) -> Verdict:
        gate, (candidate, *others) = question.gate, [scored.scores for scored in systems]
        rescored = any(scored.rescored for scored in systems[1:])
        context = _Context(topics=self._cache.topics, rescored=rescored, family=family, report=self._report)
        if gate.is_pool:
            return judge(gate, candidate, *others, together=together, **context)
        baseline, replicates = others[0], others[1:]
        if isinstance(question.baseline, Computed):
            baseline, replicates = computed_baseline(gate, question.baseline, candidate, others), []
        verdict = judge(gate, candidate, baseline, replicates=replicates, **context)
        worse_run = worse(baseline, replicates) if verdict.outcome == "pass" else None
        if worse_run is not None and judge(gate, candidate, baseline, **context).outcome == "fail":
            raise rests_on_replicate(worse_run, baseline)
        if isinstance(question.baseline, Computed):
            computed = question.baseline
            yardstick = Yardstick(computed.kind, computed.names, computed.candidate_inside)
            return replace(verdict, inputs=digests(candidate, others), yardstick=yardstick)
        if isinstance(question.baseline, Stored):
            return self._with_lineage(verdict, question.baseline, candidate)
        return verdict

    def _refuse_unasked(
        self, verdict: Verdict, question: Question, systems: Sequence[Scored], judged: Judged
    ) -> None:
        """Refuse an answer that rests on topics added since a run was stored, which that run was never asked.

        They score 0 in that run, so any answer of the candidate is a win. ``DataError`` if the gate
        passes with these topics and would be red without them.
        """
        unasked = {topic for scored in systems[1:] for topic in scored.unasked}
        topics = systems[0].scores.topics
        if verdict.outcome != "pass" or not unasked or unasked.issuperset(topics):
            return
        others = [
            replace(scored, scores=scored.scores.only(lambda topic: topic not in unasked)) for scored in systems
        ]
        other_outcome = judged(others).outcome
        if other_outcome == "pass" or (other_outcome == "inconclusive" and question.gate.on_inconclusive == "warn"):
            return
        names = [label(source) for source in question.sources[1:] if isinstance(source, Stored)]
        added = tuple(sorted(unasked.intersection(topics)))
        raise DataError(
            f"the gate passes only because of {counted(len(added), 'topic')} ({listed(added, most=5)}), which "
            f"{'was' if len(added) == 1 else 'were'} judged after {', '.join(names)} "
            f"{'was' if len(names) == 1 else 'were'} stored and not answered there: a topic without an answer scores "
            f"0, so any answer wins. Without them the gate's answer is {other_outcome}; store a run that answers "
            f"them with `riskguard baseline update {names[0]} RUN --note WHY`",
            reason="topics_differ",
        )

    def _refuse_diluted(
        self, verdict: Verdict, question: Question, systems: Sequence[Scored], judged: Judged
    ) -> None:
        """Refuse an answer that rests on judgements by which a stored run scores much less than it did.

        A grade that no run finds makes all scores of a topic small, and a loss with them. ``DataError`` if the gate
        passes, and would be red with these topics' scores as large as they were.
        """
        factors: dict[str, float] = {}
        for scored in systems[1:]:
            factors |= {topic: max(factor, factors.get(topic, 1.0)) for topic, factor in scored.diluted.items()}
        if verdict.outcome != "pass" or not any(factor > 1 for factor in factors.values()):
            return
        reach = span(verdict.measure or "")
        others = [replace(scored, scores=scored.scores.scaled(factors, reach=reach)) for scored in systems]
        other_outcome = judged(others).outcome
        if other_outcome != "pass":
            raise DataError(
                f"the judgements of {counted(len(factors), 'topic')} ({listed(tuple(sorted(factors)), most=5)}) "
                f"changed since {label(question.baseline)} was stored, and its run scores less than half of what it "
                f"did there: with scores as large as they were the gate's answer is {other_outcome}. Restore the "
                f"judgements; once they are reviewed, run {' and '.join(rescoring(question))}",
                reason="inputs_changed",
            )

    def _with_labels(self, verdict: Verdict, systems: Sequence[Scored], judged: Judged) -> Verdict:
        """The verdict with warnings about its labels; ``DataError`` if it rests on documents that no longer exist."""
        if not all(scored.scores.from_run for scored in systems):
            return verdict
        topics, qrels = systems[0].scores.topics, self.qrels
        if qrels.digest not in self._stale:
            self._stale[qrels.digest] = stale_labels(qrels, self._titles)
        labels = self._stale[qrels.digest]
        if labels is None or not (stale := labels.among(topics)).by_topic:
            return verdict
        other_outcome = "inconclusive"
        if len(stale.by_topic) < len(topics):
            others = [
                replace(scored, scores=scored.scores.only(lambda topic: topic not in stale.by_topic))
                for scored in systems
            ]
            other_outcome = judged(others).outcome
        if verdict.outcome in ("pass", "fail") and other_outcome != verdict.outcome:
            raise stale.refused(verdict.outcome, other_outcome)
        topics = tuple(stale.by_topic)
        return verdict.warned(
            warning(
                "rests_on_judges", about="stale_labels", topics=topics, documents=stale.documents, file=stale.file
            )
        )

    def _with_lineage(self, verdict: Verdict, baseline: Stored, candidate: TopicScores) -> Verdict:
        """The verdict with the changes that the baseline went through, if any; they decide nothing."""
        gate = verdict.asked
        if not gate.is_tested or verdict.outcome not in ("pass", "fail"):
            return verdict
        try:
            chain = self._cache.lineage(baseline, candidate.measure)
            if not chain:
                return verdict
            from pytest_riskguard.gates.chain.history import with_lineage

            runs = [scored.scores for scored in self._restricted(gate, chain)]
            return with_lineage(verdict, runs, candidate, topics=self._cache.topics)
        except DataError as error:
            return verdict.warned(
                warning("slow_slide", about="history_unusable", baseline=baseline.name, problem=error.problem)
            )

    def _ruled(
        self, question: Question, together: int, *, of_look: bool = False
    ) -> tuple[float | None, Compared | None]:
        """The gate's p-value, perhaps as one of many looks, and what it compares, if that is two means."""
        from pytest_riskguard.gates.chain.families import Compared

        gate = question.gate
        try:
            candidate, *others = (scored.scores for scored in self._systems(question))
            if isinstance(question.baseline, Computed):
                others = [computed_baseline(gate, question.baseline, candidate, others)]
            found = compare(gate, candidate, others, topics=self._cache.topics, together=together)
            if not isinstance(found, Comparison):
                return found.p_value, None
            compared = Compared(found.aligned.candidate.topics, found.aligned.candidate.measure, found.evidence)
            return found.p_value_of_look if of_look else found.p_value, compared
        except DataError:
            return None, None
        except ValueError as error:
            raise UsageError(str(error)) from None

    def _compared(self, question: Question) -> list[TopicScores] | None:
        """What a question compares; None for data that cannot be compared."""
        try:
            return [scored.scores for scored in self._systems(question)]
        except DataError:
            return None

    def _with_documents(self, verdict: Verdict, question: Question, systems: Sequence[Scored]) -> Verdict:
        """The verdict with its documents and judgements, if it does not pass or is to be written to a file."""
        asked = self._report or verdict.outcome != "pass" or self._cache.judges is not None
        if verdict.outcome == "incomparable" or not asked:
            return verdict
        if isinstance(question.baseline, Computed) or not all(scored.scores.from_run for scored in systems):
            return verdict
        place = 1
        if question.gate.is_pool:
            names = [label(source) for source in question.sources[1:]]
            if verdict.pool is None or verdict.pool.decided_by not in names:
                return verdict
            place += names.index(verdict.pool.decided_by)
        gate = question.gate if verdict.family is None else replace(question.gate, level=verdict.family.level)
        try:
            rejudged = self._rejudged(gate, question, systems, place)
            losers, winners = verdict.responsible_topics, verdict.flagged_wins
            documents = topic_documents(losers, winners, *rejudged.runs, rejudged.known.documents)
            rankings = titled(side_by_side(rejudged, [topic.topic for topic in documents]), rejudged, self._titles)
            verdict = replace(verdict, documents=documents, rankings=rankings)
            if gate.is_pool or verdict.replicates or not self.qrels.is_uncertain:
                return verdict
            labels = judgements(rejudged)
        except RiskguardError:  # the answer depends on the scores alone, so it stands without its explanation
            return verdict
        verdict = replace(verdict, judgements=labels)
        return functools.reduce(Verdict.warned, rests_on_labels(verdict.outcome, labels), verdict)

    def _rejudged(self, gate: Gate, question: Question, systems: Sequence[Scored], place: int) -> Rejudged:
        """The candidate and the baseline at a place among the sources, with their runs."""
        qrels = self.qrels
        scores = (systems[0].scores, systems[place].scores)
        measure = parse_measure(scores[0].measure or "")
        sources = (question.sources[0], question.sources[place])
        candidate, baseline = (
            self._cache.ranked(source, of_source, measure, qrels)
            for source, of_source in zip(sources, scores, strict=True)
        )
        key = (candidate.run.digest, baseline.run.digest, qrels.digest, scores[0].topics)
        known = self._known[key] = self._known.pop(key, Known())
        for other in list(self._known)[:-MOST_KNOWN]:
            del self._known[other]
        return Rejudged(gate, scores, (candidate, baseline), self._cache.topics, known)


def refuse_if_it_cannot_fail(gate: Gate, measure: str) -> None:
    """``UsageError`` for a gate that no scores of this measure could fail."""
    try:
        refuse_uninformative(measure)
        gate.refuse_if_it_cannot_fail(span(measure))
    except ValueError as error:
        raise UsageError(f"{gate.kind}, {measure}: {error}") from None


def _asked_measure(measure: str | None, *sources: Source) -> str | None:
    """The measure as ir-measures writes it; where only scores are given, it may be any name."""
    try:
        return None if measure is None else measure_name(measure)
    except UsageError:
        if all(isinstance(source, ScoreFile | TopicScores | Stored) for source in sources):
            return measure  # the store refuses it for a baseline that was stored from a run
        raise


def computed_baseline(
    gate: Gate, baseline: Computed, candidate: TopicScores, systems: Sequence[TopicScores]
) -> TopicScores:
    """The scores of a baseline computed topic by topic; ``DataError`` if the systems answer different topics."""
    pool = [*systems, candidate] if baseline.candidate_inside else list(systems)
    together, missing = on_one_list(gate, pool)
    first = together[0]
    values, as_written = (
        reference_scores([system.values for system in systems], kind=baseline.kind)
        for systems in (together, [system.in_written_order() for system in together])
    )
    unanswered = tuple(sorted(set().union(*missing[: len(systems)])))
    return replace(
        first,
        name=baseline.name,
        values=values,
        as_written=dict(zip(first.topics, as_written.tolist(), strict=True)),
        contradicted=(),
        digest=None,
        unanswered=unanswered,
        accepted=tuple(sorted({*unanswered} - set().union(*({*s.unanswered} - {*s.accepted} for s in systems)))),
    )
