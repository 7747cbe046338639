"""The levels of gates that are judged together: corrected for their number, and for the looks before this one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pytest_riskguard.gates.chain.looks import Look
from pytest_riskguard.gates.kinds import MAX_LEVEL, Gate
from pytest_riskguard.gates.verdict import Family
from pytest_riskguard.inference import benjamini_hochberg, effective_levels, holm

_ADJUST = {"holm": holm, "benjamini_hochberg": benjamini_hochberg}


def in_families(
    gates: Sequence[Gate], p_values: Sequence[float | None], *, correction: str, look: Look | None = None
) -> list[Family | None]:
    """The level that each gate keeps in its family; None without a p-value, or without a correction.

    A gate judged at that level fails exactly where its adjusted p-value is at most 1 less its own level. A ``look``
    leaves all of them together its share of the error; ``none`` is then the correction for a single gate.
    ``ValueError`` if the gates have different levels, or are so many, or the looks before them, that one would keep a
    level beyond 0.999999.
    """
    members = [i for i, p in enumerate(p_values) if p is not None]
    families: list[Family | None] = [None] * len(gates)
    if (correction == "none" and look is None) or not members:
        return families
    levels = {gates[i].level for i in members}
    if len(levels) > 1:
        raise ValueError(
            f"a family of gates has one level, got {', '.join(f'{level:g}' for level in sorted(levels))}"
        )
    p, method = [p_values[i] or 0.0 for i in members], "holm" if correction == "none" else correction
    own, share = levels.pop(), 1.0 if look is None else look.share
    together = own if look is None else 1 - (1 - own) * share
    if look is not None and together > MAX_LEVEL:
        raise ValueError(
            f"budget: after {look.number - 1} looks at this collection level {together:.9g} would be left, and "
            f"intervals go up to {MAX_LEVEL:.6f}: judge new topics, or remove the budget"
        )
    adjusted = _ADJUST[method](p)
    thresholds = effective_levels(p, level=together, correction=method)
    for i, adjusted_p, threshold in zip(members, adjusted, thresholds, strict=True):
        level = 1 - float(threshold)
        if level > MAX_LEVEL:
            raise ValueError(
                f"a family of {len(members)} gates at level {gates[i].level:g} leaves level {level:.9g} to one of "
                f"them; intervals go up to {MAX_LEVEL:.6f}: choose a lower level, or correct fewer gates together"
            )
        families[i] = Family(correction, len(members), level, _of_all(float(adjusted_p), own, together, share), look)
    return families


def at_the_rules_level(
    families: Sequence[Family | None], p_values: Sequence[float | None], of_look: Sequence[float | None]
) -> list[Family | None]:
    """Families of a look whose levels make a gate's ordinary rule decide as the stricter one of a look does.

    Where the p-value of the stricter rule is r times as large, the ordinary rule is asked for a p-value r times as
    small.
    """
    found: list[Family | None] = []
    for family, p, stricter in zip(families, p_values, of_look, strict=True):
        if family is not None and p is not None and stricter is not None and stricter > p:
            most = 1 - family.level
            if stricter <= most:
                level = 1 - max(most * (p / stricter), p)
            else:
                level = 1 - min(most * (p / stricter), float(np.nextafter(p, 0)))
            family = replace(family, level=min(level, MAX_LEVEL))
        found.append(family)
    return found


def _of_all(adjusted_p: float, own: float, together: float, share: float) -> float:
    """An adjusted p-value in terms of the error of all looks; rounding never moves it across ``1 - own``."""
    if share == 1.0:
        return adjusted_p
    of_all = min(adjusted_p / share, 1.0)
    return min(of_all, 1 - own) if adjusted_p <= 1 - together else max(of_all, float(np.nextafter(1 - own, 1)))
