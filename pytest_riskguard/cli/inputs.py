"""What commands judge: the collection, the systems, measures and slices that a command line names."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_riskguard.baselines.manifest import name_problem
from pytest_riskguard.baselines.store import Store
from pytest_riskguard.cli.judging.file_defaults import FileDefaults, defaults_of
from pytest_riskguard.cli.parameters import (
    DEFAULT_MEASURE,
    Collection,
    NamedPath,
    SliceEntries,
    config_given,
    surroundings,
)
from pytest_riskguard.engine import Engine
from pytest_riskguard.engine.sources import Baseline, Computed, Question, RunFile, ScoreFile, Source, Stored, label
from pytest_riskguard.errors import BaselineError, ConfigError, DataError, UsageError
from pytest_riskguard.evaluation.document_titles import DocumentTitles
from pytest_riskguard.evaluation.measures import measure_name
from pytest_riskguard.evaluation.score_files import read_scores
from pytest_riskguard.evaluation.scores import TopicScores
from pytest_riskguard.formats.given_file import GivenFile
from pytest_riskguard.gates.kinds import COMPUTED, MIN_SLICE_TOPICS, gate_of

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import Config
    from pytest_riskguard.gates.kinds import Response

System = RunFile | ScoreFile | Stored
#: Options that take NAME=RUN.
_NAMING = ("--baseline", "CANDIDATE", "SYSTEM", "MODEL", *(f"--baseline-{kind}" for kind in COMPUTED))


def once(option: str, values: Sequence[str]) -> None:
    """Refuse a value given twice: two verdicts could not be distinguished."""
    for value, times in Counter(values).items():
        if times > 1:
            hint = "; NAME=RUN gives one of them another name" if option in _NAMING else ""
            raise UsageError(f"{option}: {value} given twice{hint}")


class Inputs:
    """The engine over a collection, and what the options of a command name in it.

    riskguard.yaml supplies what the options do not. ``named`` are systems that may be stored baselines; ``whole``
    means that the command uses the whole store. With the ``kind`` of a gate, ``declared`` is what the file says about
    such gates, unless the collection is not the file's. Every method raises ``UsageError`` if a value is given twice.
    """

    def __init__(
        self,
        collection: Collection,
        named: Sequence[NamedPath],
        *,
        whole: bool = False,
        report: bool = False,
        kind: str | None = None,
        on_changed_inputs: Response | None = None,
    ) -> None:
        self._collection = collection
        given, store = collection.given, collection.store
        documents, address = collection.documents, collection.document_url
        may_be_stored = [system for system in named if _may_be_stored(system)]
        settings = _settings(collection, may_be_stored, whole=whole)
        if settings is not None:
            if given.qrels is None:
                documents = documents or settings.collection.documents
                address = address or settings.collection.document_url
            given = given.or_of(settings.collection)
            store = store or settings.store
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
        # What riskguard.yaml allows is about its own store.
        shrink = 0 if settings is None or collection.store is not None else settings.collection.shrink
        by_default: Response = "warn" if settings is None else settings.on_changed_inputs
        self._store = None if store is None else Store(store)
        measures = () if collection.scores else collection.measures or self.declared.measures
        self.engine = Engine(
            qrels=given.qrels,
            topics=given.topics,
            store=self._store,
            measures=measures,
            shrink=shrink,
            on_changed_inputs=on_changed_inputs or by_default,
            report=report,
            titles=DocumentTitles(documents, address),
            folder=Path.cwd() if settings is None else settings.path.parent,
        )

    def candidates(
        self, runs: Sequence[NamedPath], metadata: Mapping[str, str] | None = None
    ) -> list[RunFile | ScoreFile]:
        """The runs, or tables of scores, that are judged, each once."""
        files = [self._file(Path(run.text), run.name, metadata) for run in runs]
        once("CANDIDATE", [label(file) for file in files])
        return files

    def _file(
        self, path: Path, name: str | None = None, metadata: Mapping[str, str] | None = None
    ) -> RunFile | ScoreFile:
        given = self._collection.system(path)
        kind = ScoreFile if self._collection.scores else RunFile
        return kind(given.path, name, metadata or {}, given)

    def systems(self, named: Sequence[NamedPath], *, option: str = "--baseline") -> list[System]:
        """The systems that an option names, each once."""
        sources = [self._system(given, option) for given in named]
        once(option, [label(source) for source in sources])
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

    def chain(self, sources: Sequence[System], measure: str) -> list[TopicScores]:
        """The scores of systems in their order; of a single stored baseline, those of every run that it has held."""
        if len(sources) > 1 or not isinstance(sources[0], Stored) or self._store is None:
            return [self.engine.scores(source, measure) for source in sources]
        name = sources[0].name
        judgements = self.engine.qrels if self._store.manifest(name).has_run else None
        *earlier, newest = (scored.scores for scored in self._store.lineage(name, measure, qrels=judgements))
        return [*(replace(scores, name=scores.name.rpartition("/")[2]) for scores in earlier), newest]

    def whole_store(self) -> list[Stored]:
        """Every stored baseline."""
        if self._store is None:
            raise UsageError("no systems and no store: name systems, or give --store or a riskguard.yaml")
        return [Stored(name) for name in self._store.names()]

    def computed(self, asked: Mapping[str, Sequence[Sequence[NamedPath]]], *, inside: bool) -> list[Computed]:
        """Baselines computed from several systems, by kind; ``inside`` counts the candidate among these."""
        computed = [
            Computed(kind, tuple(self.systems(group, option=f"--baseline-{kind}")), inside)
            for kind, groups in asked.items()
            for group in groups
        ]
        once("--baseline-mean, -median or -max", [baseline.name for baseline in computed])
        if inside and not computed:
            raise UsageError("--candidate-inside needs --baseline-mean, --baseline-median or --baseline-max")
        return computed

    def measures(self, table: Path | GivenFile) -> tuple[str, ...]:
        """The measures asked for; by default every column of a ``table`` of scores, and for runs the file's."""
        if self._collection.measures:
            once("--measure", [_canonical(measure) for measure in self._collection.measures])
            return self._collection.measures
        if not self._collection.scores:
            return self.declared.measures
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
        slices: SliceEntries,
        options: Mapping[str, Any],
        name: str = "",
        measures: Sequence[str] = (),
    ) -> list[Question]:
        """A question for each measure, alpha, baseline (with the others of its pool) and slice, in this order.

        ``name`` is that of the gate, its kind if empty; ``measures`` are its own, used where none are asked for.
        """
        once("--alpha", [f"{alpha:g}" for alpha in alphas])
        try:
            gates = [gate_of(name or kind, kind, alpha=alpha, **options) for alpha in alphas]
        except ValueError as error:
            raise UsageError(f"--gate {kind}: {error}") from None
        asked = self.measures(candidate.file)
        parts = self.slices(slices, candidate, asked[0])
        if measures and not self._collection.measures:
            asked = tuple(measures)
        return [
            Question(replace(gate, slice=part), candidate, baseline, measure, pool=others, alphas=alphas)
            for measure, gate, (baseline, others), part in product(asked, gates, pools, parts)
        ]

    def slices(self, given: SliceEntries, table: Source, measure: str) -> tuple[str | None, ...]:
        """The slices to ask about, each once; only None, which is all topics, if none is named."""
        all_named = all("=" in entry for entry in given.slices)
        if given.smallest_slice is not None and all_named:
            raise UsageError("--smallest-slice has no effect without --slice TAG")
        if not given.slices:
            return (None,)
        smallest = MIN_SLICE_TOPICS if given.smallest_slice is None else given.smallest_slice
        try:
            names = self.engine.slices(given.slices, table, measure, smallest=smallest, option="--smallest-slice")
        except UsageError as error:
            raise UsageError(f"--{error}" if str(error).startswith("slice") else str(error)) from None
        except DataError:
            if not all_named:
                raise
            names = given.slices  # the verdict says what is wrong with the file
        once("--slice", names)
        return names


def _settings(collection: Collection, may_be_stored: Sequence[NamedPath], *, whole: bool) -> Config | None:
    """The nearest riskguard.yaml, if the judgements or stored baselines come from there."""
    has_qrels, maybe_stored = collection.given.qrels is not None, may_be_stored if collection.store is None else []
    whole = whole and collection.store is None
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
