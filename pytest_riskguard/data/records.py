"""What is known besides scores: topics by their query texts, the metadata of a system."""

from __future__ import annotations

import hashlib
import re
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


# What is known of a system: short texts by key.


#: The most keys of a system's metadata, and the most characters of a key and of a value.
MAX_KEYS, MAX_KEY, MAX_VALUE = 50, 100, 500
#: A manifest could not hold it.
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


def checked_metadata(given: object) -> dict[str, str]:
    """Metadata, sorted by key; ``ValueError`` unless it maps short texts to short texts, and not too many."""
    if not isinstance(given, Mapping):
        raise ValueError(f"expected a mapping of text to text, such as index: v7, found {given!r:.60}")
    if len(given) > MAX_KEYS:
        raise ValueError(f"expected at most {MAX_KEYS} keys, found {len(given)}")
    for key, value in given.items():
        for text, most in ((key, MAX_KEY), (value, MAX_VALUE)):
            if not isinstance(text, str) or len(text) > most or _HALF_CHARACTER.search(text):
                expected = f"expected text of at most {most} characters"
                raise ValueError(f"{key!r:.60}: {expected}, found {text!r:.60}; put numbers in quotes")
    return dict(sorted(given.items()))
