"""Warnings of a verdict on a pool, as codes with the figures that reports put into words: nothing here decides."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pytest_riskguard.gates.pool.ruling import CANDIDATE, PoolComparison
from pytest_riskguard.gates.ruling import FEW_TOPICS, min_changes
from pytest_riskguard.gates.verdict import VerdictWarning, warning
from pytest_riskguard.gates.warnings import disagreement
from pytest_riskguard.pool_study import yardstick_fit
from pytest_riskguard.risk import looks_like_percent

#: Below this many topics a gate at an alpha above 1 fails too many harmless changes (docs/explanation/georisk.md).
ENOUGH_TOPICS, MODEST_ALPHA = 50, 1.0


def warnings(comparison: PoolComparison, *, rescored: bool) -> tuple[VerdictWarning, ...]:
    """All of them, in a fixed order."""
    raised = list(_about_the_data(comparison, rescored=rescored))
    if comparison.enough_topics:
        raised += _about_the_evidence(comparison)
        raised += _about_the_answer(comparison)
    return tuple(raised)


def _about_the_data(comparison: PoolComparison, *, rescored: bool) -> Iterator[VerdictWarning]:
    for name, missing in zip(comparison.names, comparison.missing, strict=True):
        if missing:
            yield warning("missing_topics", system=name, topics=missing)
    if unknown := comparison.candidate.unknown:
        yield warning("unknown_topics", topics=unknown)
    if rescored:
        yield warning("rescored")
    if looks_like_percent(comparison.scores):
        yield warning("large_scores", largest=float(comparison.scores.max()))


def _about_the_evidence(comparison: PoolComparison) -> Iterator[VerdictWarning]:
    gate, n = comparison.gate, comparison.n
    place = comparison.deciding
    changed = comparison.changed[place]
    name = comparison.references[place].name
    if changed == 0:
        yield warning("no_variation", reference=name)
    elif changed < min_changes(comparison.ruling.level):
        topics = comparison.candidate.topics
        differing = (comparison.pair(comparison.reference).differences != 0).nonzero()[0]
        yield warning(
            "few_changed_topics",
            topics=tuple(topics[i] for i in differing),
            reference=name,
            needs_student_t=gate.method != "student_t",
        )
    if n < FEW_TOPICS or (n < ENOUGH_TOPICS and gate.alpha > MODEST_ALPHA):
        yield warning("few_topics", both_must_pass=n < FEW_TOPICS and gate.method == "auto")


def _about_the_answer(comparison: PoolComparison) -> Iterator[VerdictWarning]:
    gate, ruling = comparison.gate, comparison.ruling
    if comparison.passes and not all(one.passes for one in comparison.rulings):
        yield warning("churn")
    if disagree := disagreement(ruling):
        yield disagree
    yield from _about_the_reference(comparison)
    if comparison.vanished:
        largest, largest_at_0 = comparison.largest(gate.alpha), comparison.largest(0.0)
        yield warning("georisk_vanishes", largest=largest, largest_at_0=largest_at_0)
    if gate.alpha == 0:
        yield warning("georisk_at_alpha_0")


def _about_the_reference(comparison: PoolComparison) -> Iterator[VerdictWarning]:
    """Whether the reference is an odd yardstick for this candidate (ECIR 2014)."""
    row = comparison.reference.row
    if isinstance(row, str):
        return
    others = np.delete(comparison.scores, [CANDIDATE, row], axis=0)
    fit = yardstick_fit(comparison.scores[CANDIDATE], comparison.scores[row], others)
    if fit.odd:
        name = comparison.reference.name
        yield warning("odd_yardstick", reference=name, correlation=fit.correlation, median=fit.median)
