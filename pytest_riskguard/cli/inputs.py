"""What commands judge: the collection, the systems, measures and slices that a command line names."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_riskguard.baselines.names import name_problem
from pytest_riskguard.cli.parameters import (
    DEFAULT_MEASURE,
    DEFAULT_STORE,
    Collection,
    NamedPath,
    asked_alphas,
    config_given,
    import_measures_from,
    surroundings,
)
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.measures import measure_name
from pytest_riskguard.data.score_files import read_scores
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.titles import DocumentTitles
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.engine import Engine
from pytest_riskguard.engine.question import Baseline, Computed, Question, RunFile, ScoreFile, Source, Stored, label
from pytest_riskguard.errors import BaselineError, ConfigError, DataError, UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.alignment import NO_TOPICS, clusters_of, on_one_list, strata_of, weights_of
from pytest_riskguard.gates.kinds import (
    KINDS,
    OPTIONS,
    POLICY,
    Gate,
    NotSignificantlyRisky,
    gate_of,
    options_of,
)
from pytest_riskguard.text import clean, listed

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import ComputedBaseline, Config, GateSettings
    from pytest_riskguard.gates.kinds import Response
    from pytest_riskguard.gates.verdict import Verdict
    from pytest_riskguard.risk.checks import FloatArray

System = RunFile | ScoreFile | Stored


def once(option: str, values: Sequence[str], *, hint: str = "") -> None:
    """Refuse a value given twice: two verdicts could not be distinguished."""
    for value, times in Counter(values).items():
        if times > 1:
            raise UsageError(f"{option}: {value} given twice{hint}")


def _each_once(option: str, systems: Sequence[Baseline]) -> None:
    once(option, [label(system) for system in systems], hint="; NAME=RUN gives one of them another name")


class AskedGate(NamedTuple):
    """What gates of a kind are asked: as typed, else as riskguard.yaml says, else their defaults.

    ``from_file`` says what the file decided, ``typed`` what it did not.
    """

    alphas: tuple[float, ...]
    correction: str
    options: dict[str, Any]
    from_file: str | None
    typed: Container[str]


@frozen
class Together:
    """Scores of systems on the same topics; ``missing``: for each those where it has no answer."""

    scores: tuple[TopicScores, ...]
    missing: tuple[tuple[str, ...], ...]
    _gate: Gate
    _topics: Topics

    @property
    def weights(self) -> FloatArray | None:
        """How much each topic counts, shape (n_topics,), by its weight or its stratum's share; None if all alike."""
        wanted = self.scores[0].topics
        try:
            if self._gate.weighted:
                return weights_of(self._topics, wanted)
            strata = strata_of(self._gate, self._topics, wanted, clusters_of(self._topics, wanted))
        except ValueError as error:
            raise UsageError(str(error)) from None
        return None if strata is None else strata.weights


