"""Files of tools in which documents are judged: OpenSearch's Workbench, ``_rank_eval``, RRE, LTR, Quepid."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from pytest_riskguard.data.engines import ENGINES, whole_scores
from pytest_riskguard.data.headers import SYNONYMS, number
from pytest_riskguard.data.input_files import InputFile, Misfit
from pytest_riskguard.data.json_nodes import JsonNode, at, chosen, chosen_node, marked, nodes, outline, require
from pytest_riskguard.data.named_columns import as_tag
from pytest_riskguard.data.qrels import Qrels, Row, qrels_of_rows
from pytest_riskguard.data.records import Kind
from pytest_riskguard.data.runs import Ranking, Run, run_of, run_of_rankings
from pytest_riskguard.data.topics import Topics, topics_of_rows
from pytest_riskguard.text import clean, listed

# OpenSearch's Search Relevance Workbench: judgement lists, query sets, pairwise experiments and evaluation results,
# as its API and its indices return them, or as they are imported. Queries are known by their texts.


workbench_fits = marked(
    judgements="judgmentRatings", topics="querySetQueries|queryText", rankings="documentIds|results.0.snapshots"
)
_NO_TAGS = ("queryText", "referenceAnswer")


def _stored(file: InputFile) -> Iterator[JsonNode]:
    """Documents as they are stored, also those of a search response, which has to have them all."""
    for node in nodes(file):
        if node.find("hits.hits") is None:
            yield node.find("_source") or node
            continue
        hits, total = list(node["hits.hits"].items()), at(node.value, "hits.total")
        problem = ENGINES["elasticsearch"].problem(node.value)
        if problem is None and total not in (None, {"value": len(hits), "relation": "eq"}):
            problem = f"{len(hits)} hits of {total}"
        if problem is not None:
            raise node.refuse(f"expected all documents, found {clean(problem)}; ask again, with a larger `size`")
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
        rankings.append((topic, [hit["_id"].text() for hit in hits], scores, None))
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
        grade = JsonNode(node.file, key, place="relevant_documents").number()
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


# What Quepid exports: ratings of a case, judgements of a book, and snapshots, each as CSV or JSON, with the texts of
# queries. Its pages double quotes in every cell, but put only cells with a comma or a line end between quotes:
# ``19"" monitor`` means ``19" monitor``, which readers of CSV refuse or get wrong.


#: Columns of Quepid's pages -> as its other exports call them.
_NAMES = {"Query Text": "query", "Doc ID": "docid", "Doc Position": "position", "Rating": "rating"}
#: Columns that name a ranking; one of them is in every file of a page.
_SNAPSHOT = ("Snapshot Name", "Snapshot Time", "Case Name")
#: Names of columns that say something else than what a judge thinks.
_NO_JUDGES = frozenset(name for names in SYNONYMS.values() for name in names)
#: Doubled quotes at the start of a cell that has none around it.
_DOUBLED = re.compile('(?<![^,])""(?=[^",])')


_json_fits = marked(
    judgements="queries.0.query queries.0.ratings|query_doc_pairs", rankings="docs queries|snapshots.0.docs"
)


def quepid_fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the file is JSON of Quepid, or a table with its columns."""
    if file.looks_like_json:
        return _json_fits(file, kind)
    header = [_NAMES.get(cell.strip(' "'), cell.strip(' "')) for cell in file.first_line.split(",")]
    wanted = {"query", "docid", "position" if kind == "rankings" else "rating"}
    is_page = wanted <= {*header} and not {*_SNAPSHOT}.isdisjoint(header)
    judges = {*map(str.lower, header[2:])} - {"rating"}
    is_rated = kind == "judgements" and header[:2] == ["query", "docid"] and _NO_JUDGES.isdisjoint(judges)
    return (
        None
        if is_page or is_rated
        else Misfit("its first line does not have the columns of ratings, a book or a snapshot of Quepid")
    )


def quepid_judgements(file: InputFile) -> Qrels:
    """The ratings that there are, by each judge of a book."""
    require(quepid_fits(file, "judgements"), file)
    return qrels_of_rows(file, _rated_in_json(file) if file.looks_like_json else _rated_in_table(file), by_text=True)


def _rated_in_json(file: InputFile) -> Iterator[Row]:
    whole = JsonNode(file, file.json)
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
                name = "anonymous" if judge is None else judge.text()
                yield pair["query_text"].text(), pair["doc_id"].text(), rated.number(), name, None


def _rated_in_table(file: InputFile) -> Iterator[Row]:
    for line, cells in _rows(file):
        query, document = cells.pop("query"), cells.pop("docid")
        for judge, rating in {"": cells["rating"]}.items() if "rating" in cells else cells.items():
            if rating not in ("", "--"):  # else nobody has rated it
                yield query, document, JsonNode(file, rating, line).number(), judge, line


def quepid_rankings(file: InputFile) -> Run:
    """The documents of each query by position; ``FILE#NAME`` names one of several snapshots."""
    require(quepid_fits(file, "rankings"), file)
    if file.looks_like_json:
        return run_of_rankings(file, _ranked_in_json(file), by_text=True)
    snapshots: dict[tuple[str, ...], list[tuple[str, str, float, int]]] = {}
    for line, cells in _rows(file):
        if cells["docid"]:  # else the query has no results
            names = tuple(cells[name] for name in _SNAPSHOT if name in cells)
            hit = cells["query"], cells["docid"], number(cells["position"]), line
            snapshots.setdefault(names, []).append(hit)
    topics, documents, ranks, lines = zip(*chosen(file, "snapshot", snapshots.items()), strict=True)
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


def _rows(file: InputFile) -> Iterator[tuple[int, dict[str, str]]]:
    """The cells of each row under their names, with the number of its last line; a row may end with its query."""
    # a NUL, which no file has, is a quote in a cell with quotes around it as in one without
    lines = (_DOUBLED.sub("\0", line.decode().removesuffix("\r")) + "\n" for _, line in file.lines())
    reader = csv.reader(lines, strict=True)
    rows = (
        [cell.replace('""', '"').replace("\0", '"').strip() for cell in row] for row in reader if "".join(row).strip()
    )
    try:
        header = [_NAMES.get(cell, cell) for cell in next(rows, [])]
        if len({*header}) < len(header):
            raise file.refuse(reader.line_num, "expected each column once, such as a name of its own for every judge")
        for row in rows:
            if len(row) not in (len(header), header.index("query") + 1):
                expected = f"expected {len(header)} columns as in the header"
                raise file.refuse(reader.line_num, f"{expected}, found {len(row)}")
            cells = dict(zip_longest(header, row, fillvalue=""))
            if not cells["query"]:
                raise file.refuse(reader.line_num, "expected a query text, found an empty cell")
            yield reader.line_num, cells
    except csv.Error as problem:
        raise file.refuse(reader.line_num, f"expected quotes around whole cells: {problem}") from None
