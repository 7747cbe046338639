"""The questions that a gate can ask: one class for each kind, and every option declared once.

Assertions, fixture, riskguard.yaml, command line, report and reference take their options from here. An option is a
field declared with ``option``; a kind that has no such field does not offer it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self, TypeVar, get_args

from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.option_types import (
    Number,
    OneOf,
    Option,
    OptionError,
    OptionTypeError,
    ShareOrCount,
    Text,
    Texts,
    TrueOrFalse,
    declared,
    option,
)
from pytest_riskguard.text import did_you_mean

Method = Literal["auto", "student_t", "basic", "studentized", "percentile", "bca"]
Tradeoff = Literal["linear", "smooth"]
Response = Literal["fail", "warn"]
Missing = Literal["refuse", "zero"]
Correction = Literal["none", "auto"]

METHODS: tuple[str, ...] = get_args(Method)
RESPONSES: tuple[str, ...] = get_args(Response)
CORRECTIONS: tuple[str, ...] = get_args(Correction)
#: Intervals of GeoRisk, which is not a mean; the other methods are intervals of means.
GEORISK_METHODS = ("auto", "student_t", "percentile", "bca")

#: A loss that counts a billion times is a ban on losses, which ``protected`` asks for directly.
MAX_ALPHA = 1e9
#: The alpha for which the smooth trade-off was fitted (AIRS 2019), which has no such parameter.
SMOOTH_ALPHA = 1.0
#: Confidence levels of an interval: beyond them, limits are those of the data alone.
MIN_LEVEL, MAX_LEVEL = 1e-6, 1 - 1e-6
#: The highest level of an interval of GeoRisk: beyond it, too few replicates lie in the tail.
MAX_GEORISK_LEVEL = 0.9999
#: With fewer topics no interval is trusted and a gate is inconclusive.
MIN_TOPICS = 10
#: With fewer topics a share of them says nothing: none may lose more than it may.
MIN_SHARED_TOPICS = 20
#: How far a product of a share and a number of topics may be from a whole number by rounding.
ROUNDED = 1e-9
#: The fewest topics of a slice that is not asked for by name.
MIN_SLICE_TOPICS = 25

_AT_LEAST_ZERO = Number(0)
_ZERO_OR_NONE = Number(0, optional=True)
_MOST = ShareOrCount(
    0,
    optional=True,
    words="a share of the queries from 0 to below 1 such as 0.05, a whole number of queries, or null",
)
_LEVEL = Number(MIN_LEVEL, MAX_LEVEL, words=f"a number between {MIN_LEVEL:f} and {MAX_LEVEL:f} such as 0.95")
_LEVEL_HELP = "Confidence of the two-sided interval."


def parse_slice(text: str) -> tuple[str, str | None]:
    """Tag and value of ``TAG=VALUE`` (split at the first ``=``), or a tag alone; ``ValueError`` if one is empty."""
    tag, equals, value = (part.strip() for part in text.partition("="))
    if not tag or (equals and not value):
        raise ValueError(f"expected TAG=VALUE or TAG, a column of the topics file, found {text!r}")
    return tag, value or None


def single_slice(text: str) -> tuple[str, str]:
    """Tag and value of ``TAG=VALUE``; ``ValueError`` for anything else."""
    tag, value = parse_slice(text)
    if value is None:
        raise ValueError(f"expected TAG=VALUE, found {text!r}")
    return tag, value


def _number_of(allowed: float, whole: int) -> int:
    """How many a share of a whole, or a number, allows."""
    return int(allowed) if allowed >= 1 else math.floor(allowed * whole + ROUNDED)


K = TypeVar("K", bound="Gate")


class EveryOption:
    """Every option of any kind, for type checkers; a value given here is that of kinds that do not offer it."""

    alpha: float
    level: float
    tradeoff: Tradeoff
    missing: Missing
    slice: str | None
    method: Method = "auto"
    tolerance: float = 0.0
    weighted: bool = False
    on_churn: Response = "fail"
    on_inconclusive: Response = "fail"
    max_mde: float | None = None
    max_loss: float | None = None
    allowed: float = 0
    max_share: float | None = None
    protected: Sequence[str] = ()
    reference: str | None = None
    max_empty: float | None = None
    max_shorter: float | None = None
    max_changed_first: float | None = None
    min_overlap: float = 0.0


@frozen
class Gate(EveryOption):
    """One question about one candidate; the scores that it is about are given to ``judge``.

    ``name`` is what reports call the gate (its kind, if empty). A kind says in words what it ``requires``. It
    ``is_pool`` if it is about a candidate in a pool of baselines, and ``is_tested`` if it has a p-value and may be a
    member of a family. If ``by_topic``, single topics decide; else the limit on this ``side`` of the interval, or on
    ``both``, must reach the bound (other than ``upper``: the candidate bears the burden of proof). If it
    ``looks_back``, its baseline may be an earlier run. If it is ``of_rankings``, it compares these: no judgements, no
    measure.
    """

    kind: ClassVar[str]
    requires: ClassVar[str]
    looks_back: ClassVar[bool] = False
    is_pool: ClassVar[bool] = False
    is_tested: ClassVar[bool] = False
    takes_replicates: ClassVar[bool] = False
    by_topic: ClassVar[bool] = False
    of_rankings: ClassVar[bool] = False
    side: ClassVar[Literal["upper", "lower", "both"]] = "upper"

    name: str = ""
    alpha: float = option(1.0, Number(0, MAX_ALPHA), "A loss counts 1 + alpha times.")
    level: float = option(0.95, _LEVEL, _LEVEL_HELP)
    tradeoff: Tradeoff = option(
        "linear",
        OneOf(get_args(Tradeoff)),
        "How a difference becomes a trade-off score. smooth: at alpha 1 only, for scores that differ by at most 1.",
    )
    missing: Missing = option(
        "refuse",
        OneOf(get_args(Missing)),
        "If a topic has no score on one side, or no answer of the baseline: refuse the comparison, or score zero.",
        in_report=False,
    )
    slice: str | None = option(
        None,
        Text("TAG=VALUE", optional=True, parse=lambda text: "=".join(single_slice(text))),
        "Judge only the topics with this tag.",
        in_assertions=False,
    )

    def with_options(self, **changes: Any) -> Self:
        """The same question with other options."""
        return replace(self, **changes)

    @property
    def must_show(self) -> bool:
        """Whether the candidate bears the burden of proof: what is not shown fails."""
        return self.side != "upper"

    def as_kind(self, kind: type[K]) -> K:
        """Another kind's question with the options that both kinds offer."""
        own = options_of(type(self))
        return kind(self.name, **{name: getattr(self, name) for name in options_of(kind) if name in own})

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.kind)
        for name, known in options_of(type(self)).items():
            try:
                object.__setattr__(self, name, known.check(getattr(self, name)))
            except ValueError as error:
                wrong = OptionTypeError if isinstance(error, TypeError) else OptionError
                raise wrong(str(error), name) from None
        self._check_together()

    def _check_together(self) -> None:
        if self.tradeoff == "linear":
            return
        if self.alpha != SMOOTH_ALPHA:
            raise OptionError(f"smooth is for alpha {SMOOTH_ALPHA:g} only, found alpha {self.alpha:g}", "tradeoff")
        tolerance = options_of(type(self)).get("tolerance")
        if tolerance is not None and self.tolerance == tolerance.default:
            object.__setattr__(self, "tolerance", 0.0)  # the default is for scores in units of the measure
        for name in ("tolerance", "max_mde"):
            if getattr(self, name):
                raise OptionError(
                    "it is in units of the measure, but scores of tradeoff smooth are not; leave it out, or use "
                    "tradeoff linear",
                    name,
                )


