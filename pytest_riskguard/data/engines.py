"""Answers of search engines: where their hits are, what says that some are missing, and files with kept answers.

A file is JSON or JSON Lines. A query's id or text stands beside its answer, in a row of its own
(``{"query_id": "q1", "response": {...}}``) or among the keys of the answer
(``{"query_id": "q1", "took": 3, "hits": ...}``). A JSON object may also map ids to answers. Several answers to one
request have ``query_ids`` or ``queries`` beside them, rows of their own, or are in the order of the topics file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from pytest_riskguard.data.headers import SYNONYMS
from pytest_riskguard.data.input_files import InputFile, Misfit
from pytest_riskguard.data.json_nodes import at, nodes, outline
from pytest_riskguard.data.records import Kind
from pytest_riskguard.data.runs import Ranking, Run, run_of_rankings
from pytest_riskguard.errors import FileError
from pytest_riskguard.text import clean

Answer = Mapping[str, Any]
#: Ids of documents and their scores, which are None where one of them has none.
Hits = tuple[list[str], list[float] | None]


class AnswerError(ValueError):
    """An answer with an error, with a part of the hits only, or of another shape; the message says which."""


class Engine:
    """How one engine answers; places are paths of keys, such as ``hits.hits``.

    Attributes
    ----------
    title : str
    hits_at : str
    document_at, score_at : str and tuple of str
        Where a hit has its id and its score, which is the first that is there.
    query_at : str
        Where an answer repeats the text of the query.
    hit_key : str
        What every hit has, so that answers of two engines are told apart.
    empty_at : tuple of str
        Of these an answer has one, if it has no hits, or they have no key of their own.
    errors : tuple of tuples of str
        An error has all places of one of these.
    said_at : tuple of str
        The words of an error.
    partial : mapping
        A place where something other than nothing, false and 0 says that hits are missing -> why.
    """

    title = ""
    hits_at = "hits"
    document_at = "id"
    score_at: tuple[str, ...] = ()
    query_at = "query"
    hit_key = ""
    empty_at: tuple[str, ...] = ()
    errors: tuple[tuple[str, ...], ...] = ()
    said_at: tuple[str, ...] = ()
    partial: Mapping[str, str] = {}

    def found(self, answer: Answer) -> list[Answer] | None:
        """The hits of an answer as they are in it; None of anything but an answer of this engine."""
        hits = at(answer, self.hits_at)
        if not isinstance(hits, list) or not all(isinstance(hit, dict) for hit in hits):
            return None
        if hits and self.hit_key:
            return hits if all(self.hit_key in hit for hit in hits) else None
        return hits if any(at(answer, place) is not None for place in self.empty_at) else None

    def is_error(self, answer: Answer) -> bool:
        """Whether this is what the engine sends instead of hits."""
        return any(all(at(answer, place) is not None for place in error) for error in self.errors)

    def problem(self, answer: Answer) -> str | None:
        """Why the hits of an answer are not all that there are; None of a whole answer."""
        said = [part for place in self.said_at if isinstance(part := at(answer, place), str | int)]
        for place, why in self.partial.items():
            if at(answer, place):
                return _message(why, *said)
        return _message("error", *said) if self.found(answer) is None else None

    def document(self, hit: Answer) -> str:
        """The id of a hit; ``AnswerError`` if it has none."""
        return identifier(at(hit, self.document_at), self.document_at)

    def check(self, answer: Any) -> None:
        """``AnswerError`` if an answer is an error, holds a part only or has another shape."""
        if not isinstance(answer, dict) or (self.found(answer) is None and not self.is_error(answer)):
            raise AnswerError(f"expected an answer of {self.title}, found {outline(answer)}")
        problem, status = self.problem(answer), answer.get("status")
        if problem is None and isinstance(status, int) and status >= 400:
            problem = f"error {status}"
        if problem is not None:
            raise AnswerError(f"{self.title}: {problem}")

    def hits(self, answer: Any) -> Hits:
        """The hits of an answer in their order; ``AnswerError`` as ``check``, and for a hit without an id."""
        self.check(answer)
        found = self.found(answer)
        assert found is not None
        scores = [next((s for place in self.score_at if (s := at(hit, place)) is not None), None) for hit in found]
        return [self.document(hit) for hit in found], whole_scores(scores)


def identifier(value: object, where: str) -> str:
    """A document's id as text; ``AnswerError`` if there is none."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise AnswerError(f"expected an id in {where}, found {'nothing' if value is None else repr(value)[:60]}")


