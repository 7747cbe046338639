"""Answers of search engines: where their hits are, what says that some are missing, and files with kept answers.

A file is JSON or JSON Lines. A query's id or text stands beside its answer, in a row of its own
(``{"query_id": "q1", "response": {...}}``) or among the keys of the answer
(``{"query_id": "q1", "took": 3, "hits": ...}``). A JSON object may also map ids to answers. Several answers to one
request have ``query_ids`` or ``queries`` beside them, rows of their own, or are in the order of the topics file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from pytest_riskguard.data.headers import SYNONYMS
from pytest_riskguard.data.input_files import InputFile, Misfit
from pytest_riskguard.data.json_nodes import JsonNode, at, nodes, outline
from pytest_riskguard.data.named_columns import text_of
from pytest_riskguard.data.records import Kind
from pytest_riskguard.data.runs import Ranking, Run, run_of_rankings
from pytest_riskguard.errors import FileError
from pytest_riskguard.text import clean

#: Ids of documents and their scores, which are None where one of them has none.
Hits = tuple[list[str], list[float] | None]


class AnswerError(ValueError):
    """An answer with an error, with a part of the hits only, or of another shape; the message says which."""


class Engine:
    """How one engine answers; places are paths of keys, such as ``hits.hits``.

    Attributes
    ----------
    title, hits_at : str
    marks : tuple of str
        Places of which every answer has one, and no answer of another engine.
    document_at, score_at : str and tuple of str
        Where a hit has its id and its score, which is the first that is there.
    errors : tuple of str
        An error has all places, which spaces separate, of one of these.
    said_at : tuple of str
        The words of an error.
    partial : mapping
        Why hits are missing where all places have something other than nothing, false and 0; ``!`` before a place
        wants false itself.
    """

    title = ""
    hits_at = "hits"
    marks: tuple[str, ...] = ()
    document_at = "id"
    score_at: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    said_at: tuple[str, ...] = ()
    partial: Mapping[str, str] = {}

    def found(self, answer: Any) -> list[Any] | None:
        """The hits of an answer as they are in it; None of anything but an answer of this engine."""
        hits = at(answer, self.hits_at)
        is_answer = isinstance(hits, list) and any(at(answer, mark) is not None for mark in self.marks)
        return hits if is_answer and all(isinstance(hit, dict) for hit in hits) else None

    def is_error(self, answer: Any) -> bool:
        """Whether this is what the engine sends instead of hits."""
        return any(_holds(answer, error) for error in self.errors)

    def problem(self, answer: Any) -> str | None:
        """Why the hits of an answer are not all that there are; None of a whole answer."""
        status = at(answer, "status")
        why = next((why for condition, why in self.partial.items() if _holds(answer, condition)), None)
        if why is None and self.found(answer) is None:
            why = "error"
        if why is None and isinstance(status, int) and status >= 400:
            why = f"error {status}"
        said = [str(part) for place in self.said_at if isinstance(part := at(answer, place), str | int)]
        return None if why is None else clean(": ".join([why, *said]))

    def document(self, hit: Any) -> str:
        """The id of a hit; ``AnswerError`` if it has none."""
        return identifier(at(hit, self.document_at), self.document_at)

    def check(self, answer: Any) -> None:
        """``AnswerError`` if an answer is an error, holds a part only or has another shape."""
        if self.found(answer) is None and not self.is_error(answer):
            raise AnswerError(f"expected an answer of {self.title}, found {outline(answer)}")
        if (problem := self.problem(answer)) is not None:
            raise AnswerError(f"{self.title}: {problem}")

    def hits(self, answer: Any) -> Hits:
        """The hits of an answer in their order; ``AnswerError`` as ``check``, and for a hit without an id."""
        self.check(answer)
        found = self.found(answer) or []
        scores = [next((s for place in self.score_at if (s := at(hit, place)) is not None), None) for hit in found]
        return [self.document(hit) for hit in found], whole_scores(scores)


def _holds(answer: Any, condition: str) -> bool:
    return all(
        at(answer, place[1:]) is False if place.startswith("!") else bool(at(answer, place))
        for place in condition.split()
    )


def identifier(value: object, where: str) -> str:
    """A document's id as text; ``AnswerError`` if there is none."""
    if not (name := text_of(value)):
        raise AnswerError(f"expected an id in {where}, found {outline(value)}")
    return name