class Inputs:
    """What a command line names: systems, and what they are scored and judged with.

    ``system_options`` gives it to a command. A system is a run, a stored baseline or a table of per-topic scores.
    riskguard.yaml supplies what the options do not. ``UsageError`` is raised for a wrong question, such as a system
    given twice, and ``DataError`` for a system that is bad or missing.
    """

    def __init__(
        self,
        collection: Collection,
        named: Sequence[NamedPath],
        baselines: Sequence[NamedPath] = (),
        *,
        alphas: tuple[float, ...] = (),
        argument: str = "",
        whole: bool = False,
        report: bool = False,
        kind: str = "",
    ) -> None:
        self._collection, self._named, self._baselines, self._argument = collection, named, baselines, argument
        self.alphas, self._kind, self._whole = alphas, kind, whole and not named
        once("--alpha", [f"{alpha:g}" for alpha in alphas])
        given, documents, address = collection.given, None, None
        named = [system for one in (*named, *baselines) for system in one.systems or (one,)]
        may_be_stored = [system for system in named if _may_be_stored(system)]
        settings = _settings(collection, may_be_stored, whole=self._whole)
        if settings is not None:
            if given.qrels is None:
                documents, address = settings.collection.documents.path, settings.collection.documents.url
            given = given.or_of(settings.collection)
        store = settings.store if settings is not None else DEFAULT_STORE if DEFAULT_STORE.is_dir() else None
        is_of_file = collection.given.qrels is None and not collection.scores
        self.declared = defaults_of(settings, kind) if settings and kind and is_of_file else FileDefaults()
        settings_file = None if settings is None else settings.path
        names = {system.text for system in may_be_stored} | (set() if named else self.declared.stored)
        stored = [] if store is None else [file for name in names for file in (store / name).glob("*")]
        #: The riskguard.yaml, if its collection or its store is used.
        self.config = settings_file if is_of_file or stored else None
        named_files = [GivenFile.of(system.text).path for system in named]
        own_files = [None if file is None else file.path for file in (given.qrels, given.topics)]
        given_files = (*own_files, documents, settings_file, *named_files, *stored)
        #: Every file that the options and riskguard.yaml name, the candidate's aside: no output may replace one.
        self.files = tuple(file for file in given_files if file is not None)
        by_default: Response = "warn" if settings is None else settings.on_changed_inputs
        self._store = None
        if store is not None:
            from pytest_riskguard.baselines.store import Store

            self._store = Store(store)
        folder = Path.cwd() if settings is None else settings.path.parent
        measures = () if collection.scores else collection.measures or self.declared.measures
        import_measures_from(folder, (*measures, *(() if settings is None else settings.all_measures)))
        self.engine = Engine(
            qrels=given.qrels,
            topics=given.topics,
            store=self._store,
            measures=measures,
            on_changed_inputs=collection.settings.get("on_changed_inputs", by_default),
            report=report,
            titles=DocumentTitles(documents, address),
            folder=folder,
        )

    def candidates(
        self, runs: Sequence[NamedPath], metadata: Mapping[str, str] | None = None
    ) -> list[RunFile | ScoreFile]:
        """The runs, or tables of scores, that are judged, each once."""
        files = [self._file(Path(run.text), run.name, metadata) for run in runs]
        _each_once("CANDIDATE", files)
        return files

    def _file(
        self, path: Path, name: str | None = None, metadata: Mapping[str, str] | None = None
    ) -> RunFile | ScoreFile:
        given = self._collection.system(path)
        kind = ScoreFile if self._collection.scores else RunFile
        return kind(given, name, metadata or {})

    @cached_property
    def systems(self) -> list[System]:
        """What the argument names; all stored baselines where it names none and the command is about them all."""
        if not self._whole:
            return self._systems(self._named, self._argument)
        if self._store is None:
            raise UsageError("no systems and no store: name systems, or name a store in a riskguard.yaml")
        return [Stored(name) for name in self._store.names()]

    @cached_property
    def baselines(self) -> list[System]:
        """The baselines that ``--baseline`` names, else those of the gate in riskguard.yaml."""
        if self._baselines:
            return self._systems(self._baselines, "--baseline")
        from pytest_riskguard.engine.declared_gates import baseline_source

        declared = [baseline_source(baseline) for question in self.declared.baselines for baseline in question]
        for source in declared:
            if isinstance(source, Computed):
                raise UsageError(
                    f"riskguard.yaml has the computed baseline {source.name}: name baselines with --baseline"
                )
        return [source for source in declared if isinstance(source, System)]

    def _systems(self, named: Sequence[NamedPath], option: str) -> list[System]:
        sources = [self._system(given, option) for given in named]
        _each_once(option, sources)
        return sources

    def _system(self, given: NamedPath, option: str) -> System:
        """What ``[NAME=]RUN`` means: a file if there is one, else a stored baseline."""
        path = Path(given.text)
        if given.name is not None or self._store is None:
            return self._file(path, given.name)
        try:
            is_stored = _may_be_stored(given) and given.text in self._store.names()
        except BaselineError:
            is_stored = False  # the verdict says what is wrong with the store
        is_there = os.path.exists(GivenFile.of(path).path)  # noqa: PTH110 - Path.exists raises if a name is too long
        if is_there and is_stored:
            raise UsageError(
                f"{option} {given.text} is both a file and a stored baseline: write ./{given.text} for the file, or "
                "rename it"
            )
        looks_like_a_name = "/" not in given.text and "\\" not in given.text
        return Stored(given.text) if is_stored or (looks_like_a_name and not is_there) else self._file(path)

    def scores(self, system: System, measure: str) -> TopicScores:
        """The scores of a system."""
        return self.engine.scores(system, measure)

    def history(self, measure: str) -> list[TopicScores]:
        """The scores of the systems in order; of a single stored baseline, those of every run that it has held."""
        if len(self.systems) > 1 or not isinstance(self.systems[0], Stored) or self._store is None:
            return [self.engine.scores(source, measure) for source in self.systems]
        name = self.systems[0].name
        judgements = self.engine.sources.qrels if self._store.manifest(name).has_run else None
        *earlier, newest = (scored.scores for scored in self._store.lineage(name, measure, qrels=judgements))
        return [*(replace(scores, name=scores.name.rpartition("/")[2]) for scores in earlier), newest]

    def together(self, systems: Sequence[System], measure: str, **options: Any) -> Together:
        """The scores of systems on one list of topics, as a gate with these options compares them."""
        gate = gate_of("together", **options)
        scores, missing = on_one_list(gate, [self.engine.scores(system, measure) for system in systems])
        return Together(scores, missing, gate, self.engine.sources.topics or NO_TOPICS)

    def verdicts(
        self,
        kind: str,
        pairs: Iterable[tuple[System | TopicScores, System | TopicScores]],
        *,
        measures: Sequence[str],
        alphas: tuple[float, ...] = (),
        correction: str = "none",
        **options: Any,
    ) -> list[Verdict]:
        """The verdicts on pairs of candidate and baseline: for each measure each pair, for each pair each alpha.

        ``options`` are those of a gate of this kind; ``correction`` is that for several gates.
        """
        asked = product(measures, pairs, self._gates(kind, asked_alphas(kind, alphas), options))
        questions = [Question(gate, *pair, measure) for measure, pair, gate in asked]
        return self.engine.verdicts(questions, correction=correction)

    def _gates(self, kind: str, alphas: tuple[float, ...], options: Mapping[str, Any], name: str = "") -> list[Gate]:
        once("--alpha", [f"{alpha:g}" for alpha in alphas])
        try:
            return [gate_of(name or kind, kind, alpha=alpha, **options) for alpha in alphas]
        except ValueError as error:
            raise UsageError(f"--gate {kind}: {error}") from None

    @cached_property
    def asked(self) -> AskedGate:
        """What a gate of the command's kind is asked."""
        typed = {**self.options, **({"alphas": self.alphas} if self.alphas else {})}
        typed |= {name: value for name, value in self._collection.settings.items() if name == "family"}
        known, has_baselines = {*typed, *(("measures",) if self._collection.measures else ())}, bool(self._baselines)
        taken = self.declared.unless(known, has_baselines=has_baselines)
        values = {"alphas": asked_alphas(self._kind, ()), "family": "none", **typed, **taken}
        values.pop("measures", None)  # ``measures`` has them
        line = self.declared.line(taken, has_baselines=has_baselines)
        from_file = None if line is None else clean(line, limit=1000)
        return AskedGate(values.pop("alphas"), values.pop("family"), values, from_file, known)

    @property
    def options(self) -> dict[str, Any]:
        """The options of a gate that were typed."""
        return self._collection.options

    def single_and_computed(self) -> tuple[list[System], list[Computed]]:
        """Baselines that are systems, and those computed from several; ``candidate`` counts the candidate in."""
        computed = []
        for given in self._baselines:
            if given.computed is None:
                continue
            systems = [system for system in given.systems if system.text != "candidate"]
            if not systems:
                raise UsageError(f"--baseline {given.text}: expected at least one system beside the candidate")
            inside = len(systems) < len(given.systems)
            computed.append(Computed(given.computed, tuple(self._systems(systems, "--baseline")), inside))
        _each_once("--baseline", computed)
        return self._systems([given for given in self._baselines if given.computed is None], "--baseline"), computed

    def measures(self, table: Path | GivenFile | None = None) -> tuple[str, ...]:
        """The measures asked for, else the file's; of tables every column of ``table``, by default the first."""
        if self._collection.measures:
            once("--measure", [_canonical(measure) for measure in self._collection.measures])
            return self._collection.measures
        if not self._collection.scores or (table is None and not self._named):
            return self.declared.measures
        if table is None:
            table = Path(self._named[0].text)
        given = table if isinstance(table, GivenFile) else self._collection.system(table)
        try:
            return tuple(str(column.measure) for column in read_scores(given, None))
        except DataError:
            return (DEFAULT_MEASURE,)  # the verdict says what is wrong with the file

    def questions(
        self,
        kind: str,
        candidate: RunFile | ScoreFile,
        pools: Sequence[tuple[Baseline, tuple[Source, ...]]],
        *,
        alphas: tuple[float, ...],
        slices: Sequence[str],
        options: Mapping[str, Any],
        name: str = "",
        measures: Sequence[str] = (),
    ) -> list[Question]:
        """A question for each measure, alpha, baseline (with the others of its pool) and slice, in this order.

        ``name`` is that of the gate, its kind if empty; ``measures`` are its own, used where none are asked for.
        """
        gates = self._gates(kind, alphas, options, name)
        asked = self.measures(candidate.file)
        parts = self.slices(slices, candidate, asked[0])
        if measures and not self._collection.measures:
            asked = tuple(measures)
        return [
            Question(replace(gate, slice=part), candidate, baseline, measure, pool=others)
            for measure, gate, (baseline, others), part in product(asked, gates, pools, parts)
        ]

    def slices(self, given: Sequence[str], table: Source, measure: str) -> tuple[str | None, ...]:
        """The slices to ask about, each once; only None, which is all topics, if none is named."""
        if not given:
            return (None,)
        try:
            names = self.engine.slices(given, table, measure)
        except UsageError as error:
            raise UsageError(f"--{error}" if str(error).startswith("slice") else str(error)) from None
        except DataError:
            if not all("=" in entry for entry in given):
                raise
            names = tuple(given)  # the verdict says what is wrong with the file
        once("--slice", names)
        return names


