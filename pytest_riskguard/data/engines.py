"""Responses of a search engine that somebody has kept, as JSON Lines or as one JSON value, with their queries.

A query's id or text stands beside its response, in a row of its own (``{"query_id": "q1", "response": {...}}``) or
among the keys of the response (``{"query_id": "q1", "took": 3, "hits": ...}``). A JSON object may also map ids to
responses. Several responses to one request have a list of ids beside them (``query_ids``), rows of their own, or are
in the order of the topics file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, NamedTuple

from pytest_riskguard.data.columns import SYNONYMS
from pytest_riskguard.data.content import InputFile, Misfit
from pytest_riskguard.data.engine_answers import Answer, AnswerError, Engine, identifier, inner, message, objects
from pytest_riskguard.data.records import Kind, Ranking, Records
from pytest_riskguard.errors import FileError

#: Keys of a row: the query's id, its text, and the response; those of several responses are plurals.
_IDS = tuple(name for name in SYNONYMS["topic"] if name != "_id")
_TEXTS = ("query", "query_text", "querytext", "text")
_ANSWERS = ("response", "answer", "body", "result")


class _Row(NamedTuple):
    """One response with what stands beside it."""

    line: int | None
    topic: str | None
    text: str | None
    answer: Any


class ResponseFiles:
    """Files with responses of one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def fits(self, file: InputFile, _kind: Kind) -> Misfit | None:
        """Whether the file holds this engine's responses with their queries."""
        if not file.looks_like_json:
            return Misfit("it is not JSON")
        title, has_error = self._engine.title, False
        try:
            for number, row in enumerate(_Rows(self._engine, file)):
                answer = row.answer if isinstance(row.answer, dict) else {}
                if self._engine.is_answer(answer):
                    return self._without_query(file) if number == 0 else None
                if not self._engine.is_error(answer):
                    return Misfit(f"it does not hold responses of {title}", 1)
                has_error = True
        except FileError as problem:
            return Misfit(f"it is neither JSON nor JSON Lines: {problem.problem}", 1)
        return None if has_error else Misfit("it holds no response", 1)

    def _without_query(self, file: InputFile) -> Misfit | None:
        """A single response of which nobody knows what was asked."""
        first, *others = islice(_Rows(self._engine, file), 2)
        if others or first.topic is not None or first.text is not None:
            return None
        return Misfit(
            f"its only response of {self._engine.title} has neither the query's id nor its text beside it", 3
        )

    def rankings(self, file: InputFile) -> Records[Ranking]:
        """The hits of each response, in their order."""
        rows = iter(_Rows(self._engine, file))
        first = next(rows, None)
        if first is None:
            raise file.refuse(None, "expected responses, found none")
        by = "id" if first.topic is not None else "text" if first.text is not None else "order"
        texts: dict[str, str] = {}
        rankings = self._rankings(file, chain([first], rows), by, texts)
        return Records(rankings, by_text=by == "text", by_order=by == "order", texts=texts, is_ordered=True)

    def _rankings(self, file: InputFile, rows: Iterable[_Row], by: str, texts: dict[str, str]) -> Iterator[Ranking]:
        for number, row in enumerate(rows, 1):
            if by == "order" and (row.topic is not None or row.text is not None):
                raise file.refuse(row.line, f"expected response {number} without an id, like the first; found one")
            topic = {"id": row.topic, "text": row.text, "order": str(number)}[by]
            if topic is None:
                raise file.refuse(row.line, f"expected the query's {by} beside response {number}, found none")
            try:
                hits = self._engine.checked_hits(row.answer)
            except AnswerError as problem:
                which = f"response {number}" if by == "order" else f"query {topic!r:.80}"
                raise file.refuse(row.line, f"{which}: {problem}") from None
            if by == "id" and row.text is not None:
                texts.setdefault(topic, row.text)
            scores = [hit.score for hit in hits if hit.score is not None]
            yield Ranking(
                topic, [hit.document for hit in hits], scores if len(scores) == len(hits) else None, row.line
            )


