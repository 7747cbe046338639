"""OpenSearch's Search Relevance Workbench: judgement lists, query sets, pairwise experiments and evaluation results.

All are read as its API and its indices return them, or as they are imported. Queries are known by their texts. Its
metrics are not read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.files.judging_tools.json_node import JsonNode
from pytest_riskguard.formats.files.judging_tools.parts import labels, only_part
from pytest_riskguard.formats.records import Judgement, Kind, Ranking, Records, TopicRow

_RATINGS, _QUERIES, _RESULTS, _RANKED = "judgmentRatings", "querySetQueries", "results", "documentIds"
_KEYS: Mapping[Kind, tuple[str, ...]] = {
    "judgements": (_RATINGS,),
    "topics": (_QUERIES, "queryText"),
    "rankings": (_RESULTS, _RANKED),
}
_COMPLETED = "COMPLETED"
#: Fields of a query that describe no topic.
_NO_TAGS = frozenset({"queryText", "referenceAnswer"})
_CONFIGURATION = "searchConfigurationId"
_RESULT_INDEX = "search-relevance-evaluation-result"


def fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether a document of the file has what the Workbench keeps of this kind."""
    keys = _KEYS[kind]
    if kind == "topics" and "queryText" in (file.first_object or {}):
        return None
    if any(_has(document, key) for document in _documents(file.json_or_none) for key in keys):
        return None
    return Misfit(f"no document in it has {' or '.join(map(repr, keys))}")


def _has(document: Mapping[str, Any], key: str) -> bool:
    """Whether the document has the key; ``results`` are those of an experiment."""
    if key != _RESULTS:
        return key in document
    results = document.get(key)
    first = results[0] if isinstance(results, list) and results else None
    return isinstance(first, dict) and ("snapshots" in first or "evaluationId" in first)


def _documents(value: Any) -> list[dict[str, Any]]:
    """Objects as they are stored, without reading more than is there."""
    if isinstance(value, dict) and isinstance(value.get("hits"), dict):
        hits = value["hits"].get("hits")
        return [one for hit in hits if (one := _stored(hit))] if isinstance(hits, list) else []
    if isinstance(value, list):
        return [one for hit in value if (one := _stored(hit))]
    one = _stored(value)
    return [one] if one else []


def _stored(value: Any) -> dict[str, Any] | None:
    source = value.get("_source", value) if isinstance(value, dict) else None
    return source if isinstance(source, dict) else None


def _nodes(file: InputFile, *keys: str) -> list[JsonNode]:
    """The documents that have one of the keys."""
    whole = JsonNode.of(file)
    if isinstance(whole.value, list):
        hits = list(whole.items())
    else:
        found = whole.get("hits")
        hits = [whole] if found is None else list(found["hits"].items())
    sources = [hit.get("_source") or hit for hit in hits]
    return [source for source in sources if any(source.get(key) is not None for key in keys)]


def judgements(file: InputFile) -> Records[Judgement]:
    """The ratings of a judgement list; ``FILE#NAME`` names one of several by its name or its id."""
    return Records(_judgements(file), by_text=True)


def _judgements(file: InputFile) -> Iterator[Judgement]:
    lists = _nodes(file, _RATINGS)
    chosen = _chosen(file, lists, "judgement list")
    _refuse_unfinished(chosen)
    seen: set[str] = set()
    for query in chosen[_RATINGS].items():
        text = query["query"].text()
        if text in seen:
            raise query.refuse(f"expected each query once, found {text!r:.60} again")
        seen.add(text)
        for rated in query["ratings"].items():
            rating = rated["rating"]
            if rating.value != "":  # an empty one waits for a judge
                yield Judgement(text, rated["docId"].identifier(), rating.number())


def _chosen(file: InputFile, nodes: list[JsonNode], what: str) -> JsonNode:
    names = [_name(node, "name") for node in nodes]
    ids = [_name(node, "id") for node in nodes]
    if file.part in ids and file.part:
        return nodes[ids.index(file.part)]
    called = labels(names, ids)
    return nodes[called.index(only_part(file, called, what))]


def _name(node: JsonNode, key: str) -> str:
    value = node.get(key)
    return "" if value is None else value.identifier()


def _refuse_unfinished(node: JsonNode) -> None:
    status = node.get("status")
    if status is not None and status.value != _COMPLETED:
        raise status.refuse(f"expected {_COMPLETED!r}, found {status.value!r:.40}; export it once it has finished")


