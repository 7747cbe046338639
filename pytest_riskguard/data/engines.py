"""Answers of search engines: where their hits are, what says that some are missing, and files with kept answers.

A file is JSON or JSON Lines. A query's id or text stands beside its answer, in a row of its own
(``{"query_id": "q1", "response": {...}}``) or among the keys of the answer
(``{"query_id": "q1", "took": 3, "hits": ...}``). A JSON object may also map ids to answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from pytest_riskguard.data.headers import SYNONYMS
from pytest_riskguard.data.input_files import InputFile, Kind, Misfit
from pytest_riskguard.data.json_nodes import at, nodes, outline
from pytest_riskguard.data.named_columns import text_of
from pytest_riskguard.data.runs import Ranking, Run, run_of_rankings
from pytest_riskguard.errors import FileError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.text import clean

#: Ids of documents and their scores, which are None where one of them has none.
Hits = tuple[list[str], list[float] | None]


class AnswerError(ValueError):
    """An answer with an error, with a part of the hits only, or of another shape; the message says which."""


@frozen(eq=False)
class Engine:
    """How one engine answers; places are paths of keys, such as ``hits.hits``, with spaces between several.

    Attributes
    ----------
    title, hits_at : str
    partial : str
        Places where anything but nothing, false and 0 says that hits are missing; with ``!`` where false says so, and
        with ``=`` where it says that all hits are there, whatever the places after it hold.
    document_at, score_at : str
        Where a hit has its id and its score, which is at the first of several places that is there.
    mark : str
        A place that answers of no other engine have, where ``hits_at`` is not enough.
    """

    title: str
    hits_at: str
    partial: str
    document_at: str = "id"
    score_at: str = "score"
    mark: str = ""

    def found(self, answer: Any) -> list[Any] | None:
        """The hits of an answer as they are in it; None of anything but an answer of this engine."""
        hits = at(answer, self.hits_at)
        is_answer = isinstance(hits, list) and at(answer, self.mark or self.hits_at) is not None
        return hits if is_answer and all(isinstance(hit, dict) for hit in hits) else None

    def problem(self, answer: Any) -> str | None:
        """Why the hits of an answer are not all that there are; None of a whole answer."""
        for place in self.partial.split():
            key = place.lstrip("!=")
            value = at(answer, key)
            if value is False if place.startswith("!") else value:
                return None if place.startswith("=") else f"hits are missing: {key} is {outline(value)}"
        status = at(answer, "status")
        return f"error {status}" if isinstance(status, int) and status >= 400 else None

    def document(self, hit: Any) -> str:
        """The id of a hit; ``AnswerError`` if it has none."""
        return identifier(at(hit, self.document_at), self.document_at)

    def check(self, answer: Any) -> list[Any]:
        """The hits as ``found``; ``AnswerError`` if it is an error, holds a part only or has another shape."""
        found = self.found(answer)
        problem = self.problem(answer)
        if found is None:
            problem = f"expected hits in {self.hits_at}, found {outline(answer)}"
        if found is None or problem is not None:
            raise AnswerError(clean(f"{self.title}: {problem}: {said_in(answer)}".removesuffix(": ")))
        return found

    def hits(self, answer: Any) -> Hits:
        """The hits of an answer in their order; ``AnswerError`` as ``check``, and for a hit without an id."""
        found, places = self.check(answer), self.score_at.split()
        scores = [next((s for place in places if (s := at(hit, place)) is not None), None) for hit in found]
        return [self.document(hit) for hit in found], whole_scores(scores)


#: Where engines put the words of an error.
_WORDS = (
    "error.type",
    "error.reason",
    "error.msg",
    "error",
    "message",
    "_shards.failures.0.reason.type",
    "_shards.failures.0.reason.reason",
    "root.errors.0.summary",
    "root.errors.0.message",
    "responseHeader.partialResultsDetails",
)


def said_in(answer: Any) -> str:
    """What an answer says of an error in words; empty if nothing."""
    return clean(": ".join(words for place in _WORDS if isinstance(words := at(answer, place), str)))


def identifier(value: object, where: str) -> str:
    """A document's id as text; ``AnswerError`` if there is none."""
    if not (name := text_of(value)):
        raise AnswerError(f"expected an id in {where}, found {outline(value)}")
    return name


def whole_scores(scores: Sequence[Any]) -> list[float] | None:
    """Scores as 64-bit floating point numbers; None if one of them is no number, or these cannot tell two apart."""
    if not {*map(type, scores)} <= {int, float}:
        return None
    numbers = list(map(float, scores))
    return numbers if len({*numbers}) == len({*scores}) else None


class _Elasticsearch(Engine):
    """``_search`` and ``_msearch`` of Elasticsearch and OpenSearch; scores are null where a field sorts the hits."""

    def problem(self, answer: Any) -> str | None:
        """A shard without a server, or a cluster that was skipped, is not among those that failed."""
        for parts in ("shards", "clusters"):
            total, successful = at(answer, f"_{parts}.total"), at(answer, f"_{parts}.successful")
            if successful != total:
                return f"only {successful} of {total} {parts} answered"
        return super().problem(answer)


class _Vespa(Engine):
    """The default JSON result; ids are ``id:namespace:type::document``, and results without hits have no children."""

    def found(self, answer: Any) -> list[Any] | None:
        return [] if at(answer, "root.fields.totalCount") == 0 else super().found(answer)

    def document(self, hit: Any) -> str:
        """What follows ``::`` in the document's id; the hit's own id is another one where no summary was fetched."""
        full = identifier(at(hit, "fields.documentid") or at(hit, "id"), self.hits_at)
        if full.startswith(("index:", "group:")):
            expected = "ask for a summary with documentid, and without grouping"
            raise AnswerError(f"Vespa: {full!r:.60} is not the id of a document; {expected}")
        return full.partition("::")[2] or full


