"""Runs read a second time, for what a verdict tells of documents and of missing judgements; this decides nothing."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_riskguard.baselines.store import Store
from pytest_riskguard.errors import BaselineError, DataError, RiskguardError
from pytest_riskguard.evaluation.measures import parse_measure
from pytest_riskguard.evaluation.qrels import Qrels
from pytest_riskguard.evaluation.rankings import PackedRun, RankedRun, pack_run
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.evaluation.topics import Topics
from pytest_riskguard.gates.documents import topic_documents
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.gates.unjudged import Rejudged, judgements, rests_on_unjudged
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.sources import Baseline, LiveRun, RunFile, Stored

if TYPE_CHECKING:
    from ir_measures import Measure


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two systems that a verdict is about.

    ``key`` stands for the source as it is, and differs once it was written anew.
    """

    source: Baseline
    scores: TopicScores
    key: Hashable


class Rereader:
    """Reads runs of one collection again, each at most once, and only where a verdict asks for it."""

    def __init__(self, store: Store | None) -> None:
        self._store = store
        self._packed: dict[Hashable, PackedRun | RiskguardError] = {}

    def told(
        self,
        verdict: Verdict,
        gate: Gate,
        candidate: Side,
        baseline: Side,
        *,
        qrels: Qrels,
        topics: Topics | None,
    ) -> Verdict:
        """The verdict with its documents and judgements; as it is where a run is not at hand.

        ``gate`` is at the level that decided.
        """
        if candidate.scores.measure is None:
            return verdict
        measure = parse_measure(candidate.scores.measure)
        try:
            ours, theirs = (self._ranked(side, measure, qrels) for side in (candidate, baseline))
            losers, winners = verdict.responsible_topics, verdict.flagged_wins
            found = topic_documents(losers, winners, measure, qrels.grades, ours, theirs)
            verdict = replace(verdict, documents=found)
            if gate.kind == "georisk_not_worse" or verdict.replicates:
                return verdict
            scores = (candidate.scores, baseline.scores)
            missing = judgements(Rejudged(gate, scores, (ours, theirs), measure, qrels.grades, topics))
        except RiskguardError:  # the answer stands on the scores: it does not change for want of what explains it
            return verdict
        warning = rests_on_unjudged(verdict.outcome, missing)
        verdict = replace(verdict, judgements=missing)
        return verdict if warning is None else verdict.warned(warning)

    def rejudged(
        self, gate: Gate, candidate: Side, baseline: Side, *, qrels: Qrels, topics: Topics | None
    ) -> Rejudged:
        """The comparison, to be asked again under other judgements.

        Raises
        ------
        DataError
            A side is no run, or its run is not at hand.
        """
        if candidate.scores.measure is None:
            raise DataError("scores without a measure have no run that could be judged", reason="missing_input")
        measure = parse_measure(candidate.scores.measure)
        ours, theirs = (self._ranked(side, measure, qrels) for side in (candidate, baseline))
        return Rejudged(gate, (candidate.scores, baseline.scores), (ours, theirs), measure, qrels.grades, topics)

    def _ranked(self, side: Side, measure: Measure, qrels: Qrels) -> RankedRun:
        key = (side.key, qrels.digest)
        if key not in self._packed:
            try:
                self._packed[key] = self._read(side.source, qrels)
            except RiskguardError as error:
                self._packed[key] = error
        packed = self._packed[key]
        if isinstance(packed, RiskguardError):
            raise packed
        if (packed.digest, qrels.digest) != (side.scores.digest, side.scores.qrels_digest):
            raise DataError(
                f"{side.scores.name} or its judgements changed while they were read; try again",
                reason="inputs_changed",
            )
        return RankedRun(packed, measure)

    def _read(self, source: Baseline, qrels: Qrels) -> PackedRun:
        if isinstance(source, RunFile):
            return pack_run(source.path, qrels.topics)
        if isinstance(source, LiveRun):
            return pack_run(source.rankings, qrels.topics)
        if isinstance(source, Stored) and self._store is not None:
            try:
                return pack_run(self._store.run(source.name), qrels.topics)
            except OSError as error:  # replaced in this very moment
                raise BaselineError(f"{source.name}: its run cannot be read ({error})") from None
        raise DataError("there is no run, only scores", reason="missing_input")
