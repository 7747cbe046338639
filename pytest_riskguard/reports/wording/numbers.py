"""Numbers in sentences and headlines: as few decimals as tell the truth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from pytest_riskguard.gates.findings import ROUNDING_ERROR
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.text import plain

#: Decimals that people read at a glance, and the most that reports print.
MIN_DECIMALS, MAX_DECIMALS = 2, 4


def decimals(values: Iterable[float], *, apart: Sequence[tuple[float, float]] = ()) -> int:
    """The least number of decimals at which no value looks like 0, and no pair looks equal, unless it is."""
    finite = [value for value in values if math.isfinite(value)]
    for digits in range(MIN_DECIMALS, MAX_DECIMALS):
        misleading = any(value and not round(value, digits) for value in finite)
        misleading |= any(one != other and round(one, digits) == round(other, digits) for one, other in apart)
        if not misleading:
            return digits
    return MAX_DECIMALS


def from_to(before: float, after: float) -> str:
    """``0.58 -> 0.65``, with enough decimals to show about how far it moved."""
    digits, moved = decimals((before, after), apart=[(before, after)]), after - before
    while digits < MAX_DECIMALS and abs(round(after, digits) - round(before, digits) - moved) > abs(moved) / 2:
        digits += 1
    return f"{plain(before, digits)} -> {plain(after, digits)}"


def size(value: float) -> str:
    """How large a number is, without its sign; in powers of ten where four decimals would not show it."""
    value = abs(value)
    if not math.isfinite(value):
        return "undefined"
    return f"{value:.1e}" if value >= 1e9 or 0 < value < 0.00005 else plain(value, decimals([value]))


def share(part: float) -> str:
    """A share in whole percent; 0% and 100% only where they are exact."""
    rounded = round(100 * part)
    if rounded == 100 and part < 1 - ROUNDING_ERROR:
        return "over 99%"
    return "under 1%" if rounded == 0 and part > 0 else f"{rounded}%"


def digits_of(verdict: Verdict) -> int:
    """The decimals of the risk and its limits: enough to tell them from 0 and from the bound."""
    risk, interval = Shown(verdict).risk or 0.0, verdict.decisive_interval
    if interval is None:
        return decimals([risk])
    limits = (interval.lower, interval.upper)
    bounds = (0.0 - verdict.tolerance, verdict.tolerance)[: 2 if verdict.asked.side == "both" else 1]
    apart = [(limit, bound) for limit in limits for bound in bounds]
    return decimals((risk, *limits, *bounds), apart=apart)