class _Rows:
    """All responses of a file; a ``FileError`` while they are read if it is neither JSON nor JSON Lines."""

    def __init__(self, engine: Engine, file: InputFile) -> None:
        self._engine, self._file = engine, file

    def __iter__(self) -> Iterator[_Row]:
        whole = self._file.json_or_none
        values = iter([(None, whole)]) if whole is not None else self._file.json_lines()
        for line, value in values:
            for item in value if isinstance(value, list) else [value]:
                yield from self._of_value(line, item)

    def _of_value(self, line: int | None, value: Any) -> Iterator[_Row]:
        if not isinstance(value, dict):
            yield _Row(line, None, None, value)
        elif isinstance(several := value.get(self._engine.several or ""), list):
            yield from self._of_several(line, value, several)
        elif (row := self._row(line, value)) is not None:
            yield row
        elif value and all(isinstance(answer, dict) and self._is_known(answer) for answer in value.values()):
            yield from (_Row(line, topic, self._engine.text(answer), answer) for topic, answer in value.items())
        else:
            yield _Row(line, None, None, value)

    def _of_several(self, line: int | None, value: Answer, answers: list[Any]) -> Iterator[_Row]:
        """Responses to one request, with a list of ids or texts beside them, or each with its own."""
        given = next((name for name in (*_IDS, *_TEXTS) if isinstance(value.get(_plural(name)), list)), None)
        if given is None:
            for answer in answers:
                row = self._row(line, answer) if isinstance(answer, dict) else None
                yield row or _Row(line, None, None, answer)
            return
        queries, is_text = value[_plural(given)], given in _TEXTS
        for query, answer in zip(queries, answers, strict=False):
            yield _Row(line, None if is_text else str(query), str(query) if is_text else None, answer)
        if len(queries) != len(answers):
            found = f"{len(queries)} {_plural(given)} beside {len(answers)} responses"
            raise self._file.refuse(line, f"expected one of the {_plural(given)} for each response, found {found}")

    def _row(self, line: int | None, value: Answer) -> _Row | None:
        """A response with its query; None for an object of another kind."""
        names = {key.lower(): key for key in value}
        topic, text = _beside(value, names, _IDS), _beside(value, names, _TEXTS)
        answers = [value] if self._is_known(value) else [value.get(names.get(name, "")) for name in _ANSWERS]
        answer = next((answer for answer in answers if isinstance(answer, dict)), None)
        if answer is None:
            return None
        answer = {**answer, **{key: value[key] for key in self._engine.beside if key in value}}
        return _Row(line, topic, text or self._engine.text(answer), answer)

    def _is_known(self, answer: Answer) -> bool:
        return self._engine.is_answer(answer) or self._engine.is_error(answer)


def _plural(key: str) -> str:
    """The key of several of them."""
    return f"{key[:-1]}ies" if key.endswith("y") else f"{key}s"


def _beside(value: Answer, names: Mapping[str, str], wanted: tuple[str, ...]) -> str | None:
    """The text under the first of some keys."""
    beside = (value.get(names.get(name, "")) for name in wanted)
    return next((str(v) for v in beside if isinstance(v, str | int) and not isinstance(v, bool) and v != ""), None)


# Elasticsearch and OpenSearch: responses of ``_search`` and ``_msearch``.