def _settings(collection: Collection, may_be_stored: Sequence[NamedPath], *, whole: bool) -> Config | None:
    """The nearest riskguard.yaml, if the judgements or stored baselines come from there."""
    has_qrels, maybe_stored = collection.given.qrels is not None, may_be_stored
    if collection.scores:
        maybe_stored = [system for system in maybe_stored if not Path(system.text).exists()]
        has_qrels = True  # none are needed, unless a stored baseline needs them
    if has_qrels and not maybe_stored and not whole and config_given() is None:
        return None
    try:
        return surroundings()
    except ConfigError:
        if (
            not has_qrels
            or whole
            or config_given() is not None
            or any(not Path(system.text).exists() for system in maybe_stored)
        ):
            raise
        return None  # only the warning about a file with the name of a stored baseline is lost


def _may_be_stored(given: NamedPath) -> bool:
    return given.name is None and name_problem(given.text) is None


def _canonical(measure: str) -> str:
    try:
        return measure_name(measure)
    except UsageError:
        return measure  # a column of its own in a table of scores, or the engine refuses it


#: The baselines of each question of a gate.
Asked = tuple[tuple["str | ComputedBaseline", ...], ...]
#: Parameters of ``compare`` that have other names than the keys of a gate.
_KEYS = {"measures": "measure", "alphas": "alpha"}
#: Options of a gate that are not taken as they are: ``compare`` judges slices only if asked to.
_OTHERWISE = ("alpha", "slice", "reference")


