"""Files of retrieval libraries: ranx, MTEB, sentence-transformers, BEIR, MS MARCO; collections of ir_datasets."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from pytest_riskguard.data import text_tables as tables
from pytest_riskguard.data.given_file import IRDS, names_collection
from pytest_riskguard.data.headers import places
from pytest_riskguard.data.input_files import InputFile, Misfit, imported
from pytest_riskguard.data.json_nodes import at, chosen, nodes, require, without
from pytest_riskguard.data.named_columns import judgements_of
from pytest_riskguard.data.qrels import Qrels, qrels_of_rows
from pytest_riskguard.data.records import Kind
from pytest_riskguard.data.runs import Ranking, Run, run_of_rankings
from pytest_riskguard.data.topics import Topics, topics_of
from pytest_riskguard.errors import FileError, MissingFileError
from pytest_riskguard.text import did_you_mean

Numbers = Mapping[str, Mapping[str, float]]


# JSON as ranx and pytrec_eval have it: ``{topic: {document: number}}``.


def ranx_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the file is an object of objects of numbers."""
    return _misfit(file.json_or_none) if file.looks_like_json else Misfit("it is not JSON")


def _misfit(value: Any) -> Misfit | None:
    """None for a mapping of topics to mappings of documents to numbers."""
    if not isinstance(value, dict) or not value:
        return Misfit("it is not an object of topics", 1)
    for topic, documents in value.items():
        if not isinstance(documents, dict):
            return Misfit(f"{topic!r:.60} is not an object of documents and numbers", 2)
        other = next((one for one, number in documents.items() if type(number) not in (int, float)), None)
        if other is not None:
            return Misfit(f"{other!r:.60} of {topic!r:.60} has no number", 3)
    columns = places(value, ("document", "topic", "grade", "score", "rank"))
    if "document" in columns and len(columns) >= 3:  # pandas wrote it, whose columns look like topics
        return Misfit("it is a frame by columns; write it with orient='records' (pandas)", 4)
    return None


def ranx_judgements(file: InputFile) -> Qrels:
    """The grades of each topic."""
    require(ranx_fits(file, "judgements"), file)
    return _judgements(file, file.json)


def ranx_rankings(file: InputFile) -> Run:
    """The scores of each topic."""
    require(ranx_fits(file, "rankings"), file)
    return _rankings(file, file.json)


def _judgements(file: InputFile, numbers: Numbers) -> Qrels:
    rows = ((topic, d, grade, "", None) for topic, graded in numbers.items() for d, grade in graded.items())
    return qrels_of_rows(file, rows)


def _rankings(file: InputFile, numbers: Numbers) -> Run:
    """Whose order in the file means nothing."""
    rows = ((topic, list(scores), list(scores.values()), None, None) for topic, scores in numbers.items())
    return run_of_rankings(file, rows)


# The compressed files of ranx, which it reads itself where it is installed.


def ranx_lz4_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the file begins as LZ4 does."""
    return None if file.start.startswith(b"\x04\x22\x4d\x18") else Misfit("it is not compressed with LZ4")


def ranx_lz4_judgements(file: InputFile) -> Qrels:
    """The grades of each topic."""
    return _judgements(file, _unpacked(file))


def ranx_lz4_rankings(file: InputFile) -> Run:
    """The scores of each topic."""
    return _rankings(file, _unpacked(file))


def _unpacked(file: InputFile) -> Numbers:
    ranx, frame = (imported(name, what="a file of ranx with the ending .lz4") for name in ("ranx", "lz4.frame"))
    try:
        size = 0
        with frame.open(frame.open(io.BytesIO(file.content))) as unpacked:  # packed twice, and ranx unpacks all
            while block := unpacked.read(2**20):
                size += len(block)
                if size > file.limit.value:
                    raise file.refuse(None, file.limit.problem(size))
        found: Numbers = ranx.Run.from_file(str(file.path), kind="lz4").to_dict()
    except FileError:
        raise
    except Exception as problem:  # of LZ4, CBOR or numba
        reason = str(problem).partition("\n")[0]
        text = f"expected a file of ranx, found another: {type(problem).__name__}: {reason:.200}"
        raise file.refuse(None, text) from None
    return found


# Predictions of MTEB: ``{subset: {split: {topic: {document: score}}}}``, or, in older versions, without subsets.


_META = "mteb_model_meta"


def mteb_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether scores of documents stand two or three levels below the top."""
    value = file.json_or_none
    if not isinstance(value, dict):
        return Misfit("it is not a JSON object")
    if not (parts := _parts(value)):
        return Misfit("it is not an object of subsets, splits, topics and documents", 4 if _META in value else 1)
    return next((misfit for _, numbers in parts if (misfit := _misfit(numbers)) is not None), None)


def mteb_rankings(file: InputFile) -> Run:
    """The scores of one subset and split: ``FILE#subset/split``, or the name of one where that is enough."""
    require(mteb_fits(file, "rankings"), file)
    return _rankings(file, chosen(file, "subset and split", _parts(file.json)))


