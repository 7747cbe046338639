"""Warnings of a verdict, as codes with the figures that reports put into words: nothing here decides."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.could_fail import cannot_fail, few_changes
from pytest_riskguard.gates.kinds import MIN_TOPICS, limit_of
from pytest_riskguard.gates.pool import PoolComparison, PoolRuling
from pytest_riskguard.gates.ruling import Ruling, own_method, witnesses
from pytest_riskguard.gates.verdict import VerdictWarning, warning

#: Below this many topics every interval covers less than its level says.
FEW_TOPICS = 25
#: A baseline may have wrong ids if the judged share of its first documents is below this part of the candidate's.
LITTLE_JUDGED = 0.6
#: Below this many topics a gate over a pool at an alpha above 1 fails too many harmless changes
#: (docs/explanation/georisk.md).
ENOUGH_FOR_POOLS, MODEST_ALPHA = 50, 1.0


def warnings(comparison: Comparison) -> tuple[VerdictWarning, ...]:
    """All warnings of a verdict, in a fixed order."""
    if isinstance(comparison, PoolComparison):
        return (*_about_the_data(comparison, comparison.names), *_about_a_pool(comparison))
    return (*_about_the_data(comparison, ("the candidate", "the baseline")), *_about_a_pair(comparison))


def _about_the_data(comparison: Comparison, names: Sequence[str]) -> Iterator[VerdictWarning]:
    """What was not answered or not judged, and what the order of equal scores hides."""
    aligned, candidate = comparison.aligned, comparison.aligned.candidate
    systems = list(zip(names, aligned.systems, aligned.missing, strict=False))  # nothing is said of replicates
    answered = {*candidate.topics} - {*aligned.missing[0]}
    for name, scores, missing in systems:
        free = tuple(topic for topic in missing if topic in answered)
        if len(free) > candidate.a_few:  # fewer decide nothing, see ``alignment.refuse_if_unanswered_decide``
            yield warning("free_wins", system=name, topics=free, count=len(candidate.topics))
        elif missing:
            yield warning("missing_topics", system=name, topics=missing)
        ours, theirs = candidate.judged, scores.judged
        if ours is not None and theirs is not None and theirs.share < LITTLE_JUDGED * ours.share:
            share, of_candidate = theirs.share, ours.share
            yield warning("free_wins", about="little_judged", system=name, share=share, of_candidate=of_candidate)
    if candidate.unknown:
        yield warning("missing_topics", about="unknown_topics", topics=candidate.unknown)
    for name, scores, _ in systems:
        if scores.is_reordered:
            topics, written = len(scores.reordered), scores.in_written_order().mean
            yield warning("order_as_written", system=name, topics=topics, mean=scores.mean, mean_as_written=written)
        if scores.contradicted:
            yield warning("order_as_written", about="rank_contradicts_score", system=name, topics=scores.contradicted)


def _about_a_pair(comparison: Comparison) -> Iterator[VerdictWarning]:
    """What weakens the evidence, then what stands beside the answer."""
    evidence, ruling, gate = comparison.evidence, comparison.ruling, comparison.gate
    if evidence.uneven and not gate.by_topic:
        needed = MIN_TOPICS if evidence.effective < MIN_TOPICS else None
        if ruling.enough_topics or evidence.units >= MIN_TOPICS:
            yield warning("few_topics", about="few_effective_topics", effective=evidence.effective, needed=needed)
    if comparison.deciding is None:
        return
    student = ruling.interval("student_t")
    powerless, few = not gate.must_show and cannot_fail(ruling), few_changes(ruling)
    if student.lower == student.upper and not comparison.identical:  # there the answer says so
        yield warning("no_variation")
    if comparison.changed > 0 and (few or powerless):
        moved = np.flatnonzero(evidence.moved(gate.alpha)).tolist()
        yield warning(
            "few_changed_topics",
            topics=tuple(comparison.topics[place] for place in moved),
            needs_student_t=gate.method != "student_t" and few,
            cannot_fail=powerless,
        )
    if evidence.units < FEW_TOPICS:
        yield warning("few_topics")
    if comparison.identical:
        return
    passes = comparison.alone[0] == "pass"
    if passes and not ruling.passes:
        yield warning("churn")
    if passes and gate.must_show:
        yield from _unseen_changes(comparison)
    yield from _disagreement(ruling)
    better = gate.side != "both" and all(ruling.plain.interval(method).lower > 0 for method in witnesses(gate))
    if passes and ruling.passes and better and comparison.mean_difference > 0 and not few:
        yield warning("significantly_better", mean_difference=comparison.mean_difference)


def _disagreement(ruling: Ruling | PoolRuling) -> Iterator[VerdictWarning]:
    """Student-t and the gate's own method may give opposite answers; the break-even test then decides for a pair."""
    gate, own = ruling.gate, own_method(ruling.gate)
    if ruling.reaches(own) != ruling.reaches("student_t"):
        yield warning(
            "methods_disagree",
            method=own,
            limit=limit_of(gate, ruling.interval(own)),
            student_t_limit=limit_of(gate, ruling.interval("student_t")),
            decisive=ruling.deciding.method,
        )


def _unseen_changes(comparison: Comparison) -> Iterator[VerdictWarning]:
    """A pass could be overturned by losses that none of these topics shows.

    Half the largest possible loss is plausible; where that is not known, half the highest score.
    """
    ruling, aligned, largest = comparison.ruling, comparison.aligned, comparison.evidence.largest_loss
    if not math.isfinite(largest):
        largest = float(max(np.max(np.abs(system.values)) for system in (aligned.candidate, aligned.baseline)))
    if (found := ruling.unseen_losses(plausible=largest / 2)) is not None:
        upper = comparison.gate.side == "both" and ruling.estimate > 0
        change, (share, size) = "win" if upper else "loss", found
        yield warning("few_topics", about="unseen_changes", change=change, share=share, size=size)


def _about_a_pool(comparison: PoolComparison) -> Iterator[VerdictWarning]:
    """The same of a pool with enough topics."""
    gate, ruling, changed = comparison.gate, comparison.ruling, comparison.pair.changed
    if not ruling.enough_topics:
        return
    if changed == 0 and not comparison.identical:  # there the answer says so
        yield warning("no_variation", reference=comparison.reference)
    elif changed and 2.0 ** (1 - changed) > 1 - ruling.deciding.level:  # as by flips of a fair coin
        topics = tuple(comparison.topics[place] for place in np.flatnonzero(comparison.pair.differences).tolist())
        yield warning("few_changed_topics", topics=topics, reference=comparison.reference)
    if comparison.n < FEW_TOPICS or (comparison.n < ENOUGH_FOR_POOLS and gate.alpha > MODEST_ALPHA):
        yield warning("few_topics")
    if ruling.lets_through and not ruling.passes:
        yield warning("churn")
    yield from _disagreement(ruling)
    if comparison.vanished:
        largest, largest_at_0 = comparison.largest
        yield warning("georisk_vanishes", largest=largest, largest_at_0=largest_at_0)
