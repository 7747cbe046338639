"""Folders given in place of a file: BEIR's judgements and queries, and a run with a file for each response."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_riskguard.data.checks import normal, topics_of_texts
from pytest_riskguard.data.engines import ENGINES, AnswerError, engine_of, rows, said_in
from pytest_riskguard.data.formats import read
from pytest_riskguard.data.input_files import InputFile, Kind
from pytest_riskguard.data.json_nodes import outline
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.runs import Ranking, Run, run_of_rankings
from pytest_riskguard.data.topics import read_topics
from pytest_riskguard.text import listed

_QUERIES = "queries.jsonl"


def read_folder(folder: InputFile, kind: Kind) -> Any:
    """What a folder holds."""
    if kind == "rankings":
        return _responses(folder)
    return _judgements(folder) if kind == "judgements" else read(folder.inside(_home(folder) / _QUERIES), kind)


# BEIR: ``qrels/test.tsv`` beside ``queries.jsonl``. The documents, ``corpus.jsonl``, are never read.


def _home(folder: InputFile) -> Path:
    """The folder of a collection: this one, or the only one in it."""
    homes = [home for home in (folder.path, *sorted(folder.path.glob("*"))) if (home / "qrels").is_dir()]
    if folder.path.name == "qrels":
        homes = [folder.path.parent]
    if not homes or (homes[0] != folder.path and len(homes) > 1):
        found = listed(tuple(home.name for home in homes), most=5) or "a folder without one"
        raise folder.refuse(None, f"expected a file, or a folder with qrels/test.tsv as BEIR has, found {found}")
    return homes[0]


def splits(home: Path) -> list[Path]:
    """The judgements in a folder, that of the tests first."""
    files = [path for path in (home / "qrels").glob("*") if path.name.removesuffix(".gz").endswith(".tsv")]
    return sorted(files, key=lambda path: (not path.name.startswith("test."), path.name))


def _judgements(folder: InputFile) -> Qrels:
    """Those of the tests, or the only ones, with the texts of their queries."""
    home = _home(folder)
    files = splits(home)
    if not files or (len(files) > 1 and not files[0].name.startswith("test.")):
        found = listed(tuple(path.name for path in files), most=5) or "no file"
        remedy = f"name one of them, such as {files[0]}" if files else None
        raise folder.refuse(None, f"expected qrels/test.tsv, found {found} in {home.name}/qrels", remedy)
    qrels: Qrels = read(folder.inside(files[0]), "judgements")
    queries, texts = home / _QUERIES, dict(qrels.texts)
    if queries.exists():
        texts |= {topic: text for topic, text in read_topics(queries).queries.items() if topic in qrels.grades}
    return replace(qrels, path_name=f"{home.name}/qrels/{files[0].name}", texts=texts)


# Responses, each in a file of its own that is named by its query.


def _responses(folder: InputFile) -> Run:
    """The run whose responses are in files, each named by the id of its query, or by the query's text."""
    texts, queries = dict[str, str](), folder.queries or {}
    known = {*map(normal, queries.values())}
    paths = sorted(path for path in folder.path.iterdir() if not path.name.startswith("."))

    def rankings() -> Iterator[Ranking]:
        engine = None
        for path in paths:
            name, file = path.name.removesuffix(".gz").removesuffix(".json"), folder.inside(path)
            if path.is_dir() or not path.name.removesuffix(".gz").endswith(".json"):
                raise file.refuse(None, "expected a folder of responses alone, each in a file such as QUERY.json")
            line, answer, _, text = (found := [*rows(file)] or [(None, None, None, None)])[0]
            engine = engine or engine_of(answer)
            if len(found) > 1 or engine is None:
                wanted = f"one response of {', '.join(one.title for one in ENGINES.values())}"
                what = f"{len(found)} responses" if len(found) > 1 else outline(answer)
                raise file.refuse(line, f"expected {wanted}, found {what}: {said_in(answer)}".removesuffix(": "))
            try:
                documents, scores = engine.hits(answer)
            except AnswerError as problem:
                raise file.refuse(line, str(problem)) from None
            if name not in queries and normal(name) in known:
                (name,) = topics_of_texts(folder, [name], queries)
            if text:
                texts[name] = text
            yield name, documents, scores, None

    if not paths:
        raise folder.refuse(None, "expected a file for each response, such as QUERY.json, found none")
    return run_of_rankings(folder, rankings(), texts=texts, ordered=True)