def whole_scores(scores: Sequence[Any]) -> list[float] | None:
    """Scores as 64-bit floating point numbers; None if one of them is no number.

    Where such numbers cannot tell whole numbers apart, the places of these from the lowest are the scores.
    """
    if not {*map(type, scores)} <= {int, float}:
        return None
    if len({*map(float, scores)}) < len({*scores}):
        places = {score: place for place, score in enumerate(sorted({*scores}), 1)}
        scores = [places[score] for score in scores]
    return list(map(float, scores))


_CUT = "the search timed out, so its hits are incomplete"


class Elasticsearch(Engine):
    """``_search`` and ``_msearch`` of Elasticsearch and OpenSearch; scores are null where a field sorts the hits."""

    title = "Elasticsearch"
    hits_at = "hits.hits"
    marks = ("hits.hits",)
    document_at, score_at = "_id", ("_score",)
    errors = ("error status",)
    said_at = (
        *("error.type", "error.reason", "error"),
        *("_shards.failures.0.reason.type", "_shards.failures.0.reason.reason"),
    )
    partial: Mapping[str, str] = {
        "error": "error",
        "timed_out": _CUT,
        "terminated_early": "the search was terminated early, so its hits are incomplete",
        "is_partial": "the asynchronous search was not complete",
        "is_running": "the asynchronous search was not complete",
        "_shards.failed": "shards failed",
    }

    def problem(self, answer: Any) -> str | None:
        """A shard without a server, or a cluster that was skipped, is not among those that failed."""
        if (problem := super().problem(answer)) is not None:
            return problem
        if at(answer, "state") == "RUNNING":
            return self.partial["is_running"]
        for parts in ("shards", "clusters"):
            total, successful = at(answer, f"_{parts}.total"), at(answer, f"_{parts}.successful")
            if successful != total:
                return f"only {successful} of {total} {parts} answered"
        return None


class Solr(Engine):
    """``select`` as JSON, with ``id``, the usual unique key; ``score`` is there only where ``fl`` asks for it."""

    title = "Solr"
    hits_at = "response.docs"
    marks = ("response.docs",)
    score_at = ("score",)
    errors = ("responseHeader error", "responseHeader grouped")
    said_at = ("error.msg", "error.code", "responseHeader.partialResultsDetails")
    partial: Mapping[str, str] = {
        "error": "error",
        "responseHeader.status": "error",
        "responseHeader.partialResults": "its results are partial or omitted",
        "grouped": "grouped results have no single order; ask without group=true",
    }


class Vespa(Engine):
    """The default JSON result; ids are ``id:namespace:type::document``, and results without hits have no children."""

    title = "Vespa"
    hits_at = "root.children"
    marks = ("root.coverage", "root.fields.totalCount")
    score_at = ("relevance",)
    errors = ("root.errors",)
    said_at = ("root.errors.0.summary", "root.errors.0.message", "root.errors.0.code")
    partial: Mapping[str, str] = {"root.errors": "error"}

    def found(self, answer: Any) -> list[Any] | None:
        """The hits without the groups that may stand beside them."""
        if at(answer, self.hits_at) is None and any(at(answer, mark) is not None for mark in self.marks):
            return []
        hits = super().found(answer)
        return hits and [hit for hit in hits if not str(at(hit, "id")).startswith("group:")]

    def problem(self, answer: Any) -> str | None:
        """Documents that were not searched, other than by match-phase, which a rank profile asks for."""
        share, degraded = at(answer, "root.coverage.coverage"), at(answer, "root.coverage.degraded")
        reasons = [name for name, holds in degraded.items() if holds] if isinstance(degraded, dict) else []
        problem = super().problem(answer)
        if problem is None and reasons != ["match-phase"] and (reasons or _holds(answer, "!root.coverage.full")):
            return clean(": ".join([f"only {share} % of the documents were searched", *reasons]))
        return problem

    def document(self, hit: Any) -> str:
        """What follows ``::`` in the document's id; the hit's own id is another one where no summary was fetched."""
        full = identifier(at(hit, "fields.documentid") or at(hit, "id"), self.hits_at)
        if full.startswith("index:"):
            raise AnswerError(f"Vespa: {full!r:.60} is not the id of a document; ask for a summary with documentid")
        return full.partition("::")[2] or full


