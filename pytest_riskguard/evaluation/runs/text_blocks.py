"""The text of a run or of judgements in blocks of whole lines, hashed and read ahead in a second thread."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pytest_riskguard.errors import RunFormatError
from pytest_riskguard.evaluation.runs.trec_columns import RefusedError
from pytest_riskguard.formats.input_files import (
    GZIP,
    LINES,
    ROW_BYTES,
    RUN_BYTES,
    ContentError,
    Limit,
    blocks,
    open_regular,
)

_BOM = b"\xef\xbb\xbf"
#: Files of less are read without a second thread.
_SMALL = 2**20
#: How far back a row is looked for; who leaves more blank lines between two rows waits longer.
_FARTHEST = 2**24


class TextBlock(NamedTuple):
    """Whole lines, the last with a line feed, and where in the file they begin."""

    text: bytes
    offset: int


class TextBlocks:
    """The text of one file from an offset on, about a million bytes at a time, without its byte order mark.

    ``limit`` is the most bytes that it may have. ``RefusedError`` where the reading line by line finds the content
    wrong, ``MissingFileError`` for a path that is not a readable regular file.
    """

    def __init__(self, path: Path, start: int = 0, *, limit: Limit = RUN_BYTES) -> None:
        self.path, self._start, self._limit = path, start, limit
        self._hash, self._is_done = hashlib.sha256(), False

    @property
    def digest(self) -> str:
        """``sha256:<hex>`` of the decompressed bytes of a file that was read from its beginning to its end."""
        if not self._is_done or self._start:
            raise RuntimeError(f"{self.path}: the digest is known only after the whole file has been read")
        return f"sha256:{self._hash.hexdigest()}"

    def __iter__(self) -> Iterator[TextBlock]:
        self._hash, self._is_done = hashlib.sha256(), False
        longest, most = ROW_BYTES.value, LINES.value
        offset, lines, rest = self._start, 0, b""
        for index, block in enumerate(self._ahead()):
            if index == 0 and not self._start and block.startswith(_BOM):
                block, offset = block[len(_BOM) :], len(_BOM)
            cut = block.rfind(b"\n") + 1
            if not cut:
                rest += block
                if len(rest) > longest:
                    raise RefusedError
                continue
            text, rest = rest + block[:cut], block[cut:]
            lines += int(np.count_nonzero(np.frombuffer(text, dtype=np.uint8) == ord("\n")))
            if lines > most:
                raise RefusedError
            yield TextBlock(text, offset)
            offset += len(text)
        if rest:
            yield TextBlock(rest + b"\n", offset)
        self._is_done = True

    def _ahead(self) -> Iterator[bytes]:
        """The bytes of the file; while one block is at work, the next one is read and hashed."""
        raw = blocks(self.path, self._limit, start=self._start)

        def step() -> bytes:
            try:
                block = next(raw, b"")
            except ContentError:
                raise RefusedError from None
            if not self._start:
                self._hash.update(block)
            return block

        block = step()
        if len(block) < _SMALL:
            while block:
                yield block
                block = step()
            return
        from concurrent.futures import ThreadPoolExecutor  # loads much that small files do not need

        with ThreadPoolExecutor(1) as pool:
            while block:
                following = pool.submit(step)
                yield block
                block = following.result()


def checked_digest(path: Path) -> str:
    """The digest of a run that is read in parts; ``RunFormatError`` if the whole of it is too large."""
    text = TextBlocks(path)
    try:
        for _ in text:
            pass
    except RefusedError:
        from pytest_riskguard.evaluation.runs.trec_rows import lines_of

        for _ in lines_of(path):
            pass
        raise
    return text.digest


def row_before(path: Path, place: int) -> int:
    """Where the line begins whose row is the last that begins before a place of an uncompressed file.

    0 if there is none, or if it is very far. ``RunFormatError`` for a file that is gzip.
    """
    with open_regular(path) as file:
        if file.read(2) == GZIP:
            problem = "expected an uncompressed file, since only a part of it is read, found gzip; unpack it"
            raise RunFormatError(path, None, problem)
        window = 2 * ROW_BYTES.value
        while window <= _FARTHEST:
            begin = max(place - window, 0)
            file.seek(begin)
            text = file.read(place - begin)
            if not begin:
                return text.rfind(b"\n", 0, len(text.rstrip())) + 1
            if (line := text.rfind(b"\n", 0, len(text.rstrip()))) >= 0:
                return begin + line + 1
            window *= 4
    return 0