def topics(file: InputFile) -> Records[TopicRow]:
    """The queries of a query set; their further fields are tags."""
    return Records(_topics(file))


def _topics(file: InputFile) -> Iterator[TopicRow]:
    if "queryText" in (file.first_object or {}):
        queries = [JsonNode(file, value, line=line) for line, value in file.json_lines()]
    else:
        queries = _nodes(file, "queryText")
        queries = queries or list(_chosen(file, _nodes(file, _QUERIES), "query set")[_QUERIES].items())
    for query in queries:
        text = query["queryText"].text()
        fields = ((key, node.value) for key, node in query.entries() if key not in _NO_TAGS)
        tags = {key: _tag(value) for key, value in fields if isinstance(value, str | int | float | bool)}
        yield TopicRow(None, text, tags, line=query.line)


def _tag(value: str | float | bool) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


def rankings(file: InputFile) -> Records[Ranking]:
    """The documents of each query; ``FILE#ID`` names one of several search configurations, or a variant of one."""
    return Records(_rankings(file), by_text=True, is_ordered=True)


def _rankings(file: InputFile) -> Iterator[Ranking]:
    evaluated = _nodes(file, _RANKED)
    ranked = _evaluated(file, evaluated) if evaluated else _compared(file)
    part = only_part(file, [configuration for configuration, _, _ in ranked], "search configuration")
    seen: set[str] = set()
    for configuration, query, documents in ranked:
        if configuration != part:
            continue
        text = query.text()
        if text in seen:
            raise query.refuse(
                f"expected each query once, found {text!r:.60} again; export one experiment, and one variant of it"
            )
        seen.add(text)
        yield Ranking(text, [document.identifier() for document in documents.items()])


#: Search configuration, query text and document ids.
_Ranked = list[tuple[str, JsonNode, JsonNode]]


def _evaluated(file: InputFile, results: list[JsonNode]) -> _Ranked:
    """Of evaluation results; a variant of a configuration has a name of its own."""
    _refuse_incomplete(JsonNode.of(file))
    return [
        (_name(result, "experimentVariantId") or _name(result, _CONFIGURATION), result["searchText"], result[_RANKED])
        for result in results
    ]


def _compared(file: InputFile) -> _Ranked:
    """Of a pairwise experiment."""
    experiments = _nodes(file, _RESULTS)
    if len(experiments) != 1:
        raise file.refuse(None, f"expected one experiment, found {len(experiments)}; export them one by one")
    _refuse_unfinished(experiments[0])
    results = list(experiments[0][_RESULTS].items())
    if results and results[0].get("snapshots") is None:
        raise results[0].refuse(
            "expected 'snapshots' with document ids; a pointwise experiment keeps them in the index "
            f"{_RESULT_INDEX}: export its documents"
        )
    return [
        (snapshot[_CONFIGURATION].identifier(), result["query_text"], snapshot["docIds"])
        for result in results
        for snapshot in result["snapshots"].items()
    ]


def _refuse_incomplete(response: JsonNode) -> None:
    """Refuse a search response that holds only some of the documents."""
    hits = response.get("hits") if isinstance(response.value, dict) else None
    if hits is None:
        return
    shards = response.get("_shards")
    failed = None if shards is None else shards.get("failed")
    timed_out = response.get("timed_out")
    if (failed is not None and failed.value) or (timed_out is not None and timed_out.value):
        raise response.refuse("expected a whole answer, found one that timed out or whose shards failed; ask again")
    total = hits.get("total")
    if total is None:
        return
    is_exact, count = True, len(list(hits["hits"].items()))
    if isinstance(total.value, dict):
        is_exact, total = total.value.get("relation", "eq") == "eq", total["value"]
    if total.number() > count or not is_exact:
        least = "" if is_exact else "at least "
        raise total.refuse(f"expected all documents, found {count} of {least}{total.value}; ask with a larger `size`")


def imported(rows: Iterable[tuple[str, str, str]]) -> bytes:
    """The body of a request that imports rows of query, document and rating."""
    ratings: dict[str, list[dict[str, str]]] = {}
    for query, document, rating in rows:
        ratings.setdefault(query, []).append({"docId": document, "rating": rating})
    body = {
        "name": "riskguard",
        "description": "",
        "type": "IMPORT_JUDGMENT",
        _RATINGS: [{"query": query, "ratings": rated} for query, rated in ratings.items()],
    }
    return (json.dumps(body, ensure_ascii=False, indent=1) + "\n").encode()
