"""The settings of a riskguard.yaml, validated by pydantic, which goes on after the first error.

The checks of a gate's options are declared in ``gates.kinds``; all other checks are here. The models are validated
with a context: the ``path`` of the file and its ``document``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    PlainValidator,
    PrivateAttr,
    Tag,
    create_model,
    model_validator,
)

from pytest_riskguard.baselines.manifest import name_problem
from pytest_riskguard.config import candidate_settings
from pytest_riskguard.config.candidate_settings import Candidate
from pytest_riskguard.config.collection_settings import Collection
from pytest_riskguard.config.setting_types import (
    Distinct,
    Model,
    StorePlace,
    distinct,
    list_of,
    measure_notation,
    whole,
)
from pytest_riskguard.config.yaml_lines import Document
from pytest_riskguard.gates.kinds import (
    COMPUTED,
    CORRECTIONS,
    KINDS,
    MIN_SLICE_TOPICS,
    MIN_TOPICS,
    OPTIONS,
    RESPONSES,
    TESTED,
    Correction,
    Gate,
    Response,
    options_of,
    parse_slice,
)
from pytest_riskguard.gates.option_types import Number, OneOf, Option, Text, Texts, shown


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


def _since(text: str) -> str:
    """``NAME``, or ``NAME/RUN`` for an earlier run of a baseline; only the first slash separates the two."""
    name, slash, run = (part.strip() for part in text.partition("/"))
    if slash and not run:
        raise ValueError(f"{shown(text)} names no earlier run after the '/': give its number, its note or oldest")
    return f"{_baseline_name(name)}/{run}" if slash else _baseline_name(name)


def _slice_entry(text: str) -> str:
    tag, wanted = parse_slice(text)
    return tag if wanted is None else f"{tag}={wanted}"


#: The most looks that may be expected: the levels of more would be out of reach of any interval.
MAX_LOOKS = 10_000
#: The file that records the looks, beside riskguard.yaml.
LEDGER = "looks.jsonl"
MAPPING, TEXT = "<mapping>", "<text>"
#: Tags of unions, which pydantic puts into the path of an error: no key may look like them.
TAGS = candidate_settings.TAGS | {MAPPING, TEXT}
_BY_SHAPE = Discriminator(lambda value: MAPPING if isinstance(value, dict) else TEXT)


def _gates(value: Any) -> Any:
    """Nothing after ``gates:`` is an empty list; whether it may be empty is checked elsewhere."""
    if not isinstance(value, list | None):
        raise ValueError(f"expected a list of gates, found {shown(value)}; begin each gate with '- '")
    return value or []


def _distinct_measures(items: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a measure given twice, in whatever case. Aliases (``MAP`` is ``AP``) go unnoticed: a look-up is slow."""
    distinct(items)
    first: dict[str, str] = {}
    for item in items:
        other = first.setdefault(item.casefold().replace(" ", ""), item)
        if other != item:
            raise ValueError(f"{other} and {item} are the same measure; remove one")
    return items


_slice_size = whole(MIN_TOPICS, "; fewer topics are not judged")
_GateName = Annotated[str, PlainValidator(gate_name, json_schema_input_type=str)]
_Measure = Annotated[str, PlainValidator(Text("a measure such as nDCG@10", parse=measure_notation))]
_BaselineName = Annotated[str, PlainValidator(Text("the name of one stored baseline", parse=_baseline_name))]
_Since = Annotated[str, PlainValidator(Text("a stored baseline, or NAME/RUN for an earlier run", parse=_since))]
_Slice = Annotated[str, PlainValidator(Text("TAG=VALUE or TAG", parse=_slice_entry))]
_Correction = Annotated[Correction, PlainValidator(OneOf(CORRECTIONS))]
_DistinctMeasures = AfterValidator(_distinct_measures)
_Names = Annotated[tuple[_BaselineName, ...], list_of("a list of stored baselines"), Distinct]


class Family(Model):
    """``family``: the gates that are named, or without names all gates that are tested."""

    correction: _Correction
    gates: Annotated[tuple[_GateName, ...] | None, list_of("a list of gates"), Distinct]


def _whole_family(value: Any) -> Family:
    return Family.model_construct(correction=OneOf(CORRECTIONS)(value), gates=None)