@frozen
class _ByInterval(Gate):
    """Kinds that an interval decides."""

    method: Method = option(
        "auto", OneOf(METHODS), "The interval that must fail, beside Student-t or the break-even test. auto is BCa."
    )
    tolerance: float = option(0.0, _AT_LEAST_ZERO, "How far below 0 URisk may lie, in units of the measure.")
    on_inconclusive: Response = option(
        "fail", OneOf(RESPONSES), "What happens when a comparison is too small or too weak to judge."
    )


@frozen
class _Weighted(Gate):
    """Kinds that can weigh topics."""

    weighted: bool = option(
        False, TrueOrFalse(), "Weight topics by the weight column of the topics file.", in_assertions=False
    )


@frozen
class _Tested(Gate):
    """Kinds that fail only for a significant risk."""

    is_tested = True

    on_churn: Response = option(
        "warn",
        OneOf(RESPONSES),
        "What happens when the gate fails only because losses weigh more: the mean alone (alpha 0, tolerance 0) is "
        "not significantly down.",
    )
    max_mde: float | None = option(
        None,
        _ZERO_OR_NONE,
        "The gate is inconclusive unless it could detect a loss of this size at 80% power.",
        in_report=False,
    )


@frozen
class NotSignificantlyRisky(_Tested, _Weighted, _ByInterval):
    """Passes when the upper limit of URisk's interval is at least ``-tolerance``, or ``on_churn`` lets churn pass."""

    kind = "not_significantly_risky"
    requires = "not significantly risky"
    takes_replicates = True

    tolerance: float = option(
        0.005, _AT_LEAST_ZERO, "How far below 0 URisk may lie, in units of the measure; 0 for tradeoff smooth."
    )


