"""Files of tools in which documents are judged: OpenSearch's Workbench, ``_rank_eval``, LTR, Quepid."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_riskguard.data.engines import ENGINES, whole_scores
from pytest_riskguard.data.headers import number
from pytest_riskguard.data.input_files import InputFile, Kind, Misfit
from pytest_riskguard.data.json_nodes import JsonNode, at, chosen, chosen_node, marked, nodes, outline
from pytest_riskguard.data.qrels import Qrels, Row, qrels_of_rows
from pytest_riskguard.data.runs import Ranking, Run, run_of, run_of_rankings
from pytest_riskguard.text import clean

# OpenSearch's Search Relevance Workbench: judgement lists, pairwise experiments and evaluation results,
# as its API and its indices return them, or as they are imported. Queries are known by their texts.


workbench_fits = marked(judgements="judgmentRatings", rankings="documentIds|results.0.snapshots")


def _stored(file: InputFile) -> Iterator[JsonNode]:
    """Documents as they are stored, also those of a search response, which has to have them all."""
    for node in nodes(file):
        if node.find("hits.hits") is None:
            yield node.find("_source") or node
            continue
        hits, total = list(node["hits.hits"].items()), at(node.value, "hits.total")
        problem = ENGINES["elasticsearch"].problem(node.value)
        if problem is None and total not in (None, {"value": len(hits), "relation": "eq"}):
            problem = f"found {len(hits)} hits of {total}"
        if problem is not None:
            raise node.refuse(f"expected all documents, but {clean(problem)}; ask again, with a larger `size`")
        yield from (hit["_source"] for hit in hits)


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


def workbench_rankings(file: InputFile) -> Run:
    """The documents of each query; ``FILE#ID`` names one of several search configurations, or a variant of one."""
    rankings: dict[str, list[Ranking]] = {}
    for configuration, query, documents in _ranked(file):
        ids = [document.text() for document in documents.items()]
        rankings.setdefault(configuration.text(), []).append((query.text(), ids, None, None))
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


rank_eval_fits = marked(judgements="requests.0.ratings", rankings="details metric_score|rank_eval.details")


def rank_eval_judgements(file: InputFile) -> Qrels:
    """The ratings of each request; its id is the topic."""
    rows = (
        (request["id"].text(), rating["_id"].text(), rating["rating"].number(), "", None)
        for request in JsonNode(file, file.json)["requests"].items()
        for rating in request["ratings"].items()
    )
    return qrels_of_rows(file, rows)


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
        rankings.append((topic, [hit["_id"].text() for hit in hits], scores, None))
    return run_of_rankings(file, rankings, ordered=True)


# Ratings for learning to rank, ``rating qid:<id> # <docid> <query text>``, as Quepid exports them.


_ROW = re.compile(r"(?P<grade>\S+)\s+qid:(?P<topic>\S+)\s[^#]*#\s*(?P<document>\S+)(?:\s+(?P<text>.*\S))?\s*\Z")


def ltr_fits(file: InputFile, _kind: Kind) -> Misfit:
    """Whether the first line has a rating, a qid and a document after ``#``."""
    if _ROW.match(file.first_line):
        return None
    return "its first line is not `rating qid:<id> # <docid>`" if " qid:" in file.first_line else ""


def ltr_judgements(file: InputFile) -> Qrels:
    """A row for each rating; features between the qid and the ``#`` are not read."""
    texts: dict[str, str] = {}

    def rows() -> Iterator[Row]:
        for line, content in file.lines():
            if not (text := content.decode().strip()):
                continue
            if (row := _ROW.match(text)) is None:
                raise file.refuse(line, f"expected `rating qid:<id> # <docid> <query text>`, found {text!r:.60}")
            if row["text"]:
                texts.setdefault(row["topic"], row["text"])
            yield row["topic"], row["document"], JsonNode(file, row["grade"], line).number(), "", line

    return qrels_of_rows(file, rows(), texts=texts)


