"""Families: gates that are judged together, at levels or p-values corrected for their number."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import MAX_LEVEL
from pytest_riskguard.gates.ruling import Ruling
from pytest_riskguard.gates.verdict import FLIPS, HOLM, POOL, Family
from pytest_riskguard.inference.families import effective_levels, holm, joint_flips, pooled_draws
from pytest_riskguard.risk.checks import FloatArray

#: Disjoint topics: with fewer gates that changed, or fewer changes of all of them, nothing is drawn from a pool.
POOLED_GATES, POOLED_CHANGES = 3, 30
#: The same topics: with fewer changes of one gate, its flips do not tell how skewed changes are.
FLIPPED_CHANGES = 40
#: Beyond so many changes of all gates drawing takes a second, and Holm's method decides nearly the same.
MOST_POOLED, MOST_FLIPPED = 2_000, 20_000
#: Beyond this level too few draws lie in the tail.
MAX_DRAWN_LEVEL = 0.99


def in_families(comparisons: Sequence[Comparison | None]) -> list[Family | None]:
    """What each gate has to meet in its family; None without a p-value.

    A gate judged by its family fails exactly where its adjusted p-value is at most 1 less its own level: by the draws
    that suit what is compared, and by Holm's method where none do. ``ValueError`` if the gates have different levels,
    or so many are judged that one would keep a level beyond 0.999999.
    """
    families: list[Family | None] = [None] * len(comparisons)
    members = {place: one for place, one in enumerate(comparisons) if one is not None and one.p_value is not None}
    if not members:
        return families
    family, drawn = [*members.values()], None
    own, *others = sorted({one.gate.level for one in family})
    if others:
        levels = ", ".join(f"{level:g}" for level in (own, *others))
        raise ValueError(f"a family of gates has one level, got {levels}")
    p = [one.p_value or 0.0 for one in family]
    if not any(one.gate.is_pool for one in family):
        topics, measures = [one.topics for one in family], [one.aligned.candidate.measure for one in family]
        drawn = adjusted_by_draws([one.ruling for one in family], p, topics=topics, measures=measures)
    if drawn is None:
        method, adjusted, levels_left = HOLM, holm(p), 1 - effective_levels(p, level=own)
    else:
        method, adjusted, levels_left = *drawn, np.full(len(p), own)
    if np.max(levels_left) > MAX_LEVEL:
        raise ValueError(
            f"level {np.max(levels_left):.9g} would be left to one of {len(p)} gates at level {own:g}, and intervals "
            f"go up to {MAX_LEVEL:.6f}: choose a lower level, or correct fewer gates together"
        )
    for place, level, adjusted_p in zip(members, levels_left.tolist(), adjusted.tolist(), strict=True):
        families[place] = Family(method, len(p), level, adjusted_p)
    return families


def adjusted_by_draws(
    rulings: Sequence[Ruling],
    p_values: Sequence[float],
    *,
    topics: Sequence[Sequence[Hashable]],
    measures: Sequence[str | None],
) -> tuple[str, FloatArray] | None:
    """The draws that suit these gates, and the p-values that they adjust; None where none suit.

    Draws from the pool of all changes for gates on disjoint topics that ask one question in one measure, joint flips
    for gates on the same topics; none with weights, clusters or replicates. The adjusted p-value is the
    larger of the gate's own and of twice that of the draws, where churn only warns at both of its conditions.
    """
    gates, evidence = [one.gate for one in rulings], [one.evidence for one in rulings]
    if max(gate.level for gate in gates) > MAX_DRAWN_LEVEL:
        return None
    if not all(one.counts_alike and not one.noisy for one in evidence):
        return None
    changed = [one.changed(0.0) for one in evidence]
    asked = [(gate.alpha, gate.tolerance) for gate in gates]
    if all(some == topics[0] for some in topics):
        method, draw = FLIPS, _flipped
        suits = len(gates) > 1 and min(changed) >= FLIPPED_CHANGES and sum(changed) <= MOST_FLIPPED
    else:
        questions = {(*own, gate.tradeoff, one) for own, gate, one in zip(asked, gates, measures, strict=True)}
        disjoint = len(questions) == 1 and len(set().union(*topics)) == sum(map(len, topics))
        method, draw = POOL, _pooled
        suits = disjoint and sum(map(bool, changed)) >= POOLED_GATES and POOLED_CHANGES <= sum(changed) <= MOST_POOLED
    if not suits:
        return None
    plain = [(0.0, 0.0) if gate.on_churn == "warn" else own for gate, own in zip(gates, asked, strict=True)]
    p = draw(evidence, asked) if asked == plain else np.maximum(draw(evidence, asked), draw(evidence, plain))
    return method, np.maximum(p_values, np.minimum(2 * p, 1.0))


def _pooled(evidence: Sequence[Evidence], conditions: Sequence[tuple[float, float]]) -> FloatArray:
    """One-sided p-values of gates on disjoint topics, all at one alpha and tolerance."""
    alpha, tolerance = conditions[0]
    return pooled_draws([one.scores(alpha) for one in evidence], bound=-tolerance)


def _flipped(evidence: Sequence[Evidence], conditions: Sequence[tuple[float, float]]) -> FloatArray:
    """One-sided p-values of gates on the same topics, each at its alpha and tolerance."""
    n = evidence[0].n
    gains, losses, lost = np.zeros((3, len(evidence), n))
    for i, (one, (alpha, _)) in enumerate(zip(evidence, conditions, strict=True)):
        moved = one.moved(alpha)
        gains[i, moved], losses[i, moved], lost[i, moved] = one.stakes(alpha)
    some = np.any(losses > 0, axis=0)
    tolerated = [n * tolerance for _, tolerance in conditions]
    return joint_flips(gains[:, some], losses[:, some], lost[:, some] > 0, n=n, tolerated=tolerated)
