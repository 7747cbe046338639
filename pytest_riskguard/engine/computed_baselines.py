"""The scores of a baseline that is computed topic by topic from several systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_riskguard.engine.sources import Computed
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.gates.alignment import on_one_list
from pytest_riskguard.gates.kinds import Gate
from pytest_riskguard.risk.reference import reference_scores


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
