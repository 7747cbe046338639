"""Ids with white space in TREC's files, whose columns spaces separate.

A row with such an id has ``%`` in its second column, which no program reads, and its topic and document are
percent-encoded there; all other rows are as everybody writes them. Ids with a literal ``%20`` stay what they are.
"""

from __future__ import annotations

from urllib.parse import quote, unquote

#: What the second column of a row with encoded ids holds.
ESCAPED = b"%"
_MARK = ESCAPED.decode()


def escaped(second: str, topic: str, document: str) -> tuple[str, str, str]:
    """Second column, topic and document of a row as they are written."""
    if topic.split() == [topic] and document.split() == [document]:
        return second, topic, document
    return _MARK, _encoded(topic), _encoded(document)


def unescaped(text: str) -> str:
    """An id of a row whose second column is ``ESCAPED``."""
    return unquote(text)


def _encoded(text: str) -> str:
    """Only white space and the percent sign are replaced, so that the id stays readable."""
    return "".join(quote(character) if character.isspace() or character == "%" else character for character in text)


def is_identifier(text: str) -> bool:
    """Whether a file of runs can hold an id: it stands on one line, without spaces around it, and can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return text.strip() == text and len(text.splitlines()) == 1 and "\0" not in text
