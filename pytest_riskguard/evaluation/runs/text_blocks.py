"""The text of a run or of judgements in blocks of whole lines, hashed and read ahead in a second thread."""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple

from pytest_riskguard.evaluation.runs.trec_columns import RefusedError
from pytest_riskguard.formats.input_files import ContentError, blocks
from pytest_riskguard.formats.limits import ROW_BYTES, RUN_BYTES, Limit

_BOM = b"\xef\xbb\xbf"
#: Smaller files are read without a second thread.
_SMALL = 2**20


class TextBlock(NamedTuple):
    """Whole lines, the last with a line feed, and whether nothing follows."""

    text: bytes
    is_last: bool


class TextBlocks:
    """The text of one file, about a million bytes at a time, without its byte order mark.

    To be used in a ``with`` statement. ``limit`` is the most bytes that the file may have. ``RefusedError`` for
    content that reading line by line finds wrong, ``MissingFileError`` for a path that is no readable regular file.
    """

    def __init__(self, path: Path, *, limit: Limit = RUN_BYTES) -> None:
        self.path = path
        self._hash, self._is_begun, self._is_done = hashlib.sha256(), False, False
        self._raw = _ahead(path, limit, self._hash)
        self._rest = b""  # the line begun at the end of what has been read
        self._longest = ROW_BYTES.value

    def __enter__(self) -> TextBlocks:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    @property
    def digest(self) -> str:
        """``sha256:<hex>`` of the decompressed bytes of a file that was read from its beginning to its end."""
        if not self._is_done:
            raise RuntimeError(f"{self.path}: the digest is known only after the whole file has been read")
        return f"sha256:{self._hash.hexdigest()}"

    def read(self, carried: bytes = b"") -> TextBlock | None:
        """The next lines, after those ``carried`` over from the end of the last block; None at the end."""
        for block in self._raw:
            if not self._is_begun:
                self._is_begun, block = True, block.removeprefix(_BOM)
            cut = block.rfind(b"\n") + 1
            if not cut:
                self._rest += block
                if len(self._rest) > self._longest:
                    raise RefusedError
                continue
            text = b"".join((carried, self._rest, memoryview(block)[:cut]))
            self._rest = block[cut:]
            return TextBlock(text, is_last=False)
        self._is_done = True
        text = carried + self._rest + (b"\n" if self._rest else b"")
        self._rest = b""
        return TextBlock(text, is_last=True) if text else None


def _ahead(path: Path, limit: Limit, digest: hashlib._Hash) -> Generator[bytes]:
    """The bytes of a file; while one block is at work, the next one is read and hashed in another thread.

    Whoever began it must close it: that waits for the thread, which must not happen when garbage is collected.
    """
    raw = blocks(path, limit)

    def step() -> bytes:
        try:
            block = next(raw, b"")
        except ContentError:
            raise RefusedError from None
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