class Elasticsearch(Engine):
    """``hits.hits`` with ``_id`` and ``_score``, which is null where hits are sorted by a field."""

    title, several, score_key = "Elasticsearch", "responses", "_score"
    beside = (*Engine.beside, "is_partial", "is_running", "state")

    def is_answer(self, answer: Answer) -> bool:
        """Whether it has ``hits.hits``, a list of objects."""
        return objects(inner(answer, "hits").get("hits")) is not None

    def is_error(self, answer: Answer) -> bool:
        """Whether it has ``error`` and ``status``."""
        return "error" in answer and isinstance(answer.get("status"), int)

    def problem(self, answer: Answer) -> str | None:
        """An error, a time-out, shards or clusters without an answer."""
        if answer.get("error"):
            error = inner(answer, "error")
            what = message(error.get("type"), error.get("reason")) if error else message(answer["error"])
            return message(f"error {answer.get('status', '')}".strip(), what)
        if answer.get("timed_out"):
            return "the search timed out, so its hits are incomplete"
        if answer.get("terminated_early"):
            return "the search was terminated early, so its hits are incomplete"
        if answer.get("is_partial") or answer.get("is_running") or answer.get("state") == "RUNNING":
            return "the asynchronous search was not complete, so its hits are incomplete"
        shards, clusters = inner(answer, "_shards"), inner(answer, "_clusters")
        if shards.get("failed") or shards.get("failures"):
            failures = objects(shards.get("failures")) or [{}]
            reason = inner(failures[0], "reason")
            which = f"{shards.get('failed') or len(failures)} of {shards.get('total', '?')} shards failed"
            return message(which, reason.get("type"), reason.get("reason"))
        total, successful = shards.get("total"), shards.get("successful")
        if isinstance(total, int) and isinstance(successful, int) and successful < total:
            # a shard without a server is not among those that failed
            return f"only {successful} of {total} shards answered"
        missing = [name for name in ("skipped", "partial", "failed") if clusters.get(name)]
        if missing:
            return f"{clusters[missing[0]]} of {clusters.get('total', '?')} clusters {missing[0]}"
        return None

    def found(self, answer: Answer) -> list[Answer]:
        """``hits.hits``."""
        return list(answer["hits"]["hits"])

    def document(self, hit: Answer) -> str:
        """``_id``."""
        return identifier(hit.get("_id"), "_id")


ELASTICSEARCH_ENGINE = Elasticsearch()
_ELASTICSEARCH_FILES = ResponseFiles(ELASTICSEARCH_ENGINE)
elasticsearch_fits, elasticsearch_rankings = _ELASTICSEARCH_FILES.fits, _ELASTICSEARCH_FILES.rankings


# Solr: responses of ``select`` as JSON.


class Solr(Engine):
    """``response.docs`` with ``id``, the usual unique key; ``score`` only where ``fl`` asks for it."""

    title, score_key = "Solr", "score"

    def is_answer(self, answer: Answer) -> bool:
        """Whether it has ``response.docs``, a list of objects; or grouped results, which have no single order."""
        return objects(inner(answer, "response").get("docs")) is not None or (
            "responseHeader" in answer and "grouped" in answer
        )

    def is_error(self, answer: Answer) -> bool:
        """Whether it has a header and an ``error``."""
        return "responseHeader" in answer and "error" in answer

    def problem(self, answer: Answer) -> str | None:
        """An error, or partial results."""
        header, error = inner(answer, "responseHeader"), inner(answer, "error")
        if error or header.get("status"):
            return message(f"error {error.get('code', header.get('status'))}", error.get("msg"))
        if partial := header.get("partialResults"):
            what = "omitted" if partial == "omitted" else "partial"
            return message(f"its results are {what}", header.get("partialResultsDetails"))
        return None

    def found(self, answer: Answer) -> list[Answer]:
        """``response.docs``."""
        if "response" not in answer:
            raise AnswerError("Solr: grouped results have no single order; ask without group=true")
        return list(answer["response"]["docs"])

    def document(self, hit: Answer) -> str:
        """``id``."""
        return identifier(hit.get("id"), "the field id")


SOLR_ENGINE = Solr()
_SOLR_FILES = ResponseFiles(SOLR_ENGINE)
solr_fits, solr_rankings = _SOLR_FILES.fits, _SOLR_FILES.rankings


# Vespa: results in its default JSON format.


#: A degradation that the rank profile itself asks for.
_DELIBERATE = "match-phase"


