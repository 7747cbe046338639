"""What commands judge: the collection, the systems, measures and slices that a command line names, and the gates."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_riskguard.cli.options import (
    DEFAULT_MEASURE,
    DEFAULT_STORE,
    Collection,
    Command,
    NamedPath,
    collection_options,
    grouped,
    import_measures_from,
    is_config_given,
    number_type,
    repeated,
    store_of,
    surroundings,
    system,
)
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.measures import measure_name
from pytest_riskguard.data.score_files import read_scores
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.titles import DocumentTitles
from pytest_riskguard.engine import Engine
from pytest_riskguard.engine.question import Question, RunFile, ScoreFile, Source, Stored, label
from pytest_riskguard.errors import DataError, UsageError
from pytest_riskguard.gates.alignment import on_one_list
from pytest_riskguard.gates.kinds import KINDS, OPTIONS, POLICY, Gate, gate_of, options_of

if TYPE_CHECKING:
    from pytest_riskguard.baselines.store import Store
    from pytest_riskguard.config.schema import Config
    from pytest_riskguard.gates.verdict import Verdict

Candidate = RunFile | ScoreFile
System = Candidate | Stored


def once(option: str, values: Sequence[str], *, hint: str = "") -> None:
    """Refuse a value given twice: two verdicts could not be distinguished."""
    for value, times in Counter(values).items():
        if times > 1:
            raise UsageError(f"{option}: {value} given twice{hint}")


def files_of(settings: Config) -> list[Path]:
    """What a riskguard.yaml names and no output may replace."""
    from pytest_riskguard.config.candidate_settings import file_of

    collection, candidates = settings.collection, [settings.candidate, *(gate.candidate for gate in settings.gates)]
    given = (collection.given_qrels, collection.given_topics, *map(file_of, candidates))
    paths = [collection.documents.path, *(file.path for file in given if file is not None)]
    return [settings.path, *filter(None, paths)]


class Inputs:
    """What a command line names: systems, and what they are scored and judged with.

    ``system_options`` gives it to a command. A system is a run, a stored baseline or a table of per-topic scores.
    riskguard.yaml, read when it is first needed, names collection, store and measures. ``UsageError`` is raised for a
    wrong question, such as a system given twice, and ``DataError`` for a system that is bad or missing.

    With at least ``first`` runs and no --baseline the first run is the baseline (0: never). Errors call the
    positional argument ``argument``.
    """

    def __init__(
        self,
        collection: Collection,
        systems: tuple[NamedPath, ...],
        baselines: tuple[NamedPath, ...] = (),
        *,
        alphas: tuple[float, ...] = (),
        slices: tuple[str, ...] = (),
        kind: str | None = None,
        argument: str,
        first: int,
    ) -> None:
        runs = systems
        if first and not baselines and len(systems) >= first:
            baselines, runs = systems[:1], systems[1:]
        self.collection, self.runs, self.named_baselines = collection, runs, baselines
        #: The slices that were typed.
        self.asked_slices, self._argument = slices, argument
        #: The kind of gates that is asked, None for those of the policy.
        self.kind = kind
        #: The alphas that were typed, or are the command's own; and the options of a gate that were typed.
        self.alphas = alphas
        self.options = {name: value for name, value in collection.settings.items() if name in OPTIONS}
        #: Whether verdicts hold what the charts of a report draw; and folders as ``Engine`` takes them.
        self.report, self.keep_in = False, tuple[Path, ...]()
        once("--alpha", [f"{alpha:g}" for alpha in alphas])

    @cached_property
    def _every(self) -> list[NamedPath]:
        return [*self.runs, *self.named_baselines]

    @property
    def _is_of_file(self) -> bool:
        """Whether the collection and the question are those of riskguard.yaml."""
        return self.collection.qrels is None and not self.collection.scores

    @cached_property
    def config(self) -> Config | None:
        """The riskguard.yaml, if anything of it is used."""
        is_used = self._is_of_file or any(map(_may_be_stored, self._every)) or is_config_given()
        return surroundings() if is_used else None

    @cached_property
    def gates(self) -> list[list[Gate]]:
        """What is asked of each candidate: the gate of a kind at each alpha, or each gate of the policy.

        Of the policy the second and the third are asked once, at the first alpha that was typed.
        """
        if self.kind is not None:
            return [gates_at(self.alphas, self.kind, self.kind, self.options)]
        asked = list[list[Gate]]()
        for name, kind, preset in POLICY:
            typed = {name: value for name, value in self.options.items() if name in options_of(KINDS[kind])}
            alphas = self.alphas[:1] if asked else self.alphas
            asked.append(gates_at(alphas, name, kind, {**preset, **typed}))
        return asked

    @cached_property
    def _store(self) -> Store | None:
        return store_of(self.config) if self.config is not None or DEFAULT_STORE.is_dir() else None

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """Every file that the command line and riskguard.yaml name: no output may replace one."""
        given = [*self.collection.files(self.config), *(GivenFile.of(system.text) for system in self._every)]
        more = () if self.config is None else files_of(self.config)
        return (*(file.path for file in given if file is not None), *more)

    @cached_property
    def engine(self) -> Engine:
        """What answers the questions."""
        config, collection = self.config, self.collection
        qrels, topics = collection.files(config)
        folder = Path.cwd() if config is None else config.path.parent
        measures = () if collection.scores else collection.measures or self._default_measures
        import_measures_from(folder, (*measures, *(() if config is None else config.all_measures)))
        documents = None if config is None or collection.qrels is not None else config.collection.documents
        response = "warn" if config is None else config.on_changed_inputs
        return Engine(
            qrels=qrels,
            topics=topics,
            store=self._store,
            measures=measures,
            on_changed_inputs=collection.settings.get("on_changed_inputs", response),
            report=self.report,
            titles=DocumentTitles() if documents is None else DocumentTitles(documents.path, documents.url),
            folder=folder,
            keep_in=self.keep_in,
        )

    # Systems.

    @cached_property
    def candidates(self) -> list[Candidate]:
        """The runs, or tables of scores, that are judged, each once."""
        files = [self._file(run) for run in self.runs]
        self._each_once("CANDIDATE", files)
        return files

    def _file(self, given: NamedPath) -> Candidate:
        return (ScoreFile if self.collection.scores else RunFile)(self.collection.file(given.text), given.name)

    @cached_property
    def systems(self) -> list[System]:
        """What the argument names."""
        return self._systems(self.runs, self._argument)

    @cached_property
    def baselines(self) -> list[System]:
        """The baselines that are named."""
        return self._systems(self.named_baselines, "--baseline")

    def _systems(self, named: Sequence[NamedPath], option: str) -> list[System]:
        sources: list[System] = []
        for given in named:
            is_stored = self._store is not None and _may_be_stored(given)
            sources.append(Stored(given.text) if is_stored else self._file(given))
        self._each_once(option, sources)
        return sources

    def _each_once(self, option: str, systems: Sequence[Source]) -> None:
        once(option, [label(system) for system in systems], hint="; NAME=RUN gives one of them another name")

    # What they are asked about.

    @property
    def _default_measures(self) -> tuple[str, ...]:
        config = self.config if self._is_of_file else None
        return (config and config.measures) or (DEFAULT_MEASURE,)

    def measures(self) -> tuple[str, ...]:
        """The measures asked for, else the file's; of tables every column of the first."""
        if self.collection.measures:
            measures = self.collection.measures
            once("--measure", measures if self.collection.scores else [measure_name(one) for one in measures])
            return measures
        tables = (*self.runs, *self.named_baselines)
        if not self.collection.scores or not tables:
            return self._default_measures
        try:
            columns = read_scores(self.collection.file(tables[0].text), None)
            return tuple(str(column.measure) for column in columns)
        except DataError:
            return (DEFAULT_MEASURE,)  # the verdict says what is wrong with the file

    def slices(self, table: Source, measure: str | None) -> tuple[str | None, ...]:
        """The slices asked about, each once; only None, which is all topics, if none is named."""
        if not self.asked_slices:
            return (None,)
        try:
            names = self.engine.slices(self.asked_slices, table, measure)
        except DataError:
            if not all("=" in entry for entry in self.asked_slices):
                raise
            names = self.asked_slices  # the verdict says what is wrong with the file
        once("--slice", names)
        return names

    def questions(self, gates: Sequence[Gate], candidate: Candidate) -> list[Question]:
        """A question for each measure, gate, baseline (with the others of its pool) and slice, in this order."""
        measures: tuple[str | None, ...] = (None,) if gates[0].of_rankings else self.measures()
        pools: list[tuple[System, tuple[System, ...]]] = [(baseline, ()) for baseline in self.baselines]
        if gates[0].is_pool:
            pools = [(self.baselines[0], tuple(self.baselines[1:]))]
        return [
            Question(replace(gate, slice=part), candidate, baseline, measure, pool=others)
            for measure, gate, (baseline, others), part in product(
                measures, gates, pools, self.slices(candidate, measures[0])
            )
        ]

    # Answers.

    def verdicts(
        self,
        kind: str,
        pairs: Iterable[tuple[System | TopicScores, System | TopicScores]],
        *,
        measures: Sequence[str],
        alphas: tuple[float, ...] = (),
        **options: Any,
    ) -> list[Verdict]:
        """The verdicts on pairs of candidate and baseline: for each measure each pair, for each pair each alpha.

        ``options`` are those of a gate of this kind.
        """
        gates = gates_at(alphas, kind, kind, options)
        questions = [Question(gate, *pair, measure) for measure, pair, gate in product(measures, pairs, gates)]
        return self.engine.verdicts(questions, correction="none")

    def history(self, measure: str) -> list[TopicScores]:
        """The scores of the systems in order; of a single stored baseline, those of every run that it has held."""
        first, *others = self.systems
        held = self.engine.sources.lineage(first, measure) if isinstance(first, Stored) and not others else ()
        runs = [replace(one.scores, name=one.scores.name.rpartition("/")[2]) for one in held]
        return runs or [self.engine.scores(source, measure) for source in self.systems]

    def together(self, systems: Sequence[System], measure: str) -> tuple[TopicScores, ...]:
        """The scores of systems on one list of topics, as a gate compares them."""
        return on_one_list(gate_of("together"), [self.engine.scores(system, measure) for system in systems])[0]


