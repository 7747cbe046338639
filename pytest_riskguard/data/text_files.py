"""The lines of TREC's text files: for a while, until their readers use ``InputFile``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar
from urllib.parse import quote, unquote

from pytest_riskguard.data.input_files import InputFile
from pytest_riskguard.errors import FileError
from pytest_riskguard.limits import LINE_BYTES, TABLE_BYTES, Limit

#: The largest grade or gain, in either direction: trec_eval allocates a counter for every grade up to the largest.
MAX_GRADE = 1000

Problem = TypeVar("Problem", bound=FileError)


class LineReader(InputFile, Generic[Problem]):
    """The lines of one file."""

    def __init__(
        self,
        path: Path,
        *,
        error: type[Problem],
        size: Limit = TABLE_BYTES,
        line_size: Limit = LINE_BYTES,
        content: bytes | None = None,
    ) -> None:
        super().__init__(path, error=error, limit=size, content=content)
        self._line_size = line_size

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        return self.lines(self._line_size)

    def refuse_repeated(self, topic: bytes, docid: bytes, *, found: str = "") -> FileError:
        """The error to raise if a topic (column 1) has a document (column 3) twice; the file is read again."""
        rows = ((number, line.split()) for number, line in self)
        places = (number for number, fields in rows if len(fields) > 2 and (fields[0], fields[2]) == (topic, docid))
        first, second = next(places, None), next(places, None)  # None if the file has changed in between
        repeated = f"{docid.decode()!r} of topic {topic.decode()!r} also on line {first}{found}"
        return self.refuse(
            second, f"expected each document once per topic, found {repeated}; keep one of the two lines"
        )

    def refuse_empty(self, expected: str) -> FileError:
        """The error to raise for a file without any row."""
        return self.refuse(None, f"expected {expected}, found an empty file")

    def refuse_more(self, limit: Limit, found: int) -> FileError:
        """The error to raise for a file that holds more than a limit allows."""
        return self.refuse(None, limit.problem(found))


# Ids with white space in TREC's files, whose columns spaces separate.
#
# A row with such an id has ``%`` in its second column, which no program reads, and its topic and document are
# percent-encoded there; all other rows are as everybody writes them. Ids with a literal ``%20`` stay what they are.


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
