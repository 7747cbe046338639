"""The table of all formats, and which of them a file has: by its content first, then by its name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import field
from importlib import import_module
from pathlib import Path
from typing import Any

from pytest_riskguard import plugins
from pytest_riskguard.data.given_file import GivenFile, InputData, LabelRules, Queries, names_collection
from pytest_riskguard.data.headers import NO_HEADER
from pytest_riskguard.data.input_files import InputFile, Kind
from pytest_riskguard.errors import FileError, RiskguardError, UsageError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.text import did_you_mean


@frozen
class Format:
    """One format of files.

    For the format ``csv`` its ``module`` in ``data`` has ``csv_fits(file, kind)``, which returns None or why the file
    does not fit, and for each kind that it ``reads`` a function such as ``csv_judgements(file)``, or for all of them
    ``csv_table(file, kind)``, which gives named columns. Of ``parts`` a file may hold several, ``FILE#PART``.
    ``reads``, ``suffixes`` and ``parts`` are words.
    """

    name: str
    module: str
    reads: str
    suffixes: str = ""
    about: str = ""
    parts: str = ""

    def function(self, name: str) -> Any:
        """One of the functions; None where the format has no such."""
        module = import_module(f"pytest_riskguard.data.{self.module}")
        return getattr(module, f"{self.name.replace('-', '_')}_{name}", None)

    def reader(self, kind: Kind) -> Callable[..., Any]:
        """The function that reads what a file of this format holds."""
        from pytest_riskguard.data.named_columns import READERS

        table = self.function("table")
        read: Callable[..., Any] = self.function(kind) or (lambda file: READERS[kind](table(file, kind)))
        return read


_TABLE = "judgements rankings topics scores"
#: In the order of detection: a format that says more about its files comes before one that says less.
FORMATS: tuple[Format, ...] = (
    Format("irds", "libraries", "judgements topics", "", "A collection of ir_datasets, named `irds:NAME`."),
    Format(
        "parquet",
        "arrow",
        _TABLE,
        ".parquet .parq .pq",
        "Parquet: named columns; scores also as a folder.",
        parts="scores",
    ),
    Format(
        "arrow",
        "arrow",
        "judgements rankings topics",
        ".arrow .feather .ipc .arrows",
        "Arrow, Feather: named columns.",
    ),
    Format(
        "quepid",
        "judging_tools",
        "judgements rankings",
        ".csv .txt .json",
        "Quepid: ratings of a case, books, snapshots (JSON); the detailed CSV and snapshots as CSV.",
        parts="rankings",
    ),
    Format("ltr", "judging_tools", "judgements", ".txt .ltr", "`rating qid:<id> # <docid> <query text>`"),
    Format(
        "workbench",
        "judging_tools",
        "judgements rankings",
        ".json .jsonl .ndjson",
        "OpenSearch Search Relevance Workbench: judgement lists, pairwise experiments, evaluation results.",
        parts="judgements rankings",
    ),
    Format("rank-eval", "judging_tools", "judgements rankings", ".json", "`_rank_eval`: requests, responses."),
    Format("mteb", "libraries", "rankings", ".json", "MTEB: `<task>_predictions.json`.", parts="rankings"),
    Format(
        "ranx",
        "libraries",
        "judgements rankings",
        ".json .lz4",
        "ranx, pytrec_eval: `{topic: {document: number}}`; also compressed by ranx.",
    ),
    Format("sentence-transformers", "libraries", "rankings", ".jsonl", "Its `..._predictions_....jsonl`."),
    Format("responses", "engines", "rankings", ".json .jsonl .ndjson", "Responses of search engines."),
    Format("ranx-scores", "score_files", "scores", ".json", "ranx's `run.scores`, pytrec_eval's results."),
    Format("trec_eval", "score_files", "scores", ".eval .txt", "`trec_eval -q`: measure, topic, value."),
    Format(
        "ir_measures", "score_files", "scores", ".tsv .txt", "`ir_measures -q`: topic, measure, value between tabs."
    ),
    Format(
        "scores",
        "score_files",
        "scores",
        ".tsv .csv .txt",
        "A row for each topic, a column for each measure.",
        parts="scores",
    ),
    Format(
        "jsonl",
        "text_tables",
        _TABLE,
        ".jsonl .ndjson .json",
        "JSON Lines or a JSON list of objects: named keys.",
        parts="scores",
    ),
    Format(
        "tsv",
        "text_tables",
        "judgements rankings topics",
        ".tsv .txt",
        "Tabs between named columns, as in BEIR's judgements.",
    ),
    Format(
        "csv",
        "text_tables",
        _TABLE,
        ".csv",
        "Named columns between commas, semicolons or tabs; quotes where needed.",
        parts="scores",
    ),
    Format(
        "msmarco",
        "text_tables",
        "rankings",
        ".txt .tsv",
        "`qid pid rank` between tabs, without a header; a fourth column holds scores.",
    ),
    Format("trec", "trec", "judgements rankings", ".run .txt .res .trec .qrels", "TREC: columns between spaces."),
)
#: The format of a file that is nothing like any.
OWN: Mapping[Kind, str] = {"judgements": "trec", "rankings": "trec", "topics": "tsv", "scores": "scores"}
_HEADERS: Mapping[Kind, str] = {
    "judgements": "query_id,doc_id,grade",
    "rankings": "query_id,doc_id,score",
    "topics": "query_id,query",
    "scores": "query_id,measure,value",
}
_BY_NAME = {known.name: known for known in FORMATS}


def formats_of(kind: Kind) -> tuple[Format, ...]:
    """All formats that can hold something, in the order of detection."""
    return tuple(known for known in FORMATS if kind in known.reads)


def format_named(name: str, kind: Kind) -> Format:
    """The format of this name; ``UsageError`` if there is none, or it cannot hold that."""
    known = _BY_NAME.get(name) or added_formats().get(name)
    if known is not None and kind in known.reads:
        return known
    names = [one.name for one in (*FORMATS, *added_formats().values()) if kind in one.reads]
    hint = did_you_mean(name, names)
    raise UsageError(f"format: {name!r} is not a format that holds {kind}{hint}; these are: {', '.join(names)}")


def system_name(given: GivenFile) -> str:
    """What a system is called after its file: without ``.gz`` and then one ending of a format; ``#PART`` stays."""
    file = os.path.basename(os.path.abspath(given.path))  # noqa: PTH100, PTH119 - "." has the name of its folder
    name = file.removesuffix(".gz") or file
    endings = (suffix for known in FORMATS for suffix in known.suffixes.split())
    ending = next(filter(name.endswith, endings), "")
    name = name.removesuffix(ending) or name
    return name if given.part is None else f"{name}#{given.part}"


