"""JSON as ranx and pytrec_eval have it: ``{topic: {document: number}}``."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from pytest_riskguard.data import text_tables as tables
from pytest_riskguard.data.content import InputFile, Misfit, imported
from pytest_riskguard.data.given_file import IRDS, names_collection
from pytest_riskguard.data.named_columns import as_tag, places
from pytest_riskguard.data.records import Judgement, Kind, Ranking, Records, TopicRow
from pytest_riskguard.errors import FileError, MissingFileError
from pytest_riskguard.text import did_you_mean

#: JSON is read with smaller numbers only, CBOR has none that are too large.
_LARGEST = 2**64


def ranx_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the file is an object of objects of numbers."""
    if not file.looks_like_json:
        return Misfit("it is not JSON")
    return misfit_of(file.json_or_none)


def misfit_of(value: Any) -> Misfit | None:
    """None for a mapping of topics to mappings of documents to numbers."""
    if not isinstance(value, dict) or not value:
        return Misfit("it is not an object of topics", 1)
    for topic, documents in value.items():
        if not isinstance(topic, str) or not isinstance(documents, dict):
            return Misfit(f"{topic!r:.60} is not an object of documents and numbers", 2)
        for document, score in documents.items():
            if not isinstance(document, str) or isinstance(score, bool) or not isinstance(score, int | float):
                return Misfit(f"{document!r:.60} of {topic!r:.60} has no number", 3)
            if abs(score) > _LARGEST and isinstance(score, int):
                return Misfit(f"{document!r:.60} of {topic!r:.60} has a number of more than 64 bits", 3)
    if _is_frame(value):
        return Misfit("it is a frame by columns; write it with orient='records' (pandas)", 4)
    return None


def _is_frame(value: dict[str, dict[str, Any]]) -> bool:
    """Whether pandas wrote it, whose columns look like topics and whose rows like documents."""
    columns = places(value, ("document", "topic", "grade", "score", "rank"))
    return "document" in columns and len(columns) >= 3


def ranx_judgements(file: InputFile) -> Records[Judgement]:
    """The grades of each topic."""
    return Records(
        Judgement(topic, d, float(grade)) for topic, graded in _ranx_topics(file) for d, grade in graded.items()
    )


def ranx_rankings(file: InputFile) -> Records[Ranking]:
    """The scores of each topic; their order in the file means nothing."""
    return Records(
        Ranking(topic, list(scores), [*map(float, scores.values())]) for topic, scores in _ranx_topics(file)
    )


def _ranx_topics(file: InputFile) -> Iterator[tuple[str, dict[str, Any]]]:
    if (misfit := ranx_fits(file, "rankings")) is not None:
        raise file.refuse(None, f"expected JSON as ranx writes it, found another file: {misfit.reason}")
    yield from file.json.items()


# Predictions of MTEB: ``{subset: {split: {topic: {document: score}}}}``, or, in older versions, without subsets.
#
# A ranking for each subset and split: ``FILE#subset/split``, or the name of one of the two where that is enough.


_META = "mteb_model_meta"


def mteb_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether scores of documents stand two or three levels below the top."""
    if not file.looks_like_json:
        return Misfit("it is not JSON")
    value = file.json_or_none
    if not isinstance(value, dict):
        return Misfit("it is not a JSON object", 1)
    parts = _parts(value)
    if parts is None:
        return Misfit("it is not an object of subsets, splits, topics and documents", 4 if _META in value else 1)
    return next((misfit for part in parts.values() if (misfit := misfit_of(part)) is not None), None)


def mteb_rankings(file: InputFile) -> Records[Ranking]:
    """The scores of each topic of one subset and split."""
    parts = _parts(file.json) if mteb_fits(file, "rankings") is None else None
    if parts is None:
        raise file.refuse(None, "expected predictions as MTEB writes them, found another file")
    rows = {
        name: [Ranking(topic, list(scores), [*map(float, scores.values())]) for topic, scores in part.items()]
        for name, part in parts.items()
    }
    if file.part is not None and file.part not in rows:
        named = [name for name in rows if file.part in name.split("/")]
        if len(named) == 1:
            return Records(rows[named[0]])
    return Records(file.chosen(rows, "subset and split"))


def _parts(value: Mapping[str, Any]) -> dict[str, Mapping[str, Any]] | None:
    """Each ``subset/split``, or each split; None of something else."""
    parts: dict[str, Mapping[str, Any]] = {}
    for name, inner in value.items():
        if name == _META:
            continue
        if not isinstance(inner, dict) or not inner:
            return None
        if _holds_rankings(inner):
            parts[name] = inner
            continue
        for split, topics in inner.items():
            if not isinstance(topics, dict) or not _holds_rankings(topics):
                return None
            parts[f"{name}/{split}"] = topics
    return parts or None


def _holds_rankings(topics: Mapping[str, Any]) -> bool:
    """Whether the first document of a mapping of topics has a number."""
    first = next((documents for documents in topics.values() if documents), None)
    return isinstance(first, dict) and isinstance(next(iter(first.values())), int | float)


# Predictions of sentence-transformers, lines of ``{"query_id", "query", "results": [{"corpus_id", "score"}]}``.


_SENTENCE_TRANSFORMERS_EXPECTED = "query_id, query and results, a list of objects with corpus_id and score"


def sentence_transformers_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the first line has these keys."""
    row = file.first_object
    if row is None:
        return Misfit("its first line is not a JSON object")
    results = row.get("results")
    if "query_id" not in row or not isinstance(results, list):
        return Misfit(f"its first line does not have {_SENTENCE_TRANSFORMERS_EXPECTED}", 1)
    if all(isinstance(hit, dict) and "corpus_id" in hit and "score" in hit for hit in results):
        return None
    return Misfit(f"its first line does not have {_SENTENCE_TRANSFORMERS_EXPECTED}", 2)


