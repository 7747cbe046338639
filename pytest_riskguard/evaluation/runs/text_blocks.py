"""The text of a run or of judgements in blocks of whole lines, hashed and read ahead in a second thread."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pytest_riskguard.errors import RunFormatError
from pytest_riskguard.evaluation.runs.trec_columns import RefusedError
from pytest_riskguard.evaluation.runs.trec_rows import lines_of
from pytest_riskguard.formats.input_files import GZIP, ContentError, blocks, open_regular
from pytest_riskguard.formats.limits import LINES, ROW_BYTES, RUN_BYTES, Limit

#: What is wrong if a file is refused, but not when it is read again.
CHANGED = "expected a file that nobody changes, found another content when it was read again"

_BOM = b"\xef\xbb\xbf"
#: Smaller files are read without a second thread.
_SMALL = 2**20
#: How many bytes back a row is looked for; more blank lines than that between two rows only cost time.
_FARTHEST = 2**24


class TextBlock(NamedTuple):
    """Whole lines, the last with a line feed; where in the file they begin, and whether nothing follows."""

    text: bytes
    offset: int
    is_last: bool


class TextBlocks:
    """The text of one file from an offset on, about a million bytes at a time, without its byte order mark.

    To be used in a ``with`` statement. ``limit`` is the most bytes that the file may have; ``is_hashed`` says whether
    the digest of the whole file is wanted. ``RefusedError`` for content that reading line by line finds wrong,
    ``MissingFileError`` for a path that is not a readable regular file.
    """

    def __init__(self, path: Path, start: int = 0, *, limit: Limit = RUN_BYTES, is_hashed: bool = True) -> None:
        self.path, self._start = path, start
        self._hash, self._is_done = hashlib.sha256() if is_hashed and not start else None, False
        self._raw = _ahead(path, limit, start, self._hash)
        self._end, self._rest = start, b""  # what has been read, and the line begun at its end
        self._longest = ROW_BYTES.value

    def __enter__(self) -> TextBlocks:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    def __iter__(self) -> Iterator[TextBlock]:
        lines, most = 0, LINES.value
        while (block := self.read()) is not None:
            lines += block.text.count(b"\n")
            if lines > most:
                raise RefusedError
            yield block

    @property
    def digest(self) -> str:
        """``sha256:<hex>`` of the decompressed bytes of a file that was read from its beginning to its end."""
        if not self._is_done or self._hash is None:
            raise RuntimeError(f"{self.path}: the digest is known only after the whole file has been read")
        return f"sha256:{self._hash.hexdigest()}"

    def read(self, carried: bytes = b"") -> TextBlock | None:
        """The next lines, after those ``carried`` over from the end of the last block; None at the end."""
        for block in self._raw:
            if self._end == 0 and block.startswith(_BOM):
                self._end, block = len(_BOM), block[len(_BOM) :]
            self._end += len(block)
            cut = block.rfind(b"\n") + 1
            if not cut:
                self._rest += block
                if len(self._rest) > self._longest:
                    raise RefusedError
                continue
            text = b"".join((carried, self._rest, memoryview(block)[:cut]))
            self._rest = block[cut:]
            return TextBlock(text, self._end - len(self._rest) - len(text), is_last=False)
        self._is_done = True
        offset = self._end - len(self._rest) - len(carried)
        text = carried + self._rest + (b"\n" if self._rest else b"")
        self._rest = b""
        return TextBlock(text, offset, is_last=True) if text else None


def _ahead(path: Path, limit: Limit, start: int, digest: hashlib._Hash | None) -> Generator[bytes]:
    """The bytes of a file; while one block is at work, the next one is read and hashed in another thread.

    Whoever began it must close it: that waits for the thread, which must not happen when garbage is collected.
    """
    raw = blocks(path, limit, start=start)

    def step() -> bytes:
        try:
            block = next(raw, b"")
        except ContentError:
            raise RefusedError from None
        if digest is not None:
            digest.update(block)
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
    digest, lines, most = hashlib.sha256(), 0, LINES.value
    try:
        with contextlib.closing(_ahead(path, RUN_BYTES, 0, digest)) as raw:
            for block in raw:
                lines += int(np.count_nonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n")))
                if lines > most:
                    raise RefusedError
    except RefusedError:
        for _ in lines_of(path):  # gives the error its message
            pass
        raise RunFormatError(path, None, CHANGED) from None
    return f"sha256:{digest.hexdigest()}"


def row_before(path: Path, place: int) -> int:
    """Where the last row that begins before a place of an uncompressed file begins.

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
