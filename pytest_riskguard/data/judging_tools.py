"""Files of the tools in which documents are judged: OpenSearch's Workbench, ``_rank_eval``, RRE, learning to rank."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from pytest_riskguard.data.engines import ENGINES
from pytest_riskguard.data.headers import number
from pytest_riskguard.data.input_files import InputFile, Misfit
from pytest_riskguard.data.json_nodes import JsonNode, at, chosen, chosen_node, nodes, without
from pytest_riskguard.data.qrels import Qrels, Row, qrels_of_rows
from pytest_riskguard.data.records import Kind
from pytest_riskguard.data.runs import Ranking, Run, run_of_rankings
from pytest_riskguard.data.topics import Topics, columns_of, topics_of
from pytest_riskguard.text import listed

# OpenSearch's Search Relevance Workbench: judgement lists, query sets, pairwise experiments and evaluation results,
# as its API and its indices return them, or as they are imported. Queries are known by their texts.


_MARKS: Mapping[Kind, tuple[str, ...]] = {
    "judgements": ("judgmentRatings",),
    "topics": ("querySetQueries", "queryText"),
    "rankings": ("documentIds", "results.0.snapshots", "results.0.evaluationId"),
}
#: Where the first document is: stored ones have their fields below ``_source``.
_FIRST = ("", "0.", "_source.", "0._source.", "hits.hits.0._source.")


def workbench_fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the first document of the file has what the Workbench keeps of this kind."""
    return without(file, *(f"{first}{mark}" for first in _FIRST for mark in _MARKS[kind]))


def _documents(file: InputFile) -> Iterator[JsonNode]:
    """Documents as they are stored, also those of a search response."""
    for node in nodes(file):
        hits = node.find("hits.hits")
        for one in [node] if hits is None else hits.items():
            yield one.find("_source") or one


def _with(file: InputFile, key: str) -> list[JsonNode]:
    return [document for document in _documents(file) if document.find(key) is not None]


def _finished(document: JsonNode) -> JsonNode:
    status = document.find("status")
    if status is not None and status.value != "COMPLETED":
        raise status.refuse(f"expected 'COMPLETED', found {status.value!r:.40}; export it once it has finished")
    return document


def workbench_judgements(file: InputFile) -> Qrels:
    """The ratings of a judgement list; ``FILE#NAME`` names one of several by its name or its id."""
    ratings = _finished(chosen_node(file, "judgement list", _with(file, "judgmentRatings")))["judgmentRatings"]
    rows = (
        (query["query"].text(), rated["docId"].identifier(), rated["rating"].number(), "", None)
        for query in ratings.items()
        for rated in query["ratings"].items()
        if rated["rating"].value != ""  # which waits for a judge
    )
    return qrels_of_rows(file, rows, by_text=True)


def workbench_topics(file: InputFile) -> Topics:
    """The queries of a query set, or of the file that is uploaded for one; their further fields are tags."""
    queries = list(_documents(file))
    if queries and queries[0].find("queryText") is None:
        queries = list(chosen_node(file, "query set", _with(file, "querySetQueries"))["querySetQueries"].items())
    without_tag = ("queryText", "referenceAnswer")
    tags, lines = columns_of([query.tags(*without_tag) for query in queries]), [query.line for query in queries]
    return topics_of(file, [None] * len(queries), [query["queryText"].text() for query in queries], tags, lines=lines)


def workbench_rankings(file: InputFile) -> Run:
    """The documents of each query; ``FILE#ID`` names one of several search configurations, or a variant of one."""
    ranked = [
        (one.find("experimentVariantId") or one["searchConfigurationId"], one["searchText"], one["documentIds"])
        for one in _with(file, "documentIds")
    ]
    if ranked:
        _refuse_incomplete(file)
    else:
        experiments = _with(file, "results")
        if len(experiments) != 1:
            raise file.refuse(None, f"expected one experiment, found {len(experiments)}; export them one by one")
        results = list(_finished(experiments[0])["results"].items())
        if results and results[0].find("snapshots") is None:
            kept = "a pointwise experiment keeps them in the index search-relevance-evaluation-result"
            raise results[0].refuse(f"expected 'snapshots' with document ids; {kept}: export its documents")
        ranked = [
            (snapshot["searchConfigurationId"], result["query_text"], snapshot["docIds"])
            for result in results
            for snapshot in result["snapshots"].items()
        ]
    rankings: dict[str, list[Ranking]] = {}
    for configuration, query, documents in ranked:
        ids = [document.identifier() for document in documents.items()]
        rankings.setdefault(configuration.identifier(), []).append((query.text(), ids, None, None, None))
    rows = chosen(file, "search configuration", (((name,), rows) for name, rows in rankings.items()))
    return run_of_rankings(file, rows, by_text=True, ordered=True)