# Formats of plugins.


@frozen
class AddedFormat(Format):
    """A format of a plugin, whose functions turn the content of a file into plain mappings."""

    plugin: str = ""
    readers: Mapping[str, Callable[[bytes], Any]] = field(default_factory=dict)

    def function(self, name: str) -> Any:
        """What gives the table of a file, which mappings in memory are turned into as well."""
        return self._table if name == "table" else None

    def _table(self, file: InputFile, kind: Kind) -> Any:
        from pytest_riskguard.data.memory import table_of

        try:
            content = self.readers[kind](file.content)
            if kind == "scores":
                content = {topic: {self.name: value} for topic, value in content.items()}
            return table_of(content, file, kind)
        except RiskguardError:
            raise
        except ValueError as error:  # the content is not of this format
            raise file.refuse(None, f"expected {self.name}: {error}") from None
        except Exception as error:
            raise plugins.PluginError(self.plugin, f"format {self.name} fails ({error!r:.200})") from error


def added_formats() -> dict[str, AddedFormat]:
    """The formats of plugins by name."""
    return {
        name: AddedFormat(name, "", " ".join(readers), plugin=plugin, readers=readers)
        for name, (plugin, readers) in plugins.added("riskguard_formats", _BY_NAME).items()
    }


# Which format a file has.


def read_given(
    given: Any,
    kind: Kind,
    error: type[FileError],
    *,
    queries: Queries | None = None,
    labels: LabelRules | None = None,
) -> Any:
    """What a path or a ``GivenFile`` leads to, or data in memory hold; settings are those of ``InputData``."""
    from pytest_riskguard.data import memory

    file = InputFile(given, error=error) if isinstance(given, Path | str | GivenFile) else None
    data = file or InputData(kind, reason=error.reason)
    data.queries, data.labels = queries, labels or data.labels
    return read(file, kind) if file else memory.read(given, data, kind)


def read(file: InputFile, kind: Kind) -> Any:
    """What a file, or a folder, holds."""
    if os.path.isdir(file.path):  # noqa: PTH112 - it raises nothing
        from pytest_riskguard.data.folders import read_folder

        return read_folder(file, kind)
    return format_of(file, kind).reader(kind)(file)


def format_of(file: InputFile, kind: Kind) -> Format:
    """The format that is named, else the first whose content fits, preferring those that fit the file's name.

    The error of ``file`` if none does: it names all formats tried, and says why the nearest one does not fit.
    The same for a part of a file that has none.
    """
    named = file.given.format or ("irds" if names_collection(file.path) else None)
    if named != "irds" and file.start.startswith(b"PK\x03\x04") and b"xl/workbook" in file.content:
        raise file.refuse(
            None,
            f"expected {kind} as text, found an Excel workbook",
            f"save the sheet as CSV, or pandas.read_excel({file.name!r}).to_csv({kind + '.csv'!r}, index=False)",
        )
    known = format_named(named, kind) if named is not None else _found(file, kind)
    if file.part is not None and kind not in known.parts:
        raise file.refuse(
            None, f"expected a file with several {kind}, found one ({known.name}): leave out #{file.part}"
        )
    return known


def _found(file: InputFile, kind: Kind) -> Format:
    tried = [(known, known.function("fits")(file, kind)) for known in formats_of(kind)]
    plain_name = file.name.lower().removesuffix(".gz")
    if fitting := [known for known, misfit in tried if misfit is None]:
        return min(fitting, key=lambda known: not plain_name.endswith((*known.suffixes.split(),)))
    if file.looks_like_json and file.first_object is None:
        _ = file.json  # what is broken is said with its line
    nearest, why = next(((known, misfit) for known, misfit in tried if misfit), (_BY_NAME[OWN[kind]], ""))
    if not why:
        return nearest  # its reader says which line is wrong, and how
    remedy = "`format:` and `columns:` in riskguard.yaml say how to read it"
    if why.startswith(NO_HEADER):
        remedy = f"add a header line {_HEADERS[kind]}"
    problem = f"expected {kind} in a format that riskguard reads; the nearest is {nearest.name}, but {why}"
    raise file.refuse(None, problem, remedy)
