"""Warnings of a verdict, as codes with the figures that reports put into words: nothing here decides."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.could_fail import cannot_fail, few_changes
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import MIN_TOPICS
from pytest_riskguard.gates.pool import PoolComparison, ReferenceRuling
from pytest_riskguard.gates.ruling import Ruling, limit_of, own_method, witnesses
from pytest_riskguard.gates.verdict import VerdictWarning, warning
from pytest_riskguard.risk.checks import mean

if TYPE_CHECKING:
    from pytest_riskguard.data.scores import TopicScores

#: Below this many topics every interval covers less than its level says.
FEW_TOPICS = 25
#: Below this many topics a gate over a pool at an alpha above 1 fails too many harmless changes
#: (docs/explanation/georisk.md).
ENOUGH_FOR_POOLS, MODEST_ALPHA = 50, 1.0


def warnings(comparison: Comparison) -> tuple[VerdictWarning, ...]:
    """All warnings of a verdict, in a fixed order."""
    return tuple(_of_pool(comparison) if isinstance(comparison, PoolComparison) else _of_pair(comparison))


def _of_pair(comparison: Comparison) -> Iterator[VerdictWarning]:
    aligned = comparison.aligned
    missing = dict(zip(("the candidate", "the baseline"), aligned.missing, strict=False))
    urisk = _urisk_of_both_answers(comparison)
    yield from _about_the_data(missing, aligned.candidate, urisk=urisk)
    yield from _about_the_order({"the candidate": aligned.candidate, "the baseline": aligned.baseline})
    yield from _about_the_weights(comparison)
    if comparison.deciding is not None:
        yield from _about_the_evidence(comparison)
        yield from _about_the_answer(comparison)


def _of_pool(comparison: PoolComparison) -> Iterator[VerdictWarning]:
    missing = dict(zip(comparison.names, comparison.aligned.missing, strict=True))
    yield from _about_the_data(missing, comparison.aligned.candidate)
    yield from _about_the_order(dict(zip(comparison.names, comparison.aligned.systems, strict=True)))
    if comparison.ruling.enough_topics:
        yield from _about_the_pools_evidence(comparison)
        yield from _about_the_pools_answer(comparison)


def _urisk_of_both_answers(comparison: Comparison) -> tuple[float, float] | None:
    """URisk as judged, and with the second answers of a live system that was asked some queries twice."""
    gate, aligned = comparison.gate, comparison.aligned
    repeated = aligned.candidate.repeated
    if repeated is None or not repeated.differing or gate.by_topic:
        return None
    second = dict(zip(repeated.topics, repeated.second, strict=True))
    pairs = zip(aligned.candidate.topics, aligned.candidate.values.tolist(), strict=True)
    candidate = replace(aligned.candidate, values=np.array([second.get(topic, value) for topic, value in pairs]))
    try:
        other = Evidence.between(aligned.with_candidate(candidate), tradeoff=gate.tradeoff)
    except DataError:  # a difference that the smooth trade-off does not take
        return None
    return mean(comparison.evidence.parts(gate.alpha)), mean(other.parts(gate.alpha))


def _about_the_data(
    missing: Mapping[str, tuple[str, ...]],
    candidate: TopicScores,
    *,
    urisk: tuple[float, float] | None = None,
) -> Iterator[VerdictWarning]:
    answered = {*candidate.topics} - {*next(iter(missing.values()))}
    for place, (system, topics) in enumerate(missing.items()):
        free = tuple(topic for topic in topics if topic in answered) if place else ()
        if len(free) > candidate.a_few:  # fewer decide nothing, see ``alignment.refuse_if_unanswered_decide``
            yield warning("free_wins", system=system, topics=free, count=len(candidate.topics))
        elif topics:
            yield warning("missing_topics", system=system, topics=topics)
    if candidate.unknown:
        yield warning("missing_topics", about="unknown_topics", topics=candidate.unknown)
    if (repeated := candidate.repeated) is not None and repeated.differing:
        yield warning(
            "unstable_answers",
            asked=len(repeated.topics),
            topics=repeated.differing,
            change=repeated.change,
            means=repeated.means,
            urisk=urisk,
        )


def _about_the_order(systems: Mapping[str, TopicScores]) -> Iterator[VerdictWarning]:
    for name, scores in systems.items():
        if scores.is_reordered:
            topics, written = len(scores.reordered), scores.in_written_order().mean
            yield warning("order_as_written", system=name, topics=topics, mean=scores.mean, mean_as_written=written)
        if scores.contradicted:
            yield warning("order_as_written", about="rank_contradicts_score", system=name, topics=scores.contradicted)


def _about_the_weights(comparison: Comparison) -> Iterator[VerdictWarning]:
    evidence = comparison.evidence
    if not evidence.uneven or comparison.gate.by_topic:
        return
    figures = {"effective": evidence.effective} | ({} if evidence.clusters is None else {"clusters": evidence.units})
    if evidence.strata is not None:
        figures["strata"] = len(evidence.strata.names)
    if evidence.effective < MIN_TOPICS <= evidence.units:
        yield warning("few_topics", about="few_effective_topics", **figures, needed=MIN_TOPICS)
    elif comparison.ruling.enough_topics:
        yield warning("few_topics", about="few_effective_topics", **figures)


def _about_the_evidence(comparison: Comparison) -> Iterator[VerdictWarning]:
    ruling = comparison.ruling
    student = ruling.interval("student_t")
    flat = student.lower == student.upper
    if flat and not comparison.identical:  # there the answer says so
        yield warning("no_variation")
    if comparison.changed > 0 and (few_changes(ruling) or _cannot_fail(ruling)):
        yield _few_changes(comparison)
    if comparison.evidence.units < FEW_TOPICS:
        yield warning("few_topics", enough=FEW_TOPICS)


def _about_the_answer(comparison: Comparison) -> Iterator[VerdictWarning]:
    ruling, outcome = comparison.ruling, comparison.alone[0]
    if comparison.identical:
        return
    disagree = disagreement(ruling)
    if outcome == "pass" and not ruling.passes:
        yield warning("churn")
    if outcome == "pass" and ruling.gate.must_show and (unseen := _unseen(comparison)):
        yield unseen
    if disagree:
        yield disagree
    better = ruling.gate.side != "both" and all(
        ruling.plain.interval(method).lower > 0 for method in witnesses(ruling.gate)
    )
    if outcome == "pass" and ruling.passes and better and comparison.mean_difference > 0 and not few_changes(ruling):
        yield warning("significantly_better", mean_difference=comparison.mean_difference)


def disagreement(ruling: Ruling | ReferenceRuling) -> VerdictWarning | None:
    """The warning that Student-t and the gate's own method give opposite answers; None where they agree."""
    own = own_method(ruling.gate)
    student_t_passes = ruling.reaches("student_t")
    if ruling.reaches(own) == student_t_passes:
        return None
    return warning(
        "methods_disagree",
        method=own,
        limit=limit_of(ruling.gate, ruling.interval(own)),
        student_t_limit=limit_of(ruling.gate, ruling.interval("student_t")),
        student_t_passes=student_t_passes,
        decisive=ruling.deciding.method,
        break_even_p_value=_asked_break_even(ruling) if student_t_passes else None,
    )


