"""Warnings of a verdict, as codes with the figures that reports put into words: nothing here decides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pytest_riskguard.gates.kinds import MIN_TOPICS
from pytest_riskguard.gates.ruling import FEW_TOPICS, Comparison, Ruling, limit_of, own_method
from pytest_riskguard.gates.verdict import Outcome, VerdictWarning, warning

if TYPE_CHECKING:
    from pytest_riskguard.gates.pool.ruling import ReferenceRuling

#: Intervals that take the law of the mean for Student's.
PARAMETRIC = ("student_t",)
#: From this many topics on the paper finds parametric and nonparametric intervals alike (ADCS 2019).
ENOUGH_FOR_STUDENT = 250
#: With fewer changed topics an interval that decides alone fails harmless changes more often than it says.
ENOUGH_CHANGES = 25


def warnings(comparison: Comparison, outcome: Outcome, *, rescored: bool) -> tuple[VerdictWarning, ...]:
    """All of them, in a fixed order; ``rescored`` says that a stored baseline was scored again."""
    raised = list(_about_the_data(comparison, rescored=rescored))
    raised += _about_the_weights(comparison)
    if comparison.ruling.has_intervals and comparison.ruling.enough_topics:
        raised += _about_the_evidence(comparison)
        raised += _about_the_answer(comparison, outcome)
    return tuple(raised)


def _about_the_data(comparison: Comparison, *, rescored: bool) -> Iterator[VerdictWarning]:
    aligned = comparison.aligned
    if missing := aligned.missing_in_candidate:
        yield warning("missing_topics", system="the candidate", topics=missing)
    if missing := aligned.missing_in_baseline:
        yield warning("missing_topics", system="the baseline", topics=missing)
    if unknown := aligned.candidate.unknown:
        yield warning("unknown_topics", topics=unknown)
    if rescored:
        yield warning("rescored")


def _about_the_weights(comparison: Comparison) -> Iterator[VerdictWarning]:
    effective = comparison.evidence.effective
    if not comparison.evidence.uneven or comparison.gate.by_topic:
        return
    if effective < MIN_TOPICS <= comparison.n:
        yield warning("few_effective_topics", effective=effective, needed=MIN_TOPICS)
    elif comparison.ruling.enough_topics:
        needs_student_t = own_method(comparison.gate) != "student_t"
        yield warning("few_effective_topics", effective=effective, needs_student_t=needs_student_t)


def _about_the_evidence(comparison: Comparison) -> Iterator[VerdictWarning]:
    gate, ruling = comparison.gate, comparison.ruling
    student = ruling.interval("student_t")
    flat = student.lower == student.upper
    if comparison.changed == 0:
        yield warning("no_variation", may_change=_may_change(comparison))
    elif flat:
        yield warning("no_variation")
    if ruling.few_changes and comparison.changed > 0:
        yield _few_changes(comparison)
    if comparison.n < FEW_TOPICS:
        both_must_pass = gate.method == "auto" and not ruling.few_changes and not flat
        yield warning("few_topics", enough=FEW_TOPICS, both_must_pass=both_must_pass)
    if gate.method in PARAMETRIC and comparison.n < ENOUGH_FOR_STUDENT and not flat:
        yield warning("parametric_interval", enough=ENOUGH_FOR_STUDENT)


def _about_the_answer(comparison: Comparison, outcome: Outcome) -> Iterator[VerdictWarning]:
    ruling = comparison.ruling
    if ruling.passes and not ruling.holds:
        yield warning("loss_within_noise")
    disagree = disagreement(ruling)
    if outcome == "fail" and not ruling.passes and disagree and _alone(comparison):
        yield warning("sparse_changes")
    if outcome == "pass" and not ruling.passes:
        yield warning("churn")
    if disagree:
        yield disagree
    better = all(ruling.plain.interval(method).lower > 0 for method in ruling.plain.rule.witnesses)
    if outcome == "pass" and ruling.passes and better and not ruling.few_changes:
        yield warning("refresh_baseline", mean_difference=comparison.mean_difference)


def disagreement(ruling: Ruling | ReferenceRuling) -> VerdictWarning | None:
    """The warning that Student-t and the gate's own method, if they do, say the opposite of each other."""
    own = own_method(ruling.gate)
    student_t_passes = ruling.margin_by("student_t") >= 0
    if (ruling.margin_by(own) >= 0) == student_t_passes:
        return None
    return warning(
        "methods_disagree",
        method=own,
        limit=limit_of(ruling.gate, ruling.interval(own)),
        student_t_limit=limit_of(ruling.gate, ruling.interval("student_t")),
        student_t_passes=student_t_passes,
        decisive=ruling.decisive,
    )


def _alone(comparison: Comparison) -> bool:
    """Whether on few changes an interval decided without Student-t."""
    return (
        comparison.gate.is_tested
        and comparison.changed < ENOUGH_CHANGES
        and not comparison.ruling.few_changes
        and not comparison.evidence.uneven
        and comparison.ruling.decisive != "student_t"
    )


def _may_change(comparison: Comparison) -> float | None:
    """The largest share of all topics that none of these n would show, at this confidence, where it matters."""
    if comparison.gate.side != "lower":
        return None
    return float(1 - ((1 - comparison.gate.level) / 2) ** (1 / comparison.n))


def _few_changes(comparison: Comparison) -> VerdictWarning:
    gate, evidence = comparison.gate, comparison.evidence
    topics = comparison.aligned.candidate.topics
    changed = tuple(topic for topic, moved in zip(topics, evidence.moved(gate.alpha), strict=True) if moved)
    effective = evidence.effective_changes(gate.alpha)
    return warning(
        "few_changed_topics",
        topics=changed,
        effective=effective if effective < comparison.changed else None,
        needs_student_t=gate.method != "student_t",
        cannot_fail=gate.side != "lower" and comparison.ruling.cannot_fail,
    )
