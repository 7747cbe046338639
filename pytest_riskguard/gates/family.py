"""Several gates judged together: what a correction for asking several questions leaves of each one's level."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_riskguard.gates.findings import Family
from pytest_riskguard.gates.kinds import MAX_LEVEL, Gate
from pytest_riskguard.inference import benjamini_hochberg, effective_levels, holm

_ADJUST = {"holm": holm, "benjamini_hochberg": benjamini_hochberg}


def in_families(gates: Sequence[Gate], p_values: Sequence[float | None], *, correction: str) -> list[Family | None]:
    """What each gate's family leaves it; None for gates without a p-value, and for all where nothing is corrected.

    A gate judged at the level that it is left fails exactly where its adjusted p-value is at most 1 less its own
    level, so that interval and p-value never disagree.

    Raises
    ------
    ValueError
        The gates have different levels; they are so many that a level beyond 0.999999 would be left to one.
    """
    members = [i for i, p in enumerate(p_values) if p is not None]
    families: list[Family | None] = [None] * len(gates)
    if correction == "none" or not members:
        return families
    levels = {gates[i].level for i in members}
    if len(levels) > 1:
        raise ValueError(
            f"a family of gates has one level, got {', '.join(f'{level:g}' for level in sorted(levels))}"
        )
    p = [p_values[i] or 0.0 for i in members]
    adjusted = _ADJUST[correction](p)
    thresholds = effective_levels(p, level=levels.pop(), correction=correction)
    for i, adjusted_p, threshold in zip(members, adjusted, thresholds, strict=True):
        level = 1 - float(threshold)
        if level > MAX_LEVEL:
            raise ValueError(
                f"a family of {len(members)} gates at level {gates[i].level:g} leaves level {level:.9g} to one of "
                f"them; intervals go up to {MAX_LEVEL:.6f}: ask at a lower level, or correct fewer gates together"
            )
        families[i] = Family(correction, len(members), level, float(adjusted_p))
    return families
