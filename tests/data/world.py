"""A small made-up collection, and the files of it that a tool would write.

Each module of ``written`` has ``CASES``: files in one format, made from this collection by the shapes that the tool's
own sources define. Scores of runs are whole numbers that fall with the rank, so that formats that only keep the order
say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from pytest_riskguard.data.input_files import Kind
from pytest_riskguard.data.memory import as_run
from pytest_riskguard.data.trec import write_run

NUMBERS = range(1, 16)
_DOCUMENTS = tuple(f"doc-{number}" for number in range(1, 9))


def rows(by_topic: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str, Any]]:
    """Topic, document and number, one after the other."""
    return [(topic, document, number) for topic, numbers in by_topic.items() for document, number in numbers.items()]


def columns(by_topic: Mapping[str, Mapping[str, Any]], *names: str) -> dict[str, list[Any]]:
    """Named columns for topic, document and number."""
    return dict(zip(names, map(list, zip(*rows(by_topic), strict=True)), strict=True))


def write_qrels(grades: Mapping[str, Mapping[str, float]]) -> bytes:
    """Judgements in TREC's format; white space in ids as riskguard writes it."""
    return "".join(
        f"{quote(topic)} % {quote(document)} {grade!r}\n" for topic, document, grade in rows(grades)
    ).encode()


@dataclass(frozen=True)
class World:
    """Query texts, grades, the rankings of a candidate and of a baseline, and scores of a system, all by topic."""

    texts: Mapping[str, str]
    grades: Mapping[str, Mapping[str, int]]
    candidate: Mapping[str, tuple[str, ...]]
    baseline: Mapping[str, tuple[str, ...]]
    scores: Mapping[str, float]

    def only(self, *topics: str) -> World:
        """The same collection with some of its topics."""
        return replace(self, **{f: {t: getattr(self, f)[t] for t in topics} for f in self.__annotations__})

    def named_by_text(self) -> World:
        """The same collection with the query texts as ids of the topics."""
        named = {field: {self.texts[t]: v for t, v in getattr(self, field).items()} for field in self.__annotations__}
        return replace(self, **named)

    @property
    def qrels(self) -> bytes:
        """The judgements in TREC's format."""
        return write_qrels(self.grades)

    @property
    def topics(self) -> bytes:
        """The topics as a table with tabs."""
        return "".join(f"{topic}\t{text}\n" for topic, text in {"topic": "query", **self.texts}.items()).encode()

    @property
    def run(self) -> bytes:
        """The candidate in TREC's format."""
        return run_of(self.candidate)

    @property
    def baseline_run(self) -> bytes:
        """The baseline in TREC's format."""
        return run_of(self.baseline)

    @property
    def scored(self) -> dict[str, dict[str, float]]:
        """The candidate as scores of documents, which fall from their number to 1."""
        return {topic: falling(documents) for topic, documents in self.candidate.items()}


def falling(documents: tuple[str, ...]) -> dict[str, float]:
    """The scores that stand for an order: whole numbers down to 1."""
    return {document: float(len(documents) - place) for place, document in enumerate(documents)}


def run_of(rankings: Mapping[str, tuple[str, ...]]) -> bytes:
    """Run in TREC's format, as ``write_run`` writes them."""
    from io import BytesIO

    file = BytesIO()
    write_run(file, as_run({topic: falling(ids) for topic, ids in rankings.items()}))
    return file.getvalue()


def _made() -> World:
    texts = {f"q{number:02d}": f'red shoes, "size {number}"' for number in NUMBERS}
    grades: dict[str, dict[str, int]] = {}
    candidate: dict[str, tuple[str, ...]] = {}
    baseline: dict[str, tuple[str, ...]] = {}
    for number, topic in zip(NUMBERS, texts, strict=True):
        relevant = _DOCUMENTS[number % 8]
        grades[topic] = {relevant: 1 + number % 3, _DOCUMENTS[(number + 1) % 8]: 0, _DOCUMENTS[(number + 2) % 8]: 1}
        others = tuple(document for document in _DOCUMENTS[:6] if document != relevant)
        rank = number % 4 if number % 5 else 5
        candidate[topic] = (*others[:rank], relevant, *others[rank:])
        baseline[topic] = (others[0], relevant, *others[1:])
    scores = {topic: round(0.9 - 0.05 * number, 2) for number, topic in zip(NUMBERS, texts, strict=True)}
    return World(texts, grades, candidate, baseline, scores)


WORLD = _made()


@dataclass(frozen=True)
class Case:
    """One file that a tool would write.

    ``content`` makes it. ``part`` is what stands after ``#``; ``has_ids`` is False for topics without ids, whose
    texts become ids; ``needs`` are modules of an extra.
    """

    known: str
    kind: Kind
    file: str
    content: Callable[[World], bytes]
    part: str | None = None
    has_ids: bool = True
    needs: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """For the test's name."""
        return f"{self.known}-{self.kind}-{self.file}" + (f"#{self.part}" if self.part else "")

    @property
    def name(self) -> str:
        """How the file is named on a command line."""
        return self.file if self.part is None else f"{self.file}#{self.part}"
