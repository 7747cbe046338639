"""The shape of a riskguard.yaml for pydantic; imported only when a file is read.

pydantic sees to the keys and goes on after the first error; what a value must be is said in ``values``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    PlainValidator,
    Tag,
    model_validator,
)

from pytest_riskguard.config import values
from pytest_riskguard.gates.spec import (
    COMPUTED,
    CONVENTIONS,
    CORRECTIONS,
    KINDS,
    METHODS,
    RESPONSES,
    SMALLEST_SLICE,
    TRADEOFFS,
    Convention,
    Correction,
    Gate,
    Kind,
    Method,
    Response,
    Tradeoff,
)

# Tags of a union, which pydantic puts into the path of an error: no key may look like them.
FILE, RETRIEVE, CORRECTION, FAMILY = "<file>", "<retrieve>", "<correction>", "<family>"
STORED, COMPUTED_TAG = "<stored>", "<computed>"
TAGS = (FILE, RETRIEVE, CORRECTION, FAMILY, STORED, COMPUTED_TAG)

T = TypeVar("T")


def _each(what: str) -> Callable[[Any], Any]:
    """One value is a list of one; an empty list is a mistake."""

    def check(value: Any) -> Any:
        if value == []:
            raise ValueError(f"expected {what} or a list of them, found an empty list")
        return value if isinstance(value, list) else [value]

    return check


def _listed(what: str) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if not isinstance(value, list) or not value:
            raise ValueError(f"expected a list of {what}, found {values.found(value)}")
        return value

    return check


def _gates(value: Any) -> Any:
    """Whether the list may be empty is asked elsewhere; nothing after ``gates:`` is an empty list."""
    if not isinstance(value, list | None):
        raise ValueError(f"expected a list of gates, found {values.found(value)}; begin each gate with '- '")
    return value or []


def _distinct(items: list[T]) -> list[T]:
    for index, item in enumerate(items):
        if item in items[:index]:
            shown = f"{item:g}" if isinstance(item, float) else f"{item}"
            raise ValueError(f"{shown} appears twice")
    return items


def _distinct_measures(items: list[str]) -> list[str]:
    """No two measures of ir-measures differ in case only; that ``MAP`` is ``AP`` it alone could say, at a price."""
    _distinct(items)
    first: dict[str, str] = {}
    for item in items:
        other = first.setdefault(item.casefold().replace(" ", ""), item)
        if other != item:
            raise ValueError(f"{other} and {item} are the same measure; remove one")
    return items


_Path = Annotated[str, PlainValidator(values.path)]
_Measure = Annotated[str, PlainValidator(values.measure)]
_AtLeastZero = Annotated[float, PlainValidator(values.at_least_zero)]
_Flag = Annotated[bool, PlainValidator(values.true_or_false)]
_Convention = Annotated[Convention, PlainValidator(values.one_of(CONVENTIONS))]
_Correction = Annotated[Correction, PlainValidator(values.one_of(CORRECTIONS))]
_Response = Annotated[Response, PlainValidator(values.one_of(RESPONSES))]
_Distinct = AfterValidator(_distinct)
_DistinctMeasures = AfterValidator(_distinct_measures)


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CollectionModel(_Model):
    """``collection``."""

    qrels: _Path
    topics: _Path | None = None


class RetrieveModel(_Model):
    """``candidate`` as a function."""

    retrieve: Annotated[str, PlainValidator(values.target)]
    depth: Annotated[int, PlainValidator(values.ASKING["depth"])] = 100
    workers: Annotated[int, PlainValidator(values.ASKING["workers"])] = 1
    timeout: Annotated[float | None, PlainValidator(values.ASKING["timeout"])] = None
    retries: Annotated[int, PlainValidator(values.ASKING["retries"])] = 0


_Candidate = Annotated[
    Annotated[_Path, Tag(FILE)] | Annotated[RetrieveModel, Tag(RETRIEVE)],
    Discriminator(lambda value: RETRIEVE if isinstance(value, dict) else FILE),
]


class FamilyModel(_Model):
    """``family`` of some gates only."""

    correction: _Correction
    gates: Annotated[
        list[Annotated[str, PlainValidator(values.gate_name)]], BeforeValidator(_listed("gates")), _Distinct
    ]


_Family = Annotated[
    Annotated[_Correction, Tag(CORRECTION)] | Annotated[FamilyModel, Tag(FAMILY)],
    Discriminator(lambda value: FAMILY if isinstance(value, dict) else CORRECTION),
]


_Names = Annotated[
    list[Annotated[str, PlainValidator(values.baseline_name)]],
    BeforeValidator(_listed("stored baselines")),
    _Distinct,
]


class ComputedModel(_Model):
    """``baseline`` computed from several stored ones; one of ``mean``, ``median`` and ``max``."""

    mean: _Names | None = None
    median: _Names | None = None
    max: _Names | None = None
    candidate_inside: _Flag = False

    @model_validator(mode="after")
    def _one_kind(self) -> ComputedModel:
        if len([kind for kind in COMPUTED if getattr(self, kind) is not None]) != 1:
            raise ValueError(f"expected one of {', '.join(COMPUTED)}, such as {{mean: [prod, bm25]}}")
        return self

    def asked(self) -> tuple[str, tuple[str, ...]]:
        """The kind, and the names of the baselines."""
        kind = next(kind for kind in COMPUTED if getattr(self, kind) is not None)
        return kind, tuple(getattr(self, kind))


_Baseline = Annotated[
    Annotated[str, PlainValidator(values.baseline_name), Tag(STORED)] | Annotated[ComputedModel, Tag(COMPUTED_TAG)],
    Discriminator(lambda value: COMPUTED_TAG if isinstance(value, dict) else STORED),
]


class GateModel(_Model):
    """One entry of ``gates``."""

    name: Annotated[str, PlainValidator(values.gate_name)]
    kind: Annotated[Kind, PlainValidator(values.one_of(KINDS))]
    baseline: _Baseline | None = None
    baselines: _Names | None = None
    reference: Annotated[str, PlainValidator(values.reference)] | None = None
    candidate: _Candidate | None = None
    measure: Annotated[list[_Measure], BeforeValidator(_each("a measure")), _DistinctMeasures] | None = None
    alpha: Annotated[list[_AtLeastZero], BeforeValidator(_each("a number")), _Distinct] = [Gate.alpha]
    level: Annotated[float, PlainValidator(values.level)] = Gate.level
    method: Annotated[Method, PlainValidator(values.one_of(METHODS))] = Gate.method
    tolerance: _AtLeastZero = Gate.tolerance
    tradeoff: Annotated[Tradeoff, PlainValidator(values.one_of(TRADEOFFS))] = "linear"
    convention: _Convention | None = None
    weighted: _Flag = Gate.weighted
    on_churn: _Response = Gate.on_churn
    on_inconclusive: _Response = Gate.on_inconclusive
    max_mde: _AtLeastZero | None = None
    max_loss: _AtLeastZero | None = Gate.max_loss
    max_share: Annotated[float, PlainValidator(values.share)] | None = None
    protected: Annotated[
        list[Annotated[str, PlainValidator(values.entry)]], BeforeValidator(_listed("topics or TAG=VALUE")), _Distinct
    ] = []
    slice: (
        Annotated[
            list[Annotated[str, PlainValidator(values.slice_entry)]],
            BeforeValidator(_each("TAG=VALUE or TAG")),
            _Distinct,
        ]
        | None
    ) = None
    smallest_slice: Annotated[int, PlainValidator(values.slice_size)] = SMALLEST_SLICE

    def question(self, *, name: str, alpha: float, convention: Convention) -> Gate:
        """What the gate asks at one alpha.

        Raises
        ------
        ValueError
            Options that do not go together; the message begins with the key.
        """
        return Gate(
            name=name,
            kind=self.kind,
            alpha=alpha,
            level=self.level,
            method=self.method,
            tolerance=self.tolerance,
            tradeoff=self.tradeoff,
            convention=self.convention or convention,
            weighted=self.weighted,
            on_churn=self.on_churn,
            on_inconclusive=self.on_inconclusive,
            max_mde=self.max_mde,
            max_loss=self.max_loss,
            max_share=self.max_share,
            protected=self.protected,
            reference=self.reference,
        )


class ConfigModel(_Model):
    """The whole file."""

    collection: CollectionModel
    store: _Path = "baselines"
    measures: Annotated[list[_Measure], BeforeValidator(_listed("measures")), _DistinctMeasures] | None = None
    candidate: _Candidate | None = None
    convention: _Convention = Gate.convention
    family: _Family | None = None
    gates: Annotated[list[GateModel], BeforeValidator(_gates)] = []