@frozen
class BesideGate:
    """A gate on single queries; one of the file has its own baselines and alphas, and measures if it names them."""

    name: str
    kind: str
    options: Mapping[str, Any]
    baselines: Asked = ()
    measures: tuple[str, ...] = ()
    alphas: tuple[float, ...] = (OPTIONS["alpha"].default,)


#: The gates of the default policy on single queries.
ON_SINGLE_QUERIES = tuple(BesideGate(*gate) for gate in POLICY[1:])


@frozen
class FileDefaults:
    """Settings of the first gate of a kind, and of its file; empty where there is no file.

    ``baselines`` has those of each question. ``beside`` are the gates on single queries, where no kind is asked for:
    the file's, or those of the default policy. ``values`` has everything else by the name of the parameter of
    ``compare``, with the tuples ``measures`` and ``alphas``.
    """

    file: str = ""
    kind: str = NotSignificantlyRisky.kind
    gate: str | None = None
    baselines: Asked = ()
    reference: str | None = None
    beside: tuple[BesideGate, ...] = ON_SINGLE_QUERIES
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures, nDCG@10 where the file has none."""
        return tuple(self.values.get("measures") or (DEFAULT_MEASURE,))

    @property
    def stored(self) -> set[str]:
        """The names of all stored baselines of these gates."""
        asked = (self.baselines, *(gate.baselines for gate in self.beside))
        every = [baseline for questions in asked for question in questions for baseline in question]
        return {name for one in every for name in ((one,) if isinstance(one, str) else one.systems)}

    def unless(self, typed: Container[str], *, has_baselines: bool) -> dict[str, Any]:
        """The values of parameters that were not typed; the reference belongs to the file's baselines."""
        reference = {} if has_baselines or self.reference is None else {"reference": self.reference}
        return {name: value for name, value in {**self.values, **reference}.items() if name not in typed}

    def line(self, taken: Mapping[str, Any], *, has_baselines: bool) -> str | None:
        """What of the file decided, in words; None if it said nothing but what is the default anyway."""
        words = [f"{_KEYS.get(name, name)} {_shown(v)}" for name, v in taken.items() if v != self._default(name)]
        if not has_baselines and self.baselines:
            names = tuple(_name(one) for question in self.baselines for one in question)
            words.insert(0, f"{'baseline' if len(names) == 1 else 'baselines'} {listed(names, most=5)}")
        gate = "" if self.gate is None else f", gate {self.gate}"
        return f"from {self.file}{gate}: {', '.join(words)}" if words else None

    def _default(self, name: str) -> Any:
        """What holds for gates of the kind without a file."""
        match name:
            case "measures":
                return (DEFAULT_MEASURE,)
            case "alphas":
                return (options_of(KINDS[self.kind])["alpha"].default,)
            case "family":
                return "none"
        return options_of(KINDS[self.kind])[name].default


