"""Answers of search engines, as they send them: the hits in their order, and what says that some are missing."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

from pytest_riskguard.text import clean

Answer = Mapping[str, Any]

#: Characters of an engine's own message that a message of ours repeats.
MAX_MESSAGE = 200


class Hit(NamedTuple):
    """One document of an answer; ``score`` is None where the engine gives none."""

    document: str
    score: float | None


class AnswerError(ValueError):
    """An answer with an error, with a part of the hits only, or of another shape; the message says which."""


class Engine(ABC):
    """How one engine answers.

    ``title`` is its name, ``several`` the key of several answers to one request, ``score_key`` that of a hit's score,
    ``query_at`` the keys that lead to the query's text, ``beside`` keys next to a response that tell of it.
    """

    title: str
    several: str | None = None
    score_key: str = ""
    query_at: tuple[str, ...] = ()
    beside: tuple[str, ...] = ("status",)

    @abstractmethod
    def is_answer(self, answer: Answer) -> bool:
        """Whether this is an answer with hits, or with none, of this engine and of no other."""

    @abstractmethod
    def is_error(self, answer: Answer) -> bool:
        """Whether this is what the engine sends instead of hits."""

    @abstractmethod
    def problem(self, answer: Answer) -> str | None:
        """Why the hits of an answer are not all that there are; None for a whole answer."""

    @abstractmethod
    def found(self, answer: Answer) -> list[Answer]:
        """The hits of a whole answer, as they are in it."""

    @abstractmethod
    def document(self, hit: Answer) -> str:
        """The id of a hit; ``AnswerError`` if it has none."""

    def score(self, hit: Answer) -> object:
        """The score of a hit; anything but a finite number if it has none."""
        return hit.get(self.score_key)

    def hits(self, answer: Answer) -> list[Hit]:
        """The hits of a whole answer; ``AnswerError`` for one without an id."""
        found = self.found(answer)
        return hits_of([self.document(hit) for hit in found], [self.score(hit) for hit in found])

    def text(self, answer: Answer) -> str | None:
        """The text of the query, where the engine repeats it in its answer."""
        *outer, last = self.query_at or ("",)
        for key in outer:
            answer = inner(answer, key)
        text = answer.get(last)
        return text if isinstance(text, str) else None

    def only(self, answer: Any) -> Any:
        """The answer to a request for one query, also where the engine answers several to a request."""
        if self.several is None or not isinstance(answer, dict):
            return answer
        several = answer.get(self.several)
        return several[0] if isinstance(several, list) and len(several) == 1 else answer

    def check(self, answer: object) -> None:
        """``AnswerError`` if an answer is an error, holds a part only or has another shape."""
        if not isinstance(answer, dict) or not (self.is_answer(answer) or self.is_error(answer)):
            raise AnswerError(f"expected an answer of {self.title}, found {_outline(answer)}")
        problem = self.problem(answer)
        if problem is None and is_error_status(answer.get("status")):
            problem = f"error {answer['status']}"
        if problem is not None:
            raise AnswerError(f"{self.title}: {problem}")

    def checked_hits(self, answer: Any) -> list[Hit]:
        """The hits of an answer; ``AnswerError`` as ``check`` and ``hits``."""
        self.check(answer)
        return self.hits(answer)


def is_error_status(status: object) -> bool:
    """Whether this is a status of HTTP that no whole answer has."""
    return isinstance(status, int) and not isinstance(status, bool) and status >= 400


def identifier(value: object, where: str) -> str:
    """A document's id as text; ``AnswerError`` if there is none."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise AnswerError(f"expected an id in {where}, found {'nothing' if value is None else repr(value)[:60]}")


def hits_of(documents: Sequence[str], scores: Sequence[object]) -> list[Hit]:
    """Hits with 64-bit floating point numbers as scores, or without scores if one of them has none.

    Where such numbers cannot tell whole numbers apart, the places of these from the lowest are the scores.
    """
    numbers = [score for score in scores if _is_finite(score)]
    if len(numbers) < len(documents):
        return [Hit(document, None) for document in documents]
    if len({*map(float, numbers)}) < len({*numbers}):
        places = {number: place for place, number in enumerate(sorted({*numbers}), 1)}
        numbers = [places[number] for number in numbers]
    return [Hit(document, float(number)) for document, number in zip(documents, numbers, strict=True)]


def _is_finite(score: object) -> TypeGuard[float]:
    return isinstance(score, int | float) and not isinstance(score, bool) and math.isfinite(score)


def message(*parts: object) -> str:
    """An engine's message in one line, from those parts of it that there are."""
    return clean(": ".join(str(part) for part in parts if part not in (None, "")), limit=MAX_MESSAGE)


def inner(answer: Answer, key: str) -> Mapping[str, Any]:
    """The object under a key; an empty one if there is none."""
    value = answer.get(key)
    return value if isinstance(value, dict) else {}


def objects(value: object) -> list[Mapping[str, Any]] | None:
    """A list of objects; None for anything else."""
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return value
    return None


def _outline(answer: object) -> str:
    if isinstance(answer, dict):
        keys = ", ".join(repr(key)[:40] for key in list(answer)[:5])
        return f"an object with {keys}" if keys else "an empty object"
    return "a list" if isinstance(answer, list) else repr(answer)[:60]