_Family = Annotated[
    Annotated[Family, PlainValidator(_whole_family, json_schema_input_type=Correction), Tag(TEXT)]
    | Annotated[Family, Tag(MAPPING)],
    _BY_SHAPE,
]


#: What stands for the candidate among the systems of a computed baseline.
CANDIDATE = "candidate"
_COMPUTED = re.compile(rf"({'|'.join(COMPUTED)})\((.*)\)")


@dataclass(frozen=True)
class ComputedBaseline:
    """A baseline computed topic by topic from stored ones, ``mean(prod, bm25)``.

    ``kind`` is ``mean``, ``median`` or ``max``, ``systems`` are the names of the stored baselines; the word
    ``candidate`` among them counts the candidate in.
    """

    kind: str
    systems: tuple[str, ...]
    candidate_inside: bool = False


def _baseline(text: str) -> str | ComputedBaseline:
    """The name of a stored baseline, or one that is computed from several."""
    match = _COMPUTED.fullmatch(text)
    if match is None:
        return _baseline_name(text)
    names = [part.strip() for part in match[2].split(",")]
    systems = [_baseline_name(name) for name in names if name != CANDIDATE]
    if not systems:
        raise ValueError(f"{shown(text)} names no stored baseline; write such as {match[1]}(prod, bm25)")
    distinct(tuple(names))
    return ComputedBaseline(match[1], tuple(systems), len(systems) < len(names))


_NAMED_BASELINE = Text("the name of one stored baseline")
_Baseline = Annotated[
    str | ComputedBaseline,
    PlainValidator(lambda value: _baseline(str(_NAMED_BASELINE(value))), json_schema_input_type=str),
]


#: ``1`` and ``1.0`` are one number in YAML.
_AsFloat = AfterValidator(lambda number: None if number is None else float(number))
_Alpha = Annotated[float, PlainValidator(OPTIONS["alpha"].check), _AsFloat]


class GateSettings(Model):
    """One entry of ``gates``, without the keys that only set an option of its kind.

    ``baselines`` form a pool, or are asked about one by one; a gate that looks back has ``since`` instead. A gate
    without ``measure`` or ``candidate`` has those of the whole file.
    """

    name: _GateName
    kind: Annotated[str, PlainValidator(OneOf(tuple(KINDS)))]
    baseline: _Baseline | None = None
    baselines: _Names | None = None
    since: _Since | None = None
    candidate: Candidate | None = None
    measure: Annotated[tuple[_Measure, ...], list_of("a measure", or_one=True), _DistinctMeasures] | None = None
    alpha: Annotated[tuple[_Alpha, ...], list_of("a number", or_one=True), Distinct] = (OPTIONS["alpha"].default,)
    slice: Annotated[tuple[_Slice, ...], list_of("TAG=VALUE or TAG", or_one=True), Distinct] | None = None
    smallest_slice: Annotated[int, PlainValidator(_slice_size)] = MIN_SLICE_TOPICS

    @model_validator(mode="before")
    @classmethod
    def _defaults_of_its_kind(cls, given: Any) -> Any:
        """The options whose default is another for this kind than for most kinds."""
        kind = KINDS.get(given["kind"]) if isinstance(given, dict) and isinstance(given.get("kind"), str) else None
        own = {} if kind is None else options_of(kind)
        others = {name: known.default for name, known in own.items() if known.default != OPTIONS[name].default}
        return {**others, **given} if others else given

    @property
    def asked_of(self) -> tuple[tuple[str | ComputedBaseline, ...], ...]:
        """The baselines of each question: all of a pool, or one of the others, which may be ``NAME/RUN``."""
        if self.since is not None:
            return ((self.since,),)
        if self.baselines is None:
            return () if self.baseline is None else ((self.baseline,),)
        return (self.baselines,) if KINDS[self.kind].is_pool else tuple((name,) for name in self.baselines)

    @property
    def stored(self) -> tuple[str, ...]:
        """The names of all stored baselines that it compares with."""
        asked = [baseline for baselines in self.asked_of for baseline in baselines]
        named = (name for b in asked for name in (b.systems if isinstance(b, ComputedBaseline) else (b,)))
        return tuple(name.partition("/")[0] for name in named)

    def option(self, name: str) -> Any:
        """The value of an option."""
        return getattr(self, name)

    def gate(self, *, alpha: float) -> Gate:
        """What is asked at one alpha; the message of a ``ValueError`` begins with the wrong key."""
        kind = KINDS[self.kind]
        own = {name: self.option(name) for name, o in options_of(kind).items() if name not in _OWN}
        return kind(self.name, alpha=alpha, **own)


