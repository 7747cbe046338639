"""What an answer owes to data that changed: what a baseline was stored with, replicates, documents that are gone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from pytest_riskguard.baselines.scored import Scored
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.titles import DocumentTitles
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.engine.sources import Question, Stored
from pytest_riskguard.errors import DataError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.verdict import Verdict, warning
from pytest_riskguard.risk.checks import ROUNDING_ERROR
from pytest_riskguard.risk.urisk import mean_test
from pytest_riskguard.text import counted, listed

#: Below this p-value of the mean difference a replicate is unlikely to be another run of the same system.
UNLIKELY = 0.001


def worse(baseline: TopicScores, replicates: Sequence[TopicScores]) -> TopicScores | None:
    """The first replicate whose mean is too far below the baseline's for a run of the same system."""
    for replicate in replicates:
        test = mean_test(replicate.values - baseline.values)
        is_worse = test.estimate < -ROUNDING_ERROR
        if is_worse and (test.p_value is None or test.p_value < UNLIKELY):  # None: every topic lost as much
            return replicate
    return None


def rests_on_replicate(replicate: TopicScores, baseline: TopicScores) -> DataError:
    """The error to raise where only the noise of such a replicate lets the candidate pass."""
    name, _, number = replicate.name.rpartition("/replicates/")
    means = f"{replicate.mean:.4f}, that of {name} {baseline.mean:.4f}"
    return DataError(
        f"passes only because replicates of {name} count as its noise, and the mean of replicate {number} is far "
        f"below the baseline's ({means}), hardly another run of the same system; if it comes from another system, "
        f"run `riskguard baseline remove {name} --replicate {number}`",
        reason="bad_baseline",
    )


def refuse_reassigned(question: Question, topics: Topics | None, stored: Sequence[Scored]) -> None:
    """Refuse an answer that would rest on weights, clusters or strata that changed since a baseline was stored.

    ``DataError`` (``inputs_changed``): whoever may change them could otherwise make its losses count less.
    """
    gate = question.gate
    used = {
        "weight": gate.weighted,
        "cluster": not gate.by_topic,
        "stratum": bool(topics and topics.shares) and not gate.by_topic and gate.slice is None,
    }
    for scored in stored:
        for role, changed in scored.reassigned.items():
            if used[role] and (among := sorted({*changed} & {*scored.scores.topics})):
                name = scored.scores.name
                remedy = f"accept this with `riskguard baseline rescore {name.partition('/')[0]}`"
                if not scored.scores.from_run:
                    remedy = "store the scores again to accept this"
                raise DataError(
                    f"{counted(len(among), 'topic')} ({listed(tuple(among), most=5)}) had another {role} when {name} "
                    f"was stored than in {'' if topics is None else topics.path_name} now, and it decides what their "
                    f"losses count; restore {'them' if len(among) > 1 else 'it'}, or {remedy}",
                    reason="inputs_changed",
                )


def rescoring(question: Question) -> list[str]:
    """The commands that accept present judgements and topics for the stored baselines of a question."""
    names = dict.fromkeys(source.name for source in question.sources if isinstance(source, Stored))
    return [f"`riskguard baseline rescore {name}`" for name in names]


def refuse_changed(verdict: Verdict, question: Question) -> None:
    """``DataError`` (``inputs_changed``) for a verdict in words that rests on anything that changed."""
    if changed := verdict.changed_inputs:
        raise DataError(
            f"{'; '.join(warning.message for warning in changed)}. A gate stops here (on_changed_inputs: fail); once "
            f"the change is reviewed, run {' and '.join(rescoring(question))}",
            reason="inputs_changed",
        )


def warned_of_stored(verdict: Verdict, stored: Sequence[Scored]) -> Verdict:
    """The verdict with the warnings about stored baselines and replicates, which decide nothing."""
    if verdict.outcome == "incomparable":
        return verdict
    means = tuple((s.scores.name, s.stored_mean, s.scores.mean) for s in stored if s.stored_mean is not None)
    if means and verdict.slice is None:
        verdict = verdict.detailed("rescored", means=means)
    if unbacked := tuple(scored.scores.name for scored in stored if not scored.backed):
        verdict = verdict.warned(warning("unbacked_scores", systems=unbacked))
    changed = tuple(scored.scores.name for scored in stored if scored.topics_changed)
    if changed and verdict.slice is not None:
        verdict = verdict.warned(warning("changed_inputs", about="topics_changed", systems=changed))
    return verdict


@frozen
class StaleLabels:
    """Scored topics with relevant documents that the documents ``file`` lacks, and how many these are.

    ``is_foreign``: the file has no relevant document at all.
    """

    file: str
    by_topic: Mapping[str, int]
    is_foreign: bool

    def among(self, topics: Collection[str]) -> StaleLabels:
        """What concerns these topics."""
        return replace(self, by_topic={topic: gone for topic, gone in self.by_topic.items() if topic in topics})

    @property
    def documents(self) -> int:
        """How many documents are gone, those of several topics counted for each."""
        return sum(self.by_topic.values())

    def refused(self, outcome: str, other_outcome: str) -> DataError:
        """The error to raise where an outcome rests on these topics."""
        names, one = tuple(self.by_topic), self.documents == 1
        foreign = f" {self.file} has no judged document at all: does it write ids as the judgements do?"
        return DataError(
            f"{counted(self.documents, 'relevant document')} of {counted(len(names), 'topic')} "
            f"({listed(names, most=5)}) {'is' if one else 'are'} not in {self.file}, so no system can retrieve "
            f"{'it' if one else 'them'} any more.{foreign if self.is_foreign else ''} The gate's answer is {outcome} "
            f"with {'this topic' if len(names) == 1 else 'these topics'} and {other_outcome} without; judge "
            f"{'it' if len(names) == 1 else 'them'} again, or remove the judgements of documents that are gone",
            reason="stale_labels",
        )


def stale_labels(qrels: Qrels, documents: DocumentTitles) -> StaleLabels | None:
    """What is stale in the judgements; None if nothing is, or if there is no documents file."""
    if documents.file is None:
        return None
    relevant = {
        topic: [document for document, grade in qrels.grades[topic].items() if qrels.rules.is_relevant(grade)]
        for topic in qrels.topics
    }
    names = {document for documents_of_topic in relevant.values() for document in documents_of_topic}
    gone = documents.gone(names, qrels.rules)
    counts = {topic: sum(document in gone for document in of_topic) for topic, of_topic in relevant.items()}
    by_topic = {topic: count for topic, count in counts.items() if count}
    return StaleLabels(documents.file.name, by_topic, len(gone) == len(names)) if gone else None
