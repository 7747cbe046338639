"""What the readers of all formats give: judgements, rankings, topics and scores, each with its line in the file."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

from annotated_types import Ge

from pytest_riskguard.data.input_files import bytes_beyond
from pytest_riskguard.limits import LINE_BYTES, ROW_BYTES
from pytest_riskguard.text import counted

#: What a file may hold.
Kind = Literal["judgements", "rankings", "topics", "scores"]
KINDS: tuple[Kind, ...] = ("judgements", "rankings", "topics", "scores")

_NONE: Mapping[str, str] = MappingProxyType({})


class Judgement(NamedTuple):
    """One grade of one document; ``judge`` is who gave it, where several judges did."""

    topic: str
    document: str
    grade: float
    judge: str = ""
    line: int | None = None


class Ranking(NamedTuple):
    """The documents of one topic as the file lists them; ``scores`` is None where it only gives their order.

    ``ranks`` are those that a file gives beside scores; where two are equal, they do not number the documents.
    """

    topic: str
    documents: Sequence[str]
    scores: Sequence[float] | None = None
    line: int | None = None
    ranks: Sequence[int] | None = None


Row = TypeVar("Row", Judgement, Ranking)


@dataclass(frozen=True)
class Records(Generic[Row]):
    """The rows of a file.

    Attributes
    ----------
    rows : iterable
        Read once. An error that it raises names file and line.
    by_text : bool
        Whether ``topic`` of the rows is the text of a query, since the file has no ids.
    by_order : bool
        Whether the file has neither ids nor texts: its rows are in the order of the topics file.
    texts : mapping topic -> query text
        Where the file has both; complete once all rows have been read.
    is_ordered : bool
        Whether documents come in the order that users saw, which then counts where scores contradict it.
    notes : tuple of str
        What the file holds and riskguard does not read, for people.
    """

    rows: Iterable[Row]
    by_text: bool = False
    by_order: bool = False
    texts: Mapping[str, str] = field(default_factory=lambda: _NONE)
    is_ordered: bool = False
    notes: tuple[str, ...] = ()


def limited(records: Records[Row], refuse: Callable[[int | None, str], Exception]) -> Records[Row]:
    """The same records, refused at an id longer than a row of a run may be, or a text longer than a line may be.

    Text files end there as they are read; packed and nested ones hold anything.
    """
    return replace(records, rows=_limited(records.rows, records.by_text, refuse))


def _limited(rows: Iterable[Any], by_text: bool, refuse: Callable[[int | None, str], Exception]) -> Iterator[Any]:
    most_id, most_text = ROW_BYTES.value, LINE_BYTES.value
    for row in rows:
        ids, texts = [] if by_text else [row.topic or ""], [row.topic] if by_text else []
        match row:
            case Judgement():
                ids += (row.document, row.judge)
            case Ranking():
                ids.append(max(row.documents, key=len, default=""))
        for limit, most, given in ((ROW_BYTES, most_id, ids), (LINE_BYTES, most_text, texts)):
            for text in given:
                if size := bytes_beyond(text, most):
                    raise refuse(row.line, f"{text[:20] + '…'!r}: {limit.problem(size)}")
        yield row


@dataclass(frozen=True)
class Agreement:
    """How far several judges agree.

    Attributes
    ----------
    judges : int
    shared : int
        Documents (of a topic) with grades by several judges.
    disputed : int
        Those of them with different grades.
    """

    judges: Annotated[int, Ge(2)]
    shared: Annotated[int, Ge(0)]
    disputed: Annotated[int, Ge(0)]

    def __str__(self) -> str:
        """As a sentence without a full stop."""
        share = f" ({self.disputed / self.shared:.0%})" if self.shared else ""
        disagree = f"disagree on {self.disputed:,} of {counted(self.shared, 'document')} that several graded{share}"
        return f"{self.judges} judges {disagree}; the median of their grades counts"


# Topics of tools that know queries by their texts: found through the topics file, else named by the texts.


#: Characters of a text that is its topic's id as it stands; longer ones are cut, and a digest follows.
MAX_ID_LENGTH = 60
_CUT, _DIGITS = 48, 8


class AmbiguousTextError(ValueError):
    """Two topics have the same query text."""


def normal(text: str) -> str:
    """A query text as texts are compared: composed characters, single spaces, none around."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def derived_id(text: str) -> str:
    """The id of a query without one: its text, cut if it is long; the same text always has the same id."""
    text = normal(text)
    if len(text) <= MAX_ID_LENGTH:
        return text
    return f"{text[:_CUT].rstrip()}~{hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]}"


class TopicKeys:
    """Ids of query texts; ``queries`` maps the topics of a collection to their texts."""

    def __init__(self, queries: Mapping[str, str] | None = None) -> None:
        self._in_order = tuple(queries or ())
        self._ids: dict[str, list[str]] = {}
        for topic, text in (queries or {}).items():
            self._ids.setdefault(normal(text), []).append(topic)

    def id_of(self, text: str) -> str:
        """The topic with this query text, or an id derived from the text where no topic has it.

        ``AmbiguousTextError`` if two topics have it.
        """
        ids = self._ids.get(normal(text), [])
        if len(ids) > 1:
            shown = ", ".join(map(repr, ids[:3]))
            raise AmbiguousTextError(f"the query {text!r} is the text of {len(ids)} topics ({shown})")
        return ids[0] if ids else derived_id(text)

    def in_order(self, count: int) -> tuple[str, ...]:
        """The topics in the order of their file; ``ValueError`` if there are not as many as are wanted."""
        if len(self._in_order) != count:
            found = f"{len(self._in_order)} topics" if self._in_order else "no topics file"
            raise ValueError(f"{count} rankings without the ids of their queries, and {found}")
        return self._in_order