# What Quepid exports: ratings of a case, judgements of a book and snapshots as JSON, and snapshots as CSV, with the
# texts of queries; ``csv`` reads ratings as CSV. Its pages double quotes in every cell, but put only cells with a
# comma or a line end between quotes: ``19"" monitor`` means ``19" monitor``.


_json_fits = marked(
    judgements="queries.0.query queries.0.ratings|query_doc_pairs", rankings="docs queries|snapshots.0.docs"
)


def quepid_fits(file: InputFile, kind: Kind) -> Misfit:
    """Whether the file is JSON of Quepid, or a table of rankings with its columns."""
    if kind == "rankings" and {_QUERY, _DOCUMENT, _POSITION} <= {*file.first_line.split(",")}:
        return None
    return _json_fits(file, kind)


def quepid_judgements(file: InputFile) -> Qrels:
    """The ratings that there are, by each judge of a book."""
    return qrels_of_rows(file, _rated(JsonNode(file, file.json)), by_text=True)


def _rated(whole: JsonNode) -> Iterator[Row]:
    if (pairs := whole.find("query_doc_pairs")) is None:
        for query in whole["queries"].items():
            for document, rating in query["ratings"].entries():
                if rating.value is not None:
                    yield query["query"].text(), document, rating.number(), "", None
        return
    for pair in pairs.items():
        given = pair.find("judgements")
        for judgement in () if given is None else given.items():
            rated, judge = judgement.find("rating"), judgement.find("user_email")
            if rated is not None and not at(judgement.value, "unrateable"):
                name = "" if judge is None else judge.text()
                yield pair["query_text"].text(), pair["doc_id"].text(), rated.number(), name, None


def quepid_rankings(file: InputFile) -> Run:
    """The documents of each query by position; ``FILE#NAME`` names one of several snapshots."""
    if file.looks_like_json:
        return run_of_rankings(file, _ranked_in_json(file), by_text=True)
    topics, documents, ranks, lines = zip(*chosen(file, "snapshot", _snapshots(file).items()), strict=True)
    return run_of(file, topics, documents, None, ranks, lines=lines, by_text=True)


def _ranked_in_json(file: InputFile) -> Iterator[Ranking]:
    whole = JsonNode(file, file.json)
    several = whole.find("snapshots")
    snapshot = chosen_node(file, "snapshot", [whole] if several is None else several.items())
    texts = {query["query_id"].text(): query["query_text"].text() for query in snapshot["queries"].items()}
    for query, documents in snapshot["docs"].entries():
        if query in texts:  # others were deleted from the case since the snapshot was made
            # documents with a rating that the search did not return are kept in a snapshot as well
            returned = [one["id"].text() for one in documents.items() if not at(one.value, "rated_only")]
            yield texts[query], returned, None, None


_QUERY, _DOCUMENT, _POSITION = "Query Text", "Doc ID", "Doc Position"


def _snapshots(file: InputFile) -> dict[tuple[str, ...], list[tuple[str, str, float, int]]]:
    """Query, document, position and line of each row, by the name and the time of its snapshot."""
    table = file.table(",")
    _, header = next(table)
    snapshots: dict[tuple[str, ...], list[tuple[str, str, float, int]]] = {}
    for line, row in table:
        cells = {name: cell.replace('""', '"').strip() for name, cell in zip(header, row, strict=False)}
        if not cells.get(_DOCUMENT):  # the query has no results
            continue
        if len(row) != len(header) or not cells.get(_QUERY):
            raise file.refuse(
                line, f"expected {len(header)} columns as in the header, and a query, found {row!r:.80}"
            )
        names = tuple(cells[name] for name in ("Snapshot Name", "Snapshot Time", "Case Name") if name in cells)
        hit = cells[_QUERY], cells[_DOCUMENT], number(cells.get(_POSITION, "")), line
        snapshots.setdefault(names, []).append(hit)
    return snapshots
