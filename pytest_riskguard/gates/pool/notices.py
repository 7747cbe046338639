"""What a verdict on a pool says beside its answer: nothing here decides."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pytest_riskguard.gates.pool.comparison import CANDIDATE, PoolComparison
from pytest_riskguard.gates.ruling import FEW_TOPICS, min_changes, own_method
from pytest_riskguard.gates.verdict import NAMES, Notice
from pytest_riskguard.pool_study import yardstick_fit
from pytest_riskguard.risk import looks_like_percent

#: Below this many topics a gate at an alpha above 1 fails too many harmless changes (docs/explanation/georisk.md).
ENOUGH_TOPICS, MODEST_ALPHA = 50, 1.0


def notices(comparison: PoolComparison, *, rescored: bool) -> tuple[Notice, ...]:
    """The warnings of a verdict, in a fixed order."""
    found = list(_about_the_data(comparison, rescored=rescored))
    if comparison.enough_topics:
        found += _about_the_evidence(comparison)
        found += _about_the_answer(comparison)
    return tuple(found)


def _about_the_data(comparison: PoolComparison, *, rescored: bool) -> Iterator[Notice]:
    for name, missing in zip(comparison.names, comparison.missing, strict=True):
        if missing:
            yield Notice(
                "missing_topics", f"{name} did not answer {_topics(missing)} (they score 0): {', '.join(missing)}"
            )
    if unknown := comparison.candidate.unknown:
        text = f"the candidate answers {_topics(unknown)} that nobody judged: {', '.join(unknown)}"
        yield Notice("unknown_topics", text)
    if rescored:
        yield Notice(
            "rescored",
            "judgements or scoring library changed since a baseline was stored: it was scored anew from its run",
        )
    if looks_like_percent(comparison.scores):
        yield Notice(
            "large_scores",
            f"scores go up to {comparison.scores.max():g}: ZRisk grows with the square root of the scale, so these "
            "figures cannot be set beside those of scores from 0 to 1",
        )


def _about_the_evidence(comparison: PoolComparison) -> Iterator[Notice]:
    gate, n = comparison.gate, comparison.n
    place = comparison.deciding
    changed = comparison.changed[place]
    name = comparison.references[place].name
    if changed == 0:
        yield Notice("no_variation", f"no topic differs from {name}")
    elif changed < min_changes(comparison.ruling.level):
        topics = comparison.candidate.topics
        moved = [topics[i] for i in (comparison.pair(comparison.reference).differences != 0).nonzero()[0]]
        text = f"only {changed} of {n} topics differ from {name} ({', '.join(moved)})"
        if gate.method != "student_t":
            text += ": the gate fails only if Student-t (jackknife) agrees"
        yield Notice("few_changed_topics", text)
    if n < FEW_TOPICS or (n < ENOUGH_TOPICS and gate.alpha > MODEST_ALPHA):
        text = f"only {n} topics: with so few, gates on GeoRisk fail more harmless changes than their level says"
        if n < FEW_TOPICS and gate.method == "auto":
            text += ", and BCa and Student-t must both pass"
        yield Notice("few_topics", text)


def _about_the_answer(comparison: PoolComparison) -> Iterator[Notice]:
    gate, ruling = comparison.gate, comparison.ruling
    if comparison.passes and not all(one.passes for one in comparison.rulings):
        yield Notice("churn", "fails at this alpha only because losses weigh more; on_churn: warn lets it through")
    own = own_method(gate)
    limits = {method: ruling.interval(method).upper for method in dict.fromkeys((own, "student_t"))}
    says = {method: ruling.margin_by(method) >= 0 for method in limits}
    if says[own] != says["student_t"]:
        word = {True: "passes", False: "fails"}
        yield Notice(
            "methods_disagree",
            f"by Student-t it {word[says['student_t']]} (upper limit {limits['student_t']:+.3g}), by {NAMES[own]} it "
            f"{word[says[own]]} ({limits[own]:+.3g}); {NAMES[ruling.decisive]} decided",
        )
    yield from _about_the_reference(comparison)
    if comparison.vanished:
        yield Notice(
            "georisk_vanishes",
            f"at alpha {gate.alpha:g} the largest GeoRisk of the pool is {comparison.largest(gate.alpha):.2g}, at "
            f"alpha 0 it is {comparison.largest(0.0):.2g}: losses weigh so much that hardly anything is left to "
            "compare, so the gate does not pass; choose a smaller alpha",
        )
    if gate.alpha == 0:
        yield Notice(
            "georisk_at_alpha_0", "at alpha 0 GeoRisk says little more than the mean: ask at an alpha above 0"
        )


def _about_the_reference(comparison: PoolComparison) -> Iterator[Notice]:
    """Whether the reference is an odd yardstick for this candidate (ECIR 2014)."""
    row = comparison.reference.row
    if isinstance(row, str):
        return
    others = np.delete(comparison.scores, [CANDIDATE, row], axis=0)
    fit = yardstick_fit(comparison.scores[CANDIDATE], comparison.scores[row], others)
    if fit.odd:
        name = comparison.reference.name
        yield Notice(
            "odd_yardstick",
            f"{name} is an odd yardstick for this candidate: over topics their scores correlate by "
            f"{fit.correlation:.2f}, those of the other systems with {name} by {fit.median:.2f} (median); compare "
            "with the median of the pool as well (reference: median)",
        )


def _topics(topics: tuple[str, ...]) -> str:
    return f"{len(topics)} {'topic' if len(topics) == 1 else 'topics'}"
