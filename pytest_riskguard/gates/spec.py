"""What a gate asks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import Literal, get_args

Kind = Literal["not_significantly_risky", "georisk_not_worse", "not_inferior", "no_topic_collapse"]
Method = Literal["auto", "student_t", "basic", "studentized", "percentile", "bca"]
Tradeoff = Literal["linear", "smooth"]
Convention = Literal["plus", "minus"]
Response = Literal["fail", "warn"]
Missing = Literal["refuse", "zero"]
Correction = Literal["none", "holm", "benjamini_hochberg"]

KINDS: tuple[str, ...] = get_args(Kind)
METHODS: tuple[str, ...] = get_args(Method)
TRADEOFFS: tuple[str, ...] = get_args(Tradeoff)
CONVENTIONS: tuple[str, ...] = get_args(Convention)
RESPONSES: tuple[str, ...] = get_args(Response)
MISSING: tuple[str, ...] = get_args(Missing)
CORRECTIONS: tuple[str, ...] = get_args(Correction)
#: A loss that counts a billion times is a ban on losses, which ``protected`` asks for directly.
LARGEST_ALPHA = 1e9
#: The alpha at which the smooth trade-off was fitted (AIRS 2019): it is no parameter of it.
SMOOTH_ALPHA = 1.0
#: Below this many topics no interval is trusted and a gate is inconclusive.
FEWEST_TOPICS = 10
#: The fewest topics of a slice that is not asked for by name.
SMALLEST_SLICE = 25
#: Confidence levels that an interval can be asked for.
LEVELS = (1e-6, 1 - 1e-6)

#: Intervals of GeoRisk, which is no mean: the others are of means.
GEORISK_METHODS = ("auto", "student_t", "percentile", "bca")
#: The highest level of an interval of GeoRisk: beyond, replicates would be too few in the tail.
GEORISK_LEVEL = 0.9999
#: Baselines that are computed topic by topic from several.
COMPUTED = ("mean", "median", "max")
#: Kinds that test, and so have a p-value and may be members of a family.
TESTED = ("not_significantly_risky", "georisk_not_worse")
#: References of GeoRisk that are no single baseline.
ANY, MEDIAN = "any", "median"

#: Options that would look as if they decided where they do not, by kind.
FOREIGN: dict[str, tuple[str, ...]] = {
    "not_significantly_risky": ("max_loss", "max_share", "protected", "reference"),
    "georisk_not_worse": ("max_loss", "max_share", "protected", "weighted"),
    "not_inferior": ("max_loss", "max_share", "protected", "on_churn", "max_mde", "reference"),
    "no_topic_collapse": ("method", "tolerance", "weighted", "on_churn", "on_inconclusive", "max_mde", "reference"),
}


@dataclass(frozen=True)
class Gate:
    """One question about one candidate; the scores it is asked of are given to ``judge``.

    Attributes
    ----------
    name : str
        As the report names the gate.
    kind : str
        ``not_significantly_risky``: the upper limit of URisk's interval is at least ``-tolerance``.
        ``georisk_not_worse``: the upper limit of GeoRisk(candidate) - GeoRisk(reference) is at least ``-tolerance``;
        the pool is the candidate and its baselines.
        ``not_inferior``: its lower limit is above ``-tolerance``; at alpha 0 that is the mean difference's.
        ``no_topic_collapse``: no topic loses more than it may.
    alpha : float
        Extra weight of a loss, at least 0: a loss counts ``1 + alpha`` times.
    level : float
        Confidence of the two-sided interval, from 0.000001 to 0.999999: beyond, limits are those of the data alone.
    method : str
        ``auto``, or the interval that alone decides.
    tolerance : float
        Loss of URisk (or of GeoRisk) that is accepted, at least 0, in units of the measure (or of GeoRisk).
    tradeoff : str
        How a difference becomes a trade-off score: ``linear``, or ``smooth`` (at alpha 1 only).
    convention : str
        How figures are shown, ``plus`` (risk is negative) or ``minus`` (risk is positive); it decides nothing.
    weighted : bool
        Whether topics count by the weights of the topics file.
    on_churn, on_inconclusive : str
        ``fail`` or ``warn``.
    max_mde : float or None
        The gate is inconclusive when it could not have seen a loss of this size (units of the measure).
    missing : str
        What per-topic scores that lack a topic of the other side mean: ``refuse`` (incomparable) or ``zero``.
    max_loss : float or None
        ``no_topic_collapse``: the largest loss that a topic may have, in units of the measure.
    max_share : float or None
        ``no_topic_collapse``: the largest share of the baseline's score that a topic may lose, from 0 to 1.
    protected : sequence of str
        ``no_topic_collapse``: topics, or ``TAG=VALUE`` for the topics with that tag, that may not lose at all.
    reference : str or None
        ``georisk_not_worse``: the baseline to compare with, ``any`` of them, or the ``median`` GeoRisk of them all;
        None for the first.
    slice : str or None
        ``TAG=VALUE``: the question is about the topics with this value of this tag. The scores that ``judge`` is
        given are then theirs already (``restriction.within``); the verdict repeats it. None for all topics.
    """

    name: str
    kind: Kind = "not_significantly_risky"
    alpha: float = 1.0
    level: float = 0.95
    method: Method = "auto"
    tolerance: float = 0.0
    tradeoff: Tradeoff = "linear"
    convention: Convention = "plus"
    weighted: bool = False
    on_churn: Response = "fail"
    on_inconclusive: Response = "fail"
    max_mde: float | None = None
    missing: Missing = "refuse"
    max_loss: float | None = 0.5
    max_share: float | None = None
    protected: Sequence[str] = ()
    reference: str | None = None
    slice: str | None = None

    def __post_init__(self) -> None:
        _one_of("kind", self.kind, KINDS)
        _one_of("method", self.method, METHODS)
        _one_of("tradeoff", self.tradeoff, TRADEOFFS)
        _one_of("convention", self.convention, CONVENTIONS)
        _one_of("on_churn", self.on_churn, RESPONSES)
        _one_of("on_inconclusive", self.on_inconclusive, RESPONSES)
        _one_of("missing", self.missing, MISSING)
        _at_least_zero("alpha", self.alpha)
        if self.alpha > LARGEST_ALPHA:
            raise ValueError(f"alpha must be at most {LARGEST_ALPHA:g}, got {self.alpha!r}")
        if self.tradeoff == "smooth" and self.alpha != SMOOTH_ALPHA:
            raise ValueError(f"tradeoff smooth holds for alpha {SMOOTH_ALPHA:g} only, got alpha {self.alpha!r}")
        _at_least_zero("tolerance", self.tolerance)
        if self.tradeoff == "smooth" and (self.tolerance > 0 or self.max_mde is not None):
            option = "tolerance" if self.tolerance > 0 else "max_mde"
            raise ValueError(
                f"{option} is in units of the measure, which scores of tradeoff smooth are not in: leave it out, or "
                "use tradeoff linear"
            )
        for name in ("max_mde", "max_loss", "max_share"):
            if (value := getattr(self, name)) is not None:
                _at_least_zero(name, value)
        if self.max_share is not None and self.max_share > 1:
            raise ValueError(f"max_share must be a share from 0 to 1, got {self.max_share!r}")
        if not LEVELS[0] <= self.level <= LEVELS[1]:
            raise ValueError(f"level must be between {LEVELS[0]:f} and {LEVELS[1]:f}, got {self.level!r}")
        if isinstance(self.protected, str) or not all(isinstance(entry, str) for entry in self.protected):
            raise ValueError(f"protected must be a list of topics or TAG=VALUE, got {self.protected!r}")
        object.__setattr__(self, "protected", tuple(self.protected))
        if self.slice is not None:
            object.__setattr__(self, "slice", _single_slice(self.slice))
        self._check_kind()

    def _check_kind(self) -> None:
        for option in fields(self):
            if option.name in FOREIGN[self.kind] and getattr(self, option.name) != option.default:
                raise ValueError(f"{option.name} has no meaning for {self.kind}: leave it out")
        if self.kind == "georisk_not_worse":
            _one_of("method of georisk_not_worse", self.method, GEORISK_METHODS)
            if self.level > GEORISK_LEVEL:
                raise ValueError(f"level of georisk_not_worse must be at most {GEORISK_LEVEL}, got {self.level!r}")
        if self.kind == "no_topic_collapse" and not self.protected and self.max_loss is self.max_share is None:
            raise ValueError("no_topic_collapse needs max_loss, max_share or protected: without them it asks nothing")


def parse_slice(text: str) -> tuple[str, str | None]:
    """Tag and value of ``TAG=VALUE``, or the tag alone of ``TAG``; the first ``=`` parts them.

    Raises
    ------
    ValueError
        The tag, or the value after a ``=``, is empty.
    """
    tag, equals, value = (part.strip() for part in text.partition("="))
    if not tag or (equals and not value):
        raise ValueError(f"expected TAG=VALUE or TAG, a column of the topics file, found {text!r}")
    return tag, value or None


def _single_slice(text: str) -> str:
    tag, value = parse_slice(text) if isinstance(text, str) else ("", None)
    if value is None:
        raise ValueError(f"slice must be TAG=VALUE, got {text!r}")
    return f"{tag}={value}"


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")


def _at_least_zero(name: str, value: float) -> None:
    if not (isinstance(value, Real) and math.isfinite(value) and value >= 0):
        raise ValueError(f"{name} must be a finite number, at least 0, got {value!r}")
