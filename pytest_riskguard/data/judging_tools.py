"""Files of the tools in which documents are judged: OpenSearch's Workbench, ``_rank_eval``, RRE, learning to rank."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pytest_riskguard.data.engines import ENGINES, whole_scores
from pytest_riskguard.data.headers import number
from pytest_riskguard.data.input_files import InputFile, Misfit
from pytest_riskguard.data.json_nodes import JsonNode, at, chosen, chosen_node, marked, nodes, outline
from pytest_riskguard.data.named_columns import as_tag
from pytest_riskguard.data.qrels import Qrels, Row, qrels_of_rows
from pytest_riskguard.data.records import Kind
from pytest_riskguard.data.runs import Ranking, Run, run_of_rankings
from pytest_riskguard.data.topics import Topics, topics_of_rows
from pytest_riskguard.text import listed

# OpenSearch's Search Relevance Workbench: judgement lists, query sets, pairwise experiments and evaluation results,
# as its API and its indices return them, or as they are imported. Queries are known by their texts.


workbench_fits = marked(
    judgements="judgmentRatings", topics="querySetQueries|queryText", rankings="documentIds|results.0.snapshots"
)
_NO_TAGS = ("queryText", "referenceAnswer")


def _stored(file: InputFile) -> Iterator[JsonNode]:
    """Documents as they are stored, also those of a search response, which has to have them all."""
    for node in nodes(file):
        if (hits := node.find("hits.hits")) is None:
            yield node.find("_source") or node
            continue
        total, count = at(node.value, "hits.total"), len(hits.value)
        problem = ENGINES["elasticsearch"].problem(node.value)
        if problem is None and total not in (None, {"value": count, "relation": "eq"}):
            problem = f"{count} hits of {total}"
        if problem is not None:
            raise node.refuse(f"expected all documents, found {problem}; ask again, with a larger `size`")
        yield from (hit["_source"] for hit in hits.items())


def _documents(file: InputFile, key: str) -> list[JsonNode]:
    """Documents with a key."""
    return [document for document in _stored(file) if document.find(key) is not None]


def _finished(document: JsonNode) -> JsonNode:
    status = document.find("status")
    if status is not None and status.value != "COMPLETED":
        raise status.refuse(f"expected 'COMPLETED', found {status.value!r:.40}; export it once it has finished")
    return document


def workbench_judgements(file: InputFile) -> Qrels:
    """The ratings of a judgement list; ``FILE#NAME`` names one of several by its name or its id."""
    ratings = _finished(chosen_node(file, "judgement list", _documents(file, "judgmentRatings")))["judgmentRatings"]
    rows = (
        (query["query"].text(), rated["docId"].text(), rated["rating"].number(), "", None)
        for query in ratings.items()
        for rated in query["ratings"].items()
        if rated["rating"].value != ""  # which waits for a judge
    )
    return qrels_of_rows(file, rows, by_text=True)


def workbench_topics(file: InputFile) -> Topics:
    """The queries of a query set, or of the file that is uploaded for one; their further fields are tags."""
    queries = _stored(file)
    if sets := _documents(file, "querySetQueries"):
        queries = chosen_node(file, "query set", sets)["querySetQueries"].items()
    rows = []
    for query in queries:
        tags = {key: tag for key, node in query.entries() if (tag := as_tag(node.value)) and key not in _NO_TAGS}
        rows.append((None, query["queryText"].text(), tags, query.line))
    return topics_of_rows(file, rows)


def workbench_rankings(file: InputFile) -> Run:
    """The documents of each query; ``FILE#ID`` names one of several search configurations, or a variant of one."""
    rankings: dict[str, list[Ranking]] = {}
    for configuration, query, documents in _ranked(file):
        ids = [document.text() for document in documents.items()]
        rankings.setdefault(configuration.text(), []).append((query.text(), ids, None, None, None))
    rows = chosen(file, "search configuration", (((name,), rows) for name, rows in rankings.items()))
    return run_of_rankings(file, rows, by_text=True)


def _ranked(file: InputFile) -> Iterator[tuple[JsonNode, JsonNode, JsonNode]]:
    """Search configuration, query text and documents of each ranking."""
    for one in _documents(file, "documentIds"):
        yield one.find("experimentVariantId") or one["searchConfigurationId"], one["searchText"], one["documentIds"]
    for experiment in _documents(file, "results.0.snapshots"):
        for result in _finished(experiment)["results"].items():
            for snapshot in result["snapshots"].items():
                yield snapshot["searchConfigurationId"], result["query_text"], snapshot["docIds"]


# ``_rank_eval`` of Elasticsearch and OpenSearch: requests, which have ratings, and responses, which have rankings.


