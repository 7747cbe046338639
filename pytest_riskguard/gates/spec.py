"""What a gate asks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["not_significantly_risky"]
Method = Literal["auto", "bca", "percentile", "student_t"]
Tradeoff = Literal["linear"]
Response = Literal["fail", "warn"]
Missing = Literal["refuse", "zero"]

KINDS: tuple[str, ...] = get_args(Kind)
METHODS: tuple[str, ...] = get_args(Method)
TRADEOFFS: tuple[str, ...] = get_args(Tradeoff)
RESPONSES: tuple[str, ...] = get_args(Response)
MISSING: tuple[str, ...] = get_args(Missing)
#: A loss that counts a billion times is a ban on losses: `no loss at all` is another question.
LARGEST_ALPHA = 1e9
#: Below this many topics no interval is trusted and a gate is inconclusive.
FEWEST_TOPICS = 10
#: Confidence levels that an interval can be asked for.
LEVELS = (1e-6, 1 - 1e-6)


@dataclass(frozen=True)
class Gate:
    """One question about one candidate; the scores it is asked of are given to ``judge``.

    Attributes
    ----------
    name : str
        As the report names the gate.
    kind : str
        ``not_significantly_risky``: the upper limit of URisk's interval is at least ``-tolerance``.
    alpha : float
        Extra weight of a loss, at least 0: a loss counts ``1 + alpha`` times.
    level : float
        Confidence of the two-sided interval, from 0.000001 to 0.999999: beyond, limits are those of the data alone.
    method : str
        ``auto``, or the interval that alone decides.
    tolerance : float
        Loss of URisk that is accepted, at least 0, in units of the measure.
    tradeoff : str
        How a difference becomes a trade-off score.
    on_churn, on_inconclusive : str
        ``fail`` or ``warn``.
    max_mde : float or None
        The gate is inconclusive when it could not have seen a loss of this size (units of the measure).
    missing : str
        What per-topic scores that lack a topic of the other side mean: ``refuse`` (incomparable) or ``zero``.
    """

    name: str
    kind: Kind = "not_significantly_risky"
    alpha: float = 1.0
    level: float = 0.95
    method: Method = "auto"
    tolerance: float = 0.0
    tradeoff: Tradeoff = "linear"
    on_churn: Response = "fail"
    on_inconclusive: Response = "fail"
    max_mde: float | None = None
    missing: Missing = "refuse"

    def __post_init__(self) -> None:
        _one_of("kind", self.kind, KINDS)
        _one_of("method", self.method, METHODS)
        _one_of("tradeoff", self.tradeoff, TRADEOFFS)
        _one_of("on_churn", self.on_churn, RESPONSES)
        _one_of("on_inconclusive", self.on_inconclusive, RESPONSES)
        _one_of("missing", self.missing, MISSING)
        _at_least_zero("alpha", self.alpha)
        if self.alpha > LARGEST_ALPHA:
            raise ValueError(f"alpha must be at most {LARGEST_ALPHA:g}, got {self.alpha!r}")
        _at_least_zero("tolerance", self.tolerance)
        if self.max_mde is not None:
            _at_least_zero("max_mde", self.max_mde)
        if not LEVELS[0] <= self.level <= LEVELS[1]:
            raise ValueError(f"level must be between {LEVELS[0]:f} and {LEVELS[1]:f}, got {self.level!r}")


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")


def _at_least_zero(name: str, value: float) -> None:
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{name} must be a finite number, at least 0, got {value!r}")