def _parts(value: Mapping[str, Any]) -> list[tuple[tuple[str, ...], Numbers]]:
    """The names and the scores of each subset and split, or of each split; nothing of something else."""
    parts: list[tuple[tuple[str, ...], Numbers]] = []
    for name, inner in value.items():
        if name == _META:
            continue
        below: list[tuple[tuple[str, ...], Any]] = [((name,), inner)]
        if isinstance(inner, dict) and not _holds_rankings(inner):
            below = [((f"{name}/{split}", name, split), numbers) for split, numbers in inner.items()]
        if not below or not all(_holds_rankings(numbers) for _, numbers in below):
            return []
        parts += below
    return parts


def _holds_rankings(topics: Any) -> bool:
    """Whether the first document of a mapping of topics has a number."""
    documents = next(filter(None, topics.values()), None) if isinstance(topics, dict) else None
    return isinstance(documents, dict) and isinstance(next(iter(documents.values())), int | float)


# Predictions of sentence-transformers, lines of ``{"query_id", "query", "results": [{"corpus_id", "score"}]}``.


def sentence_transformers_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the first line has these keys."""
    return without(file, "query_id results.0.corpus_id", "query_id query results")


def sentence_transformers_rankings(file: InputFile) -> Run:
    """The scores of each topic; results of a line may stand in any order."""
    texts: dict[str, str] = {}

    def rankings() -> Iterator[Ranking]:
        for row in nodes(file):
            topic, hits = row["query_id"].identifier(), list(row["results"].items())
            if isinstance(text := at(row.value, "query"), str):
                texts[topic] = text
            documents = [hit["corpus_id"].identifier() for hit in hits]
            yield topic, documents, [hit["score"].number() for hit in hits], None, row.line

    return run_of_rankings(file, rankings(), texts=texts)


# BEIR's ``qrels/test.tsv`` is a table whose columns are those of a run, too; its ``queries.jsonl`` is JSON Lines.


def beir_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether a table has BEIR's header."""
    header = ["query-id", "corpus-id", "score"]
    return None if file.first_line.split("\t") == header else Misfit(f"its first line is not {' '.join(header)}")


def beir_judgements(file: InputFile) -> Qrels:
    """A row for each judged document."""
    return judgements_of(tables.csv_table(file, "judgements"), file.columns)


# Collections of the package ir_datasets, ``irds:NAME``: what is on this machine, or may be downloaded.


#: What ir_datasets calls the kinds.
_KINDS: dict[Kind, str] = {"judgements": "qrels", "topics": "queries"}


def irds_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the path is the name of a collection."""
    return None if names_collection(file.path) else Misfit(f"it is not a collection named {IRDS}NAME")


def irds_judgements(file: InputFile) -> Qrels:
    """A row for each judged document."""
    rows = _collection_rows(file, "judgements")
    return qrels_of_rows(file, ((str(row.query_id), str(row.doc_id), row.relevance, "", None) for row in rows))


def irds_topics(file: InputFile) -> Topics:
    """A row for each query, with the text that ir_datasets searches with by default."""
    rows = _collection_rows(file, "topics")
    texts = [" ".join(row.default_text().split()) for row in rows]
    return topics_of(file, [str(row.query_id) for row in rows], texts)


def _collection_rows(file: InputFile, kind: Kind) -> list[Any]:
    """The rows of one part of the collection; ``MissingFileError`` if it is unknown or not on this machine."""
    package = imported("ir_datasets", what=file.name)
    name, part = file.name.removeprefix(IRDS), _KINDS[kind]
    try:
        dataset = package.load(name)
    except KeyError:
        hint = did_you_mean(name, list(package.registry))
        raise MissingFileError(file.path, None, f"ir_datasets has no collection {name!r:.100}{hint}") from None
    if not getattr(dataset, f"has_{part}")():
        raise MissingFileError(file.path, None, f"this collection has no {part}")
    reading: AbstractContextManager[None] = nullcontext() if file.given.download else _without_downloads()
    try:
        with reading:
            return list(getattr(dataset, f"{part}_iter")())
    except _DownloadNeededError:
        command = f"riskguard convert {file.name} {part}.tsv --kind {kind} --download"
        said = f"are not on this machine, and nothing is downloaded unless you ask for it: run `{command}`"
    except Exception as problem:  # of the network, of a damaged file, of a file that people have to ask for
        reason = str(problem).partition("\n")[0]
        said = f"cannot be read ({type(problem).__name__}: {reason:.200})"
    raise MissingFileError(file.path, None, f"its {part} {said}")


class _DownloadNeededError(BaseException):
    """ir_datasets wants to download; no ``Exception``, since it tries other addresses after one."""


@contextmanager
def _without_downloads() -> Iterator[None]:
    """Let ir_datasets read what is on this machine: it downloads with requests, or with a command of Google's."""
    from ir_datasets import lazy_libs
    from ir_datasets.util import download

    def refuse(*_: object) -> Any:
        raise _DownloadNeededError

    places = [(lazy_libs, "requests"), (getattr(download, "GoogleCloudBucketStream", lazy_libs), "stream")]
    kept = [(owner, name, vars(owner).get(name)) for owner, name in places]
    for owner, name, _ in kept:
        setattr(owner, name, refuse)
    try:
        yield
    finally:
        for owner, name, function in kept:
            setattr(owner, name, function)
