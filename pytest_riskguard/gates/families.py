"""The levels of gates that are judged together: corrected for their number, and for the looks before this one."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from pytest_riskguard.gates.comparison import Comparison
from pytest_riskguard.gates.evidence import Evidence
from pytest_riskguard.gates.kinds import MAX_LEVEL
from pytest_riskguard.gates.looks import Look
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


def in_families(
    comparisons: Sequence[Comparison | None], *, correction: str, look: Look | None = None
) -> list[Family | None]:
    """What each gate has to meet in its family; None without a p-value, or without a correction.

    A gate judged by its family fails exactly where its adjusted p-value is at most 1 less its own level. A ``look``,
    which gates over a pool have none of, leaves all of them together its share of the error, by the stricter rule
    for one of many looks; ``none`` is then the correction for a single gate. ``auto`` is the draws that suit what is
    compared, and Holm's method where none do, or for a look. ``ValueError`` if the gates have different levels, or
    so many are judged, or were before, that one would keep a level beyond 0.999999.
    """
    families: list[Family | None] = [None] * len(comparisons)
    members = {place: one for place, one in enumerate(comparisons) if one is not None and one.p_value is not None}
    if (correction == "none" and look is None) or not members:
        return families
    family, drawn = [*members.values()], None
    own, *others = sorted({one.gate.level for one in family})
    if others:
        levels = ", ".join(f"{level:g}" for level in (own, *others))
        raise ValueError(f"a family of gates has one level, got {levels}")
    ordinary = [one.p_value or 0.0 for one in family]
    p = ordinary if look is None else [1.0 if one.identical else one.ruling.p_value_of_look for one in family]
    if correction == "auto" and look is None and not any(one.gate.is_pool for one in family):
        topics, measures = [one.topics for one in family], [one.aligned.candidate.measure for one in family]
        drawn = adjusted_by_draws([one.ruling for one in family], p, topics=topics, measures=measures)
    if drawn is not None:
        found = [Family(drawn[0], len(p), own, adjusted) for adjusted in drawn[1].tolist()]
    else:
        found = at_levels(p, own, correction=correction, look=look)
    for place, one, by_rule, stricter in zip(members, found, ordinary, p, strict=True):
        families[place] = _for_the_rule(one, by_rule, stricter)
    return families


def at_levels(p: Sequence[float], own: float, *, correction: str, look: Look | None) -> list[Family]:
    """Families whose gates keep a level each."""
    adjusted = holm(p)
    together = own if look is None else 1 - (1 - own) * look.share
    levels = np.array([together])
    if together <= MAX_LEVEL:
        levels = 1 - effective_levels(p, level=together)
    if np.max(levels) > MAX_LEVEL:
        looks = "" if look is None else f"budget: after {look.number - 1} looks at this collection "
        raise ValueError(
            f"{looks}level {np.max(levels):.9g} would be left to one of {len(p)} gates at level {own:g}, and "
            f"intervals go up to {MAX_LEVEL:.6f}: choose a lower level, correct fewer gates together, or judge "
            "new topics"
        )
    if look is not None:  # in terms of the error of all looks; rounding never moves it across 1 - own
        of_all, fails = np.minimum(adjusted / look.share, 1.0), adjusted <= 1 - together
        adjusted = np.where(fails, np.minimum(of_all, 1 - own), np.maximum(of_all, np.nextafter(1 - own, 1)))
    pairs = zip(levels.tolist(), adjusted.tolist(), strict=True)
    return [
        Family("none" if correction == "none" else HOLM, len(p), level, adjusted_p, look)
        for level, adjusted_p in pairs
    ]


def _for_the_rule(family: Family, p: float, stricter: float) -> Family:
    """The family with the level that makes a gate's ordinary rule decide as the stricter one of a look does.

    Where the p-value of the stricter rule is r times as large, the ordinary rule is asked for a p-value r times as
    small.
    """
    if stricter <= p:
        return family
    most = 1 - family.level
    asked = most * (p / stricter)
    asked = max(asked, p) if stricter <= most else min(asked, float(np.nextafter(p, 0)))
    return replace(family, level=min(1 - asked, MAX_LEVEL))


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