class _Meilisearch(Engine):
    """``search`` and ``multi-search``, whose hits are the documents; ``showRankingScore`` asks for their scores."""

    def document(self, hit: Any) -> str:
        """``id``, else the only field whose name ends so, as Meilisearch finds the primary key."""
        names = ["id"] if "id" in hit else [name for name in hit if name.lower().endswith("id")]
        name = names[0] if len(names) == 1 else ""
        return identifier(hit.get(name), "a field id, or in the only one whose name ends so")


#: By name.
ENGINES: Mapping[str, Engine] = {
    engine.title.lower(): engine
    for engine in (
        _Elasticsearch(
            title="Elasticsearch",
            hits_at="hits.hits",
            document_at="_id",
            score_at="_score",
            partial="error timed_out terminated_early is_partial is_running _shards.failed",
        ),
        Engine(  # `score` is there only where `fl` asks for it
            title="Solr", hits_at="response.docs", partial="error responseHeader.status responseHeader.partialResults"
        ),
        _Vespa(  # a rank profile asks for match-phase
            title="Vespa",
            hits_at="root.children",
            score_at="relevance",
            partial="root.errors root.coverage.degraded.timeout root.coverage.degraded.adaptive-timeout "
            "root.coverage.degraded.non-ideal-state =root.coverage.degraded.match-phase !root.coverage.full",
        ),
        Engine(  # a number of hits that is an estimate is no fault: there are very many, of which the first are whole
            title="Algolia",
            hits_at="hits",
            document_at="objectID",
            mark="nbHits",
            partial="timeoutHits timeoutCounts !exhaustive.rulesMatch",
        ),
        Engine(  # the score of hybrid search comes before that of the text
            title="Typesense",
            hits_at="hits",
            document_at="document.id",
            score_at="hybrid_search_info.rank_fusion_score text_match",
            mark="found",
            partial="search_cutoff",
        ),
        _Meilisearch(
            title="Meilisearch",
            hits_at="hits",
            score_at="_rankingScore",
            mark="processingTimeMs",
            partial="remoteErrors degraded",
        ),
    )
}


def engine_of(answer: Any) -> Engine | None:
    """The engine whose answer this is; None of an error."""
    return next((engine for engine in ENGINES.values() if engine.found(answer) is not None), None)


# Files of answers.

#: Where a row has the id of its query, and its text.
_IDS = tuple(name for name in SYNONYMS["topic"] if name != "_id")
_TEXTS = ("query", "query_text", "queryText", "text", "request_params.q")
#: Rows of which one has to be an answer, as the first may be errors.
_FIRST_ROWS = 10


#: A line, or a place in words, an answer, and the id and the text of its query, where they are known.
Response = tuple[int | str | None, Any, str | None, str | None]


def responses_fits(file: InputFile, _kind: Kind) -> Misfit:
    """Whether one of the first rows is an answer of an engine."""
    if not file.looks_like_json:
        return ""
    try:
        engine = _engine(rows(file))
    except FileError as problem:
        return f"it cannot be read as answers: {problem.problem}"
    return None if engine else ""


def _engine(responses: Iterator[Response]) -> Engine | None:
    return next(filter(None, (engine_of(answer) for _, answer, _, _ in islice(responses, _FIRST_ROWS))), None)


def responses_rankings(file: InputFile) -> Run:
    """The hits of each answer, in their order."""
    return run_of_responses(file, lambda: rows(file))


def run_of_responses(file: InputFile, responses: Callable[[], Iterator[Response]]) -> Run:
    """The hits of each answer in a file or a folder, in their order."""
    if (engine := _engine(responses())) is None:
        raise file.refuse(None, "expected answers of a search engine, found none")
    by_text = next(responses())[2] is None
    texts: dict[str, str] = {}

    def rankings() -> Iterator[Ranking]:
        for line, answer, topic, text in responses():
            if (name := text if by_text else topic) is None:
                wanted = "text" if by_text else "id"
                raise file.refuse(
                    line,
                    f"expected the {wanted} of its query beside each response, found none",
                    "keep each response in a file of its own, named QUERY.json, and give their folder",
                )
            try:
                documents, scores = engine.hits(answer)
            except AnswerError as problem:
                raise file.refuse(line, f"query {name!r:.80}: {problem}") from None
            if topic and text:
                texts.setdefault(topic, text)
            yield name, documents, scores, line

    return run_of_rankings(file, rankings(), by_text=by_text, texts=texts, ordered=True)


def rows(file: InputFile) -> Iterator[Response]:
    """All answers of a file; a ``FileError`` while they are read if it is neither JSON nor JSON Lines.

    A value is an answer, or has one under a key, where what stands beside it may say that it failed; or it maps the
    ids of queries to answers.
    """
    for node in nodes(file):
        answer = beside = value = node.value
        for name in ("response", "body"):
            if isinstance(inside := at(value, name), dict) and not engine_of(value):
                answer, beside = value | inside, inside | value
        if not engine_of(answer) and isinstance(value, dict) and any(map(engine_of, value.values())):
            yield from ((node.line, one, topic, None) for topic, one in value.items())
            continue
        topic, text = (
            next((text for place in places if (text := text_of(at(beside, place)))), None)
            for places in (_IDS, _TEXTS)
        )
        yield node.line, answer, topic, text