def sentence_transformers_rankings(file: InputFile) -> Records[Ranking]:
    """The scores of each topic; results of a line may stand in any order."""
    texts: dict[str, str] = {}
    return Records(_rankings(file, texts), texts=texts)


def _rankings(file: InputFile, texts: dict[str, str]) -> Iterator[Ranking]:
    for line, row in file.json_lines():
        if not isinstance(row, dict) or not isinstance(row.get("results"), list):
            raise file.refuse(line, f"expected an object with {_SENTENCE_TRANSFORMERS_EXPECTED}")
        topic = _id(row.get("query_id"))
        if topic is None:
            raise file.refuse(line, f"expected text as query_id, found {row.get('query_id')!r:.60}")
        if isinstance(row.get("query"), str):
            texts[topic] = row["query"]
        hits = [_hit(file, line, hit) for hit in row["results"]]
        yield Ranking(topic, [document for document, _ in hits], [score for _, score in hits], line)


def _hit(file: InputFile, line: int, hit: Any) -> tuple[str, float]:
    document = _id(hit.get("corpus_id")) if isinstance(hit, dict) else None
    score = hit.get("score") if document is not None else None
    if document is None or isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        raise _refusal(file, line, hit)
    return document, float(score)


def _refusal(file: InputFile, line: int, hit: Any) -> FileError:
    return file.refuse(line, f"expected results with a corpus_id and a number as the score, found {hit!r:.80}")


def _id(value: Any) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) and value.strip() else None


# BEIR's files: ``qrels/test.tsv`` with its header, and ``queries.jsonl``.


_HEADER = ("query-id", "corpus-id", "score")


def beir_fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether a table has BEIR's header, or the first line BEIR's keys of a query."""
    if kind == "judgements":
        if tuple(file.first_line.split("\t")) == _HEADER:
            return None
        return Misfit(f"its first line is not {', '.join(_HEADER)} with tabs")
    query = file.first_object or {}
    if isinstance(query.get("_id"), str) and isinstance(query.get("text"), str) and "title" not in query:
        return None
    return Misfit("its first line is not a JSON object with _id and text", 1 if query else 0)


def beir_judgements(file: InputFile) -> Records[Judgement]:
    """A row for each judged document."""
    return tables.csv_judgements(file)


def beir_topics(file: InputFile) -> Records[TopicRow]:
    """An object for each query; texts and numbers of its ``metadata`` are tags."""
    return Records(_beir_topics(file))


def _beir_topics(file: InputFile) -> Iterator[TopicRow]:
    for line, query in file.json_lines():
        row = query if isinstance(query, dict) else {}
        for key in ("_id", "text"):
            if not isinstance(row.get(key), str) or not row[key].strip():
                raise file.refuse(line, f"expected an object with text as {key!r}, found {row.get(key, query)!r:.60}")
        yield TopicRow(row["_id"].strip(), row["text"].strip(), _tags(row.get("metadata")), None, line)


def _tags(metadata: Any) -> dict[str, str]:
    given = metadata if isinstance(metadata, dict) else {}
    return {name.strip(): tag for name, value in given.items() if name.strip() and (tag := as_tag(value))}


# The compressed files of ranx, which it reads itself where it is installed.


_MAGIC = b"\x04\x22\x4d\x18"
_WHAT = "a file of ranx with the ending .lz4"


def ranx_lz4_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the file begins as LZ4 does."""
    return None if file.start.startswith(_MAGIC) else Misfit("it is not compressed with LZ4")