def _refuse_incomplete(file: InputFile) -> None:
    """Refuse search responses that hold only some of the documents."""
    for response in nodes(file):
        if (hits := response.find("hits.hits")) is None:
            continue
        if problem := ENGINES["elasticsearch"].problem(response.value):
            raise response.refuse(f"expected a whole answer, found another: {problem}; ask again")
        total = response.find("hits.total")
        if total is not None:
            total = total["value"] if isinstance(total.value, dict) else total
            count, least = len(hits.value), ""
            if at(response.value, "hits.total.relation") == "gte":
                least = "at least "
            if least or total.number() > count:
                found = f"found {count} of {least}{total.value}"
                raise total.refuse(f"expected all documents, {found}; ask with a larger `size`")


# ``_rank_eval`` of Elasticsearch and OpenSearch: requests, which have ratings, and responses, which have rankings.


#: Keys under which queries and parameters have the text that was searched for.
_TEXT_KEYS = frozenset({"query", "query_text", "query_string", "model_text", "text", "q", "search_text", "keywords"})


def rank_eval_fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the file is a request (judgements, topics) or a response (rankings)."""
    if kind == "rankings":
        return without(file, "details metric_score", "rank_eval.details rank_eval.metric_score")
    return without(file, "requests.0.ratings")


def rank_eval_judgements(file: InputFile) -> Qrels:
    """The ratings of each request; its id is the topic."""
    requests = [(request["id"].identifier(), request) for request in _requests(file)]
    rated = [(topic, rating) for topic, request in requests for rating in request["ratings"].items()]
    documents = _documents_of([rating for _, rating in rated])
    pairs = zip(rated, documents, strict=True)
    return qrels_of_rows(file, ((topic, d, rating["rating"].number(), "", None) for (topic, rating), d in pairs))


def rank_eval_topics(file: InputFile) -> Topics:
    """The id of each request, and the only text that its query or its parameters have."""
    requests = list(_requests(file))
    return topics_of(file, [request["id"].identifier() for request in requests], list(map(_text_of, requests)))


def _requests(file: InputFile) -> Iterator[JsonNode]:
    return JsonNode(file, file.json)["requests"].items()


def _text_of(request: JsonNode) -> str:
    texts = {*_texts(at(request.value, "params"))} or {*_texts(at(request.value, "request"))}
    if len(texts) != 1:
        found = ", ".join(f"{text!r:.40}" for text in sorted(texts)[:3]) or "none"
        raise request.refuse(f"expected one query text in its request or its params, found {found}")
    return texts.pop()


def _texts(value: Any, key: str = "", above: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, name, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, key, above)
    elif isinstance(value, str) and value.strip() and (key in _TEXT_KEYS or above.startswith("match")):
        yield value.strip()


def rank_eval_rankings(file: InputFile) -> Run:
    """The hits of each query, in their order."""
    whole = JsonNode(file, file.json)
    response = whole.find("rank_eval") or whole
    if (failures := response.find("failures")) is not None and failures.value:
        failed = tuple(topic for topic, _ in failures.entries())
        found = f"{len(failed)} that failed: {listed(failed, most=3)}"
        raise failures.refuse(f"expected answers to all queries, found {found}; ask again")
    hits = [
        (topic, [hit["hit"] for hit in detail["hits"].items()]) for topic, detail in response["details"].entries()
    ]
    documents = iter(_documents_of([hit for _, ranked in hits for hit in ranked]))
    rows = []
    for topic, ranked in hits:
        scores = [score.number() for hit in ranked if (score := hit.find("_score")) is not None]
        names = list(islice(documents, len(ranked)))
        rows.append((topic, names, scores if len(scores) == len(names) else None, None, None))
    return run_of_rankings(file, rows, ordered=True)


def _documents_of(named: list[JsonNode]) -> list[str]:
    """The ids of documents, each ``index/id`` in a file that names several indices.

    The same id in two indices is two documents, so an id of such a file never matches one that has no index.
    """
    pairs = [(node["_index"].text(), node["_id"].identifier()) for node in named]
    if len({index for index, _ in pairs}) > 1:
        return [f"{index}/{name}" for index, name in pairs]
    return [name for _, name in pairs]


# Ratings of the Rated Ranking Evaluator, which Quepid exports too: documents by grade, or with their gains.


_GROUPS = ("topics", "query_groups", "queries")


def rre_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether a first query, its group or its topic has relevant documents."""
    above = ("", "query_groups.0.", "topics.0.", "topics.0.query_groups.0.", "topics.0.queries.0.")
    inside = (f"{place}{name}.0.relevant_documents" for place in above for name in _GROUPS)
    return without(file, *inside, *(f"{name}.0 relevant_documents" for name in _GROUPS))