def system_options(
    argument: str,
    *settings: str,
    metavar: str = "",
    baseline: str = "",
    scores: bool = True,
    required: bool = True,
    first: int = 0,
    alphas: tuple[float, ...] = (),
    usual: str = "",
    judged: bool = True,
) -> Callable[[Command], Command]:
    """The argument and the options of a command about systems, handed over as ``inputs``, of the class ``Inputs``.

    Parameters
    ----------
    argument : str
        What the systems are called in the command's help, such as ``RUN``.
    settings : str
        Names that ``--set`` takes, as options of gates have them in riskguard.yaml.
    metavar : str
        How the argument is shown, if it is not systems of one kind.
    baseline : str
        What ``--baseline`` is for; without it there is no such option.
    scores : bool
        Whether systems may be tables of per-topic scores.
    required : bool
        Whether the argument must name a system.
    first : int
        Of this many systems or more the first is the baseline, where ``--baseline`` names none; 0 for never.
    alphas : tuple of float
        The default of ``--alpha``; without it, that of the gates.
    usual : str
        The default of ``--alpha`` in words, where the command has its own.
    judged : bool
        Whether the systems are scored: without it there is no ``--qrels``, ``--measure`` and ``--alpha``.
    """
    known = OPTIONS["alpha"]
    usual = usual or ", ".join(f"{alpha:g}" for alpha in alphas)
    usual = usual or f"{known.default:g}, unless the kind of gate has another"
    alpha = repeated(
        "--alpha", "alphas", default=alphas, help=f"{known.help} [default: {usual}]", type=number_type(known.check)
    )
    of_baselines = [repeated("--baseline", "baselines", type=system, metavar="[NAME=]RUN", help=baseline)]
    return grouped(
        "inputs",
        partial(Inputs, argument=argument, first=first),
        click.argument(
            "systems", nargs=-1, type=system, required=required, metavar=metavar or f"[NAME=]{argument}..."
        ),
        *(of_baselines if baseline else ()),
        collection_options(*settings, scores=scores, judged=judged),
        *([alpha] if judged else ()),
    )


def gates_at(alphas: tuple[float, ...], name: str, kind: str, options: Mapping[str, Any]) -> list[Gate]:
    """A gate at each alpha, by default that of its kind."""
    try:
        return [gate_of(name, kind, alpha=alpha, **options) for alpha in alphas] or [gate_of(name, kind, **options)]
    except ValueError as error:
        raise UsageError(f"--gate {kind}: {error}") from None


def _may_be_stored(given: NamedPath) -> bool:
    """Whether a text means a stored baseline: a name that no file has."""
    is_file = os.path.exists(GivenFile.of(given.text).path)  # noqa: PTH110 - Path.exists raises if a name is too long
    looks_like_a_path = "/" in given.text or "\\" in given.text
    return given.name is None and not (is_file or looks_like_a_path)