def defaults_of(config: Config, kind: str) -> FileDefaults:
    """What the file says about gates of this kind: its first such gate, then the whole file."""
    gate = next((gate for gate in config.gates if gate.kind == kind), None)
    measures = config.measures if gate is None or gate.measure is None else gate.measure
    shared = {"measures": measures} if measures else {}
    beside = ON_SINGLE_QUERIES
    if config.gates:
        beside = tuple(
            BesideGate(other.name, other.kind, _options(other), other.asked_of, other.measure or (), other.alpha)
            for other in config.gates
            if KINDS[other.kind].by_topic
        )
    if gate is None:
        return FileDefaults(config.path.name, kind, beside=beside, values=shared)
    family = config.family if gate.name in config.family_members else "none"
    values = {**shared, "alphas": gate.alpha, "family": family, **_options(gate)}
    return FileDefaults(config.path.name, kind, gate.name, gate.asked_of, gate.option("reference"), beside, values)


def _options(gate: GateSettings) -> dict[str, Any]:
    names = list(options_of(KINDS[gate.kind]))
    return {name: gate.option(name) for name in names if name not in _OTHERWISE}


def _name(baseline: str | ComputedBaseline) -> str:
    return baseline if isinstance(baseline, str) else f"{baseline.kind}({', '.join(baseline.systems)})"


def _shown(value: Any) -> str:
    if isinstance(value, tuple | list):
        return listed(tuple(_shown(one) for one in value), most=5)
    return f"{value:g}" if isinstance(value, float) else str(value)
