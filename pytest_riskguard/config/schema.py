"""The settings of a riskguard.yaml, validated by pydantic, which goes on after the first error.

The checks of a gate's options are declared in ``gates.kinds``; all other checks are here. The models are validated
with a context: the ``path`` of the file and its ``document``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    PrivateAttr,
    create_model,
    model_validator,
)

from pytest_riskguard.baselines.manifest import name_problem
from pytest_riskguard.config.candidate_settings import Candidate, DescribedScores
from pytest_riskguard.config.setting_types import Described, Model, Place, SettingError, list_of
from pytest_riskguard.config.yaml_lines import Document
from pytest_riskguard.data.given_file import GivenFile, LabelRules
from pytest_riskguard.data.input_files import is_address
from pytest_riskguard.gates.kinds import (
    CORRECTIONS,
    KINDS,
    OPTIONS,
    RESPONSES,
    TESTED,
    Correction,
    Gate,
    Response,
    options_of,
    parse_slice,
)
from pytest_riskguard.gates.option_types import Number, OneOf, Option, OptionError, Text, Texts, shown
from pytest_riskguard.limits import MAX_GRADE
from pytest_riskguard.text import Names, document_address


def _gate_name(name: str) -> str:
    """The name of a gate: part of a test's node id, where ``::`` and brackets have a meaning."""
    if name != name.strip() or "::" in name or any(character in name for character in "[]/\\"):
        raise ValueError(f"expected {_GATE_NAME.expected}, found {shown(name)}")
    return name


def _measure(name: str) -> str:
    """A measure of ir-measures, a function or a column of scores; whether it exists is not looked up."""
    if name.count("(") != name.count(")") or name != name.strip():
        raise ValueError(
            f'expected a measure such as nDCG@10, or in quotes "RBP(p=0.8,rel=1)", whose comma would end an entry, '
            f"found {shown(name)}"
        )
    return name


def _stored_name(name: str) -> str:
    if problem := name_problem(name):
        raise ValueError(f"{shown(name)} cannot name a baseline: {problem}")
    return name


def _baseline(value: Any) -> str:
    """The name of a stored baseline, or ``NAME/RUN`` for an earlier run of it."""
    text = str(_BASELINE(value))
    name, slash, run = (part.strip() for part in text.partition("/"))
    if slash and not run:
        raise ValueError(f"{shown(text)} names no run after the '/': give its number, or oldest")
    return f"{_stored_name(name)}{slash}{run}"


def _slice(text: str) -> str:
    tag, wanted = parse_slice(text)
    return tag if wanted is None else f"{tag}={wanted}"


def _gates(value: Any) -> Any:
    """Nothing after ``gates:`` is an empty list; whether it may be empty is checked elsewhere."""
    if not isinstance(value, list | None):
        raise ValueError(f"expected a list of gates, found {shown(value)}; begin each gate with '- '")
    return value or []


def _store(path: Path) -> Path:
    if is_address(path):
        raise ValueError("expected a folder, found an address: copy the baselines into a folder before they are used")
    return path


_GATE_NAME = Text("a name without '::', '[', ']', '/' and '\\'", parse=_gate_name)
_BASELINE = Text("the name of one stored baseline")
_Measure = Annotated[str, PlainValidator(Text("a measure such as nDCG@10", parse=_measure))]
_Stored = Annotated[str, PlainValidator(Text(_BASELINE.expected, parse=_stored_name))]
_Slice = Annotated[str, PlainValidator(Text("TAG=VALUE or TAG", parse=_slice))]
#: ``1`` and ``1.0`` are one number in YAML.
_AsFloat = AfterValidator(lambda number: None if number is None else float(number))
_Alpha = Annotated[float, PlainValidator(OPTIONS["alpha"].check), _AsFloat]


