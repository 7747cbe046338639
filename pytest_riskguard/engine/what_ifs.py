"""What an answer owes to data that changed: it stands only if it would be no worse without the change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_riskguard.baselines.stored_files import Scored
from pytest_riskguard.data.measures import span
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.titles import read_titles
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.engine.question import Question, label
from pytest_riskguard.errors import BaselineError, DataError, Remedy
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.verdict import Verdict, VerdictWarning, warning
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from pytest_riskguard.risk.urisk import mean_test
from pytest_riskguard.text import counted, listed

#: Below this p-value of the mean difference a replicate is unlikely to be another run of the same system.
UNLIKELY = 0.001


@frozen
class StaleLabels:
    """How many relevant documents of each topic the documents ``file`` lacks."""

    file: str
    by_topic: Mapping[str, int]

    @property
    def documents(self) -> int:
        """How many documents are gone, those of several topics counted for each."""
        return sum(self.by_topic.values())


def refuse_if_changes_decide(
    question: Question,
    verdict: Verdict,
    systems: Sequence[Scored],
    stale: StaleLabels | None,
    outcome_of: Callable[[Sequence[Scored]], str],
) -> None:
    """Refuse an answer that would be another without what changed; the first of the systems is the candidate.

    ``outcome_of`` is the gate's answer on other scores of the same systems.
    """
    gate, topics, baselines = question.gate, {*systems[0].scores.topics}, systems[1:]
    if verdict.outcome == "pass":
        worse = None if gate.is_pool else _worse_replicate(baselines)
        if worse is not None and outcome_of(systems[:2]) == "fail":
            raise worse
        # they score 0 in a run that was stored before they were judged, so any answer of the candidate is a win
        unasked = {topic for scored in baselines for topic in scored.unasked} & topics
        if unasked and len(unasked) < len(topics):
            other = outcome_of(_without(systems, unasked))
            if other != "pass" and (other, gate.on_inconclusive) != ("inconclusive", "warn"):
                raise DataError(
                    f"the gate passes only because of {_some(unasked)}, judged after {', '.join(question.stored)} "
                    "was stored and not answered there: a topic without an answer scores 0, so any answer wins. "
                    f"Without them the gate's answer is {other}",
                    reason="topics_differ",
                    remedy=Remedy(
                        "store a run that answers them with {}", f"update {question.stored[0]} RUN --note WHY"
                    ),
                )
        # a grade that no run finds makes all scores of a topic small, and a loss with them
        diluted = {topic for scored in baselines for topic in scored.diluted}
        factors = {topic: max(scored.diluted.get(topic, 1.0) for scored in baselines) for topic in diluted}
        if any(factor > 1 for factor in factors.values()):
            reach = span(verdict.measure or "")
            larger = [replace(one, scores=one.scores.scaled(factors, reach=reach)) for one in systems]
            if (other := outcome_of(larger)) != "pass":
                raise DataError(
                    f"the judgements of {_some(factors)} changed since {label(question.baseline)} was stored, and "
                    "its run scores less than half of what it did there: with scores as large as they were the "
                    f"gate's answer is {other}",
                    reason="inputs_changed",
                    remedy=rescoring(question, "restore the judgements; once they are reviewed, run"),
                )
    if stale is not None and verdict.outcome in ("pass", "fail"):
        is_some_left = len(stale.by_topic) < len(topics)
        other = outcome_of(_without(systems, stale.by_topic)) if is_some_left else "inconclusive"
        if other != verdict.outcome:
            raise DataError(
                f"{stale.file} lacks {counted(stale.documents, 'relevant document')} of {_some(stale.by_topic)}, so "
                "no system can retrieve them any more. The gate's answer is "
                f"{verdict.outcome} with these topics and {other} without",
                reason="stale_labels",
                remedy="judge them again, or remove the judgements of documents that are gone; if all are, write ids "
                "alike",
            )


def _without(systems: Sequence[Scored], topics: Collection[str]) -> Sequence[Scored]:
    return [replace(one, scores=one.scores.only(lambda topic: topic not in topics)) for one in systems]


def _worse_replicate(baselines: Sequence[Scored]) -> DataError | None:
    """The error for the first replicate whose mean is too far below the baseline's for a run of the same system."""
    baseline, *replicates = (scored.scores for scored in baselines)
    for replicate in replicates:
        test = mean_test(replicate.values - baseline.values)
        is_worse = test.estimate < -ROUNDING_ERROR
        if is_worse and (test.p_value is None or test.p_value < UNLIKELY):  # None: every topic lost as much
            name, _, number = replicate.name.rpartition("/replicates/")
            return BaselineError(
                f"passes only because replicates of {name} count as its noise, and the mean of replicate {number} is "
                f"far below the baseline's ({replicate.mean:.4f}, that of {name} {baseline.mean:.4f}), so it is "
                "hardly another run of the same system",
                remedy=Remedy(
                    "if it comes from another system, store the baseline without it, with {} and {}",
                    f"remove {name}",
                    f"add {name} RUN",
                ),
            )
    return None


