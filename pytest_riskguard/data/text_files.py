"""The lines of text files, plain or gzip: hashed while they are read, and refused with file and line."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Generic, TypeVar
from urllib.parse import quote, unquote

from pytest_riskguard.data.input_files import ContentError, blocks
from pytest_riskguard.errors import FileError
from pytest_riskguard.limits import CELLS, LINE_BYTES, LINES, TABLE_BYTES, TOPICS, Limit

#: The largest grade or gain, in either direction: trec_eval allocates a counter for every grade up to the largest.
MAX_GRADE = 1000

#: So many bytes of a content that is held are looked at together, as many as of a file.
_BLOCK = 2**20
_BOM = b"\xef\xbb\xbf"
_LFS = b"version https://git-lfs"
#: The first bytes of files that were compressed by a program other than gzip.
_PACKED = {rb"\xfd7zXZ\0": "xz", rb"BZh\d[1\x17]": "bzip2", rb"\x28\xb5\x2f\xfd": "zstd", rb"PK\x03\x04": "zip"}
_CONFLICTS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")


Problem = TypeVar("Problem", bound=FileError)
LineCheck = Callable[[bytes], tuple[str, str] | None]
#: How many bad lines of a file are named after the first.
MAX_LINES = 10


class LineReader(Generic[Problem]):
    """The lines of one file, each with its number, from 1.

    Lines end with LF; a CR before it stays in the line. Blank lines are included. A byte order mark is removed.
    ``error`` is raised for content that is not text (damaged gzip, bytes that are not UTF-8, NUL) and for more of it
    than ``size``, ``line_size`` and ``limits.LINES`` allow; ``MissingFileError`` for a path that is not a
    readable regular file. With ``content`` the path only names the file, which has been read already.
    """

    def __init__(
        self,
        path: Path,
        *,
        error: type[Problem],
        size: Limit = TABLE_BYTES,
        line_size: Limit = LINE_BYTES,
        content: bytes | None = None,
    ) -> None:
        self.path = Path(path)
        self._error, self._size, self._line_size, self._content = error, size, line_size, content
        self._most_topics, self._most_cells = TOPICS.value, CELLS.value
        self._digest: str | None = None

    @property
    def digest(self) -> str:
        """``sha256:<hex>`` of the decompressed bytes; known once every line has been read."""
        if self._digest is None:
            raise RuntimeError(f"{self.path}: the digest is known only after the last line has been read")
        return self._digest

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        digest = hashlib.sha256()
        number, rest = 1, b""
        most, longest = LINES.value, self._line_size.value
        for index, block in enumerate(self._blocks()):
            digest.update(block)
            if index == 0:
                block = block.removeprefix(_BOM)
            head, newline, tail = block.rpartition(b"\n")
            if not newline:  # no line ends in this block
                rest += tail
                self._refuse_long_line(number, rest, longest)
                continue
            text = rest + head
            self._check_text(number, text)
            lines = text.split(b"\n")
            if number + len(lines) > most + 1:
                raise self.refuse(None, LINES.problem(number + len(lines) - 1, limit=most))
            if max(map(len, lines)) > longest:
                self._refuse_long_lines(number, lines, longest)
            for line in lines:
                yield number, line
                number += 1
            rest = tail
        if rest:
            self._refuse_long_line(number, rest, longest)
            self._check_text(number, rest)
            yield number, rest
        self._digest = f"sha256:{digest.hexdigest()}"

    def refuse(self, line: int | None, problem: str) -> Problem:
        """The error to raise for this file."""
        return self._error(self.path, line, problem)

    def refuse_line(self, number: int, line: bytes, expected: str, found: str) -> Problem:
        """The error to raise for one line, which it quotes; it says so if git left a pointer or a conflict there."""
        return self.refuse(number, _problem(line, expected, found))

    def refuse_lines(self, number: int, line: bytes, rest: Iterator[tuple[int, bytes]], check: LineCheck) -> Problem:
        """The error to raise for a line and the bad ones among the ``rest``, whose numbers it gives.

        ``check`` says what a line should hold and what it holds; None of a good line.
        """
        problem = _problem(line, *(check(line) or ("another line", "this one")))
        others: list[int] = []
        try:
            if not line.startswith(_LFS):
                others += islice((n for n, other in rest if check(other) is not None), MAX_LINES + 1)
        except FileError:  # what else is wrong with the file is said once its lines are right
            pass
        if others:
            listed = ", ".join(map(str, others[:MAX_LINES]))
            more = ", ..." if len(others) > MAX_LINES else ""
            what = f"lines {listed}{more} are" if len(others) > 1 else f"line {listed} is"
            problem += f" ({what} wrong, too)"
        return self.refuse(number, problem)

    def refuse_repeated(self, topic: bytes, docid: bytes, *, found: str = "") -> Problem:
        """The error to raise if a topic (column 1) has a document (column 3) twice; the file is read again."""
        rows = ((number, line.split()) for number, line in self)
        places = (number for number, fields in rows if len(fields) > 2 and (fields[0], fields[2]) == (topic, docid))
        first, second = next(places, None), next(places, None)  # None if the file has changed in between
        repeated = f"{docid.decode()!r} of topic {topic.decode()!r} also on line {first}{found}"
        return self.refuse(
            second, f"expected each document once per topic, found {repeated}; keep one of the two lines"
        )

    def refuse_empty(self, expected: str) -> Problem:
        """The error to raise for a file without any row."""
        return self.refuse(None, f"expected {expected}, found an empty file")

    def refuse_more(self, limit: Limit, found: int) -> Problem:
        """The error to raise for a file that holds more than a limit allows."""
        return self.refuse(None, limit.problem(found))

    def check_size(self, *, rows: int, columns: int) -> None:
        """Refuse a table, of one topic in each row, that holds more than the limits allow."""
        if rows > self._most_topics:
            raise self.refuse_more(TOPICS, rows)
        if rows * columns > self._most_cells:
            raise self.refuse_more(CELLS, rows * columns)

    def _blocks(self) -> Iterator[bytes]:
        if self._content is not None:
            for start in range(0, len(self._content), _BLOCK):
                yield self._content[start : start + _BLOCK]
            return
        try:
            yield from blocks(self.path, self._size)
        except ContentError as problem:
            raise self.refuse(None, str(problem)) from None

    def _refuse_long_lines(self, first: int, lines: list[bytes], longest: int) -> None:
        for number, line in enumerate(lines, start=first):
            self._refuse_long_line(number, line, longest)

    def _refuse_long_line(self, number: int, line: bytes, longest: int) -> None:
        if len(line) > longest:
            self._check_text(number, line[:longest], is_cut=True)
            problem = self._line_size.problem(len(line), limit=longest)
            raise self.refuse(number, f"{problem}: {shown(line)}")

    def _check_text(self, first: int, text: bytes, *, is_cut: bool = False) -> None:
        try:
            text.decode()
        except UnicodeDecodeError as problem:
            if is_cut and problem.reason == "unexpected end of data":  # half a character is no encoding error then
                return
            line = first + text.count(b"\n", 0, problem.start)
            hint = "; save it as UTF-8"
            if first == 1 and (packed := compression_hint(text)):
                hint = packed
            elif self.path.suffix == ".gz" and line == 1:
                hint = "; its name says gzip, its content does not"
            raise self.refuse(line, f"expected UTF-8 text, found byte 0x{text[problem.start]:02x}{hint}") from None
        nul = text.find(b"\0")
        if nul >= 0:
            line = first + text.count(b"\n", 0, nul)
            raise self.refuse(line, "expected text, found a NUL byte; is this a binary file, or UTF-16?")


def compression_hint(start: bytes) -> str:
    """What to say of a file that no text reader reads, if it begins as a compressed one does; else nothing."""
    packed = next((name for magic, name in _PACKED.items() if re.match(magic, start)), None)
    return f"; it is compressed with {packed}: unpack it, only gzip is read" if packed is not None else ""


def shown(line: bytes) -> str:
    """A line for an error message: quoted, control characters escaped, cut to 80 characters."""
    text = line.decode(errors="replace").rstrip("\r\n")
    return repr(text if len(text) <= 80 else text[:79] + "…")


def _problem(line: bytes, expected: str, found: str) -> str:
    return f"expected {expected}{_not_the_file(line) or f', found {found}'}: {shown(line)}"


def _not_the_file(line: bytes) -> str:
    if line.startswith(_LFS):
        return "; found a Git LFS pointer instead of the file; run `git lfs pull`"
    return "; found a merge conflict marker; resolve the conflict" if line.startswith(_CONFLICTS) else ""


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