class Algolia(Engine):
    """Answers to queries, one or several to a request; hits have an order and no scores.

    A number of hits that is an estimate is no fault: there are then very many, of which the first are whole.
    """

    title = "Algolia"
    marks = ("hits.0.objectID", "nbHits")
    document_at = "objectID"
    errors = ("message status",)
    said_at = ("message",)
    partial: Mapping[str, str] = {
        "timeoutHits": _CUT,
        "timeoutCounts !exhaustiveNbHits": _CUT,
        "timeoutCounts !exhaustive.nbHits": _CUT,
        "!exhaustive.rulesMatch": "the search timed out before all rules were applied",
    }


class Typesense(Engine):
    """``documents/search`` and ``multi_search``; the score of hybrid search comes before that of the text."""

    title = "Typesense"
    marks = ("hits.0.document", "found")
    document_at = "document.id"
    score_at = ("hybrid_search_info.rank_fusion_score", "text_match")
    errors = ("code error", "grouped_hits")
    said_at = ("error",)
    partial: Mapping[str, str] = {
        "search_cutoff": "the search was cut off, so its hits are incomplete",
        "grouped_hits": "grouped hits have no single order; ask without group_by",
    }


class Meilisearch(Engine):
    """``search`` and ``multi-search``, whose hits are the documents; ``showRankingScore`` asks for their scores."""

    title = "Meilisearch"
    marks = ("processingTimeMs",)
    score_at = ("_rankingScore",)
    errors = ("message code type",)
    said_at = ("code", "message")
    partial: Mapping[str, str] = {
        "remoteErrors": "some servers did not answer",
        "degraded": "the search was cut off, so its hits are incomplete",
    }

    def document(self, hit: Any) -> str:
        """``id``, else the only field whose name ends so, as Meilisearch finds the primary key."""
        names = ["id"] if "id" in hit else [name for name in hit if name.lower().endswith("id")]
        if len(names) != 1:
            found = ", ".join(names) or "none"
            raise AnswerError(f"Meilisearch: expected a field id, or one whose name ends so, found {found}")
        return identifier(hit[names[0]], names[0])


#: In the order in which an answer is recognised.
ENGINES: Mapping[str, Engine] = {
    "elasticsearch": Elasticsearch(),
    "solr": Solr(),
    "vespa": Vespa(),
    "meilisearch": Meilisearch(),
    "algolia": Algolia(),
    "typesense": Typesense(),
}


def engine_of(answer: Any) -> Engine | None:
    """The engine whose answer, or else whose error, this is."""
    found = next((engine for engine in ENGINES.values() if engine.found(answer) is not None), None)
    return found or next((engine for engine in ENGINES.values() if engine.is_error(answer)), None)


# Files of answers.


#: Where a row has the id of its query, and its text.
_IDS = tuple(name for name in SYNONYMS["topic"] if name != "_id")
_TEXTS = ("query", "query_text", "querytext", "text")