#: Keys under which queries and parameters have the text that was searched for.
_TEXT_KEYS = ("query", "query_text", "query_string", "model_text", "text", "q", "search_text", "keywords")


rank_eval_fits = marked(
    judgements="requests.0.ratings", topics="requests.0.ratings", rankings="details metric_score|rank_eval.details"
)


def rank_eval_judgements(file: InputFile) -> Qrels:
    """The ratings of each request; its id is the topic."""
    rows = (
        (request["id"].text(), rating["_id"].text(), rating["rating"].number(), "", None)
        for request in JsonNode(file, file.json)["requests"].items()
        for rating in request["ratings"].items()
    )
    return qrels_of_rows(file, rows)


def rank_eval_topics(file: InputFile) -> Topics:
    """The id of each request, and the only text that its query or its parameters have."""
    rows: list[tuple[str, str, dict[str, str], None]] = []
    for request in JsonNode(file, file.json)["requests"].items():
        texts = {*_texts(at(request.value, "params"))} or {*_texts(at(request.value, "request"))}
        if len(texts) != 1:
            found = listed(tuple(sorted(texts)), most=3) or "none"
            raise request.refuse(f"expected one query text in its request or its params, found {found}")
        rows.append((request["id"].text(), texts.pop(), {}, None))
    return topics_of_rows(file, rows)


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
    if failures := at(response.value, "failures"):
        raise response.refuse(f"expected answers to all queries, found failures: {outline(failures)}; ask again")
    rankings: list[Ranking] = []
    for topic, detail in response["details"].entries():
        hits = [hit["hit"] for hit in detail["hits"].items()]
        scores = whole_scores([at(hit.value, "_score") for hit in hits])
        rankings.append((topic, [hit["_id"].text() for hit in hits], scores, None, None))
    return run_of_rankings(file, rankings, ordered=True)


# Ratings of the Rated Ranking Evaluator, which Quepid exports too: documents by grade, or with their gains.


_GROUPS = ("topics", "query_groups", "queries")


rre_fits = marked(
    judgements="queries.0.placeholders|query_groups.0.queries.0.placeholders|topics.0.queries.0.placeholders|"
    "topics.0.query_groups.0.queries.0.placeholders"
)


def rre_judgements(file: InputFile) -> Qrels:
    """The documents of each query text; queries of one group share them."""
    whole = JsonNode(file, file.json)
    named = whole.find("query_placeholder")
    placed = f"placeholders.{'$query' if named is None else named.text()}"
    rows = [
        (query[placed].text(), document, grade, "", None)
        for query, relevant in _queries(whole, None)
        for document, grade in _graded(relevant)
    ]
    return qrels_of_rows(file, dict.fromkeys(rows), by_text=True)  # a query may stand in several templates


def _queries(node: JsonNode, relevant: JsonNode | None) -> Iterator[tuple[JsonNode, JsonNode]]:
    """Each query, with the relevant documents of the nearest object around it that has any."""
    relevant = node.find("relevant_documents") or relevant
    if node.find("placeholders") is not None:
        if relevant is None:
            raise node.refuse("expected 'relevant_documents' of the query or of its group, found none")
        yield node, relevant
    for group in filter(None, map(node.find, _GROUPS)):
        for one in group.items():
            yield from _queries(one, relevant)


def _graded(relevant: JsonNode) -> Iterator[tuple[str, float]]:
    for key, node in relevant.entries():
        if not isinstance(node.value, list):  # a document with its gain
            yield key, node["gain"].number()
            continue
        if (grade := number(key)) != grade:
            raise node.refuse(f"expected a number as the grade, found {key!r:.60}")
        for document in node.items():
            yield document.text(), grade


# Ratings for learning to rank, ``rating qid:<id> # <docid> <query text>``, as Quepid exports them.


_ROW = re.compile(r"(?P<grade>\S+)\s+qid:(?P<topic>\S+)\s[^#]*#\s*(?P<document>\S+)(?:\s+(?P<text>.*\S))?\s*\Z")


def ltr_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the first line has a rating, a qid and a document after ``#``."""
    if _ROW.match(file.first_line):
        return None
    return Misfit("its first line is not `rating qid:<id> # <docid>`", 2 if " qid:" in file.first_line else 0)


def ltr_judgements(file: InputFile) -> Qrels:
    """A row for each rating; features between the qid and the ``#`` are not read."""
    rows: list[Row] = []
    texts: dict[str, str] = {}
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
        rows.append((row["topic"], row["document"], grade, "", line))
    return qrels_of_rows(file, rows, texts=texts)
