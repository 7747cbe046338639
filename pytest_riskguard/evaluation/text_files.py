"""The lines of text files, plain or gzip: hashed while they are read, and refused with file and line."""

from __future__ import annotations

import gzip
import hashlib
import re
import stat
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Generic, TypeVar

from pytest_riskguard.errors import FileError, MissingFileError

#: 4 GiB decompressed, some 80 million rows of a run: a larger file is taken for a decompression bomb.
MAX_BYTES = 4 * 2**30
#: 1 MiB: a file with a longer line is not a text file.
MAX_LINE_BYTES = 2**20
#: The largest grade or gain, in either direction: trec_eval allocates a counter for every grade up to the largest.
MAX_GRADE = 1000

_BLOCK = 2**20
_BOM = b"\xef\xbb\xbf"
_LFS = b"version https://git-lfs"
_CONFLICTS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")


Problem = TypeVar("Problem", bound=FileError)


class LineReader(Generic[Problem]):
    """The lines of one file, each with its number, from 1.

    Lines end with LF; a CR before it stays in the line. Blank lines are included. A byte order mark is removed.
    ``error`` is raised for content that is not text: damaged gzip, bytes that are not UTF-8, NUL, a line over
    ``MAX_LINE_BYTES``, more than ``MAX_BYTES``; ``MissingFileError`` for a path that is not a readable file.
    """

    def __init__(self, path: Path, *, error: type[Problem]) -> None:
        self.path = Path(path)
        self._error = error
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
        for index, block in enumerate(self._blocks()):
            digest.update(block)
            if index == 0:
                block = block.removeprefix(_BOM)
            head, newline, tail = block.rpartition(b"\n")
            if not newline:  # no line ends in this block
                rest += tail
                self._refuse_long_line(number, rest)
                continue
            if rest:
                self._refuse_long_line(number, rest + head.partition(b"\n")[0])
            text = rest + head
            self._check_text(number, text)
            for line in text.split(b"\n"):
                yield number, line
                number += 1
            rest = tail
        if rest:
            self._check_text(number, rest)
            yield number, rest
        self._digest = f"sha256:{digest.hexdigest()}"

    def refuse(self, line: int | None, problem: str) -> Problem:
        """The error to raise for this file."""
        return self._error(self.path, line, problem)

    def refuse_line(self, number: int, line: bytes, expected: str, found: str) -> Problem:
        """The error to raise for one line, which it quotes; it says so if git left a pointer or a conflict there."""
        reason = _not_the_file(line) or f", found {found}"
        return self.refuse(number, f"expected {expected}{reason}: {shown(line)}")

    def refuse_repeated(self, topic: bytes, docid: bytes, *, found: str = "") -> Problem:
        """The error to raise if a topic (column 1) has a document (column 3) twice; the file is read again."""
        rows = ((number, line.split()) for number, line in self)
        places = (number for number, fields in rows if fields and (fields[0], fields[2]) == (topic, docid))
        first, second = next(places), next(places)
        repeated = f"{docid.decode()!r} of topic {topic.decode()!r} also on line {first}{found}"
        return self.refuse(
            second, f"expected each document once per topic, found {repeated}; keep one of the two lines"
        )

    def refuse_empty(self, expected: str) -> Problem:
        """The error to raise for a file without any row."""
        return self.refuse(None, f"expected {expected}, found an empty file")

    def _blocks(self) -> Iterator[bytes]:
        total = 0
        try:
            with _open(self.path) as file:
                while block := file.read(_BLOCK):
                    total += len(block)
                    if total > MAX_BYTES:
                        raise self.refuse(None, f"expected at most {MAX_BYTES:,} bytes, found more")
                    yield block
        except (EOFError, gzip.BadGzipFile, zlib.error) as problem:
            early = isinstance(problem, EOFError)
            damage = "one that ends too early (truncated)" if early else f"a damaged one ({problem})"
            raise self.refuse(None, f"expected a whole gzip file, found {damage}; copy it again") from None
        except OSError as problem:
            raise MissingFileError(self.path, None, f"cannot be read ({problem.strerror or problem})") from None

    def _refuse_long_line(self, number: int, line: bytes) -> None:
        if len(line) > MAX_LINE_BYTES:
            self._check_text(number, line)
            raise self.refuse(
                number, f"expected lines of at most {MAX_LINE_BYTES:,} bytes, found a longer one: {shown(line)}"
            )

    def _check_text(self, first: int, text: bytes) -> None:
        try:
            text.decode()
        except UnicodeDecodeError as problem:
            # A character cut off at the end of an over-long line is not an encoding error.
            if problem.reason == "unexpected end of data" and len(text) > MAX_LINE_BYTES:
                return
            line = first + text.count(b"\n", 0, problem.start)
            hint = "; save it as UTF-8"
            if self.path.suffix == ".gz" and line == 1:
                hint = "; its name says gzip, its content does not"
            raise self.refuse(line, f"expected UTF-8 text, found byte 0x{text[problem.start]:02x}{hint}") from None
        nul = text.find(b"\0")
        if nul >= 0:
            line = first + text.count(b"\n", 0, nul)
            raise self.refuse(line, "expected text, found a NUL byte; is this a binary file, or UTF-16?")


def shown(line: bytes) -> str:
    """A line for an error message: quoted, control characters escaped, cut to 80 characters."""
    text = line.decode(errors="replace").rstrip("\r\n")
    return repr(text if len(text) <= 80 else text[:79] + "…")


def system_name(path: Path) -> str:
    """A system's name from its file: without ``.gz``, then without one of .run, .txt, .res, .csv, .tsv."""
    name = Path(path).name
    stem = name.removesuffix(".gz") or name
    return re.sub(r"(?s)(.)\.(run|txt|res|csv|tsv)\Z", r"\1", stem)


def _open(path: Path) -> gzip.GzipFile | BufferedReader:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise MissingFileError(path, None, "no such file") from None
    except ValueError as problem:  # a NUL in the path
        raise MissingFileError(path, None, f"not a path: {problem}") from None
    if stat.S_ISDIR(mode):
        raise MissingFileError(path, None, "expected a file, found a folder")
    if not stat.S_ISREG(mode):  # a pipe cannot be read twice, and a device may never end
        raise MissingFileError(path, None, "expected a regular file, found a pipe, socket or device")
    return open_decompressed(path)


def open_decompressed(path: Path) -> gzip.GzipFile | BufferedReader:
    """A file opened for reading; its first two bytes say whether it is plain or gzip."""
    with path.open("rb") as file:
        magic = file.read(2)
    return gzip.open(path, "rb") if magic == b"\x1f\x8b" else path.open("rb")


def _not_the_file(line: bytes) -> str:
    if line.startswith(_LFS):
        return "; found a Git LFS pointer instead of the file; run `git lfs pull`"
    return "; found a merge conflict marker; resolve the conflict" if line.startswith(_CONFLICTS) else ""
