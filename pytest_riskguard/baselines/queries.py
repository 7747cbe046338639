"""``queries.tsv``: digests of the query text that each scored topic had when a baseline was stored.

A run answers the texts that its system was given; scores for other texts cannot be compared with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence

_HEADER = "topic\tquery\n"
#: Hexadecimal digits of a text's digest: 64 bits.
_DIGITS = 16


def query_digests(queries: Mapping[str, str], topics: Sequence[str]) -> dict[str, str]:
    """The digest of each topic's query text; topics without a text are left out."""
    return {topic: _digest(queries[topic]) for topic in topics if topic in queries}


def to_bytes(digests: Mapping[str, str]) -> bytes:
    """One line for each topic, sorted, as ``from_bytes`` reads it."""
    return (_HEADER + "".join(f"{topic}\t{digests[topic]}\n" for topic in sorted(digests))).encode()


def from_bytes(content: bytes) -> dict[str, str]:
    """The digests by topic; ``ValueError`` for anything that ``to_bytes`` does not write."""
    rows = [line.split("\t") for line in content.decode().removeprefix(_HEADER).split("\n")[:-1]]
    digests = {row[0]: row[-1] for row in rows}
    if to_bytes(digests) != content:
        raise ValueError(f"expected a line {_HEADER.strip()!r} and then each topic with the digest of its text")
    return digests


def rephrased(digests: Mapping[str, str], queries: Mapping[str, str], topics: Collection[str]) -> tuple[str, ...]:
    """Those of ``topics`` that have another text now, sorted; without a text then or now a topic is not counted."""
    return tuple(sorted(t for t in topics if t in digests and t in queries and digests[t] != _digest(queries[t])))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]
