"""Folders given in place of a file: BEIR's, a run with a file for each response, and scores in several files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_riskguard.data.engines import Response, rows, run_of_responses
from pytest_riskguard.data.formats import read
from pytest_riskguard.data.input_files import InputFile, Kind
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.runs import Run
from pytest_riskguard.data.scores import Row, TopicScores, scores_of_rows
from pytest_riskguard.data.topics import read_topics
from pytest_riskguard.text import listed

_QUERIES = "queries.jsonl"


def read_folder(folder: InputFile, kind: Kind) -> Any:
    """What a folder holds."""
    if kind == "topics":
        return read(folder.inside(_home(folder) / _QUERIES), kind)
    return {"rankings": _responses, "judgements": _judgements, "scores": _scores}[kind](folder)


# BEIR: ``qrels/test.tsv`` beside ``queries.jsonl``. The documents, ``corpus.jsonl``, are never read.


def _home(folder: InputFile) -> Path:
    """The folder of a collection: this one, or the one around it."""
    home = folder.path.parent if folder.path.name == "qrels" else folder.path
    if not (home / "qrels").is_dir():
        raise folder.refuse(
            None, "expected a file, or a folder with qrels/test.tsv as BEIR has, found another folder"
        )
    return home


def _judgements(folder: InputFile) -> Qrels:
    """Those of the tests, or the only ones, with the texts of the queries."""
    home = _home(folder)
    files = sorted((home / "qrels").glob("*.tsv*"))
    files = [path for path in files if path.name.startswith("test.")] or files
    if len(files) != 1:
        found = listed([path.name for path in files], most=5) or "no file"
        raise folder.refuse(None, f"expected qrels/test.tsv, found {found}", "name the file of judgements")
    qrels: Qrels = read(folder.inside(files[0]), "judgements")
    queries = home / _QUERIES
    texts = read_topics(queries).queries if queries.exists() else {}
    return replace(qrels, path_name=f"{home.name}/qrels/{files[0].name}", texts=texts)


# Responses, each in a file of its own that is named by its query.


def _responses(folder: InputFile) -> Run:
    """The run whose responses are in files, named by the ids of their queries, or by the texts of these."""
    paths = sorted(path for path in folder.path.iterdir() if not path.name.startswith("."))
    names = [path.name.removesuffix(".gz").removesuffix(".json") for path in paths]
    by_text = bool(folder.queries) and {*names}.isdisjoint(folder.queries or ())

    def responses() -> Iterator[Response]:
        for path, name in zip(paths, names, strict=True):
            file = folder.inside(path)
            if ".json" not in path.suffixes:
                raise file.refuse(None, "expected a folder of responses alone, each in a file such as QUERY.json")
            found = [*rows(file)]
            if len(found) != 1:
                raise file.refuse(None, f"expected one response, found {len(found)}")
            ((_, answer, _, text),) = found
            yield (path.name, answer, None, name) if by_text else (path.name, answer, name, text)

    return run_of_responses(folder, responses)


# Per-topic scores in Parquet files, the parts that engines write.


def _scores(folder: InputFile) -> tuple[TopicScores, ...]:
    """The scores in all files of a folder, each with rows; names of notes begin with ``_`` or ``.``."""
    rows: list[Row] = []
    for path in sorted(folder.path.iterdir()):
        if path.name.startswith(("_", ".")) and not path.is_dir():
            continue
        if path.suffix != ".parquet":
            files = "a folder of Parquet files alone, of a job that has ended"
            raise folder.refuse(None, f"expected {files}, found {path.name!r:.80} in it")
        part = folder.inside(path)
        part.given = replace(part.given, format="parquet")  # with columns of any names
        for one in read(part, "scores"):
            pairs = zip(one.topics, one.values.tolist(), strict=True)
            rows += [(topic, str(one.measure), value, None) for topic, value in pairs]
    return scores_of_rows(folder, rows)