class Vespa(Engine):
    """``root.children``, whose ids are ``id:namespace:type::document``; results without hits have no children."""

    title, score_key = "Vespa", "relevance"

    def is_answer(self, answer: Answer) -> bool:
        """Whether it has a ``root`` with hits, or with how many there are."""
        root = inner(answer, "root")
        return bool(root.keys() & {"children", "coverage"}) or "totalCount" in inner(root, "fields")

    def is_error(self, answer: Answer) -> bool:
        """Whether it has a ``root`` with errors."""
        return "errors" in inner(answer, "root")

    def problem(self, answer: Answer) -> str | None:
        """An error, or documents that were not searched."""
        root = inner(answer, "root")
        if root.get("errors"):
            error = (objects(root["errors"]) or [{}])[0]
            return message(f"error {error.get('code', '')}".strip(), error.get("summary"), error.get("message"))
        coverage = inner(root, "coverage")
        share = coverage.get("coverage", 100)
        reasons = [name for name, holds in inner(coverage, "degraded").items() if holds]
        is_whole = coverage.get("full", True) and isinstance(share, int | float) and share >= 100
        if reasons == [_DELIBERATE] or (is_whole and not reasons):
            return None
        return message(f"only {coverage.get('coverage', '?')} % of the documents were searched", ", ".join(reasons))

    def found(self, answer: Answer) -> list[Answer]:
        """``root.children`` without the groups that may stand beside the hits."""
        children = objects(answer["root"].get("children", []))
        if children is None:
            raise AnswerError("Vespa: expected a list of objects in root.children")
        return [child for child in children if not str(child.get("id", "")).startswith("group:")]

    def document(self, hit: Answer) -> str:
        """What follows ``::`` in the document's id; the hit's own id is another one where no summary was fetched."""
        full = str(inner(hit, "fields").get("documentid") or hit.get("id") or "")
        _, mark, document = full.partition("::")
        if mark:
            return identifier(document, f"what follows '::' in {full!r:.60}")
        if full.startswith("index:"):
            raise AnswerError(
                f"Vespa: {full!r:.60} is not the id of a document; ask for a summary that has documentid"
            )
        return identifier(full, "root.children")


VESPA_ENGINE = Vespa()
_VESPA_FILES = ResponseFiles(VESPA_ENGINE)
vespa_fits, vespa_rankings = _VESPA_FILES.fits, _VESPA_FILES.rankings


# Algolia: responses to queries, one or several to a request; hits have an order and no scores.


class Algolia(Engine):
    """``hits`` with ``objectID``."""

    title, several, query_at = "Algolia", "results", ("query",)

    def is_answer(self, answer: Answer) -> bool:
        """Whether it has hits with ``objectID``, or none and how many there are."""
        hits = objects(answer.get("hits"))
        return hits is not None and (all("objectID" in hit for hit in hits) if hits else "nbHits" in answer)

    def is_error(self, answer: Answer) -> bool:
        """Whether it has a ``message`` and a ``status`` instead of hits."""
        return isinstance(answer.get("message"), str) and isinstance(answer.get("status"), int)

    def problem(self, answer: Answer) -> str | None:
        """An error, or a time-out."""
        if "hits" not in answer:
            return message(f"error {answer['status']}", answer["message"])
        exhaustive = inner(answer, "exhaustive")
        # the number of hits alone is an estimate where there are very many, of which the first are whole
        counted_all = exhaustive.get("nbHits", answer.get("exhaustiveNbHits", True))
        if answer.get("timeoutHits") or (answer.get("timeoutCounts") and not counted_all):
            return "the search timed out, so its hits are incomplete"
        if exhaustive.get("rulesMatch") is False:
            return "the search timed out before all rules were applied"
        return None

    def found(self, answer: Answer) -> list[Answer]:
        """``hits``."""
        return list(answer["hits"])

    def document(self, hit: Answer) -> str:
        """``objectID``."""
        return identifier(hit.get("objectID"), "objectID")


ALGOLIA_ENGINE = Algolia()
_ALGOLIA_FILES = ResponseFiles(ALGOLIA_ENGINE)
algolia_fits, algolia_rankings = _ALGOLIA_FILES.fits, _ALGOLIA_FILES.rankings


# Typesense: responses of ``documents/search`` and ``multi_search``.


