"""Values of a JSON file together with their places in it, so that every refusal says where."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_riskguard.data.columns import number
from pytest_riskguard.data.content import InputFile, Misfit
from pytest_riskguard.data.records import Judgement, Kind, Ranking, Records, TopicRow, normal
from pytest_riskguard.errors import FileError, UsageError
from pytest_riskguard.text import clean, listed


@dataclass(frozen=True)
class JsonNode:
    """One value; ``place`` is its path, such as ``queries[3].ratings``. All methods raise the file's error."""

    file: InputFile
    value: Any
    place: str = ""
    line: int | None = None

    @classmethod
    def of(cls, file: InputFile) -> JsonNode:
        """The whole file."""
        return cls(file, file.json)

    def __getitem__(self, key: str) -> JsonNode:
        """The value of a key that must be there."""
        if (node := self.get(key)) is None:
            raise self.refuse(f"expected a key {key!r}, found {self._shown()}")
        return node

    def get(self, key: str) -> JsonNode | None:
        """The value of a key; None if it is not there or null."""
        value = self._object().get(key)
        return None if value is None else self._below(value, f".{key}")

    def entries(self) -> Iterator[tuple[str, JsonNode]]:
        """The keys of an object with their values."""
        for key, value in self._object().items():
            yield key, self._below(value, f".{clean(key, limit=40)}")

    def items(self) -> Iterator[JsonNode]:
        """The values of a list."""
        if not isinstance(self.value, list):
            raise self.refuse(f"expected a list, found {self._shown()}")
        for place, value in enumerate(self.value):
            yield self._below(value, f"[{place}]")

    def text(self) -> str:
        """A text that is not blank."""
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.refuse(f"expected a text, found {self._shown()}")
        return self.value.strip()

    def identifier(self) -> str:
        """An id: a text, or a whole number, which becomes one."""
        if isinstance(self.value, int) and not isinstance(self.value, bool):
            return str(self.value)
        return self.text()

    def number(self) -> float:
        """A finite number, which may stand in a text (``"3.000"``)."""
        if isinstance(self.value, str):
            value = number(self.value)
        elif isinstance(self.value, int | float) and not isinstance(self.value, bool):
            value = float(self.value)
        else:
            value = float("nan")
        if value != value:
            raise self.refuse(f"expected a number, found {self._shown()}")
        return value

    def refuse(self, problem: str) -> FileError:
        """The error to raise for this value."""
        return self.file.refuse(self.line, f"{self.place}: {problem}" if self.place else problem)

    def _object(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            raise self.refuse(f"expected an object, found {self._shown()}")
        return self.value

    def _below(self, value: Any, step: str) -> JsonNode:
        return JsonNode(self.file, value, f"{self.place}{step}".lstrip("."), self.line)

    def _shown(self) -> str:
        if isinstance(self.value, dict):
            keys = ", ".join(f"{key!r:.40}" for key in list(self.value)[:5])
            return f"an object with the keys {keys}" if keys else "an empty object"
        if isinstance(self.value, list):
            return "a list"
        return "null" if self.value is None else f"{self.value!r:.60}"


# What is asked of a file: that it has a format, and which of its rankings or lists is meant (``FILE#NAME``).


_MOST_NAMED = 8


def require(misfit: Misfit | None, file: InputFile) -> None:
    """Refuse a file that was said to have a format that it does not have."""
    if misfit is not None:
        raise file.refuse(None, f"expected the format that was named, but {misfit.reason}")


def only_part(file: InputFile, names: Iterable[str], what: str) -> str:
    """The name that ``file.part`` gives, else the only one; the error of the file if there is no such, or several."""
    there = list(dict.fromkeys(names))
    listed = ", ".join(f"{name!r:.60}" for name in there[:_MOST_NAMED]) + (
        ", ..." if len(there) > _MOST_NAMED else ""
    )
    if not there:
        raise file.refuse(None, f"expected a {what}, found none")
    if file.part is not None:
        if file.part not in there:
            raise file.refuse(None, f"expected a {what} named {file.part!r:.60}, found {listed}")
        return file.part
    if len(there) > 1:
        example = f"{file.name}#{there[0]:.60}"
        raise file.refuse(None, f"expected one {what}, found {len(there)} ({listed}); name one, as in {example!r}")
    return there[0]


def labels(names: Sequence[str], others: Sequence[str]) -> list[str]:
    """What each is called: by its name, or by its other name (an id, a time) where several share the first."""
    return [
        other or name if names.count(name) > 1 else name or other for name, other in zip(names, others, strict=True)
    ]


# Query texts for files of tools that know queries by nothing else.


def texts_of(topics: Iterable[str], texts: Mapping[str, str], tool: str) -> dict[str, str]:
    """The text of each topic; ``UsageError`` if one has none, or two have the same, which the tool would mix up."""
    found: dict[str, str] = {}
    owner: dict[str, str] = {}
    for topic in topics:
        text = normal(texts.get(topic, ""))
        if not text:
            raise UsageError(
                f"{tool} knows queries by their texts, and topic {topic!r} has none; give the topics file (--topics)"
            )
        if owner.setdefault(text, topic) != topic:
            raise UsageError(
                f"{tool} knows queries by their texts, and topics {owner[text]!r} and {topic!r} have the same one"
            )
        found[topic] = text
    return found


# Documents of Elasticsearch and OpenSearch, which an index and an id name together.


def names_of(documents: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Index and id -> one name: the id alone, but ``index/id`` in a file that names several indices.

    The same id in two indices is two documents, so an id of such a file never matches one that has no index.
    """
    pairs = list(dict.fromkeys(documents))
    several = len({index for index, _ in pairs}) > 1
    return {(index, name): f"{index}/{name}" if several else name for index, name in pairs}


# OpenSearch's Search Relevance Workbench: judgement lists, query sets, pairwise experiments and evaluation results.
#
# All are read as its API and its indices return them, or as they are imported. Queries are known by their texts. Its
# metrics are not read.


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


def workbench_fits(file: InputFile, kind: Kind) -> Misfit | None:
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


def workbench_judgements(file: InputFile) -> Records[Judgement]:
    """The ratings of a judgement list; ``FILE#NAME`` names one of several by its name or its id."""
    return Records(_workbench_judgements(file), by_text=True)


def _workbench_judgements(file: InputFile) -> Iterator[Judgement]:
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


def workbench_topics(file: InputFile) -> Records[TopicRow]:
    """The queries of a query set; their further fields are tags."""
    return Records(_workbench_topics(file))


def _workbench_topics(file: InputFile) -> Iterator[TopicRow]:
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


def workbench_rankings(file: InputFile) -> Records[Ranking]:
    """The documents of each query; ``FILE#ID`` names one of several search configurations, or a variant of one."""
    return Records(_workbench_rankings(file), by_text=True, is_ordered=True)


def _workbench_rankings(file: InputFile) -> Iterator[Ranking]:
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


# ``_rank_eval`` of Elasticsearch and OpenSearch: requests, which have ratings, and responses, which have rankings.
#
# The metric of a response is not read.


#: Keys under which queries and parameters have the text that was searched for.
_TEXT_KEYS = frozenset({"query", "query_text", "query_string", "model_text", "text", "q", "search_text", "keywords"})
_FAILURES_SHOWN = 3


def rank_eval_fits(file: InputFile, kind: Kind) -> Misfit | None:
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


def rank_eval_judgements(file: InputFile) -> Records[Judgement]:
    """The ratings of each request; its id is the topic."""
    return Records(_rank_eval_judgements(file))


def _rank_eval_judgements(file: InputFile) -> Iterator[Judgement]:
    requests = list(JsonNode.of(file)["requests"].items())
    _refuse_repeated(requests)
    rated = [(request["id"].identifier(), rating) for request in requests for rating in request["ratings"].items()]
    names = names_of(_document(rating) for _, rating in rated)
    for topic, rating in rated:
        yield Judgement(topic, names[_document(rating)], rating["rating"].number())


def rank_eval_topics(file: InputFile) -> Records[TopicRow]:
    """The id of each request, and the only text that its query or its parameters have."""
    return Records(_rank_eval_topics(file))


def _rank_eval_topics(file: InputFile) -> Iterator[TopicRow]:
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


def rank_eval_rankings(file: InputFile) -> Records[Ranking]:
    """The hits of each query, in their order."""
    return Records(_rank_eval_rankings(file), is_ordered=True)


def _rank_eval_rankings(file: InputFile) -> Iterator[Ranking]:
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


# Ratings of the Rated Ranking Evaluator, which Quepid exports too: documents by grade, or with their gains.


_GROUPS = ("topics", "query_groups", "queries")
_PLACEHOLDER = "$query"


def rre_fits(file: InputFile, _kind: Kind) -> Misfit | None:
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


def rre_judgements(file: InputFile) -> Records[Judgement]:
    """The documents of each query text; queries of one group share them."""
    return Records(_rre_judgements(file), by_text=True)


def _rre_judgements(file: InputFile) -> Iterator[Judgement]:
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


# Ratings for learning to rank, ``rating qid:<id> # <docid> <query text>``, as Quepid exports them.


_ROW = re.compile(r"(?P<grade>\S+)\s+qid:(?P<topic>\S+)\s[^#]*#\s*(?P<document>\S+)(?:\s+(?P<text>.*\S))?\s*\Z")
_EXPECTED = "`rating qid:<id> # <docid> <query text>`"


def ltr_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the first line has a rating, a qid and a document after ``#``."""
    if re.match(r"\S+\s+qid:\S", file.first_line) is None:
        return Misfit("its first line has no qid:")
    if _ROW.match(file.first_line) is None:
        return Misfit("its first line names no document after a #", 2)
    return None


def ltr_judgements(file: InputFile) -> Records[Judgement]:
    """A row for each rating; features between the qid and the ``#`` are not read."""
    texts: dict[str, str] = {}
    return Records(_ltr_judgements(file, texts), texts=texts)


def _ltr_judgements(file: InputFile, texts: dict[str, str]) -> Iterator[Judgement]:
    for line, content in file.lines():
        if not content.strip():
            continue
        row = _ROW.match(content.decode())
        if row is None:
            raise file.refuse(line, f"expected {_EXPECTED}, found {content.decode()!r:.60}")
        grade = number(row["grade"])
        if grade != grade:
            raise file.refuse(line, f"expected a number as the rating, found {row['grade']!r:.60}")
        if row["text"]:
            texts.setdefault(row["topic"], row["text"])
        yield Judgement(row["topic"], row["document"], grade, line=line)
