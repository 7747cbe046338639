"""Files of retrieval libraries: ranx, pytrec_eval, MTEB, sentence-transformers."""

from __future__ import annotations

from typing import Any

from pytest_riskguard.data import memory
from pytest_riskguard.data.headers import places
from pytest_riskguard.data.input_files import InputFile, Misfit
from pytest_riskguard.data.json_nodes import chosen, marked, nodes, require
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.records import Kind
from pytest_riskguard.data.runs import Run, run_of_rankings

# ``{topic: {document: number}}`` as ranx and pytrec_eval have it.


def ranx_fits(file: InputFile, _kind: Kind) -> Misfit:
    """Whether the file is an object of objects of numbers."""
    return _misfit(file.json_or_none)


def _misfit(value: Any) -> Misfit:
    """None for a mapping of topics to mappings of documents to numbers."""
    if not isinstance(value, dict) or not value:
        return ""
    for topic, documents in value.items():
        if not isinstance(documents, dict):
            return ""
        for document, number in documents.items():
            if type(number) not in (int, float):
                return f"{document!r:.60} of {topic!r:.60} has no number"
    columns = places(value, "rankings")
    if "document" in columns and len(columns) >= 3:  # pandas wrote it, whose columns look like topics
        return "it is a frame by columns; write it with orient='records' (pandas)"
    return None


def _numbers(file: InputFile) -> Any:
    require(_misfit(file.json), file)
    return file.json


def ranx_judgements(file: InputFile) -> Qrels:
    """The grades of each topic."""
    return memory.judgements(_numbers(file), file)


def ranx_rankings(file: InputFile) -> Run:
    """The scores of each topic."""
    return memory.rankings(_numbers(file), file)


# Predictions of MTEB: ``{subset: {split: {topic: {document: score}}}}``, and what is known of the model.


def mteb_fits(file: InputFile, _kind: Kind) -> Misfit:
    """Whether scores of documents stand three levels below the top."""
    if (parts := _parts(file)) and all(_misfit(numbers) is None for _, numbers in parts):
        return None
    is_near = "mteb_model_meta" in (file.json_or_none or ())
    return "it is not an object of subsets, splits, topics and documents" if is_near else ""


def mteb_rankings(file: InputFile) -> Run:
    """The scores of one subset and split: ``FILE#subset/split``, or the name of one where that is enough."""
    require(mteb_fits(file, "rankings"), file)
    return memory.rankings(chosen(file, "subset and split", _parts(file)), file)


def _parts(file: InputFile) -> list[tuple[tuple[str, ...], Any]]:
    """The names and the scores of each subset and split."""
    value = file.json_or_none
    return [
        ((f"{subset}/{split}", subset, split), numbers)
        for subset, splits in (value.items() if isinstance(value, dict) else ())
        if subset != "mteb_model_meta"
        for split, numbers in (splits.items() if isinstance(splits, dict) else [("", splits)])
    ]


# Predictions of sentence-transformers, lines of ``{"query_id", "query", "results": [{"corpus_id", "score"}]}``.


sentence_transformers_fits = marked(rankings="query_id results.0.corpus_id|query_id query results")


def sentence_transformers_rankings(file: InputFile) -> Run:
    """The scores of each topic; results of a line may stand in any order."""
    rows = list(nodes(file))
    rankings = (
        (
            row["query_id"].text(),
            [hit["corpus_id"].text() for hit in row["results"].items()],
            [hit["score"].number() for hit in row["results"].items()],
            row.line,
        )
        for row in rows
    )
    texts = {row["query_id"].text(): text.text() for row in rows if (text := row.find("query"))}
    return run_of_rankings(file, rankings, texts=texts)
