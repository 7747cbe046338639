"""Files of retrieval libraries: ranx, MTEB, sentence-transformers; collections of ir_datasets.

``formats`` finds the functions by their names: ``<format>_fits``, ``<format>_table``, ``<format>_<kind>``.
"""

from __future__ import annotations

import io
import json
from typing import Any

from pytest_riskguard.data.given_file import IRDS, names_collection
from pytest_riskguard.data.input_files import InputFile, Kind, Misfit, imported
from pytest_riskguard.data.json_nodes import chosen, is_nested, marked, nodes, require
from pytest_riskguard.data.memory import table_of
from pytest_riskguard.data.named_columns import Table
from pytest_riskguard.data.qrels import Qrels, qrels_of_rows
from pytest_riskguard.data.runs import Ranking, Run, run_of_rankings
from pytest_riskguard.data.topics import Topics, topics_of
from pytest_riskguard.errors import MissingFileError
from pytest_riskguard.text import did_you_mean

# ``{topic: {document: number}}`` as ranx and pytrec_eval have it: JSON, or CBOR that ranx compresses twice with LZ4.

_LZ4 = b"\x04\x22\x4d\x18"


def ranx_fits(file: InputFile, _kind: Kind) -> Misfit:
    """Whether the file is an object of objects of numbers, or begins as LZ4 does."""
    if file.start.startswith(_LZ4):
        return None
    return _misfit(file.json_or_none)


def _misfit(value: Any) -> Misfit:
    """None for a mapping of topics to mappings of documents to numbers, empty for nothing like it."""
    if not is_nested(value):
        return ""
    for topic, documents in value.items():
        for document, number in documents.items():
            if type(number) not in (int, float):
                return f"{document!r:.60} of {topic!r:.60} has no number"
    return None


def _unpacked(file: InputFile) -> Any:
    lz4, cbor = (imported(name, what="a file that ranx compressed") for name in ("lz4.frame", "cbor2"))
    try:
        content = lz4.open(lz4.open(io.BytesIO(file.content))).read(file.limit.value)
        return json.loads(json.dumps(cbor.loads(content)))  # nothing but what JSON can hold
    except Exception as problem:  # of a damaged file, or of one cut off since it is too large
        reason = str(problem).partition("\n")[0]
        expected = f"a file of ranx, of {file.limit.value:,} bytes at most"
        raise file.refuse(None, f"expected {expected}; found {type(problem).__name__}: {reason:.200}") from None


def ranx_table(file: InputFile, kind: Kind) -> Table:
    """The grades, or the scores, of each topic."""
    value = _unpacked(file) if file.start.startswith(_LZ4) else file.json
    require(_misfit(value), file)
    return table_of(value, file, kind)


# Predictions of MTEB: ``{subset: {split: {topic: {document: score}}}}``, and what is known of the model.


def mteb_fits(file: InputFile, _kind: Kind) -> Misfit:
    """Whether scores of documents stand three levels below the top."""
    parts = _parts(file)
    return None if parts and all(_misfit(numbers) is None for _, numbers in parts) else ""


def mteb_table(file: InputFile, kind: Kind) -> Table:
    """The scores of one subset and split: ``FILE#subset/split``, or the name of one where that is enough."""
    require(mteb_fits(file, kind), file)
    return table_of(chosen(file, "subset and split", _parts(file)), file, kind)


def _parts(file: InputFile) -> list[tuple[tuple[str, ...], Any]]:
    """The names and the scores of each subset and split."""
    value = file.json_or_none
    parts: list[tuple[tuple[str, ...], Any]] = []
    for subset, splits in value.items() if isinstance(value, dict) else ():
        if subset != "mteb_model_meta":
            named = splits if isinstance(splits, dict) else {"": splits}
            parts += [((f"{subset}/{split}", subset, split), numbers) for split, numbers in named.items()]
    return parts


# Predictions of sentence-transformers, lines of ``{"query_id", "query", "results": [{"corpus_id", "score"}]}``.


sentence_transformers_fits = marked(rankings="query_id results.0.corpus_id|query_id query results")


def sentence_transformers_rankings(file: InputFile) -> Run:
    """The scores of each topic; results of a line may stand in any order."""
    rankings, texts = list[Ranking](), dict[str, str]()
    for row in nodes(file):
        topic, hits = row["query_id"].text(), list(row["results"].items())
        scores = [hit["score"].number() for hit in hits]
        rankings.append((topic, [hit["corpus_id"].text() for hit in hits], scores, row.line))
        if text := row.find("query"):
            texts[topic] = text.text()
    return run_of_rankings(file, rankings, texts=texts)


# Collections of the package ir_datasets, ``irds:NAME``, which downloads what is not on this machine.


def irds_fits(file: InputFile, _kind: Kind) -> Misfit:
    """Whether the path is the name of a collection."""
    return None if names_collection(file.path) else ""


def irds_judgements(file: InputFile) -> Qrels:
    """A row for each judged document."""
    rows = _collection_rows(file, "qrels")
    return qrels_of_rows(file, ((str(row.query_id), str(row.doc_id), row.relevance, "", None) for row in rows))


def irds_topics(file: InputFile) -> Topics:
    """A row for each query, with the text that ir_datasets searches with by default."""
    rows = _collection_rows(file, "queries")
    texts = [" ".join(row.default_text().split()) for row in rows]
    return topics_of(file, [str(row.query_id) for row in rows], texts)


def _collection_rows(file: InputFile, part: str) -> list[Any]:
    """The rows of one part of the collection; ``MissingFileError`` if it is unknown or cannot be read."""
    package = imported("ir_datasets", what=file.name)
    name = file.name.removeprefix(IRDS)
    try:
        dataset = package.load(name)
    except KeyError:
        hint = did_you_mean(name, list(package.registry))
        raise MissingFileError(file.path, None, f"ir_datasets has no collection {name!r:.100}{hint}") from None
    try:
        return list(getattr(dataset, f"{part}_iter")())
    except Exception as problem:  # of the network, of a damaged file, of a file that people have to ask for
        reason = f"{type(problem).__name__}: {problem}".partition("\n")[0]
        raise MissingFileError(file.path, None, f"its {part} cannot be read ({reason:.200})") from None