class GateSettings(Model):
    r"""One entry of ``gates``, without the keys that only set an option of its kind.

    Attributes
    ----------
    name
        Unique in the file. Part of the node id, so without `::`, `[`, `]`, `/` and `\`.
    kind
        The question.
    baseline
        The name of one stored baseline. For `no_drift` also `NAME/RUN`, a run that it held earlier: RUN is
        its number or `oldest`. A gate needs this key or the next.
    baselines
        A list of names, instead of `baseline`. For `georisk_not_worse` they are the pool; other kinds
        have one item for each.
    candidate
        As in the file, whose candidate is the default.
    measure
        A measure or a list of them, one item for each; by default the `measures` of the file.
    alpha
        A number, at least 0, or a list of them, one item for each. The default of `no_drift` is 0.
    slice
        One item for each slice: `TAG=VALUE`, the judged topics with this value in this column of the
        topics file (the first `=` ends the tag's name); `TAG`, each of its values with 25 judged topics;
        or a list of these.
    """

    name: Annotated[str, PlainValidator(_GATE_NAME)]
    kind: Annotated[str, PlainValidator(OneOf(tuple(KINDS)))]
    baseline: Annotated[str, PlainValidator(_baseline)] | None = None
    baselines: Annotated[tuple[_Stored, ...], list_of("a list of stored baselines")] | None = None
    candidate: Candidate | None = None
    measure: Annotated[tuple[_Measure, ...], list_of("a measure", or_one=True)] | None = None
    alpha: Annotated[tuple[_Alpha, ...], list_of("a number", or_one=True)] = (OPTIONS["alpha"].default,)
    slice: Annotated[tuple[_Slice, ...], list_of("TAG=VALUE or TAG", or_one=True)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _defaults_of_its_kind(cls, given: Any) -> Any:
        """The options whose default is another for this kind than for most kinds."""
        kind = KINDS.get(given["kind"]) if isinstance(given, dict) and isinstance(given.get("kind"), str) else None
        if kind is None:
            return given
        return {name: o.default for name, o in options_of(kind).items() if o.default != OPTIONS[name].default} | given

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        """Whether keys that are right on their own go together."""
        kind, reference = KINDS[self.kind], self.option("reference")
        for name in OPTIONS:
            if name in self.model_fields_set and name not in options_of(kind):
                raise SettingError(f"it has no meaning for {self.kind}; leave it out", name)
        if (self.baseline is None) == (self.baselines is None):
            key = "baselines: [NAME, NAME]" if kind.is_pool else "baseline: NAME"
            raise SettingError(f"expected one of `baseline` and `baselines`, such as `{key}`", "baselines")
        if self.baseline is not None and "/" in self.baseline and not kind.looks_back:
            raise SettingError(f"an earlier run is for no_drift; for {self.kind} name a stored baseline", "baseline")
        if kind.is_pool and reference is not None and reference not in self.stored:
            raise SettingError(f"expected one of {', '.join(self.stored)}, found {shown(reference)}", "reference")
        try:
            for alpha in self.alpha:
                self.gate(alpha=alpha)
        except OptionError as error:
            raise SettingError(error.fault, error.option) from None
        return self

    @property
    def asked_of(self) -> tuple[Names, ...]:
        """The baselines of each question: all of a pool, or one of the others."""
        named = self.baselines or (str(self.baseline),)
        return (named,) if KINDS[self.kind].is_pool else tuple((name,) for name in named)

    @property
    def stored(self) -> Names:
        """The names of all stored baselines that it compares with."""
        return self.baselines or (str(self.baseline).partition("/")[0],)

    def option(self, name: str) -> Any:
        """The value of an option."""
        return getattr(self, name)

    def gate(self, *, alpha: float) -> Gate:
        """What is asked at one alpha; ``OptionError`` for options that do not go together."""
        kind = KINDS[self.kind]
        own = {name: self.option(name) for name in options_of(kind) if name not in _OWN}
        return kind(self.name, alpha=alpha, **own)


#: Keys that do more than set the option of the same name.
_OWN = tuple(GateSettings.model_fields)


def _key(option: Option) -> tuple[Any, Any]:
    """The key of a gate that sets an option: its annotation and default for pydantic."""
    if isinstance(option.check, Texts):
        entry = Annotated[str, PlainValidator(option.check.entry)]
        return Annotated[tuple[entry, ...], list_of(option.check.expected)], option.default
    check = Annotated[Any, PlainValidator(option.check)]
    return Annotated[check, _AsFloat] if isinstance(option.check, Number) else check, option.default


#: One entry of ``gates``, with every option of any kind.
if TYPE_CHECKING:
    GateModel = GateSettings
else:
    _keys = {name: _key(option) for name, option in OPTIONS.items() if name not in _OWN}
    GateModel = create_model("GateModel", __base__=GateSettings, **_keys)


class Config(Model):
    """A whole riskguard.yaml, with absolute paths; the store need not exist.

    Attributes
    ----------
    collection
        The judgements, query texts and documents, a mapping. Only `no_surprise` can do without.
    store
        Folder of stored baselines.
    measures
        Measures, functions or columns of scores, of every gate without `measure`. The first is the
        fixture's default.
    candidate
        What every gate without `candidate` judges: a run file, or a mapping with `run`, `scores`,
        `retrieve`, `http` or `command`. `riskguard check --candidate RUN` does without.
    family
        A correction for several risk gates: `none` or `auto`.
    on_changed_inputs
        What a gate does where judgements or topics changed since a baseline was stored: `warn`, or
        `fail` to be incomparable until the baseline is rescored.
    gates
        A list of gates. Only `pytest --riskguard` and `riskguard check` need one.
    """

    collection: Collection = Field(default_factory=lambda: Collection())
    store: Annotated[Place, AfterValidator(_store)] = Field(default="baselines", validate_default=True)
    measures: Annotated[tuple[_Measure, ...], list_of("a list of measures")] | None = None
    candidate: Candidate | None = None
    family: Annotated[Correction, PlainValidator(OneOf(CORRECTIONS))] = "none"
    on_changed_inputs: Annotated[Response, PlainValidator(OneOf(RESPONSES))] = "warn"
    gates: Annotated[tuple[GateModel, ...], BeforeValidator(_gates)] = ()
    _path: Path = PrivateAttr()
    _document: Document = PrivateAttr()
    _slices: Mapping[str, Names] = PrivateAttr(default_factory=dict)

    def model_post_init(self, context: Any) -> None:
        """Keep where the settings are from."""
        self._path, self._document = context["path"], context["document"]

    @model_validator(mode="after")
    def _makes_sense(self, info: Any) -> Self:
        """Whether gates have what the file leaves to them, and go together."""
        if info.context["require_gates"] and not self.gates:
            example = "`gates: [{name: no-risk, kind: not_significantly_risky, baseline: prod}]`"
            raise SettingError(
                f"expected a list such as {example} (if gates are only in tests: pytest --riskguard-no-yaml)", "gates"
            )
        judging = [gate for gate in self.gates if not KINDS[gate.kind].of_rankings]
        forms = {type(one) for one in (self.candidate, *(gate.candidate for gate in judging))} - {type(None)}
        if self.collection.qrels is None and forms != {DescribedScores} and (judging or not self.gates):
            raise SettingError("expected the file of judgements: `collection: {qrels: qrels.txt}`", "collection")
        lines: dict[str, int] = {}
        for place, gate in enumerate(self.gates):
            if gate.name in lines:
                problem = f"the gate on line {lines[gate.name]} has this name too; names must be unique"
                raise SettingError(problem, "gates", place, "name")
            lines[gate.name] = self.line("gates", place)
            if gate in judging and gate.measure is None and self.measures is None:
                raise SettingError("expected `measures: [nDCG@10]` in the file, or `measure:` here", "gates", place)
        levels = {gate.name: gate.option("level") for gate in self.gates if gate.name in self.family_members}
        if len(set(levels.values())) > 1:
            found = ", ".join(f"{name} {level:g}" for name, level in levels.items())
            raise SettingError(f"all its gates must have the same level, found {found}", "family")
        return self

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def all_measures(self) -> Names:
        """All that a baseline must be scored with: ``measures``, then those that only single gates name."""
        named = [*(self.measures or ()), *(measure for gate in self.gates for measure in gate.measure or ())]
        return tuple(dict.fromkeys(named))

    @property
    def family_members(self) -> Names:
        """The names of the gates that are corrected together."""
        return () if self.family == "none" else tuple(gate.name for gate in self.gates if gate.kind in TESTED)

    def line(self, *keys: str | int) -> int:
        """The line, from 1, of the value under some keys."""
        return self._document.line(keys)

    def line_of(self, gate: GateSettings, *keys: str | int) -> int:
        """The line, from 1, of a gate, or of the value under a key of it."""
        return self.line("gates", self.gates.index(gate), *keys)

    def know_slices(self, slices: Mapping[str, Names]) -> None:
        """Remember the slices of each gate, ``TAG=VALUE`` each, by the gate's name."""
        self._slices = slices

    def measures_of(self, gate: GateSettings) -> tuple[str | None, ...]:
        """What a gate is asked in: None alone if it needs no measure."""
        return (None,) if KINDS[gate.kind].of_rankings else gate.measure or self.measures or ()

    def slices_of(self, gate: GateSettings) -> Names:
        """The slices of a gate, which must have been looked up; empty for all topics."""
        return self._slices[gate.name] if gate.slice else ()


class QrelsFile(Described):
    """``qrels`` as a mapping: the file, its format, and pairs of what a table holds and its column.

    Attributes
    ----------
    path
        The file.
    format
        The name of a format. Without it the content says which one it is.
    columns
        For tables whose columns have other names: what a column holds, and its name: `{document: sku,
        grade: stars}`.
    """

    holds = "judgements"
    path: Place


class TopicsFile(Described):
    """``topics`` as a mapping: the file, its format, and pairs of what a table holds and its column."""

    holds = "topics"
    path: Place


class Documents(Model):
    """``documents``: a file of all documents with titles and addresses, and the ``url`` of any, with ``{id}``."""

    path: Place | None = None
    url: Annotated[str, PlainValidator(Text("an address with {id}", parse=document_address))] | None = None


_or_path_alone = BeforeValidator(lambda value: value if isinstance(value, dict) else {"path": value})
_grade = Number(-MAX_GRADE, MAX_GRADE)


def _scale(value: Any) -> tuple[float, float]:
    """The lowest and the highest grade."""
    if isinstance(value, list) and len(value) == 2:
        low, high = map(_grade, value)
        if low < high:
            return low, high
    raise ValueError(f"expected the lowest and the highest grade, such as [0, 3], found {shown(value)}")


class Collection(Model):
    """``collection``: the judgements, which only scores and `no_surprise` can do without, and the query texts.

    Attributes
    ----------
    qrels
        File of judgements, or a mapping. Required unless every candidate has `scores` (`collection: {}` is
        then enough), or every gate is `no_surprise`.
    topics
        File of query texts, tags and weights, or `{path: FILE, format: NAME, columns: {topic: NAME,
        query: NAME}}`. Needed by a live candidate, by `weighted`, by `slice` and by tags in `protected`.
    documents
        All documents of the collection, with titles and addresses for reports: JSON Lines, a
        tab-separated table or Parquet (extra `arrow`) with `id` (or `_id`, `docid`), and optionally
        `title`, `url`. Or `{path: FILE, url: "https://help.example.com/{id}"}`: the address of any
        document without one, its id percent-encoded. A gate is incomparable (`stale_labels`) if its outcome
        rests on topics whose relevant documents are not in this file.
    grades
        `[0, 3]`: the lowest and the highest grade. Others are refused, and ERR expects the highest.
    relevant_from
        The lowest grade of a relevant document. Without it every grade above 0 is relevant, and binary
        measures (`P`, `AP`, `RR`, `R`, ...) refuse grades that are not whole.
    chunks
        `"#"`: ids name passages, `doc7#3`. What precedes the last separator is the document, ranked
        where its best passage is; of judged passages the highest grade counts.
    unjudged
        `ignore`: nothing is said about unjudged documents.
    """

    qrels: Annotated[QrelsFile, _or_path_alone] | None = None
    topics: Annotated[TopicsFile, _or_path_alone] | None = None
    documents: Annotated[Documents, _or_path_alone] = Documents()
    grades: Annotated[tuple[float, float] | None, PlainValidator(_scale)] = None
    relevant_from: Annotated[float | None, PlainValidator(_grade)] = None
    chunks: Annotated[str | None, PlainValidator(Text("a text such as '#'"))] = None
    unjudged: Annotated[str, PlainValidator(OneOf(("warn", "ignore")))] = "warn"

    @property
    def given_qrels(self) -> GivenFile | None:
        """The file of judgements, how it is read, and what is said about the judgements."""
        if self.qrels is None:
            return None
        rules = LabelRules(
            scale=self.grades,
            relevant_from=self.relevant_from,
            separator=self.chunks,
            is_complete=self.unjudged == "ignore",
        )
        return replace(self.qrels.given, labels=rules)

    @property
    def given_topics(self) -> GivenFile | None:
        """The topics file and how it is read."""
        return None if self.topics is None else self.topics.given
