"""A gate's question as its verdict repeats it, before there is an answer, and where there can be none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_riskguard.errors import DataError
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.gates.spec import Gate
from pytest_riskguard.gates.verdict import Inputs, Verdict


def unanswered(
    gate: Gate, *, measure: str | None, candidate: str, baselines: tuple[str, ...], inputs: Inputs | None
) -> Verdict:
    """The question; the answer is still to come."""
    collapse = gate.kind == "no_topic_collapse"
    return Verdict(
        gate=gate.name,
        kind=gate.kind,
        outcome="inconclusive",
        reason=None,
        warnings=(),
        measure=measure,
        alpha=gate.alpha,
        tradeoff=gate.tradeoff,
        convention=gate.convention,
        weighted=gate.weighted,
        level=gate.level,
        method=gate.method,
        tolerance=gate.tolerance,
        max_loss=gate.max_loss if collapse else None,
        max_share=gate.max_share,
        protected=tuple(gate.protected),
        on_churn=gate.on_churn,
        on_inconclusive=gate.on_inconclusive,
        missing=gate.missing,
        slice=gate.slice,
        candidate=candidate,
        baselines=baselines,
        inputs=inputs,
    )


def refused(question: Verdict, error: DataError) -> Verdict:
    """The verdict on data that cannot be compared."""
    return replace(question, outcome="incomparable", reason=error.reason, problem=error.problem)


def incomparable(
    gate: Gate,
    error: DataError,
    *,
    measure: str | None,
    candidate: str,
    baselines: tuple[str, ...],
    inputs: Inputs | None = None,
) -> Verdict:
    """The same for data that never became scores."""
    return refused(unanswered(gate, measure=measure, candidate=candidate, baselines=baselines, inputs=inputs), error)


def digests(
    candidate: TopicScores, baselines: Sequence[TopicScores], replicates: Sequence[TopicScores] = ()
) -> Inputs | None:
    """Of everything that is compared; None where nothing has one."""
    systems = (candidate, *baselines, *replicates)
    if all(system.digest is None and system.qrels_digest is None for system in systems):
        return None
    return Inputs(
        qrels=next((system.qrels_digest for system in systems if system.qrels_digest is not None), None),
        candidate=candidate.digest,
        baselines={baseline.name: baseline.digest for baseline in baselines},
        replicates=tuple(replicate.digest for replicate in replicates),
    )
