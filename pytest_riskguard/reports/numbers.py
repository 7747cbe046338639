"""Numbers as reports write them, in sentences with as few decimals as tell the truth."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_riskguard.gates.findings import ROUNDING_ERROR

#: Decimals that people read at a glance, and the most that reports print.
MIN_DECIMALS, MAX_DECIMALS = 2, 4


def signed(value: float | None, digits: int = 4) -> str:
    """A number with its sign, in powers of ten if it is huge or would round to 0; never a negative zero."""
    return plain(value, digits, sign="+")


def plain(value: float | None, digits: int = 4, *, sign: str = "") -> str:
    """A number with fixed decimals; a huge one in powers of ten."""
    if value is None or not math.isfinite(value):
        return "undefined"
    value = float(f"{value:.12g}")  # as the JSON report has it, so that both round alike
    if abs(value) >= 1e9 or (sign and 0 < abs(value) < 0.5 * 10**-digits):
        return f"{value:{sign}.1e}"
    return f"{round(value, digits) + 0.0:{sign}.{digits}f}"


def percent(share: float, decimals: int | None = None) -> str:
    """A share in percent, such as ``95%``: with ``decimals`` decimals, by default with only the digits it needs."""
    return f"{100 * share:.6g}%" if decimals is None else f"{100 * share:.{decimals}f}%"


def probability(value: float | None) -> str:
    """A p-value, or ``< 0.0001`` for a smaller one: never 0."""
    if value is None:
        return "undefined"
    return "< 0.0001" if value < 1e-4 else plain(value)


def short(value: float) -> str:
    """A parameter as a person typed it: ``1``, ``0.5``."""
    return f"{value:.12g}"


def decimals(values: Sequence[float], *, apart: Sequence[tuple[float, float]] = ()) -> int:
    """The least number of decimals at which no value looks like 0, and no pair looks equal, unless it is."""
    for digits in range(MIN_DECIMALS, MAX_DECIMALS):
        misleading = any(value and not round(value, digits) for value in values)
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


def brief(value: float) -> str:
    """A difference with its sign and two decimals, or as many more as it takes not to look like 0."""
    return signed(value, decimals([value]))


def as_given(loss: float) -> str:
    """As a person gave it, with at least two decimals: ``0.50``, ``0.125``."""
    return plain(loss, 2) if loss == round(loss, 2) else short(loss)


def floored(star: float) -> str:
    """alpha* rounded down, so that the alpha printed is one that passes."""
    if star > 1e9:  # such a number has no decimals to round, and times 1000 it may overflow
        return f"{star:.3g}"
    scaled = int(star * 1000) / 1000
    return f"{scaled:.3g}" if scaled < 1 else f"{int(scaled * 100) / 100:.2f}"


def limits(lower: float | None, upper: float | None, digits: int = 4) -> str:
    """``[lower, upper]``; empty where there are none."""
    return "" if lower is None or upper is None else f"[{signed(lower, digits)}, {signed(upper, digits)}]"
