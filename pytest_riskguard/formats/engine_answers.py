"""Answers of search engines, as they send them: the hits in their order, and what says that some are missing."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

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

    ``title`` is its name, ``several`` the key of several answers to one request, ``query_at`` the keys that lead to
    the query's text.
    """

    title: str
    several: str | None = None
    query_at: tuple[str, ...] = ()

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
    def hits(self, answer: Answer) -> list[Hit]:
        """The hits of a whole answer; ``AnswerError`` for one without an id."""

    def text(self, answer: Answer) -> str | None:
        """The text of the query, where the engine repeats it in its answer."""
        *outer, last = self.query_at or ("",)
        for key in outer:
            answer = inner(answer, key)
        text = answer.get(last)
        return text if isinstance(text, str) else None

    def checked_hits(self, answer: object) -> list[Hit]:
        """The hits of an answer; ``AnswerError`` if it is an error, holds a part only or has another shape."""
        if not isinstance(answer, dict) or not (self.is_answer(answer) or self.is_error(answer)):
            raise AnswerError(f"expected an answer of {self.title}, found {_outline(answer)}")
        if (problem := self.problem(answer)) is not None:
            raise AnswerError(f"{self.title}: {problem}")
        return self.hits(answer)


def identifier(value: object, where: str) -> str:
    """A document's id as text; ``AnswerError`` if there is none."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise AnswerError(f"expected an id in {where}, found {'nothing' if value is None else repr(value)[:60]}")


def score(value: object) -> float | None:
    """A finite score; None for anything else, such as the null of hits that are sorted by a field."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def message(*parts: object) -> str:
    """An engine's message in one line, from those parts of it that there are."""
    text = ": ".join(str(part) for part in parts if part not in (None, ""))
    text = " ".join(text.split())
    return text if len(text) <= MAX_MESSAGE else f"{text[: MAX_MESSAGE - 3]}..."


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