def several_answers(value: Any) -> list[Any] | None:
    """The answers to one request for several queries."""
    return next((found for key in ("responses", "results") if isinstance(found := at(value, key), list)), None)


class _Row(NamedTuple):
    """One answer and its query: ``by`` its id, its text, or only its order."""

    line: int | None
    answer: Any
    engine: Engine | None
    by: str
    topic: str | None
    text: str | None


def responses_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the file begins with an answer of an engine."""
    if not file.looks_like_json:
        return Misfit("it is not JSON")
    try:
        rows = list(islice(_rows(file), 2))
    except FileError as problem:
        return Misfit(f"it cannot be read as answers: {problem.problem}", 3)
    if not rows or rows[0].engine is None:
        return Misfit("it does not hold answers of a search engine", 1)
    if len(rows) == 1 and rows[0].by == "order":
        title = rows[0].engine.title
        return Misfit(f"its only answer of {title} has neither the query's id nor its text beside it", 3)
    return None


def responses_rankings(file: InputFile) -> Run:
    """The hits of each answer, in their order."""
    rows = _rows(file)
    first = next(rows, None)
    if first is None or (engine := first.engine) is None:
        raise file.refuse(None, "expected answers of a search engine, found none")
    texts: dict[str, str] = {}

    def rankings() -> Iterator[Ranking]:
        for number, row in enumerate(chain([first], rows), 1):
            if row.by != first.by:
                expected = f"response {number} to name its query by its {first.by}, as the first"
                raise file.refuse(row.line, f"expected {expected}, found its {row.by}")
            topic = row.topic or row.text
            try:
                documents, scores = engine.hits(row.answer)
            except AnswerError as problem:
                which = f"query {topic!r:.80}" if topic else f"response {number}"
                raise file.refuse(row.line, f"{which}: {problem}") from None
            if row.topic and row.text:
                texts.setdefault(row.topic, row.text)
            yield topic, documents, scores, None, row.line

    return run_of_rankings(file, rankings(), by_text=first.by == "text", texts=texts, ordered=True)


def _rows(file: InputFile) -> Iterator[_Row]:
    """All answers of a file; a ``FileError`` while they are read if it is neither JSON nor JSON Lines."""
    for node in nodes(file):
        row = _row(node.line, node.value)
        yield from [row] if row.engine else (_row(node.line, one) for one in _split(node))


def _split(node: JsonNode) -> list[Any]:
    """Several answers, each with its query beside it, if that is said."""
    value, answers = node.value, several_answers(node.value)
    if answers is None:
        is_by_id = isinstance(value, dict) and all(map(engine_of, value.values()))
        return [{"query_id": topic, "response": answer} for topic, answer in value.items()] if is_by_id else [value]
    for name, key in (("query_ids", "query_id"), ("queries", "query")):
        if not isinstance(queries := at(value, name), list):
            continue
        if len(queries) != len(answers):
            found = f"{len(queries)} {name} beside {len(answers)} responses"
            raise node.refuse(f"expected one of the {name} for each response, found {found}")
        return [{key: query, "response": answer} for query, answer in zip(queries, answers, strict=True)]
    return answers


def _row(line: int | None, value: Any) -> _Row:
    """A value that is an answer, or has one under its keys, where what stands beside it may say that it failed."""
    beside = {key.lower(): inner for key, inner in value.items()} if isinstance(value, dict) else {}
    answer, topic = value, _first_text(beside, _IDS)
    inside = next((beside[name] for name in ("response", "body") if isinstance(beside.get(name), dict)), None)
    if inside is not None and (engine_of(inside) or not engine_of(value)):
        answer = {**value, **inside}
        beside = inside | beside
    text = _first_text(beside, _TEXTS) or text_of(at(answer, "request_params.q")) or None
    by = "id" if topic else "text" if text else "order"
    return _Row(line, answer, engine_of(answer), by, topic, text)


def _first_text(beside: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((text for name in names if (text := text_of(beside.get(name)))), None)
