"""The table of all formats: what each is called, what it can hold, what is written in it, and where its reader is.

The order is that of detection: a format that says more about its files comes before one that says less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from pytest_riskguard import plugins
from pytest_riskguard.data.content import InputFile, Misfit
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.records import KINDS, Judgement, Kind, Ranking, Records, limited
from pytest_riskguard.data.scores import scores_of_rows
from pytest_riskguard.errors import UsageError
from pytest_riskguard.text import did_you_mean


@dataclass(frozen=True)
class Format:
    """One format of files.

    For the format ``csv`` its ``module`` in ``formats`` has ``csv_fits(file, kind)``, which returns None or why the
    file does not fit, and for each kind a function such as ``csv_judgements(file)``, which returns ``Records``.
    ``extra`` is the extra of this package that it needs; ``parts`` are the kinds of which a file may hold several,
    ``FILE#PART``.
    """

    name: str
    title: str
    module: str
    reads: tuple[Kind, ...]
    writes: tuple[Kind, ...] = ()
    suffixes: tuple[str, ...] = ()
    extra: str | None = None
    parts: tuple[Kind, ...] = ()

    def fits(self, file: InputFile, kind: Kind) -> Misfit | None:
        """None if the file has this format, else why it does not."""
        misfit: Misfit | None = self._function("fits")(file, kind)
        return misfit

    def reader(self, kind: Kind) -> Callable[..., Any]:
        """The function that reads what a file of this format holds, with ids and texts of a sensible length."""

        def read(file: InputFile) -> Any:
            found = self._function(kind)(file)
            return limited(found, file.refuse) if isinstance(found, Records) else found

        return read

    def _function(self, name: str) -> Callable[..., Any]:
        module = import_module(f"pytest_riskguard.data.{self.module}")
        function: Callable[..., Any] = getattr(module, f"{self.name.replace('-', '_')}_{name}")
        return function


def _responses(name: str, title: str) -> Format:
    """Responses of a search engine that a team has kept."""
    return Format(
        name,
        f"{title} responses (JSON, JSON Lines)",
        "engines",
        ("rankings",),
        suffixes=(".json", ".jsonl", ".ndjson"),
    )


_JUDGING_TOOLS: tuple[Format, ...] = (
    Format(
        "quepid",
        "ratings of a Quepid case (CSV, JSON)",
        "quepid",
        reads=("judgements",),
        suffixes=(".csv", ".txt", ".json"),
    ),
    Format(
        "quepid-book",
        "judgements of a Quepid book (CSV, JSON)",
        "quepid",
        reads=("judgements",),
        suffixes=(".csv", ".txt", ".json"),
    ),
    Format(
        "quepid-snapshot",
        "Quepid snapshots (CSV, JSON) and its detailed export",
        "quepid",
        reads=("judgements", "rankings"),
        suffixes=(".csv", ".txt", ".json"),
        parts=("rankings",),
    ),
    Format(
        "ltr",
        "ratings for learning to rank (rating qid:id # docid text)",
        "judging_tools",
        reads=("judgements",),
        suffixes=(".txt", ".ltr"),
    ),
    Format(
        "workbench",
        "OpenSearch Search Relevance Workbench",
        "judging_tools",
        reads=("judgements", "rankings", "topics"),
        suffixes=(".json", ".jsonl", ".ndjson"),
        parts=("judgements", "rankings", "topics"),
    ),
    Format(
        "rank-eval",
        "_rank_eval of Elasticsearch and OpenSearch: requests, responses",
        "judging_tools",
        reads=("judgements", "rankings", "topics"),
        suffixes=(".json",),
    ),
    Format(
        "rre",
        "ratings of the Rated Ranking Evaluator",
        "judging_tools",
        reads=("judgements",),
        suffixes=(".json",),
    ),
)

FORMATS: tuple[Format, ...] = (
    Format(
        "irds",
        "a collection of ir_datasets, named irds:NAME",
        "libraries",
        reads=("judgements", "topics"),
    ),
    Format(
        "parquet",
        "Parquet with named columns",
        "arrow",
        reads=("judgements", "rankings", "topics", "scores"),
        parts=("scores",),
        writes=("judgements", "rankings", "topics"),
        suffixes=(".parquet", ".parq", ".pq"),
        extra="arrow",
    ),
    Format(
        "arrow",
        "Arrow and Feather with named columns",
        "arrow",
        reads=("judgements", "rankings", "topics"),
        suffixes=(".arrow", ".feather", ".ipc", ".arrows"),
        extra="arrow",
    ),
    Format(
        "ranx-lz4",
        "ranx, compressed (LZ4)",
        "libraries",
        reads=("judgements", "rankings"),
        suffixes=(".lz4",),
    ),
    *_JUDGING_TOOLS,
    Format(
        "ranx",
        "ranx, pytrec_eval (JSON: topic, document, number)",
        "libraries",
        reads=("judgements", "rankings"),
        suffixes=(".json",),
    ),
    Format(
        "mteb",
        "MTEB predictions (JSON: subset, split, topic, document, number)",
        "libraries",
        reads=("rankings",),
        suffixes=(".json",),
        parts=("rankings",),
    ),
    Format(
        "sentence-transformers",
        "sentence-transformers predictions (JSON Lines)",
        "libraries",
        reads=("rankings",),
        suffixes=(".jsonl",),
    ),
    Format(
        "beir",
        "BEIR: qrels with a header (TSV), queries.jsonl",
        "libraries",
        reads=("judgements", "topics"),
        suffixes=(".tsv", ".jsonl"),
    ),
    _responses("elasticsearch", "Elasticsearch and OpenSearch _search and _msearch"),
    _responses("solr", "Solr select"),
    _responses("vespa", "Vespa search"),
    _responses("algolia", "Algolia search"),
    _responses("typesense", "Typesense search and multi_search"),
    _responses("meilisearch", "Meilisearch search and multi-search"),
    Format(
        "ranx-scores",
        "scores of ranx (JSON: measure, topic, number) and pytrec_eval (topic, measure, number)",
        "score_files",
        reads=("scores",),
        suffixes=(".json",),
    ),
    Format(
        "trec_eval",
        "trec_eval -q: measure, topic, value",
        "score_files",
        reads=("scores",),
        suffixes=(".eval", ".txt"),
    ),
    Format(
        "ir_measures",
        "ir_measures -q: topic, measure, value with tabs, or JSON Lines",
        "score_files",
        reads=("scores",),
        suffixes=(".tsv", ".jsonl", ".txt"),
    ),
    Format(
        "perquery",
        "a row for each topic and measure, as PyTerrier's perquery.csv",
        "score_files",
        reads=("scores",),
        suffixes=(".csv", ".tsv"),
        parts=("scores",),
    ),
    Format(
        "scores",
        "a row for each topic, a column for each measure",
        "score_files",
        reads=("scores",),
        writes=("scores",),
        suffixes=(".tsv", ".csv", ".txt"),
    ),
    Format(
        "jsonl",
        "JSON Lines with named keys, or a JSON list of objects",
        "text_tables",
        reads=("judgements", "rankings", "topics"),
        writes=("judgements", "rankings", "topics"),
        suffixes=(".jsonl", ".ndjson", ".json"),
    ),
    Format(
        "tsv",
        "tables with tabs and named columns; topics: id, query text, tags",
        "text_tables",
        reads=("judgements", "rankings", "topics"),
        writes=("topics",),
        suffixes=(".tsv", ".txt"),
    ),
    Format(
        "csv",
        "CSV with named columns (comma, semicolon or tab)",
        "text_tables",
        reads=("judgements", "rankings", "topics"),
        writes=("judgements", "rankings", "topics"),
        suffixes=(".csv",),
    ),
    Format(
        "msmarco",
        "MS MARCO: query, passage and rank with tabs, no header",
        "libraries",
        reads=("rankings",),
        suffixes=(".txt", ".tsv"),
    ),
    Format(
        "trec",
        "TREC (columns with spaces between them)",
        "trec",
        reads=("judgements", "rankings"),
        writes=("judgements", "rankings"),
        suffixes=(".run", ".txt", ".res", ".trec", ".qrels"),
    ),
)
#: Formats whose files have the digests that verdicts name, and into which all others can be converted.
OWN = frozenset({("trec", "judgements"), ("trec", "rankings"), ("tsv", "topics"), ("scores", "scores")})
_BY_NAME = {known.name: known for known in FORMATS}


@dataclass(frozen=True)
class AddedFormat(Format):
    """A format of a plugin, whose functions turn the content of a file into plain mappings."""

    plugin: str = ""
    readers: Mapping[str, Callable[[bytes], Any]] = field(default_factory=dict)

    def reader(self, kind: Kind) -> Callable[..., Any]:
        """The plugin's function, with its mappings as rows."""
        if kind == "scores":
            return lambda file: scores_of_rows(file, self._rows(file, kind))
        return lambda file: limited(Records(self._rows(file, kind)), file.refuse)

    def _rows(self, file: InputFile, kind: Kind) -> Iterator[Any]:
        def given() -> dict[str, Any]:
            return {str(topic): found for topic, found in self.readers[kind](file.content).items()}

        def rows() -> list[Any]:
            if kind == "scores":
                return [(topic, self.name, float(value), None) for topic, value in content.items()]
            pairs = {
                topic: [(str(one), float(number)) for one, number in of.items()] for topic, of in content.items()
            }
            if kind == "judgements":
                return [Judgement(topic, *pair) for topic, of in pairs.items() for pair in of]
            return [
                Ranking(topic, [one for one, _ in of], [number for _, number in of]) for topic, of in pairs.items()
            ]

        try:
            content = given()
        except ValueError as error:  # the content is not of this format
            raise file.refuse(None, f"expected {self.name}: {error}") from None
        except Exception as error:
            raise plugins.PluginError(self.plugin, f"format {self.name} fails ({error!r:.200})") from error
        yield from plugins.called(self.plugin, f"format {self.name}", rows)