def _some(topics: Collection[str]) -> str:
    return f"{counted(len(topics), 'topic')} ({listed(sorted(topics), most=5)})"


def refuse_reassigned(gate: Gate, topics: Topics | None, stored: Sequence[Scored]) -> None:
    """Refuse an answer that would rest on weights or clusters that changed since a baseline was stored.

    ``DataError`` (``inputs_changed``): whoever may change them could otherwise make its losses count less.
    """
    used = {"weight": gate.weighted, "cluster": not gate.by_topic}
    for scored in stored:
        for role, changed in scored.reassigned.items():
            if used[role] and (among := {*changed} & {*scored.scores.topics}):
                name = scored.scores.name
                remedy = Remedy(f"restore the {role}s, or store the scores again to accept this")
                if scored.scores.from_run:
                    text = f"restore the {role}s, or accept this with {{}}"
                    remedy = Remedy(text, f"rescore {name.partition('/')[0]}")
                raise DataError(
                    f"{_some(among)} had another {role} when {name} was stored than in "
                    f"{'' if topics is None else topics.path_name} now, and it decides what their losses count",
                    reason="inputs_changed",
                    remedy=remedy,
                )


def rescoring(question: Question, when: str) -> Remedy:
    """The commands that accept present judgements and topics for the stored baselines of a question."""
    commands = [f"rescore {name}" for name in question.stored]
    return Remedy(f"{when} {' and '.join(['{}'] * len(commands))}", *commands)


def about_stored(verdict: Verdict, stored: Sequence[Scored]) -> Iterator[VerdictWarning]:
    """The warnings about stored baselines and replicates, which decide nothing."""
    if any(scored.rescored for scored in stored):
        means = [(s.scores.name, s.stored_mean, s.scores.mean) for s in stored if s.stored_mean is not None]
        yield warning("changed_inputs", about="rescored", means=means if verdict.slice is None else ())
    if unbacked := tuple(scored.scores.name for scored in stored if not scored.backed):
        yield warning("unbacked_scores", systems=unbacked)
    changed = tuple(scored.scores.name for scored in stored if scored.topics_changed)
    if changed and verdict.slice is not None:
        yield warning("changed_inputs", about="topics_changed", systems=changed)


def stale_labels(qrels: Qrels, file: Path) -> StaleLabels:
    """What is stale in the judgements by a file of documents."""
    relevant = {
        topic: [document for document, grade in qrels.grades[topic].items() if qrels.rules.is_relevant(grade)]
        for topic in qrels.topics
    }
    names = {document for of_topic in relevant.values() for document in of_topic}
    gone = names.difference(read_titles(file, names, qrels.rules))
    counts = {topic: sum(document in gone for document in of_topic) for topic, of_topic in relevant.items()}
    return StaleLabels(file.name, {topic: count for topic, count in counts.items() if count})
