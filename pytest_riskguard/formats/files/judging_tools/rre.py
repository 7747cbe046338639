"""Ratings of the Rated Ranking Evaluator, which Quepid exports too: documents by grade, or with their gains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_riskguard.formats.columns import number
from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.files.judging_tools.json_node import JsonNode
from pytest_riskguard.formats.records import Judgement, Kind, Records
from pytest_riskguard.text import listed

_GROUPS = ("topics", "query_groups", "queries")
_PLACEHOLDER = "$query"


def fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the file has topics, groups of queries or queries with relevant documents."""
    value = file.json_or_none
    if not isinstance(value, dict) or not any(isinstance(value.get(name), list) for name in _GROUPS):
        return Misfit("it has no list 'topics', 'query_groups' or 'queries'")
    if _has_relevant(value):
        return None
    return Misfit("its queries have no 'relevant_documents'", 1)


def _has_relevant(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    inner = [one for name in _GROUPS if isinstance(value.get(name), list) for one in value[name][:1]]
    return "relevant_documents" in value or any(map(_has_relevant, inner))


def judgements(file: InputFile) -> Records[Judgement]:
    """The documents of each query text; queries of one group share them."""
    return Records(_judgements(file), by_text=True)


def _judgements(file: InputFile) -> Iterator[Judgement]:
    whole = JsonNode.of(file)
    named = whole.get("query_placeholder")
    placeholder = _PLACEHOLDER if named is None else named.text()
    seen: dict[str, dict[str, float]] = {}
    for query, relevant in _queries(whole, None):
        text, graded = _text(query, placeholder), dict(_graded(relevant))
        if text in seen:
            if seen[text] != graded:
                raise query.refuse(
                    f"expected one list of relevant documents for each query, found two for {text!r:.60}"
                )
            continue
        seen[text] = graded
        for document, grade in graded.items():
            yield Judgement(text, document, grade)


def _queries(node: JsonNode, relevant: JsonNode | None) -> Iterator[tuple[JsonNode, JsonNode]]:
    """Each query, with the relevant documents of the nearest object around it that has any."""
    relevant = node.get("relevant_documents") or relevant
    inner = [one for name in _GROUPS if (group := node.get(name)) is not None for one in group.items()]
    for one in inner:
        yield from _queries(one, relevant)
    if not inner and "placeholders" in node.value:
        if relevant is None:
            raise node.refuse("expected 'relevant_documents' of the query or of its group, found none")
        yield node, relevant


def _text(query: JsonNode, placeholder: str) -> str:
    placeholders = dict(query["placeholders"].entries())
    if placeholder in placeholders:
        return placeholders[placeholder].text()
    texts = [node for node in placeholders.values() if isinstance(node.value, str)]
    if len(texts) == 1:
        return texts[0].text()
    raise query.refuse(
        f"expected the query text in the placeholder {placeholder!r}, found {listed(tuple(placeholders), most=5)}"
    )


def _graded(relevant: JsonNode) -> Iterator[tuple[str, float]]:
    seen: set[str] = set()
    for part in relevant.items() if isinstance(relevant.value, list) else [relevant]:
        for key, node in part.entries():
            if isinstance(node.value, list):  # a grade with its documents
                grade, documents = number(key), [document.identifier() for document in node.items()]
                if grade != grade:
                    raise node.refuse(f"expected a number as the grade, found {key!r:.60}")
            else:  # a document with its gain
                grade, documents = node["gain"].number(), [key.strip()]
            for document in documents:
                if document in seen:
                    raise node.refuse(f"expected each document once per query, found {document!r:.60} twice")
                seen.add(document)
                yield document, grade
