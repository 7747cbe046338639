"""What a file may hold, how far judges agree, and topics that are known by their query texts."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Literal

from pytest_riskguard.frozen import frozen
from pytest_riskguard.serialization import Bounds
from pytest_riskguard.text import counted

#: What a file may hold.
Kind = Literal["judgements", "rankings", "topics", "scores"]
KINDS: tuple[Kind, ...] = ("judgements", "rankings", "topics", "scores")


@frozen
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

    judges: Annotated[int, Bounds(ge=2)]
    shared: Annotated[int, Bounds(ge=0)]
    disputed: Annotated[int, Bounds(ge=0)]

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