#: Keys that do more than set the option of the same name.
_OWN = tuple(GateSettings.model_fields)


def _key(option: Option) -> tuple[Any, Any]:
    """The key of a gate that sets an option: its annotation and default for pydantic."""
    if isinstance(option.check, Texts):
        entry = Annotated[str, PlainValidator(option.check.entry)]
        return Annotated[tuple[entry, ...], list_of(option.check.expected), Distinct], option.default
    checked = Annotated[Any, PlainValidator(option.check)]
    return Annotated[checked, _AsFloat] if isinstance(option.check, Number) else checked, option.default


#: One entry of ``gates``, with every option of any kind.
if TYPE_CHECKING:
    GateModel = GateSettings
else:
    _keys = {name: _key(option) for name, option in OPTIONS.items() if name not in _OWN}
    GateModel = create_model("GateModel", __base__=GateSettings, **_keys)


class Config(Model):
    """A whole riskguard.yaml, with absolute paths; the store need not exist.

    ``measures`` and ``candidate`` apply to every gate that has none. Without ``family`` every gate is
    judged at its own level. ``on_changed_inputs`` says whether a gate warns or is incomparable where judgements or
    topics changed since a baseline was stored.
    """

    collection: Collection
    store: StorePlace = Field(default="baselines", validate_default=True)
    measures: Annotated[tuple[_Measure, ...], list_of("a list of measures"), _DistinctMeasures] | None = None
    candidate: Candidate | None = None
    family: _Family | None = None
    budget: Annotated[int | None, PlainValidator(whole(1, at_most=MAX_LOOKS))] = None
    on_changed_inputs: Annotated[Response, PlainValidator(OneOf(RESPONSES))] = "warn"
    gates: Annotated[tuple[GateModel, ...], BeforeValidator(_gates, json_schema_input_type=None)] = ()
    _path: Path = PrivateAttr()
    _document: Document = PrivateAttr()
    _places: tuple[int, ...] | None = PrivateAttr(default=None)
    _slices: Mapping[str, tuple[str, ...]] = PrivateAttr(default_factory=dict)

    def model_post_init(self, context: Any) -> None:
        """Keep where the settings are from; ``places`` are those of the gates in the file, if some are left out."""
        self._path, self._document, self._places = context["path"], context["document"], context.get("places")

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def ledger(self) -> Path:
        """The file beside it that records the looks of its budget."""
        return self._path.parent / LEDGER

    @property
    def all_measures(self) -> tuple[str, ...]:
        """All that a baseline must be scored with: ``measures``, then those that only single gates name."""
        named = [*(self.measures or ()), *(measure for gate in self.gates for measure in gate.measure or ())]
        return tuple(dict.fromkeys(named))

    @property
    def family_members(self) -> tuple[str, ...]:
        """The names of the gates that are judged together."""
        if self.family is None:
            return ()
        return tuple(g.name for g in self.gates if g.kind in TESTED and g.name in (self.family.gates or [g.name]))

    def line(self, *keys: str | int) -> int:
        """The line, from 1, of the value under some keys."""
        return self._document.line(keys)

    @property
    def placed_gates(self) -> tuple[tuple[int, GateSettings], ...]:
        """The gates, each with its place in the file, from 0."""
        places = range(len(self.gates)) if self._places is None else self._places
        return tuple(zip(places, self.gates, strict=True))

    def line_of(self, gate: GateSettings, *keys: str | int) -> int:
        """The line, from 1, of a gate, or of the value under a key of it."""
        place = next(place for place, known in self.placed_gates if known == gate)
        return self.line("gates", place, *keys)

    def with_slices(self, slices: Mapping[str, tuple[str, ...]]) -> Config:
        """The same settings with the slices of each gate, ``TAG=VALUE`` each, by the gate's name."""
        config = self.model_copy()
        config._slices = slices
        return config

    def slices_of(self, gate: GateSettings) -> tuple[str, ...]:
        """The slices of a gate, empty for all topics; ``ValueError`` if they have not been looked up."""
        if gate.slice and gate.name not in self._slices:
            raise ValueError(f"gate {gate.name!r} declares slices that were not looked up: call with_slices first")
        return self._slices.get(gate.name, ())