class Typesense(Engine):
    """``hits`` with ``document.id``.

    A hit's score is that of hybrid search (``hybrid_search_info.rank_fusion_score``) where there is one, else
    ``text_match``, a whole number of 64 bits.
    """

    title, several, query_at = "Typesense", "results", ("request_params", "q")

    def is_answer(self, answer: Answer) -> bool:
        """Whether it has hits with a ``document``, or none and how many there are; or grouped hits."""
        if "grouped_hits" in answer and "found" in answer:
            return True
        hits = objects(answer.get("hits"))
        return hits is not None and (all("document" in hit for hit in hits) if hits else "found" in answer)

    def is_error(self, answer: Answer) -> bool:
        """Whether it has an ``error`` as text, or a ``message`` and nothing else."""
        return (isinstance(answer.get("error"), str) and "status" not in answer) or list(answer) == ["message"]

    def problem(self, answer: Answer) -> str | None:
        """An error, or a search that was cut off."""
        if "hits" not in answer and "grouped_hits" not in answer:
            return message(f"error {answer.get('code', '')}".strip(), answer.get("error", answer.get("message")))
        return "the search was cut off, so its hits are incomplete" if answer.get("search_cutoff") else None

    def found(self, answer: Answer) -> list[Answer]:
        """``hits``."""
        if "hits" not in answer:
            raise AnswerError("Typesense: grouped hits have no single order; ask without group_by")
        return list(answer["hits"])

    def document(self, hit: Answer) -> str:
        """``document.id``."""
        return identifier(inner(hit, "document").get("id"), "document.id")

    def score(self, hit: Answer) -> object:
        """The score of hybrid search, else ``text_match``."""
        return inner(hit, "hybrid_search_info").get("rank_fusion_score", hit.get("text_match"))


TYPESENSE_ENGINE = Typesense()
_TYPESENSE_FILES = ResponseFiles(TYPESENSE_ENGINE)
typesense_fits, typesense_rankings = _TYPESENSE_FILES.fits, _TYPESENSE_FILES.rankings


# Meilisearch: responses of ``search`` and ``multi-search``.


_COUNTS = frozenset({"processingTimeMs", "estimatedTotalHits", "totalHits"})


class Meilisearch(Engine):
    """``hits``, which are the documents themselves.

    The id is ``id``, else the only field whose name ends so, as Meilisearch finds the primary key. The score
    ``_rankingScore`` is there where ``showRankingScore`` asks for it.
    """

    title, several, query_at, score_key = "Meilisearch", "results", ("query",), "_rankingScore"

    def is_answer(self, answer: Answer) -> bool:
        """Whether it has hits, and how many there are or how long they took."""
        return objects(answer.get("hits")) is not None and bool(answer.keys() & _COUNTS)

    def is_error(self, answer: Answer) -> bool:
        """Whether it has a ``message``, a ``code`` and a ``type``."""
        return isinstance(answer.get("message"), str) and {"code", "type"} <= answer.keys()

    def problem(self, answer: Answer) -> str | None:
        """An error, a search that was cut off, or servers without an answer."""
        if "hits" not in answer:
            return message("error", answer.get("code"), answer.get("message"))
        if remotes := answer.get("remoteErrors"):
            return message("these servers did not answer", ", ".join(map(str, remotes)))
        if answer.get("degraded"):
            return "the search was cut off, so its hits are incomplete"
        return None

    def found(self, answer: Answer) -> list[Answer]:
        """``hits``."""
        return list(answer["hits"])

    def document(self, hit: Answer) -> str:
        """``id``, or the only field whose name ends so."""
        if "id" in hit:
            return identifier(hit["id"], "the field id")
        names = [name for name in hit if name.lower().endswith("id") and not name.startswith("_")]
        if len(names) != 1:
            raise AnswerError(
                f"Meilisearch: expected a field id, or one whose name ends so, found {', '.join(names) or 'none'}"
            )
        return identifier(hit[names[0]], f"the field {names[0]}")


MEILISEARCH_ENGINE = Meilisearch()
_MEILISEARCH_FILES = ResponseFiles(MEILISEARCH_ENGINE)
meilisearch_fits, meilisearch_rankings = _MEILISEARCH_FILES.fits, _MEILISEARCH_FILES.rankings