def whole_scores(scores: Sequence[object]) -> list[float] | None:
    """Scores as 64-bit floating point numbers; None if one of them is no finite number.

    Where such numbers cannot tell whole numbers apart, the places of these from the lowest are the scores.
    """
    numbers = [
        one for one in scores if isinstance(one, int | float) and not isinstance(one, bool) and math.isfinite(one)
    ]
    if len(numbers) < len(scores):
        return None
    if len({*map(float, numbers)}) < len({*numbers}):
        places = {number: place for place, number in enumerate(sorted({*numbers}), 1)}
        numbers = [places[number] for number in numbers]
    return [float(number) for number in numbers]


def _message(*parts: object) -> str:
    return clean(": ".join(str(part) for part in parts if part != ""))


class Elasticsearch(Engine):
    """``_search`` and ``_msearch`` of Elasticsearch and OpenSearch; scores are null where a field sorts the hits."""

    title = "Elasticsearch"
    hits_at = "hits.hits"
    document_at, score_at = "_id", ("_score",)
    empty_at = ("hits.hits",)
    errors = (("error", "status"),)
    said_at = (
        *("error.type", "error.reason", "error"),
        *("_shards.failures.0.reason.type", "_shards.failures.0.reason.reason"),
    )
    partial: Mapping[str, str] = {
        "error": "error",
        "timed_out": "the search timed out, so its hits are incomplete",
        "terminated_early": "the search was terminated early, so its hits are incomplete",
        "is_partial": "the asynchronous search was not complete",
        "is_running": "the asynchronous search was not complete",
        "_shards.failed": "shards failed",
        "_shards.failures": "shards failed",
        "_clusters.skipped": "clusters were skipped",
        "_clusters.partial": "clusters answered in part",
        "_clusters.failed": "clusters failed",
    }

    def problem(self, answer: Answer) -> str | None:
        """A shard without a server is not among those that failed."""
        if answer.get("state") == "RUNNING":
            return self.partial["is_running"]
        successful, total = at(answer, "_shards.successful"), at(answer, "_shards.total")
        few = isinstance(total, int) and isinstance(successful, int) and successful < total
        return super().problem(answer) or (f"only {successful} of {total} shards answered" if few else None)


class Solr(Engine):
    """``select`` as JSON, with ``id``, the usual unique key; ``score`` is there only where ``fl`` asks for it."""

    title = "Solr"
    hits_at = "response.docs"
    score_at = ("score",)
    empty_at = ("response.docs",)
    errors = (("responseHeader", "error"), ("responseHeader", "grouped"))
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
    score_at = ("relevance",)
    empty_at = ("root.children", "root.coverage", "root.fields.totalCount")
    errors = (("root.errors",),)
    said_at = ("root.errors.0.summary", "root.errors.0.message", "root.errors.0.code")
    partial: Mapping[str, str] = {"root.errors": "error"}

    def found(self, answer: Answer) -> list[Answer] | None:
        """The hits without the groups that may stand beside them."""
        if at(answer, self.hits_at) is None:
            return [] if any(at(answer, place) is not None for place in self.empty_at) else None
        hits = super().found(answer)
        return hits and [hit for hit in hits if not str(hit.get("id", "")).startswith("group:")]

    def problem(self, answer: Answer) -> str | None:
        """Documents that were not searched, other than by match-phase, which a rank profile asks for."""
        share, degraded = at(answer, "root.coverage.coverage"), at(answer, "root.coverage.degraded")
        reasons = [name for name, holds in degraded.items() if holds] if isinstance(degraded, dict) else []
        is_whole = share in (None, 100) and at(answer, "root.coverage.full") in (None, True)
        problem = super().problem(answer)
        if problem is None and reasons != ["match-phase"] and (reasons or not is_whole):
            return _message(f"only {share} % of the documents were searched", ", ".join(reasons))
        return problem

    def document(self, hit: Answer) -> str:
        """What follows ``::`` in the document's id; the hit's own id is another one where no summary was fetched."""
        full = str(at(hit, "fields.documentid") or hit.get("id") or "")
        _, mark, document = full.partition("::")
        if full.startswith("index:") and not mark:
            raise AnswerError(f"Vespa: {full!r:.60} is not the id of a document; ask for a summary with documentid")
        return identifier(document if mark else full, "root.children")


