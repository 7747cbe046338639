"""The figures of a verdict on a pool as text: GeoRisk of candidate and reference, the candidate's rank, the pool."""

from __future__ import annotations

from pytest_riskguard.gates.findings import AgainstReference, PoolFigures
from pytest_riskguard.reports.shown import MAX_NAME, Shown, names
from pytest_riskguard.text import clean, counted, listed, percent, probability, short, signed

#: Names of systems that a line shows; others are counted.
_MAX_NAMED = 6


def systems(shown: Shown, pool: PoolFigures) -> list[str]:
    """GeoRisk of both sides, the references beside the one that decided, the rank, other alphas, the pool."""
    lines = [_values(shown, pool)]
    if len(pool.references) > 1:
        lines.append(_references(pool))
    lines.append(_rank(pool))
    if len(pool.curve) > 1:
        lines.append(_curve(shown, pool))
    lines.append(f"pool of {len(pool.systems)}: {names(pool.systems, most=_MAX_NAMED)}")
    return lines


def _values(shown: Shown, pool: PoolFigures) -> str:
    point = next(point for point in pool.curve if point.alpha == shown.verdict.alpha)
    return (
        f"{shown.georisk_name}: {shown.level_of_risk(point.reference)} -> {shown.level_of_risk(point.candidate)}; "
        f"difference {shown.value(shown.verdict.estimates.georisk_difference or 0.0)}"
    )


def _references(pool: PoolFigures) -> str:
    failed = sorted((one for one in pool.references if not one.passes), key=lambda one: one.p_value)
    of_all = counted(len(pool.references), "reference")
    if not failed:
        return f"significantly below none of {of_all} (Holm)"
    return f"significantly below {len(failed)} of {of_all} (Holm): " + listed(
        tuple(map(_reference, failed)), most=_MAX_NAMED
    )


def _reference(against: AgainstReference) -> str:
    p_value = probability(against.adjusted_p_value)
    return f"{clean(against.reference)} ({signed(against.georisk_difference)}, adjusted p {p_value})"


def _rank(pool: PoolFigures) -> str:
    text = f"rank {pool.rank} of {len(pool.systems)} by GeoRisk; best in {percent(pool.rank_probabilities[0], 1)}"
    if (below := pool.probability_below.get(pool.decided_by)) is not None:
        text += f", below {clean(pool.decided_by, limit=MAX_NAME)} in {percent(below, 1)}"
    return f"{text} of {pool.replicates} replicates"


def _curve(shown: Shown, pool: PoolFigures) -> str:
    points = ", ".join(
        f"{short(point.alpha)}: {shown.level_of_risk(point.reference)} -> {shown.level_of_risk(point.candidate)}"
        for point in pool.curve
    )
    return f"GeoRisk at each alpha ({clean(pool.decided_by, limit=MAX_NAME)} -> candidate): {points}"


def loss_or_churn(shown: Shown) -> str | None:
    """Which of the two it was."""
    verdict = shown.verdict
    if verdict.reason == "loss":
        return "loss: GeoRisk is significantly lower at alpha 0 too, where a loss counts no more than a win"
    if not shown.is_churn:
        return None
    text = (
        "churn: at alpha 0 GeoRisk is not significantly lower; here a loss counts "
        f"{short(1 + verdict.alpha)} times, and that makes the difference"
    )
    return text if verdict.on_churn == "warn" else f"{text}. on_churn: warn lets churn pass with a warning."
