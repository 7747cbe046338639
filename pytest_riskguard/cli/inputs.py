"""What commands judge: the collection, the runs and the measures that a command line names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_riskguard.cli.parameters import NamedPath, surroundings
from pytest_riskguard.errors import BaselineError, ConfigError, UsageError
from pytest_riskguard.gates.kinds import COMPUTED, MIN_SLICE_TOPICS, Gate, gate_of

if TYPE_CHECKING:
    from pytest_riskguard.baselines.store import Store
    from pytest_riskguard.engine import Engine
    from pytest_riskguard.sources import Computed, RunFile, ScoreFile, Source, Stored

DEFAULT_MEASURE = "nDCG@10"
#: Options that take NAME=RUN.
_NAMING = ("--baseline", "SYSTEM", *(f"--baseline-{kind}" for kind in COMPUTED))


def once(option: str, values: Sequence[str]) -> None:
    """Refuse a value given twice: two verdicts could not be distinguished."""
    for value, times in Counter(values).items():
        if times > 1:
            hint = "; NAME=RUN names one of them otherwise" if option in _NAMING else ""
            raise UsageError(f"{option}: {value} given twice{hint}")


@dataclass(frozen=True)
class Collection:
    """What a command line says of the collection; ``scores`` says that systems are tables of per-topic scores."""

    qrels: Path | None
    topics: Path | None
    store: Path | None
    measures: tuple[str, ...]
    scores: bool = False


@dataclass(frozen=True)
class SliceEntries:
    """What a command line says of slices: ``TAG=VALUE`` or ``TAG``, and the fewest topics of a value of ``TAG``."""

    slices: tuple[str, ...]
    smallest_slice: int | None


def engine_for(
    collection: Collection, baselines: Sequence[NamedPath], *, whole: bool = False, report: bool = False
) -> tuple[Engine, Store | None]:
    """Who reads and scores, and the store: from the options given, and from riskguard.yaml where one is not.

    ``whole`` asks for all that is stored, so a store is needed whatever ``baselines`` names. ``report`` says that the
    verdicts are to be written to a file.

    Raises
    ------
    ConfigError
        riskguard.yaml is needed and wrong.
    """
    from pytest_riskguard.baselines.store import Store
    from pytest_riskguard.engine import Engine

    qrels, topics, store = collection.qrels, collection.topics, collection.store
    settings = None
    perhaps_stored = [given for given in baselines if _may_be_stored(given)] if store is None else []
    whole = whole and store is None
    if not collection.scores and (qrels is None or perhaps_stored or whole):
        try:
            settings = surroundings()
        except ConfigError:
            if qrels is None or whole or any(not Path(given.text).exists() for given in perhaps_stored):
                raise
            # only the warning about a file with the name of a stored baseline is lost
    if settings is not None:
        # The topics of riskguard.yaml belong to its qrels; other qrels come with their own topics, or none.
        topics = topics or (settings.collection.topics if qrels is None else None)
        qrels = qrels or settings.collection.qrels
        store = store or settings.store
    stored = None if store is None else Store(store)
    measures = () if collection.scores else collection.measures or (DEFAULT_MEASURE,)
    return Engine(qrels=qrels, topics=topics, store=stored, measures=measures, report=report), stored


def source_of(
    given: NamedPath, store: Store | None, *, scores: bool, option: str = "--baseline"
) -> RunFile | ScoreFile | Stored:
    """What ``[NAME=]RUN`` means: a file where there is one, else a stored baseline.

    Raises
    ------
    UsageError
        It is both.
    """
    from pytest_riskguard.sources import RunFile, ScoreFile, Stored

    path = Path(given.text)
    file: RunFile | ScoreFile = ScoreFile(path, given.name) if scores else RunFile(path, given.name)
    if scores or given.name is not None:
        return file
    is_stored = store is not None and _may_be_stored(given) and given.text in _names(store)
    if path.exists() and is_stored:
        raise UsageError(
            f"{option} {given.text} is both a file and a stored baseline: write ./{given.text} for the file, or "
            "rename it"
        )
    looks_like_a_name = store is not None and "/" not in given.text and "\\" not in given.text
    return Stored(given.text) if is_stored or (looks_like_a_name and not path.exists()) else file


def baselines_of(
    given: Sequence[NamedPath], store: Store | None, *, scores: bool
) -> list[RunFile | ScoreFile | Stored]:
    """The systems that ``--baseline`` names, each once."""
    sources = [source_of(named, store, scores=scores) for named in given]
    once("--baseline", [source.label for source in sources])
    return sources


def gates_of(kind: str, alphas: Sequence[float], options: Mapping[str, Any]) -> list[Gate]:
    """The gates of one kind at each alpha, named by the kind.

    Raises
    ------
    UsageError
        An alpha given twice, or options that the kind does not have or that do not go together.
    """
    once("--alpha", [f"{alpha:g}" for alpha in alphas])
    try:
        return [gate_of(kind, kind, alpha=alpha, **options) for alpha in alphas]
    except ValueError as error:
        raise UsageError(f"--gate {kind}: {error}") from None


def computed_baselines(
    asked: Mapping[str, Sequence[Sequence[NamedPath]]], store: Store | None, *, scores: bool, inside: bool
) -> list[Computed]:
    """Baselines that are computed from several, by kind.

    Raises
    ------
    UsageError
        Nothing is computed that the candidate could be inside of; a name is both a file and a stored baseline; two
        systems of one baseline, or two baselines, have one name.
    """
    from pytest_riskguard.sources import Computed

    computed = [
        Computed(kind, tuple(source_of(given, store, scores=scores) for given in group), inside)
        for kind, groups in asked.items()
        for group in groups
    ]
    for baseline in computed:
        once(f"--baseline-{baseline.kind}", baseline.names)
    once("--baseline-mean, -median or -max", [baseline.name for baseline in computed])
    if inside and not computed:
        raise UsageError("--candidate-inside needs --baseline-mean, --baseline-median or --baseline-max")
    return computed


def slices_asked(slices: SliceEntries, engine: Engine, table: Source, measure: str) -> tuple[str | None, ...]:
    """The slices to ask about, each once; only None, which is all topics, where none is named.

    Raises
    ------
    UsageError
        There is no such slice, or it given twice; a smallest size where every slice is named.
    DataError
        The values of a tag cannot be looked up.
    """
    from pytest_riskguard.errors import DataError

    entries, smallest = slices.slices, slices.smallest_slice
    if smallest is not None and all("=" in entry for entry in entries):
        raise UsageError("--smallest-slice has no effect without --slice TAG")
    if not entries:
        return (None,)
    size = MIN_SLICE_TOPICS if smallest is None else smallest
    try:
        names = engine.slices(entries, table, measure, smallest=size, option="--smallest-slice")
    except UsageError as error:
        raise UsageError(f"--{error}") from None
    except DataError:
        if not all("=" in entry for entry in entries):
            raise
        names = tuple(entries)  # the verdict says what is wrong with the file
    once("--slice", names)
    return names


def whole_store(store: Store | None) -> Iterator[Stored]:
    """Everything that is stored, by name.

    Raises
    ------
    UsageError
        There is no store.
    BaselineError
        It cannot be read.
    """
    from pytest_riskguard.sources import Stored

    if store is None:
        raise UsageError("no systems and no store: name systems, or give --store or a riskguard.yaml")
    for name in store.names():
        yield Stored(name)


def _may_be_stored(given: NamedPath) -> bool:
    from pytest_riskguard.baselines.names import name_problem

    return given.name is None and name_problem(given.text) is None


def _names(store: Store) -> tuple[str, ...]:
    try:
        return store.names()
    except BaselineError:
        return ()  # the verdict says what is wrong with the store


def measures_of(collection: Collection, table: Path) -> tuple[str, ...]:
    """The measures asked for; by default one for runs, and every column of the first table of scores.

    Raises
    ------
    UsageError
        One of them given twice.
    """
    if collection.measures:
        once("--measure", [_canonical(measure) for measure in collection.measures])
        return collection.measures
    if not collection.scores:
        return (DEFAULT_MEASURE,)
    from pytest_riskguard.errors import DataError
    from pytest_riskguard.evaluation.score_files import read_scores

    try:
        return tuple(str(column.measure) for column in read_scores(table, None))
    except DataError:
        return (DEFAULT_MEASURE,)  # the verdict says what is wrong with the file


def _canonical(measure: str) -> str:
    from pytest_riskguard.evaluation.measures import measure_name

    try:
        return measure_name(measure)
    except UsageError:
        return measure  # a column of its own in a table of scores, or the engine refuses it
