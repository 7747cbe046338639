"""Hits in the answers of an engine: as its preset finds them, or by JMESPath."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pytest_riskguard.errors import UsageError
from pytest_riskguard.formats.engine_answers import MAX_MESSAGE, AnswerError, Hit, hits_of, identifier

if TYPE_CHECKING:
    from pytest_riskguard.config.http_settings import Http

Expression = Callable[[Any], Any]


class Answers:
    """Reads the answers of one candidate; ``UsageError`` if its expressions need a package that is not there."""

    def __init__(self, http: Http) -> None:
        self._engine = http.kind.engine
        self._hits, self._id, self._score = (_compiled(text) for text in (http.hits, http.id, http.score))
        self._partial = {text: _compiled(text) for text in http.partial}
        self._names = {"hits": http.hits, "id": http.id}

    def hits(self, answer: Any) -> list[Hit]:
        """The hits of an answer in their order; ``AnswerError`` if it is a failure or has another shape."""
        engine = self._engine
        if engine is not None:
            answer = engine.only(answer)
        for text, value_in in self._partial.items():
            if value_in is not None and (value := value_in(answer)):
                raise AnswerError(f"its hits are incomplete: {text!r} is {json.dumps(value)[:MAX_MESSAGE]}")
        if engine is not None:
            if not (self._hits or self._id or self._score):
                return engine.checked_hits(answer)
            engine.check(answer)
        found = self._hits(answer) if self._hits else engine.found(answer) if engine else None
        if not isinstance(found, list):
            raise AnswerError(f"expected a list of hits at {self._names['hits']!r}, found {_kind(found)}")
        documents = [
            identifier(self._id(hit), repr(self._names["id"])) if self._id else engine.document(hit) if engine else ""
            for hit in found
        ]
        return hits_of(documents, [self._score_of(hit) for hit in found])

    def problem(self, answer: Any) -> str | None:
        """What an answer with an error status says in the engine's own words; None for any other."""
        if self._engine is None or not isinstance(answer, dict) or not self._engine.is_error(answer):
            return None
        return self._engine.problem(answer)

    def _score_of(self, hit: Any) -> object:
        if self._score is not None:
            return self._score(hit)
        return None if self._engine is None or not isinstance(hit, dict) else self._engine.score(hit)


def _compiled(text: str | None) -> Expression | None:
    if text is None:
        return None
    try:
        import jmespath
    except ImportError:
        raise missing_extra("jmespath") from None
    compiled = jmespath.compile(text)

    def search(value: Any) -> Any:
        try:
            return compiled.search(value)
        except (jmespath.exceptions.JMESPathError, RecursionError) as error:
            raise AnswerError(f"{text!r} does not fit the answer ({type(error).__name__})") from None

    return search


def missing_extra(package: str) -> UsageError:
    """The error for a package that is not installed."""
    return UsageError(f"it needs {package}: pip install 'pytest-riskguard[http]'")


def _kind(value: object) -> str:
    names = {dict: "an object", str: "a text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "nothing")