@frozen
class GeoRiskNotWorse(_Tested, _ByInterval):
    """Passes when the upper limit of GeoRisk(candidate) - GeoRisk(reference) is at least ``-tolerance``.

    The pool is the candidate and its baselines.
    """

    kind = "georisk_not_worse"
    requires = "GeoRisk not worse"
    is_pool = True

    level: float = option(0.95, Number(MIN_LEVEL, MAX_GEORISK_LEVEL), _LEVEL_HELP)
    method: Method = option(
        "auto", OneOf(GEORISK_METHODS), "The interval that decides. student_t uses the jackknife standard error."
    )
    tolerance: float = option(0.0, _AT_LEAST_ZERO, "How far GeoRisk may lie below the reference's.")
    on_churn: Response = option(
        "fail", OneOf(RESPONSES), "What happens when the gate fails, but not at alpha 0 and tolerance 0."
    )
    reference: str | None = option(
        None,
        Text("the name of one of the gate's baselines", optional=True),
        "The baseline to compare GeoRisk with. [default: the first baseline]",
    )


@frozen
class NotInferior(_Weighted, _ByInterval):
    """Passes when the lower limit of URisk's interval is above ``-tolerance``.

    At alpha 0 that is the limit of the mean difference.
    """

    kind = "not_inferior"
    requires = "non-inferior"
    takes_replicates = True
    side = "lower"


@frozen
class Equivalent(_Weighted, _ByInterval):
    """Passes when both limits of the mean difference's interval lie between ``-tolerance`` and ``tolerance``.

    Alpha is 0: at a higher one URisk of two equal systems is below 0, so what lies around 0 is not equivalence.
    """

    kind = "equivalent"
    requires = "equivalent"
    takes_replicates = True
    side = "both"

    alpha: float = option(
        0.0,
        Number(0, 0, words="0, since equivalence is about the mean difference, where a loss counts like a win"),
        "A loss counts like a win: 0 is the only value.",
    )
    tolerance: float = option(
        0.0,
        Number(0, open_range=True, words="a number above 0, the smallest difference of the mean that matters"),
        "How far from 0 the mean difference may lie on either side, in units of the measure; above 0.",
    )


@frozen
class NoDrift(_Weighted, _ByInterval):
    """Passes when the upper limit of the mean difference from a fixed earlier run is at least ``-tolerance``.

    Since many changes lie between the two, alpha is 0 unless it is given: churn adds up too. The level is higher than
    that of other kinds, because each release of a year asks again: at 0.95 one year in seven without any drift has a
    false alarm (docs/explanation/calibration.md).
    """

    kind = "no_drift"
    requires = "no significant drift"
    is_tested = True
    looks_back = True

    alpha: float = option(0.0, Number(0, MAX_ALPHA), "A loss counts 1 + alpha times.")
    level: float = option(0.995, _LEVEL, _LEVEL_HELP)
    tolerance: float = option(0.0, _AT_LEAST_ZERO, "How much may be lost since then, in units of the measure.")


@frozen
class NoTopicCollapse(Gate):
    """Passes when no topic, or no more than ``allowed``, loses more than it may."""

    kind = "no_topic_collapse"
    requires = "no topic collapses"
    by_topic = True

    max_loss: float | None = option(
        0.5, _ZERO_OR_NONE, "Largest loss a topic may have, in units of the measure; none for no limit."
    )
    max_share: float | None = option(
        None,
        Number(0, 1, optional=True, words="a share from 0 to 1 such as 0.5"),
        "Largest share of the baseline's score a topic may lose, from 0 to 1.",
    )
    allowed: float = option(
        0,
        ShareOrCount(0, words="a share of the topics from 0 to below 1 such as 0.05, or a whole number of topics"),
        "How many topics may lose more than that, as a share of all or as a number. Below 20 topics a share allows "
        "none.",
    )
    protected: Sequence[str] = option(
        (),
        Texts(Text("a topic or TAG=VALUE"), "a list of topics or TAG=VALUE"),
        "A topic, or the topics with a tag, that may not lose at all.",
    )

    def _check_together(self) -> None:
        super()._check_together()
        if not self.protected and self.max_loss is self.max_share is None:
            raise ValueError("no_topic_collapse needs one of max_loss, max_share and protected")

    def most(self, topics: int) -> int:
        """How many of so many topics may lose more than ``max_loss`` or ``max_share``."""
        return _number_of(self.allowed, topics) if self.allowed >= 1 or topics >= MIN_SHARED_TOPICS else 0


