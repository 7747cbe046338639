"""What commands judge: the collection, the systems, measures and slices that a command line names, and the gates."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_riskguard.cli.options import (
    DEFAULT_MEASURE,
    DEFAULT_STORE,
    Collection,
    NamedPath,
    asked_alphas,
    config_given,
    file_of,
    import_measures_from,
    stored_in,
    surroundings,
)
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.measures import measure_name
from pytest_riskguard.data.score_files import read_scores
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.titles import DocumentTitles
from pytest_riskguard.engine import Engine
from pytest_riskguard.engine.question import Baseline, Computed, Question, RunFile, ScoreFile, Source, Stored, label
from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.gates.alignment import NO_TOPICS, clusters_of, on_one_list, strata_of, weights_of
from pytest_riskguard.gates.kinds import KINDS, POLICY, Gate, gate_of, options_of

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import Config, GateSettings
    from pytest_riskguard.gates.verdict import Verdict
    from pytest_riskguard.risk.checks import FloatArray

Candidate = RunFile | ScoreFile
System = Candidate | Stored
#: A baseline and, for a gate over a pool, the others.
Pool = tuple[Baseline, tuple[Source, ...]]


def once(option: str, values: Sequence[str], *, hint: str = "") -> None:
    """Refuse a value given twice: two verdicts could not be distinguished."""
    for value, times in Counter(values).items():
        if times > 1:
            raise UsageError(f"{option}: {value} given twice{hint}")


@frozen
class AskedGate:
    """What is asked of each candidate: as riskguard.yaml says, else as by default.

    ``pools`` are the baselines of each question that the file asks; ``from_file`` says that it was the file.
    """

    name: str
    kind: str
    alphas: tuple[float, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    measures: tuple[str, ...] = ()
    pools: tuple[Pool, ...] = ()
    correction: str = "none"
    from_file: str | None = None

    def gates(self) -> list[Gate]:
        """The gate at each alpha."""
        try:
            return [gate_of(self.name, self.kind, alpha=alpha, **self.options) for alpha in self.alphas]
        except ValueError as error:
            raise UsageError(f"--gate {self.kind}: {error}") from None


def asked_gates(config: Config | None, kind: str | None) -> list[AskedGate]:
    """The first gate of a kind in the file, else one as by default; without a kind, all of a policy.

    That are a gate on the mean and those on single queries, of the file if it has any gates.
    """
    policy = POLICY if kind is None else ((kind, kind, {}),)
    default = [AskedGate(name, of, asked_alphas(of, ()), options) for name, of, options in policy]
    if config is None or not config.gates:
        return default
    of_kind = [gate for gate in config.gates if gate.kind == default[0].kind][:1]
    beside = [gate for gate in config.gates if KINDS[gate.kind].by_topic and kind is None]
    return [*([] if of_kind else default[:1]), *(_asked(config, gate) for gate in (*of_kind, *beside))]


def _asked(config: Config, gate: GateSettings) -> AskedGate:
    from pytest_riskguard.engine.declared_gates import baseline_source

    pools = []
    for question in gate.asked_of:
        baseline, *others = map(baseline_source, question)
        pools.append((baseline, tuple(other for other in others if not isinstance(other, Computed))))
    return AskedGate(
        gate.name,
        gate.kind,
        gate.alpha,
        # slices are judged only if they are asked for
        {name: gate.option(name) for name in options_of(KINDS[gate.kind]) if name not in ("alpha", "slice")},
        gate.measure or (),
        tuple(pools),
        config.family if gate.name in config.family_members else "none",
        f"from {config.path.name}, gate {gate.name}",
    )


@frozen
class Together:
    """Scores of systems on the same topics; ``missing``: for each those where it has no answer.

    ``weights`` say how much each topic counts, shape (n_topics,); None if all alike.
    """

    scores: tuple[TopicScores, ...]
    missing: tuple[tuple[str, ...], ...]
    weights: FloatArray | None


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
        kind: str | None = "",
    ) -> None:
        self._collection, self._named, self._baselines, self._argument = collection, named, baselines, argument
        #: The alphas that were typed, or are the command's own; and the options of a gate that were typed.
        self.alphas, self.options, self._whole = alphas, collection.options, whole and not named
        once("--alpha", [f"{alpha:g}" for alpha in alphas])
        every = [system for one in (*named, *baselines) for system in one.systems or (one,)]
        stored = {system.text for system in every if _may_be_stored(system)}
        is_of_file = collection.qrels is None and not collection.scores
        needed = is_of_file or stored or self._whole or config_given() is not None
        config = surroundings() if needed else None
        qrels, topics = collection.files(config)
        of_file = config if is_of_file else None
        #: What is asked of each candidate, if the command asks gates.
        self.gates = [] if kind == "" else asked_gates(of_file, kind)
        self._default_measures: tuple[str, ...] = (DEFAULT_MEASURE,)
        if self.gates and of_file is not None:
            self._default_measures = self.gates[0].measures or of_file.measures or self._default_measures
        root = DEFAULT_STORE if config is None else config.store
        self._store = stored_in(root) if config is not None or root.is_dir() else None
        if not baselines:
            pools = (pool for gate in self.gates for pool in gate.pools)
            stored |= {one.name for first, others in pools for one in (first, *others) if isinstance(one, Stored)}
        #: The riskguard.yaml, if its collection or its store is used.
        self.config = None if config is None or not (is_of_file or stored) else config.path
        documents = None if config is None or collection.qrels is not None else config.collection.documents
        read = [qrels, topics, *(GivenFile.of(system.text) for system in every)]
        paths = [self.config, None if documents is None else documents.path]
        #: Every file that the options and riskguard.yaml name, the candidate's aside: no output may replace one.
        self.files = tuple(file.path for file in read if file is not None)
        self.files += tuple(path for path in paths if path is not None)
        self.files += tuple(file for name in stored for file in (root / name).glob("*"))
        folder = Path.cwd() if config is None else config.path.parent
        measures = () if collection.scores else collection.measures or self._default_measures
        import_measures_from(folder, (*measures, *(() if config is None else config.all_measures)))
        self.engine = Engine(
            qrels=qrels,
            topics=topics,
            store=self._store,
            measures=measures,
            on_changed_inputs=collection.settings.get(
                "on_changed_inputs", "warn" if config is None else config.on_changed_inputs
            ),
            report=report,
            titles=DocumentTitles() if documents is None else DocumentTitles(documents.path, documents.url),
            folder=folder,
        )

    # Systems.

    def candidates(self, runs: Sequence[NamedPath], metadata: Mapping[str, str] | None = None) -> list[Candidate]:
        """The runs, or tables of scores, that are judged, each once."""
        files = [self._file(run, metadata) for run in runs]
        self._each_once("CANDIDATE", files)
        return files

    def _file(self, given: NamedPath, metadata: Mapping[str, str] | None = None) -> Candidate:
        file = file_of(given.text, self._collection.settings)
        return (ScoreFile if self._collection.scores else RunFile)(file, given.name, metadata or {})

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
        declared = [one for gate in self.gates[:1] for first, others in gate.pools for one in (first, *others)]
        sources = [source for source in declared if isinstance(source, System)]
        if len(sources) < len(declared):
            raise UsageError("riskguard.yaml has a computed baseline: name baselines with --baseline")
        return sources

    def pools(self, kind: str) -> list[Pool]:
        """The baselines of each question of a gate of this kind, as the command line names them."""
        computed = [self._computed(given) for given in self._baselines if given.computed is not None]
        single = self._systems([given for given in self._baselines if given.computed is None], "--baseline")
        self._each_once("--baseline", computed)
        if not KINDS[kind].is_pool:
            return [(baseline, ()) for baseline in (*single, *computed)]
        if computed:
            raise UsageError(f"--gate {kind}: a pool takes no computed baselines; give its systems with --baseline")
        return [(single[0], tuple(single[1:]))]

    def _computed(self, given: NamedPath) -> Computed:
        """A baseline that is computed from several; ``candidate`` counts the candidate in."""
        systems = [system for system in given.systems if system.text != "candidate"]
        if not systems:
            raise UsageError(f"--baseline {given.text}: expected at least one system beside the candidate")
        inside = len(systems) < len(given.systems)
        return Computed(str(given.computed), tuple(self._systems(systems, "--baseline")), inside)

    def _systems(self, named: Sequence[NamedPath], option: str) -> list[System]:
        sources: list[System] = []
        for given in named:
            is_stored = self._store is not None and _may_be_stored(given)
            sources.append(Stored(given.text) if is_stored else self._file(given))
        self._each_once(option, sources)
        return sources

    def _each_once(self, option: str, systems: Sequence[Baseline]) -> None:
        once(option, [label(system) for system in systems], hint="; NAME=RUN gives one of them another name")

    # What they are asked about.

    def measures(self, table: GivenFile | None = None) -> tuple[str, ...]:
        """The measures asked for, else the file's; of tables every column of ``table``, by default the first."""
        if self._collection.measures:
            measures = self._collection.measures
            once("--measure", measures if self._collection.scores else [measure_name(one) for one in measures])
            return measures
        if table is None and self._named:
            table = file_of(self._named[0].text, self._collection.settings)
        if not self._collection.scores or table is None:
            return self._default_measures
        try:
            return tuple(str(column.measure) for column in read_scores(table, None))
        except DataError:
            return (DEFAULT_MEASURE,)  # the verdict says what is wrong with the file

    def slices(self, given: Sequence[str], table: Source, measure: str) -> tuple[str | None, ...]:
        """The slices to ask about, each once; only None, which is all topics, if none is named."""
        if not given:
            return (None,)
        try:
            names = self.engine.slices(given, table, measure)
        except DataError:
            if not all("=" in entry for entry in given):
                raise
            names = tuple(given)  # the verdict says what is wrong with the file
        once("--slice", names)
        return names

    @cached_property
    def asked(self) -> AskedGate:
        """What a gate of the command's kind is asked, with what is typed."""
        return self.typed(self.gates[0])

    def typed(self, gate: AskedGate) -> AskedGate:
        """What a gate is asked, with what is typed; the reference of a pool belongs to the file's baselines."""
        options, alphas = {**gate.options, **self.options}, self.alphas
        if self._baselines and "reference" not in self.options:
            options.pop("reference", None)
        if gate is not self.gates[0]:
            own = options_of(KINDS[gate.kind])
            options, alphas = {name: value for name, value in options.items() if name in own}, alphas[:1]
        correction = self._collection.settings.get("family", gate.correction)
        return replace(gate, alphas=alphas or gate.alphas, options=options, correction=correction)

    def questions(
        self, gate: AskedGate, candidate: Candidate, pools: Sequence[Pool], slices: Sequence[str]
    ) -> list[Question]:
        """A question for each measure, alpha, baseline (with the others of its pool) and slice, in this order."""
        measures = self.measures(candidate.file)
        parts = self.slices(slices, candidate, measures[0])
        if gate.measures and not self._collection.measures:
            measures = gate.measures
        return [
            Question(replace(one, slice=part), candidate, baseline, measure, pool=others)
            for measure, one, (baseline, others), part in product(measures, gate.gates(), pools, parts)
        ]

    # Answers.

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
        gates = AskedGate(kind, kind, asked_alphas(kind, alphas), options).gates()
        questions = [Question(gate, *pair, measure) for measure, pair, gate in product(measures, pairs, gates)]
        return self.engine.verdicts(questions, correction=correction)

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
        gate, topics = gate_of("together", **options), self.engine.sources.topics or NO_TOPICS
        scores, missing = on_one_list(gate, [self.engine.scores(system, measure) for system in systems])
        wanted = scores[0].topics
        try:
            weights = weights_of(topics, wanted) if gate.weighted else None
            strata = None if gate.weighted else strata_of(gate, topics, wanted, clusters_of(topics, wanted))
        except ValueError as error:
            raise UsageError(str(error)) from None
        return Together(scores, missing, weights if strata is None else strata.weights)


def _may_be_stored(given: NamedPath) -> bool:
    """Whether a text means a stored baseline: a name that no file has."""
    is_file = os.path.exists(GivenFile.of(given.text).path)  # noqa: PTH110 - Path.exists raises if a name is too long
    looks_like_a_path = "/" in given.text or "\\" in given.text
    return given.name is None and given.computed is None and not (is_file or looks_like_a_path)
