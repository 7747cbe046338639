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

from pytest_riskguard.errors import FileError
from pytest_riskguard.formats.columns import SYNONYMS
from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.engine_answers import Answer, AnswerError, Engine
from pytest_riskguard.formats.records import Kind, Ranking, Records

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
