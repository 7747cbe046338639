"""What is known besides scores: topics by their query texts."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping

from pytest_riskguard.data.given_file import InputData

# Topics of tools that know queries by their texts: found through the topics file, else named by the texts.


#: Characters of a text that is its topic's id as it stands; longer ones are cut, and a digest follows.
MAX_ID_LENGTH = 60
_CUT, _DIGITS = 48, 8


def normal(text: str) -> str:
    """A query text as texts are compared: composed characters, single spaces, none around."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def derived_id(text: str) -> str:
    """The id of a query without one: its text, cut if it is long; the same text always has the same id."""
    text = normal(text)
    if len(text) <= MAX_ID_LENGTH:
        return text
    return f"{text[:_CUT].rstrip()}~{hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]}"


def topics_of_texts(given: InputData, texts: Iterable[str], queries: Mapping[str, str] | None) -> list[str]:
    """The topic with each of these query texts, or an id derived from the text where no topic has it.

    ``queries`` maps the topics of a collection to their texts; the error of ``given`` if two have one of the texts.
    """
    known: dict[str, list[str]] = {}
    for topic, text in (queries or {}).items():
        known.setdefault(normal(text), []).append(topic)
    found: list[str] = []
    for text in texts:
        topics = known.get(normal(text), [derived_id(text)])
        if len(topics) > 1:
            shown = ", ".join(map(repr, topics[:3]))
            problem = f"the query {text!r:.60} is the text of {len(topics)} topics ({shown})"
            raise given.refuse(None, f"expected an id, or the text of one topic, beside each row; found {problem}")
        found += topics
    return found