def _asked_break_even(ruling: Ruling | ReferenceRuling) -> float | None:
    """The p-value of the test that decides where the gate's own interval fails and Student-t does not."""
    return ruling.break_even if isinstance(ruling, Ruling) and ruling.gate.is_tested else None


def _unseen(comparison: Comparison) -> VerdictWarning | None:
    """The warning that a pass could be overturned by losses that none of these topics shows.

    Half the largest possible loss is plausible; where that is not known, half the highest score.
    """
    evidence, aligned = comparison.evidence, comparison.aligned
    largest = evidence.largest_loss
    if not math.isfinite(largest):
        largest = float(max(np.max(np.abs(system.values)) for system in (aligned.candidate, aligned.baseline)))
    found = comparison.ruling.unseen_losses(plausible=largest / 2)
    if found is None:
        return None
    share, size = found
    upper = comparison.gate.side == "both" and comparison.ruling.estimate > 0
    return warning("few_topics", about="unseen_changes", change="win" if upper else "loss", share=share, size=size)


def _few_changes(comparison: Comparison) -> VerdictWarning:
    gate, evidence = comparison.gate, comparison.evidence
    topics = comparison.aligned.candidate.topics
    changed = tuple(topic for topic, moved in zip(topics, evidence.moved(gate.alpha), strict=True) if moved)
    return warning(
        "few_changed_topics",
        topics=changed,
        needs_student_t=gate.method != "student_t" and few_changes(comparison.ruling),
        cannot_fail=_cannot_fail(comparison.ruling),
    )


def _cannot_fail(ruling: Ruling) -> bool:
    return not ruling.gate.must_show and cannot_fail(ruling)


def _about_the_pools_evidence(comparison: PoolComparison) -> Iterator[VerdictWarning]:
    gate, n, changed = comparison.gate, comparison.n, comparison.pair.changed
    name = comparison.reference.name
    if comparison.identical:
        pass  # the answer says so
    elif changed == 0:
        yield warning("no_variation", reference=name)
    elif 2.0 ** (1 - changed) > 1 - comparison.ruling.decisive.level:  # as by flips of a fair coin
        topics = comparison.topics
        differing = (comparison.pair.differences != 0).nonzero()[0]
        yield warning(
            "few_changed_topics",
            topics=tuple(topics[i] for i in differing),
            reference=name,
        )
    if n < FEW_TOPICS or (n < ENOUGH_FOR_POOLS and gate.alpha > MODEST_ALPHA):
        yield warning("few_topics")


def _about_the_pools_answer(comparison: PoolComparison) -> Iterator[VerdictWarning]:
    if comparison.ruling.lets_through and not comparison.ruling.passes:
        yield warning("churn")
    if disagree := disagreement(comparison.ruling.decisive):
        yield disagree
    if comparison.vanished:
        largest, largest_at_0 = comparison.largest
        yield warning("georisk_vanishes", largest=largest, largest_at_0=largest_at_0)
