"""From values to places on an axis, and the round values that its ticks stand at."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

#: Steps between ticks, times a power of ten.
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)

#: Values that differ by less are drawn as equal.
_SMALLEST = 1e-200


@dataclass(frozen=True)
class Scale:
    """Values from ``low`` to ``high`` on an axis from ``start`` to ``end``; with ``symlog`` as ``log(1 + value)``."""

    low: float
    high: float
    start: float = 0.0
    end: float = 1.0
    symlog: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value; one outside the axis is at its end."""
        low, high, value = (self._bent(number) for number in (self.low, self.high, value))
        share = (value / 2 - low / 2) / (high / 2 - low / 2)  # halves, since the difference may be infinite
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def _bent(self, value: float) -> float:
        return math.copysign(math.log1p(abs(value)), value) if self.symlog else value

    def between(self, start: float, end: float) -> Scale:
        """The same values on another axis."""
        return replace(self, start=start, end=end)

    def ticks(self, most: int) -> list[float]:
        """Round values on the axis, about ``most`` of them."""
        if self.symlog:
            powers = (10.0**power for power in range(int(math.log10(max(self.high, 1.0))) + 1))
            return [0.0, *(power for power in powers if power <= self.high)]
        return round_values(self.low, self.high, most)


def scale_of(values: Iterable[float], *, most: int = 5, zero: bool = False) -> Scale:
    """A scale on which all of the values lie, from one round value to another; with ``zero`` 0 is on it as well."""
    numbers = [*values, *([0.0] if zero else [])] or [0.0]
    low, high = min(numbers), max(numbers)
    if not high - low > max(1e-12 * abs(low), 1e-12 * abs(high), _SMALLEST):
        half = abs(high) / 2 if abs(high) > _SMALLEST else 0.5
        low, high = low - half, high + half
    step = _step(low, high, most)
    down, up = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    return Scale(down, up)


def _step(low: float, high: float, most: int) -> float:
    rough = high / most - low / most
    power = 10.0 ** math.floor(math.log10(rough))
    return next((step * power for step in _STEPS if step * power >= rough * (1 - 1e-9)), 10 * power)


def round_values(low: float, high: float, most: int) -> list[float]:
    """Multiples of a round step from ``low`` to ``high``, at most one more than ``most``."""
    step = _step(low, high, most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [place * step for place in range(first, min(last, first + 2 * most) + 1)]


def tick_labels(ticks: list[float]) -> list[str]:
    """The ticks as text, all with the decimals that they need to differ."""
    largest = max(map(abs, ticks), default=0.0)
    if largest >= 1e6 or 0 < largest < 1e-4:
        return ["0" if tick == 0 else f"{tick:.3g}" for tick in ticks]
    for decimals in range(8):
        labels = [f"{round(tick, decimals) + 0.0:.{decimals}f}" for tick in ticks]
        if all(abs(float(label) - tick) <= 1e-6 * largest for label, tick in zip(labels, ticks, strict=True)):
            return labels
    return [f"{tick:.6g}" for tick in ticks]
