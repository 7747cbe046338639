"""``_rank_eval`` of Elasticsearch and OpenSearch: requests, which have ratings, and responses, which have rankings.

The metric of a response is not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.files.judging_tools.index_names import names_of
from pytest_riskguard.formats.files.judging_tools.json_node import JsonNode
from pytest_riskguard.formats.records import Judgement, Kind, Ranking, Records, TopicRow
from pytest_riskguard.text import clean

#: Keys under which queries and parameters have the text that was searched for.
_TEXT_KEYS = frozenset({"query", "query_text", "query_string", "model_text", "text", "q", "search_text", "keywords"})
_FAILURES_SHOWN = 3


def fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the file is a request (judgements, topics) or a response (rankings)."""
    value = file.json_or_none
    if not isinstance(value, dict):
        return Misfit("it is not a JSON object")
    if kind == "rankings":
        response = value.get("rank_eval", value)
        if isinstance(response, dict) and "details" in response and "metric_score" in response:
            return None
        return Misfit("it has no 'details' and 'metric_score', as a response of _rank_eval has")
    requests = value.get("requests")
    if isinstance(requests, list) and requests and isinstance(requests[0], dict) and "ratings" in requests[0]:
        return None
    return Misfit("it has no list 'requests' with 'ratings'")


def judgements(file: InputFile) -> Records[Judgement]:
    """The ratings of each request; its id is the topic."""
    return Records(_judgements(file))


def _judgements(file: InputFile) -> Iterator[Judgement]:
    requests = list(JsonNode.of(file)["requests"].items())
    _refuse_repeated(requests)
    rated = [(request["id"].identifier(), rating) for request in requests for rating in request["ratings"].items()]
    names = names_of(_document(rating) for _, rating in rated)
    for topic, rating in rated:
        yield Judgement(topic, names[_document(rating)], rating["rating"].number())


def topics(file: InputFile) -> Records[TopicRow]:
    """The id of each request, and the only text that its query or its parameters have."""
    return Records(_topics(file))


def _topics(file: InputFile) -> Iterator[TopicRow]:
    for request in JsonNode.of(file)["requests"].items():
        name = request["id"].identifier()
        texts = set(_texts(request.value.get("params"))) or set(_texts(request.value.get("request")))
        if len(texts) != 1:
            listed = ", ".join(f"{text!r:.40}" for text in sorted(texts)[:3]) or "none"
            raise request.refuse(f"expected one query text in its request or its params, found {listed}")
        yield TopicRow(name, texts.pop())


def _texts(value: Any, key: str = "", above: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, name, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, key, above)
    elif isinstance(value, str) and value.strip() and (key in _TEXT_KEYS or above.startswith("match")):
        yield value.strip()


def rankings(file: InputFile) -> Records[Ranking]:
    """The hits of each query, in their order."""
    return Records(_rankings(file), is_ordered=True)


def _rankings(file: InputFile) -> Iterator[Ranking]:
    whole = JsonNode.of(file)
    response = whole.get("rank_eval") or whole
    _refuse_failures(response)
    details = [(topic, list(detail["hits"].items())) for topic, detail in response["details"].entries()]
    names = names_of(_document(hit["hit"]) for _, hits in details for hit in hits)
    for topic, hits in details:
        scores = [hit["hit"].get("_score") for hit in hits]
        given = [score.number() for score in scores if score is not None]
        documents = [names[_document(hit["hit"])] for hit in hits]
        yield Ranking(topic, documents, given if len(given) == len(documents) else None)


def _refuse_failures(response: JsonNode) -> None:
    failures = response.get("failures")
    if failures is None or not failures.value:
        return
    failed = [f"{topic!r:.60} ({_reason(failure.value)})" for topic, failure in failures.entries()]
    listed = ", ".join(failed[:_FAILURES_SHOWN]) + (", ..." if len(failed) > _FAILURES_SHOWN else "")
    raise failures.refuse(f"expected answers to all queries, found {len(failed)} that failed: {listed}; ask again")


def _reason(failure: Any) -> str:
    error = failure.get("error") if isinstance(failure, dict) else None
    reason = error.get("reason") or error.get("type") if isinstance(error, dict) else error
    return clean(str(reason or "no reason given"), limit=120)


def _refuse_repeated(requests: list[JsonNode]) -> None:
    seen: set[str] = set()
    for request in requests:
        topic = request["id"].identifier()
        if topic in seen:
            raise request.refuse(f"expected each id once, found {topic!r:.60} again")
        seen.add(topic)


def _document(node: JsonNode) -> tuple[str, str]:
    return node["_index"].text(), node["_id"].identifier()