class Algolia(Engine):
    """Answers to queries, one or several to a request; hits have an order and no scores."""

    title = "Algolia"
    document_at = hit_key = "objectID"
    empty_at = ("nbHits",)
    errors = (("message", "status"),)
    said_at = ("message",)
    partial: Mapping[str, str] = {"timeoutHits": "the search timed out, so its hits are incomplete"}

    def problem(self, answer: Answer) -> str | None:
        """The number of hits alone is an estimate where there are very many, of which the first are whole."""
        counted = at(answer, "exhaustive.nbHits")
        is_counted = answer.get("exhaustiveNbHits", True) if counted is None else counted
        if answer.get("timeoutCounts") and not is_counted:
            return self.partial["timeoutHits"]
        if at(answer, "exhaustive.rulesMatch") is False:
            return "the search timed out before all rules were applied"
        return super().problem(answer)


class Typesense(Engine):
    """``documents/search`` and ``multi_search``; the score of hybrid search comes before that of the text."""

    title = "Typesense"
    document_at, hit_key = "document.id", "document"
    score_at = ("hybrid_search_info.rank_fusion_score", "text_match")
    query_at = "request_params.q"
    empty_at = ("found",)
    errors = (("grouped_hits", "found"),)
    said_at = ("error", "message")
    partial: Mapping[str, str] = {
        "search_cutoff": "the search was cut off, so its hits are incomplete",
        "grouped_hits": "grouped hits have no single order; ask without group_by",
    }

    def is_error(self, answer: Answer) -> bool:
        """A text as ``error``; of an unknown address there is only a message."""
        is_error = isinstance(answer.get("error"), str) or list(answer) == ["message"]
        return is_error or super().is_error(answer)


class Meilisearch(Engine):
    """``search`` and ``multi-search``, whose hits are the documents; ``showRankingScore`` asks for their scores."""

    title = "Meilisearch"
    score_at = ("_rankingScore",)
    empty_at = ("processingTimeMs", "estimatedTotalHits", "totalHits")
    errors = (("message", "code", "type"),)
    said_at = ("code", "message")
    partial: Mapping[str, str] = {
        "remoteErrors": "some servers did not answer",
        "degraded": "the search was cut off, so its hits are incomplete",
    }

    def document(self, hit: Answer) -> str:
        """``id``, else the only field whose name ends so, as Meilisearch finds the primary key."""
        names = [name for name in hit if name.lower().endswith("id") and not name.startswith("_")]
        if "id" not in names and len(names) != 1:
            found = ", ".join(names) or "none"
            raise AnswerError(f"Meilisearch: expected a field id, or one whose name ends so, found {found}")
        name = "id" if "id" in names else names[0]
        return identifier(hit[name], f"the field {name}")


#: In the order in which an answer is recognised.
ENGINES: Mapping[str, Engine] = {
    "elasticsearch": Elasticsearch(),
    "solr": Solr(),
    "vespa": Vespa(),
    "algolia": Algolia(),
    "typesense": Typesense(),
    "meilisearch": Meilisearch(),
}
#: Keys of several answers to one request.
_SEVERAL = ("responses", "results")


def only_answer(answer: Any) -> Any:
    """The answer to a request for one query, also where the engine answers several to a request."""
    several = at(answer, "responses") or at(answer, "results")
    return several[0] if isinstance(several, list) and len(several) == 1 else answer


def engine_of(answer: Any) -> Engine | None:
    """The engine whose answer, or else whose error, this is."""
    if not isinstance(answer, dict):
        return None
    found = next((engine for engine in ENGINES.values() if engine.found(answer) is not None), None)
    return found or next((engine for engine in ENGINES.values() if engine.is_error(answer)), None)


# Files of answers.

#: Keys of a row: the query's id, its text, the answer, and what tells of it; keys of lists beside several answers.
_IDS = tuple(name for name in SYNONYMS["topic"] if name != "_id")
_TEXTS = ("query", "query_text", "querytext", "text")
_ANSWERS = ("response", "answer", "body", "result")
_BESIDE = ("status", "is_partial", "is_running", "state")
_LISTS = {"query_ids": "query_id", "queries": "query"}


