"""The shape of a riskguard.yaml for pydantic; imported only when a file is read.

pydantic validates keys and goes on after the first error. What the value of a gate's option must be is declared
in ``gates.kinds``; other checks are here.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    PlainValidator,
    Tag,
    create_model,
    model_validator,
)

from pytest_riskguard.baselines.manifest import name_problem
from pytest_riskguard.gates.kinds import (
    COMPUTED,
    CORRECTIONS,
    KINDS,
    MIN_SLICE_TOPICS,
    MIN_TOPICS,
    OPTIONS,
    Convention,
    Correction,
    Gate,
    options_of,
    parse_slice,
)
from pytest_riskguard.gates.option_types import Number, OneOf, Option, Text, Texts, TrueOrFalse, shown

# NAME, NAME(parameters), NAME@cutoff, NAME(parameters)@cutoff: the notation of ir-measures.
_MEASURE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\([^()\[\]]*\))?(?:@[0-9.]+)?")
MAX_TIMEOUT = 86400


def gate_name(value: Any) -> str:
    """The name of a gate: part of a test's node id, where ``::`` and brackets have a meaning."""
    expected = "a name without '::', '[', ']', '/' and '\\'"
    name = str(Text(expected)(value))
    if name != name.strip() or "::" in name or any(character in name for character in "[]/\\"):
        raise ValueError(f"expected {expected}, found {shown(name)}")
    return name


def _baseline_name(name: str) -> str:
    if problem := name_problem(name):
        raise ValueError(f"{shown(name)} cannot name a baseline: {problem}")
    return name


def _measure(name: str) -> str:
    """A measure in the notation of ir-measures; whether it exists is not looked up."""
    if not _MEASURE.fullmatch(name):
        if cut_at_comma(name):
            raise ValueError(
                f'{shown(name)} looks cut at a comma; a measure with a comma needs quotes, such as "RBP(p=0.8,rel=1)"'
            )
        raise ValueError(f"expected a measure such as nDCG@10 or AP(rel=2), found {shown(name)}")
    return name


def cut_at_comma(name: str) -> bool:
    """Whether brackets do not match: what a comma leaves of ``AP(rel=2,judged_only=True)``."""
    return name.count("(") != name.count(")")


def _slice_entry(text: str) -> str:
    tag, wanted = parse_slice(text)
    return tag if wanted is None else f"{tag}={wanted}"


def _whole(at_least: int, hint: str = "") -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and value >= at_least:
            return value
        raise ValueError(f"expected a whole number, at least {at_least}, found {shown(value)}{hint}")

    return check


_SECONDS = f"a number of seconds above 0, at most {MAX_TIMEOUT}"
#: Checks of the options for asking a live system.
ASKING: Mapping[str, Callable[[Any], Any]] = {
    "depth": _whole(1),
    "workers": _whole(1),
    "timeout": Number(math.nextafter(0, 1), MAX_TIMEOUT, optional=True, words=_SECONDS),
    "retries": _whole(0),
}


def _target(name: str) -> str:
    module, _, function = name.partition(":")
    parts = [*module.split("."), *function.split(".")]
    if not all(part.isidentifier() and not keyword.iskeyword(part) for part in parts):
        raise ValueError(f"expected package.module:function, found {shown(name)}")
    return name


# Tags of a union, which pydantic puts into the path of an error: no key may look like them.
TAGS = MAPPING, TEXT = "<mapping>", "<text>"
_BY_SHAPE = Discriminator(lambda value: MAPPING if isinstance(value, dict) else TEXT)

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
            raise ValueError(f"expected a list of {what}, found {shown(value)}")
        return value

    return check


def _gates(value: Any) -> Any:
    """Nothing after ``gates:`` is an empty list; whether it may be empty is checked elsewhere."""
    if not isinstance(value, list | None):
        raise ValueError(f"expected a list of gates, found {shown(value)}; begin each gate with '- '")
    return value or []


def _distinct(items: list[T]) -> list[T]:
    for index, item in enumerate(items):
        if item in items[:index]:
            shown = f"{item:g}" if isinstance(item, float) else f"{item}"
            raise ValueError(f"{shown} appears twice")
    return items


def _distinct_measures(items: list[str]) -> list[str]:
    """Measures of ir-measures never differ in case only. That ``MAP`` is ``AP`` is not noticed: asking is slow."""
    _distinct(items)
    first: dict[str, str] = {}
    for item in items:
        other = first.setdefault(item.casefold().replace(" ", ""), item)
        if other != item:
            raise ValueError(f"{other} and {item} are the same measure; remove one")
    return items


_slice_size = _whole(MIN_TOPICS, "; fewer topics are not judged")
_Path = Annotated[str, PlainValidator(Text("a path"))]
_Measure = Annotated[str, PlainValidator(Text("a measure such as nDCG@10", parse=_measure))]
_BaselineName = Annotated[str, PlainValidator(Text("the name of one stored baseline", parse=_baseline_name))]
_Slice = Annotated[str, PlainValidator(Text("TAG=VALUE or TAG", parse=_slice_entry))]
_Correction = Annotated[Correction, PlainValidator(OneOf(CORRECTIONS))]
_Distinct = AfterValidator(_distinct)
_DistinctMeasures = AfterValidator(_distinct_measures)
_Names = Annotated[list[_BaselineName], BeforeValidator(_listed("stored baselines")), _Distinct]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CollectionModel(_Model):
    """``collection``."""

    qrels: _Path
    topics: _Path | None = None


