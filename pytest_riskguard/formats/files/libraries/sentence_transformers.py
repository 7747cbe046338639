"""Predictions of sentence-transformers, lines of ``{"query_id", "query", "results": [{"corpus_id", "score"}]}``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from pytest_riskguard.errors import FileError
from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.records import Kind, Ranking, Records

_EXPECTED = "query_id, query and results, a list of objects with corpus_id and score"


def fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the first line has these keys."""
    row = file.first_object
    if row is None:
        return Misfit("its first line is not a JSON object")
    results = row.get("results")
    if "query_id" not in row or not isinstance(results, list):
        return Misfit(f"its first line does not have {_EXPECTED}", 1)
    if all(isinstance(hit, dict) and "corpus_id" in hit and "score" in hit for hit in results):
        return None
    return Misfit(f"its first line does not have {_EXPECTED}", 2)


def rankings(file: InputFile) -> Records[Ranking]:
    """The scores of each topic; results of a line may stand in any order."""
    texts: dict[str, str] = {}
    return Records(_rankings(file, texts), texts=texts)


def _rankings(file: InputFile, texts: dict[str, str]) -> Iterator[Ranking]:
    for line, row in file.json_lines():
        if not isinstance(row, dict) or not isinstance(row.get("results"), list):
            raise file.refuse(line, f"expected an object with {_EXPECTED}")
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