@frozen
class NoSurprise(Gate):
    """Passes when the first 10 results change no more than they may; judgements are not needed.

    It measures change, not harm. Its options are shares of the queries, or numbers of them.
    """

    kind = "no_surprise"
    requires = "no surprise"
    by_topic = True
    of_rankings = True

    # what a difference of scores is asked with has no meaning here
    alpha: float = 0.0
    level: float = 0.95
    tradeoff: Tradeoff = "linear"
    missing: Missing = "zero"
    max_empty: float | None = option(
        0, _MOST, "How many queries that had results may have none; none for no limit, as for the next two."
    )
    max_shorter: float | None = option(0.05, _MOST, "How many may have fewer results in the first 10 than before.")
    max_changed_first: float | None = option(0.2, _MOST, "How many may have another first result.")
    min_overlap: float = option(
        0.5,
        Number(0, 1, words="a share from 0 to 1 such as 0.5"),
        "The least share of the first 10 results that both have; 0 for no limit.",
    )
    allowed: float = option(
        0.1,
        ShareOrCount(0, words="a share of the queries from 0 to below 1, or a whole number of queries"),
        "How many queries may share less than `min_overlap`.",
    )

    def _check_together(self) -> None:
        if self.max_empty is self.max_shorter is self.max_changed_first is None and not self.min_overlap:
            raise ValueError("no_surprise needs one of max_empty, max_shorter, max_changed_first and min_overlap")

    def most(self, limit: str, queries: int) -> int | None:
        """How many of so many queries may be beyond a limit, by the name of its option; None if there is none."""
        most = getattr(self, limit)
        if limit == "min_overlap":
            most = self.allowed if most else None
        return None if most is None else _number_of(most, queries)


#: Every kind, by the word that YAML, command line and reports use.
KINDS: dict[str, type[Gate]] = {
    cls.kind: cls
    for cls in (NotSignificantlyRisky, GeoRiskNotWorse, NotInferior, Equivalent, NoDrift, NoTopicCollapse, NoSurprise)
}
#: The gates that judge a change where nobody says otherwise: name, kind, and the options that are not its defaults.
POLICY: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
    ("no-risk", NotSignificantlyRisky.kind, {}),
    ("tail", NoTopicCollapse.kind, {"max_loss": 0.3, "allowed": 0.05}),
    ("no-collapse", NoTopicCollapse.kind, {"max_loss": 0.5}),
)
#: The kinds that have a p-value, and so may be members of a family.
TESTED = tuple(kind for kind, cls in KINDS.items() if cls.is_tested)

_OPTIONS = {cls: declared(cls) for cls in KINDS.values()}
#: Every option of any kind, as the first kind that offers it declares it.
OPTIONS: dict[str, Option] = {}
for _known in _OPTIONS.values():
    OPTIONS |= {name: known for name, known in _known.items() if name not in OPTIONS}


def options_of(kind: type[Gate]) -> Mapping[str, Option]:
    """The options that a kind offers, by name."""
    return _OPTIONS[kind]


def limit_of(gate: Gate, interval: Any) -> float:
    """The limit of an interval that a gate asks about; of both, the one further from 0, which shows less."""
    lower, upper = float(interval.lower), float(interval.upper)
    if gate.side == "both":
        return max(lower, upper, key=abs)
    return lower if gate.side == "lower" else upper


def gate_of(name: str, /, kind: str = NotSignificantlyRisky.kind, **options: Any) -> Gate:
    """A gate of the kind with this name; options that the kind does not offer may only be given their defaults.

    ``TypeError`` if no kind has such an option, ``OptionTypeError`` if a value is of another type, ``ValueError`` if
    there is no such kind, it does not offer an option, or a value is out of range.
    """
    __tracebackhide__ = True
    try:
        cls = KINDS[OneOf(tuple(KINDS))(kind)]
    except ValueError as error:
        raise type(error)(f"kind: {error}") from None
    for option_name, value in options.items():
        if option_name not in OPTIONS:
            hint = did_you_mean(option_name, OPTIONS) or f"; there are {', '.join(OPTIONS)}"
            raise TypeError(f"unknown option {option_name!r}{hint}")
        if option_name not in _OPTIONS[cls] and value != OPTIONS[option_name].default:
            raise ValueError(f"{option_name} has no meaning for {kind}: leave it out")
    return cls(name, **{key: value for key, value in options.items() if key in _OPTIONS[cls]})
