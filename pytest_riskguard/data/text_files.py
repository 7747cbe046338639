"""The lines of TREC's text files: for a while, until their readers use ``InputFile``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

from pytest_riskguard.data.input_files import InputFile
from pytest_riskguard.errors import FileError
from pytest_riskguard.limits import LINE_BYTES, TABLE_BYTES, Limit

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
