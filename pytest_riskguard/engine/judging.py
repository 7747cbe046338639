"""Judges gates over one collection, in families where they are corrected for their number.

Whatever a person can correct about the *question* (a measure that does not exist, say) is raised; whatever is wrong
with the *data* becomes an ``incomparable`` verdict.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_riskguard.baselines.stored_files import Scored
from pytest_riskguard.data.input_files import is_address
from pytest_riskguard.data.judged import depth_of
from pytest_riskguard.data.measures import parse_measure
from pytest_riskguard.data.runs import Run
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.titles import DocumentTitles
from pytest_riskguard.data.topics import Tags
from pytest_riskguard.engine.question import (
    LiveRun,
    Question,
    RunFile,
    ScoreFile,
    Source,
    Stored,
    asked_measure,
    label,
)
from pytest_riskguard.engine.sources import ScoreCache
from pytest_riskguard.engine.what_ifs import (
    StaleLabels,
    about_stored,
    refuse_if_changes_decide,
    refuse_reassigned,
    rescoring,
    stale_labels,
)
from pytest_riskguard.errors import DataError, InternalError, RiskguardError, UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.alignment import refuse_unrelated
from pytest_riskguard.gates.causes import cause_of
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.documents import documents
from pytest_riskguard.gates.judge import compare, judge
from pytest_riskguard.gates.kinds import Gate, NoSurprise, Response
from pytest_riskguard.gates.rankings import Difference
from pytest_riskguard.gates.slices import System, slices_of, within
from pytest_riskguard.gates.surprise import judge_rankings
from pytest_riskguard.gates.unjudged import Labels, Rejudged
from pytest_riskguard.gates.verdict import HOW_READ, Family, Inputs, JudgedFile, Verdict, refused, warning
from pytest_riskguard.plugins import told
from pytest_riskguard.reports.kept_runs import keep
from pytest_riskguard.reports.warning_sentences import message, worded
from pytest_riskguard.text import relative

#: How many pairs of runs share what is found about their unjudged documents with the gates that follow.
MOST_KNOWN = 4


@frozen(eq=False)
class Asked:
    """A question whose ``systems`` are scored: the candidate, the baselines, and replicates of a single one.

    ``comparison`` is None if they cannot be compared; ``together`` is how many gates are judged together.
    """

    question: Question
    systems: Sequence[Scored]
    comparison: Comparison | None
    together: int


class Engine:
    """Judges gates over one collection; ``sources`` are as ``ScoreCache`` takes them.

    ``report``: verdicts hold what the charts of a report draw. ``on_changed_inputs``: whether a verdict warns or is
    incomparable where inputs changed since a baseline was stored. Problems with files in the ``folder`` name them by
    their paths in it. Answers that are in no file are kept ``keep_in`` these folders, each beside a JSON report.
    """

    def __init__(
        self,
        *,
        on_changed_inputs: Response = "warn",
        report: bool = False,
        titles: DocumentTitles | None = None,
        folder: Path | None = None,
        keep_in: Sequence[Path] = (),
        **sources: Any,
    ) -> None:
        #: What the collection and the systems contain.
        self.sources = ScoreCache(**sources)
        self._report, self._folder, self._on_changed_inputs = report, folder, on_changed_inputs
        self._keep_in, self._titles = keep_in, titles or DocumentTitles()
        self._labels: dict[tuple[Hashable, ...], Labels] = {}

    def verdict(self, question: Question) -> Verdict:
        """The verdict of a gate that is judged alone; raises like ``verdicts``."""
        return self.verdicts([question], correction="none")[0]

    def verdicts(self, questions: Sequence[Question], *, correction: str) -> list[Verdict]:
        """The verdicts of gates that are judged together, which plugins receive; levels corrected for their number.

        Gates without a p-value (data that cannot be compared, too few topics) are no part of the family.
        ``UsageError`` for an unknown measure, a provider that is not installed, a run without qrels, weights that are
        not in the topics file, and a family whose gates have different levels or are so many that none is left.
        """
        try:
            asked = [self._asked(question, len(questions)) for question in questions]
            families: list[Family | None] = [None] * len(questions)
            if correction != "none":
                from pytest_riskguard.gates.families import in_families

                compared = [one.comparison if isinstance(one, Asked) else None for one in asked]
                families = in_families(compared)
            return [
                told(self._verdict(one, question, family))
                for one, question, family in zip(asked, questions, families, strict=True)
            ]
        except ValueError as error:
            raise UsageError(str(error)) from None
        except AssertionError as error:  # pytest, and whoever calls an assertion, would take it for a failed gate
            raise InternalError(f"{type(error).__name__}: {error}; please report this bug in riskguard") from error

    def rejudged(self, question: Question) -> Rejudged:
        """The comparison that a gate on one baseline is about, to be repeated under other judgements.

        Raises like ``verdicts``, and ``DataError`` for a source that is bad, missing or not a run.
        """
        systems = self._systems(question)
        if len(systems) > len(question.sources):
            name = label(question.baseline)
            raise UsageError(
                f"{name} has replicates, whose noise depends on judgements too; give one of its run files"
            )
        if self.sources.qrels.rules.is_complete:
            raise UsageError(
                "the judgements are complete (`collection: {unjudged: ignore}`): a document without one is not "
                "relevant, so there is nothing to judge"
            )
        return self._rejudged(question.gate, question, systems, 1)

    def scores(self, source: Source, measure: str | None, *, gate: Gate | None = None) -> TopicScores:
        """A source's scores, for questions that need no verdict; on the topics of the gate's slice, if it has one.

        Raises like ``verdicts``, and ``DataError`` for a source that is bad or missing.
        """
        scored = self.sources.scored(source, asked_measure(measure, source))
        return scored.scores if gate is None else self._restricted(gate, [scored])[0].scores

    def slices(self, entries: Sequence[str], source: Source, measure: str | None) -> tuple[str, ...]:
        """The slices that entries (``TAG=VALUE`` or ``TAG``) ask for, each once; see ``gates.slices.slices_of``.

        The judged topics are those of the qrels, or of a ``source`` that holds scores; without qrels all of its own.
        Raises ``UsageError`` if there is no such slice or none with enough topics, ``DataError`` if a file is bad or
        missing.
        """
        if isinstance(source, ScoreFile):
            judged = self.scores(source, measure).topics
        else:
            judged = (self.sources.qrels if self.sources.is_judged else self.sources.rankings(source)).topics
        with _about_slices():
            return tuple(part for entry in entries for part in slices_of(entry, judged, self._tags_for(entry)))

    def difference(self, part: str | None, baseline: Source, candidate: Source) -> Difference:
        """What changed in the rankings, of a slice if one is named; of a live system where it was asked.

        Raises like ``slices``, and ``DataError`` if a system is bad or missing, or they have no topic in common.
        """
        systems = [self.sources.rankings(source) for source in (baseline, candidate)]
        if self.sources.is_judged and any(isinstance(source, LiveRun) for source in (baseline, candidate)):
            systems = [one.only({*self.sources.qrels.topics}.__contains__) for one in systems]
        before, after = self._within(part, systems)
        refuse_unrelated(before, after)
        return Difference(before, after)

    # ---- from a question to its comparison

    def _asked(self, question: Question, together: int) -> Asked | DataError | None:
        """The question with its systems, or why they cannot be scored; None if it asks for no scores."""
        if question.gate.of_rankings:
            return None
        try:
            systems = self._systems(question)
        except DataError as error:
            return error
        comparison = None
        with suppress(DataError):  # the verdict says what is wrong
            comparison = self._compared(question.gate, systems, together)
        return Asked(question, systems, comparison, together)

    def _systems(self, question: Question) -> Sequence[Scored]:
        """The candidate, the baselines, and the replicates of a single one, scored; the question is checked whole."""
        measure, store = asked_measure(question.measure, *question.sources), self.sources.store
        question.refuse_without_answer(None if store is None else store.root)
        self.sources.refuse_other_topics()
        systems = [self.sources.scored(source, measure) for source in (*question.sources, *question.replicates)]
        if question.gate.takes_replicates and isinstance(question.baseline, Stored):
            systems += self.sources.replicates(question.baseline, measure)
        restricted = self._restricted(question.gate, systems)
        refuse_reassigned(question.gate, self.sources.topics, restricted[1:])
        return restricted

    def _restricted(self, gate: Gate, systems: Sequence[Scored]) -> Sequence[Scored]:
        """The scores on the topics that the gate is about: whatever follows sees no others."""
        parts = self._within(gate.slice, _scores(systems))
        return [replace(scored, scores=scores) for scored, scores in zip(systems, parts, strict=True)]

    def _within(self, part: str | None, systems: Sequence[System]) -> list[System]:
        if part is None:
            return list(systems)
        with _about_slices():
            return within(systems, part, self._tags_for(part))

    def _tags_for(self, asked: str) -> Tags:
        if self.sources.topics is None:
            raise ValueError(
                f"{asked} is a tag of topics, columns of a topics file, and there is none; give --topics, or "
                "`topics:` of `collection:` in a riskguard.yaml"
            )
        return self.sources.topics.tags

    def _compared(self, gate: Gate, systems: Sequence[Scored], together: int) -> Comparison:
        return compare(gate, *_scores(systems), topics=self.sources.topics, together=together)

    # ---- from a comparison to its verdict

    def _verdict(self, asked: Asked | DataError | None, question: Question, family: Family | None) -> Verdict:
        try:
            if isinstance(asked, DataError):
                raise asked
            if asked is None:
                verdict = self._of_rankings(question)
            else:
                verdict = self._with_documents(self._sure(asked, family), asked)
            verdict = worded(verdict)
        except DataError as error:
            baselines = tuple(map(label, question.baselines))
            never = Verdict(
                question.gate,
                "incomparable",
                None,
                asked_measure(question.measure, *question.sources),
                label(question.candidate),
                baselines,
                inputs=Inputs(baselines=dict.fromkeys(baselines)),
            )
            verdict = refused(never, error, self._folder)
        origins = self.sources.origins(*question.sources)
        if self._keep_in and verdict.inputs is not None and verdict.inputs.candidate is not None:
            origins = replace(origins, file=self._judged_file(question.candidate, verdict.inputs.candidate))
        return replace(verdict, origins=origins)

    def _judged_file(self, source: Source, digest: str) -> JudgedFile | None:
        """Where the candidate is that was judged; None of scores in memory, and where its answers cannot be kept."""
        name = label(source)
        if isinstance(source, LiveRun | Run):
            with suppress(OSError):
                run = self.sources.run(source)
                path, kept = self.sources.once("kept", source, lambda: keep(run, name, self._keep_in))
                return JudgedFile(name, digest, path, kept)
        elif isinstance(source, RunFile | ScoreFile) and not is_address(source.path):  # which may hold a secret
            path = relative(source.path, self._folder)
            how: dict[str, Any] = {name: getattr(source.file, name) for name in HOW_READ}
            return JudgedFile(name, digest, path, scores=isinstance(source, ScoreFile), **how)
        return None

    def _of_rankings(self, question: Question) -> Verdict:
        """The verdict on what changed in the rankings."""
        gate, store = question.gate, self.sources.store
        assert isinstance(gate, NoSurprise)
        question.refuse_without_answer(None if store is None else store.root)
        difference = self.difference(gate.slice, question.baseline, question.candidate)
        return judge_rankings(gate, difference, self._titles)

    def _sure(self, asked: Asked, family: Family | None) -> Verdict:
        """The verdict with what it rests on; ``DataError`` where it would be another without that."""
        question, systems = asked.question, asked.systems
        candidate, *others = _scores(systems)
        number = len(question.baselines)
        verdict = judge(
            question.gate,
            candidate,
            *others[:number],
            replicates=others[number:],
            topics=self.sources.topics,
            family=family,
            known=asked.comparison,
            report=self._report,
        )

        def outcome_of(others: Sequence[Scored]) -> str:
            return self._compared(question.gate, others, asked.together).within(family).answer[0]

        stale = self._stale_labels(systems)
        refuse_if_changes_decide(question, verdict, systems, stale, outcome_of)
        if stale is not None:
            topics, file = tuple(stale.by_topic), stale.file
            verdict = verdict.warned(warning("stale_labels", topics=topics, documents=stale.documents, file=file))
        if isinstance(question.baseline, Stored):
            verdict = self._with_lineage(verdict, question.baseline, candidate)
        if verdict.outcome == "incomparable":
            return verdict
        said = [*about_stored(verdict, systems[1:])]
        changed = [message(verdict, one) for one in said if one.code == "changed_inputs"]
        if changed and self._on_changed_inputs == "fail":
            raise DataError(
                f"{'; '.join(changed)}. A gate stops here (on_changed_inputs: fail)",
                reason="inputs_changed",
                remedy=rescoring(question, "once the change is reviewed, run"),
            )
        return functools.reduce(Verdict.warned, said, verdict)

    def _stale_labels(self, systems: Sequence[Scored]) -> StaleLabels | None:
        """What is stale in the judgements of the topics that are compared; None if nothing is."""
        file, topics = self._titles.file, {*systems[0].scores.topics}
        if file is None or not all(scored.scores.from_run for scored in systems):
            return None
        stale = self.sources.once("stale", None, lambda: stale_labels(self.sources.qrels, file))
        by_topic = {topic: gone for topic, gone in stale.by_topic.items() if topic in topics}
        return replace(stale, by_topic=by_topic) if by_topic else None

    def _with_lineage(self, verdict: Verdict, baseline: Stored, candidate: TopicScores) -> Verdict:
        """The verdict with the changes that the baseline went through, if any; they decide nothing."""
        gate = verdict.asked
        if not gate.is_tested or verdict.outcome not in ("pass", "fail"):
            return verdict
        try:
            chain = self.sources.lineage(baseline, candidate.measure)
            if not chain:
                return verdict
            from pytest_riskguard.gates.history import with_lineage

            runs = _scores(self._restricted(gate, chain))
            return with_lineage(verdict, runs, candidate, topics=self.sources.topics)
        except DataError as error:
            return verdict.warned(
                warning("slow_slide", about="history_unusable", baseline=baseline.name, problem=error.problem)
            )

    def _with_documents(self, verdict: Verdict, asked: Asked) -> Verdict:
        """The verdict with its cause; with documents and judgements, if it fails or is to be written to a file."""
        if verdict.outcome == "incomparable":
            return verdict
        gate, place = asked.question.gate, 1
        if gate.is_pool:
            place = 1 + verdict.baselines.index(verdict.baseline)
        if verdict.family is not None:
            gate = replace(gate, level=verdict.family.level)
        try:
            rejudged = self._rejudged(gate, asked.question, asked.systems, place)
            if verdict.outcome == "pass" and not self._report:
                return _with_cause(verdict, rejudged.labels)
            responsible = [topic.topic for topic in verdict.responsible_topics]
            verdict = replace(verdict, documents=documents(rejudged.labels, responsible, self._titles))
            verdict = _with_cause(verdict, rejudged.labels)
            if gate.is_pool or verdict.replicates or self.sources.qrels.rules.is_complete:
                return verdict
            found = rejudged.found
        except RiskguardError:  # such as scores without a run; the answer stands without its explanation
            return _with_cause(verdict, None) if verdict.documents is None else verdict
        verdict = replace(verdict, judgements=found)
        if found.depends and verdict.outcome != "pass":
            return verdict.warned(warning("rests_on_unjudged", documents=found.documents))
        return verdict

    def _rejudged(self, gate: Gate, question: Question, systems: Sequence[Scored], place: int) -> Rejudged:
        """The candidate and the baseline at a place among the sources, with their runs."""
        qrels, scores = self.sources.qrels, (systems[0].scores, systems[place].scores)
        measure = parse_measure(scores[0].measure or "")
        candidate, baseline = (
            self.sources.ranked(question.sources[at], systems[at].scores, measure, qrels) for at in (0, place)
        )
        seen = (candidate.order, candidate.last, baseline.last, depth_of(measure))
        key = (str(measure), candidate.run.digest, baseline.run.digest, *seen, qrels.digest, scores[0].topics)
        alike = next((labels for other, labels in self._labels.items() if other[1:] == key[1:]), None)
        labels = self._labels.pop(key, None) or Labels(scores, (candidate, baseline), alike)
        self._labels[key] = labels
        for other in list(self._labels)[:-MOST_KNOWN]:
            del self._labels[other]
        return Rejudged(gate, labels, self.sources.topics)


def _with_cause(verdict: Verdict, labels: Labels | None) -> Verdict:
    """The verdict with the mistake that seems to be behind it."""
    if (cause := cause_of(verdict, labels)) is None:
        return verdict
    if cause.parameters["about"] == "few_results":  # of a short list more is judged, whatever the baseline's ids are
        left = tuple(one for one in verdict.warnings if one.parameters.get("about") != "little_judged")
        verdict = verdict.with_findings(lambda found: replace(found, warnings=left))
    return verdict.warned(cause)


@contextmanager
def _about_slices() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error), where="slice") from None


def _scores(systems: Sequence[Scored]) -> list[TopicScores]:
    return [scored.scores for scored in systems]