def added_formats() -> dict[str, AddedFormat]:
    """The formats of plugins by name."""
    plugins.refuse_taken("riskguard_formats", _BY_NAME)
    return {
        name: AddedFormat(
            name,
            f"{name}, of the plugin {plugin}",
            "",
            tuple(kind for kind in KINDS if kind in readers),
            plugin=plugin,
            readers=readers,
        )
        for name, (plugin, readers) in plugins.added("riskguard_formats").items()
    }


def formats_of(kind: Kind) -> tuple[Format, ...]:
    """All formats that can hold something, in the order of detection."""
    return tuple(known for known in FORMATS if kind in known.reads)


def format_named(name: str, kind: Kind) -> Format:
    """The format of this name; ``UsageError`` if there is none, or it cannot hold that."""
    names = [known.name for known in formats_of(kind)]
    if name not in names:
        added = added_formats()
        if name in added and kind in added[name].reads:
            return added[name]
        names += [known.name for known in added.values() if kind in known.reads]
        hint = did_you_mean(name, names)
        what = f"a format that holds {kind}"
        raise UsageError(f"format: {name!r} is not {what}{hint}; these are: {', '.join(names)}")
    return _BY_NAME[name]


def format_for(kind: Kind, name: str, *, named: str | None = None) -> Format:
    """The format to write in: the one ``named``, else by the file's name; ``UsageError`` if there is none.

    Of several that have this ending, riskguard's own are first, then those whose usual ending it is, then those that
    say less about their files.
    """
    writing = [known for known in FORMATS if kind in known.writes]
    names = [known.name for known in writing]
    if named is not None:
        if named not in names:
            hint = did_you_mean(named, names)
            raise UsageError(f"--to: {kind} are not written as {named!r}{hint}; these are: {', '.join(names)}")
        return _BY_NAME[named]
    plain_name = name.lower().removesuffix(".gz")
    fitting = [known for known in writing if plain_name.endswith(known.suffixes)]
    if not fitting:
        raise UsageError(f"{name}: the name does not say which format to write; say it with --to: {', '.join(names)}")

    def preference(known: Format) -> tuple[bool, int]:
        place = next(place for place, suffix in enumerate(known.suffixes) if plain_name.endswith(suffix))
        return (known.name, kind) not in OWN, place

    return min(reversed(fitting), key=preference)


def suffixes() -> frozenset[str]:
    """The endings of all formats' files, which are no part of a system's name."""
    return frozenset(suffix for known in FORMATS for suffix in known.suffixes)


def system_name(given: Path | GivenFile) -> str:
    """What a system is called after its file: without ``.gz`` and then one ending of a format; ``#PART`` stays."""
    given = given if isinstance(given, GivenFile) else GivenFile(Path(given))
    name = given.path.name
    name = name.removesuffix(".gz") or name
    ending = max((suffix for suffix in suffixes() if name.endswith(suffix)), key=len, default="")
    name = name.removesuffix(ending) or name
    return name if given.part is None else f"{name}#{given.part}"