class _Row(NamedTuple):
    """One answer with the engine that it is of and with what stands beside it."""

    line: int | None
    answer: Any
    engine: Engine | None
    topic: str | None
    text: str | None


def responses_fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the file holds answers of an engine, with their queries unless there are several."""
    if not file.looks_like_json:
        return Misfit("it is not JSON")
    try:
        rows = list(islice(_rows(file), 2))
    except FileError as problem:
        return Misfit(f"it cannot be read as answers: {problem.problem}", 3)
    if not rows or rows[0].engine is None:
        return Misfit("it does not hold answers of a search engine", 1)
    if len(rows) == 1 and rows[0].topic is None and rows[0].text is None:
        title = rows[0].engine.title
        return Misfit(f"its only answer of {title} has neither the query's id nor its text beside it", 3)
    return None


def responses_rankings(file: InputFile) -> Run:
    """The hits of each answer, in their order."""
    rows = _rows(file)
    first = next(rows, None)
    if first is None or (engine := first.engine) is None:
        raise file.refuse(None, "expected answers of a search engine, found none")
    by = "id" if first.topic is not None else "order"
    if first.topic is None and first.text is not None:
        by = "text"
    texts: dict[str, str] = {}

    def rankings() -> Iterator[Ranking]:
        for number, row in enumerate(chain([first], rows), 1):
            topic = {"id": row.topic, "text": row.text, "order": str(number)}[by]
            if topic is None or (by == "order" and (row.topic or row.text) is not None):
                raise file.refuse(row.line, f"expected response {number} to name its query by its {by}, as the first")
            try:
                documents, scores = engine.hits(row.answer)
            except AnswerError as problem:
                which = f"response {number}" if by == "order" else f"query {topic!r:.80}"
                raise file.refuse(row.line, f"{which}: {problem}") from None
            if by == "id" and row.text is not None:
                texts.setdefault(topic, row.text)
            yield None if by == "order" else topic, documents, scores, None, row.line

    return run_of_rankings(file, rankings(), by_text=by == "text", texts=texts, ordered=True)


def _rows(file: InputFile) -> Iterator[_Row]:
    """All answers of a file; a ``FileError`` while they are read if it is neither JSON nor JSON Lines."""
    for node in nodes(file):
        line, value = node.line, node.value
        several = next((found for key in _SEVERAL if isinstance(found := at(value, key), list)), None)
        if several is not None:
            name = next((name for name in _LISTS if isinstance(value.get(name), list)), None)
            if name is None:
                yield from (_row(line, answer) for answer in several)
                continue
            if len(value[name]) != len(several):
                found = f"{len(value[name])} {name} beside {len(several)} responses"
                raise file.refuse(line, f"expected one of the {name} for each response, found {found}")
            for query, answer in zip(value[name], several, strict=True):
                yield _row(line, {_LISTS[name]: query, "response": answer})
        else:
            row = _row(line, value)
            if row.engine is None and isinstance(value, dict) and value and all(map(engine_of, value.values())):
                yield from (_row(line, {"query_id": topic, "response": answer}) for topic, answer in value.items())
            else:
                yield row


def _row(line: int | None, value: Any) -> _Row:
    """A value that is an answer, or has one under its keys."""
    if not isinstance(value, dict):
        return _Row(line, value, None, None, None)
    keys = {key.lower(): inner for key, inner in value.items()}
    inside = [keys[name] for name in _ANSWERS if isinstance(keys.get(name), dict)]
    answer = next((one for one in (value, *inside) if engine_of(one)), inside[0] if inside else value)
    answer = answer | {key: value[key] for key in _BESIDE if key in value}
    engine = engine_of(answer)
    repeated = at(answer, engine.query_at) if engine else None
    text = _beside(keys, _TEXTS) or (repeated if isinstance(repeated, str) else None)
    return _Row(line, answer, engine, _beside(keys, _IDS), text)


def _beside(keys: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """The text or the whole number under the first of some keys."""
    values = (keys.get(name) for name in names)
    return next((str(v) for v in values if isinstance(v, str | int) and not isinstance(v, bool) and v != ""), None)