class RetrieveModel(_Model):
    """``candidate`` as a function."""

    retrieve: Annotated[str, PlainValidator(Text("package.module:function", parse=_target))]
    depth: Annotated[int, PlainValidator(ASKING["depth"])] = 100
    workers: Annotated[int, PlainValidator(ASKING["workers"])] = 1
    timeout: Annotated[float | None, PlainValidator(ASKING["timeout"])] = None
    retries: Annotated[int, PlainValidator(ASKING["retries"])] = 0


_Candidate = Annotated[Annotated[_Path, Tag(TEXT)] | Annotated[RetrieveModel, Tag(MAPPING)], _BY_SHAPE]


class FamilyModel(_Model):
    """``family`` of some gates only."""

    correction: _Correction
    gates: Annotated[list[Annotated[str, PlainValidator(gate_name)]], BeforeValidator(_listed("gates")), _Distinct]


_Family = Annotated[Annotated[_Correction, Tag(TEXT)] | Annotated[FamilyModel, Tag(MAPPING)], _BY_SHAPE]


class ComputedModel(_Model):
    """``baseline`` computed from several stored ones; one of ``mean``, ``median`` and ``max``."""

    mean: _Names | None = None
    median: _Names | None = None
    max: _Names | None = None
    candidate_inside: Annotated[bool, PlainValidator(TrueOrFalse())] = False

    @model_validator(mode="after")
    def _one_kind(self) -> ComputedModel:
        if len(self.given) != 1:
            raise ValueError(f"expected one of {', '.join(COMPUTED)}, such as {{mean: [prod, bm25]}}")
        return self

    @property
    def given(self) -> list[tuple[str, tuple[str, ...]]]:
        """The kind, and the names of the baselines: one entry in a checked model."""
        return [(kind, tuple(names)) for kind in COMPUTED if (names := getattr(self, kind)) is not None]


_Baseline = Annotated[Annotated[_BaselineName, Tag(TEXT)] | Annotated[ComputedModel, Tag(MAPPING)], _BY_SHAPE]


def _check(option: Option) -> Callable[[Any], Any]:
    """The option's own check; a number becomes a float, so that ``1`` and ``1.0`` are one in YAML."""
    check = option.check
    if not isinstance(check, Number):
        return check

    def checked(value: Any) -> float | None:
        number = check(value)
        return None if number is None else float(number)

    return checked


_Alpha = Annotated[float, PlainValidator(_check(OPTIONS["alpha"]))]
_Convention = Annotated[Convention, PlainValidator(_check(OPTIONS["convention"]))]


class GateKeys(_Model):
    """The keys of one entry of ``gates`` that are more, or other, than an option of its kind."""

    name: Annotated[str, PlainValidator(gate_name)]
    kind: Annotated[str, PlainValidator(OneOf(tuple(KINDS)))]
    baseline: _Baseline | None = None
    baselines: _Names | None = None
    candidate: _Candidate | None = None
    measure: Annotated[list[_Measure], BeforeValidator(_each("a measure")), _DistinctMeasures] | None = None
    alpha: Annotated[list[_Alpha], BeforeValidator(_each("a number")), _Distinct] = [OPTIONS["alpha"].default]
    convention: _Convention | None = None
    slice: Annotated[list[_Slice], BeforeValidator(_each("TAG=VALUE or TAG")), _Distinct] | None = None
    smallest_slice: Annotated[int, PlainValidator(_slice_size)] = MIN_SLICE_TOPICS

    def option(self, name: str) -> Any:
        """The value of an option."""
        return getattr(self, name)

    @property
    def foreign(self) -> list[str]:
        """Options that are given although the kind does not offer them."""
        offered = options_of(KINDS[self.kind])
        return [name for name in OPTIONS if name in self.model_fields_set and name not in offered]

    def gate(self, *, alpha: float, convention: Convention) -> Gate:
        """What is asked at one alpha; the message of a ``ValueError`` begins with the wrong key."""
        kind = KINDS[self.kind]
        own = {name: self.option(name) for name, o in options_of(kind).items() if o.in_yaml and name not in _OWN}
        return kind(self.name, alpha=alpha, convention=self.convention or convention, **own)


#: Keys whose value is more, or other, than that of the option of this name.
_OWN = tuple(GateKeys.model_fields)


def _key(option: Option) -> tuple[Any, Any]:
    """The key of a gate that sets an option: its annotation and default for pydantic."""
    if isinstance(option.check, Texts):
        entry = Annotated[str, PlainValidator(option.check.entry)]
        what = option.check.expected.removeprefix("a list of ")
        return Annotated[list[entry], BeforeValidator(_listed(what)), _Distinct], list(option.default)
    return Annotated[Any, PlainValidator(_check(option))], option.default


#: One entry of ``gates``, with every option of any kind.
if TYPE_CHECKING:
    GateModel = GateKeys
else:
    _keys = {name: _key(option) for name, option in OPTIONS.items() if option.in_yaml and name not in _OWN}
    GateModel = create_model("GateModel", __base__=GateKeys, **_keys)


class ConfigModel(_Model):
    """The whole file."""

    collection: CollectionModel
    store: _Path = "baselines"
    measures: Annotated[list[_Measure], BeforeValidator(_listed("measures")), _DistinctMeasures] | None = None
    candidate: _Candidate | None = None
    convention: _Convention = OPTIONS["convention"].default
    family: _Family | None = None
    gates: Annotated[list[GateModel], BeforeValidator(_gates)] = []