def ranx_lz4_judgements(file: InputFile) -> Records[Judgement]:
    """The grades of each topic."""
    return Records(
        Judgement(topic, document, grade) for topic, row in _ranx_lz4_topics(file) for document, grade in row.items()
    )


def ranx_lz4_rankings(file: InputFile) -> Records[Ranking]:
    """The scores of each topic; their order in the file means nothing."""
    return Records(Ranking(topic, list(row), list(row.values())) for topic, row in _ranx_lz4_topics(file))


def _ranx_lz4_topics(file: InputFile) -> Iterator[tuple[str, Mapping[str, float]]]:
    ranx, frame = (imported(name, what=_WHAT) for name in ("ranx", "lz4.frame"))
    try:
        size = 0
        with frame.open(frame.open(io.BytesIO(file.content))) as unpacked:  # packed twice, and ranx unpacks all
            while block := unpacked.read(2**20):
                size += len(block)
                if size > file.limit.value:
                    raise file.refuse(None, file.limit.problem(size))
        found: Mapping[str, Mapping[str, float]] = ranx.Run.from_file(str(file.path), kind="lz4").to_dict()
    except FileError:
        raise
    except Exception as problem:  # of LZ4, CBOR or numba
        reason = str(problem).partition("\n")[0]
        text = f"expected a file of ranx, found another: {type(problem).__name__}: {reason:.200}"
        raise file.refuse(None, text) from None
    yield from found.items()


# Collections of the package ir_datasets, ``irds:NAME``: what is on this machine, or may be downloaded.


#: What ir_datasets calls the kinds.
_PARTS: dict[Kind, str] = {"judgements": "qrels", "topics": "queries"}


def irds_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the path is the name of a collection."""
    return None if names_collection(file.path) else Misfit(f"it is not a collection named {IRDS}NAME")


def irds_judgements(file: InputFile) -> Records[Judgement]:
    """A row for each judged document."""
    return Records(
        Judgement(str(row.query_id), str(row.doc_id), float(row.relevance)) for row in _irds_rows(file, "judgements")
    )


def irds_topics(file: InputFile) -> Records[TopicRow]:
    """A row for each query, with the text that ir_datasets searches with by default."""
    return Records(
        TopicRow(str(row.query_id), " ".join(row.default_text().split())) for row in _irds_rows(file, "topics")
    )


def _irds_rows(file: InputFile, kind: Kind) -> list[Any]:
    """The rows of one part of the collection; ``MissingFileError`` if it is unknown or not on this machine."""
    package = imported("ir_datasets", what=file.name)
    name, part = file.name.removeprefix(IRDS), _PARTS[kind]
    try:
        dataset = package.load(name)
    except KeyError:
        hint = did_you_mean(name, list(package.registry))
        raise MissingFileError(file.path, None, f"ir_datasets has no collection {name!r:.100}{hint}") from None
    if not getattr(dataset, f"has_{part}")():
        raise MissingFileError(file.path, None, f"this collection has no {part}")
    reading: AbstractContextManager[None] = nullcontext() if file.download else _without_downloads()
    try:
        with reading:
            return list(getattr(dataset, f"{part}_iter")())
    except _DownloadNeededError:
        command = f"riskguard convert {file.name} {part}.tsv --kind {kind} --download"
        raise MissingFileError(
            file.path,
            None,
            f"its {part} are not on this machine, and nothing is downloaded unless you ask for it: run `{command}`",
        ) from None
    except Exception as problem:  # of the network, of a damaged file, of a file that people have to ask for
        reason = str(problem).partition("\n")[0]
        text = f"its {part} cannot be read ({type(problem).__name__}: {reason:.200})"
        raise MissingFileError(file.path, None, text) from None


class _DownloadNeededError(BaseException):
    """ir_datasets wants to download; no ``Exception``, since it tries other addresses after one."""


@contextmanager
def _without_downloads() -> Iterator[None]:
    """Let ir_datasets read what is on this machine, and nothing else."""
    from ir_datasets import lazy_libs
    from ir_datasets.util import download

    def refuse(*_: object) -> Any:
        raise _DownloadNeededError

    kept: list[tuple[Any, str, Callable[..., Any]]] = [(lazy_libs, "requests", lazy_libs.requests)]
    remote = [kind for kind in _kinds(download.BaseDownload) if kind is not download.LocalDownload]
    kept += [(kind, "stream", vars(kind)["stream"]) for kind in remote if "stream" in vars(kind)]
    for owner, name, _ in kept:
        setattr(owner, name, refuse)
    try:
        yield
    finally:
        for owner, name, function in kept:
            setattr(owner, name, function)


def _kinds(kind: Any) -> list[Any]:
    """A class and all that are derived from it."""
    return [kind, *(inner for below in kind.__subclasses__() for inner in _kinds(below))]