def rre_judgements(file: InputFile) -> Qrels:
    """The documents of each query text; queries of one group share them."""
    return qrels_of_rows(file, _rre_judgements(JsonNode(file, file.json)), by_text=True)


def _rre_judgements(whole: JsonNode) -> Iterator[Row]:
    named = whole.find("query_placeholder")
    placeholder = "$query" if named is None else named.text()
    seen: dict[str, list[tuple[str, float]]] = {}
    for query, relevant in _queries(whole, None):
        text, graded = _placed(query, placeholder), list(_graded(relevant))
        if seen.setdefault(text, graded) is graded:  # a query may stand in several templates
            yield from ((text, document, grade, "", None) for document, grade in graded)
        elif seen[text] != graded:
            raise query.refuse(f"expected one list of relevant documents for each query, found two for {text!r:.60}")


def _queries(node: JsonNode, relevant: JsonNode | None) -> Iterator[tuple[JsonNode, JsonNode]]:
    """Each query, with the relevant documents of the nearest object around it that has any."""
    relevant = node.find("relevant_documents") or relevant
    inner = [one for name in _GROUPS if (group := node.find(name)) is not None for one in group.items()]
    for one in inner:
        yield from _queries(one, relevant)
    if not inner and node.find("placeholders") is not None:
        if relevant is None:
            raise node.refuse("expected 'relevant_documents' of the query or of its group, found none")
        yield node, relevant


def _placed(query: JsonNode, placeholder: str) -> str:
    """The text of a query: in its placeholder, or the only text that it has."""
    texts = {name: node for name, node in query["placeholders"].entries() if isinstance(node.value, str)}
    if placeholder not in texts and len(texts) != 1:
        found = listed(tuple(texts), most=5)
        raise query.refuse(f"expected the query text in the placeholder {placeholder!r}, found {found}")
    return texts.get(placeholder, next(iter(texts.values()))).text()


def _graded(relevant: JsonNode) -> Iterator[tuple[str, float]]:
    for part in relevant.items() if isinstance(relevant.value, list) else [relevant]:
        for key, node in part.entries():
            if not isinstance(node.value, list):  # a document with its gain
                yield key, node["gain"].number()
                continue
            if (grade := number(key)) != grade:
                raise node.refuse(f"expected a number as the grade, found {key!r:.60}")
            for document in node.items():
                yield document.identifier(), grade


# Ratings for learning to rank, ``rating qid:<id> # <docid> <query text>``, as Quepid exports them.


_ROW = re.compile(r"(?P<grade>\S+)\s+qid:(?P<topic>\S+)\s[^#]*#\s*(?P<document>\S+)(?:\s+(?P<text>.*\S))?\s*\Z")


def ltr_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the first line has a rating, a qid and a document after ``#``."""
    if re.match(r"\S+\s+qid:\S", file.first_line) is None:
        return Misfit("its first line has no qid:")
    return None if _ROW.match(file.first_line) else Misfit("its first line names no document after a #", 2)


def ltr_judgements(file: InputFile) -> Qrels:
    """A row for each rating; features between the qid and the ``#`` are not read."""
    texts: dict[str, str] = {}
    return qrels_of_rows(file, _ltr_judgements(file, texts), texts=texts)


def _ltr_judgements(file: InputFile, texts: dict[str, str]) -> Iterator[Row]:
    for line, content in file.lines():
        if not (text := content.decode().strip()):
            continue
        row = _ROW.match(text)
        grade = number(row["grade"]) if row else float("nan")
        if row is None or grade != grade:
            expected = "`rating qid:<id> # <docid> <query text>`, a number as the rating"
            raise file.refuse(line, f"expected {expected}, found {text!r:.60}")
        if row["text"]:
            texts.setdefault(row["topic"], row["text"])
        yield row["topic"], row["document"], grade, "", line
