"""``queries.tsv``: what the topics file said of each scored topic when a baseline was stored.

A run answers the texts that its system was given, so scores for other texts cannot be compared with it; weights and
clusters decide what its losses count. Texts and names are kept as digests.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence

from pytest_riskguard.data.topics import Topics

TEXT = "query"
#: The columns: the text, and what decides how much a topic counts.
ROLES = (TEXT, "weight", "cluster")
#: Each topic's cells, by column; those that it lacks are left out.
Rows = Mapping[str, Mapping[str, str]]


def rows_of(topics: Topics, wanted: Sequence[str]) -> Rows:
    """What is known of these topics; those without a text are left out."""
    return {topic: dict(_cells(topics, topic)) for topic in wanted if topic in topics.queries}


def _cells(topics: Topics, topic: str) -> Iterator[tuple[str, str]]:
    if topic in topics.weights:
        yield "weight", repr(float(topics.weights[topic]))
    for role, texts in ((TEXT, topics.queries), ("cluster", topics.clusters)):
        if topic in texts:
            yield role, _digest(texts[topic])


def _digest(text: str) -> str:
    """64 bits."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def to_bytes(rows: Rows) -> bytes:
    """One line for each topic, as ``from_bytes`` reads it; roles that no topic has get no column."""
    columns = [role for role in ROLES if role == TEXT or any(role in row for row in rows.values())]
    lines = [["topic", *columns], *([topic, *(rows[topic].get(role, "") for role in columns)] for topic in rows)]
    return "".join("\t".join(cells) + "\n" for cells in lines).encode()


def from_bytes(content: bytes) -> Rows:
    """What is known by topic."""
    header, *lines = (line.split("\t") for line in content.decode().split("\n")[:-1])
    return {
        topic: {role: cell for role, cell in zip(header[1:], cells, strict=True) if cell} for topic, *cells in lines
    }


def changed(rows: Rows, now: Topics, topics: Collection[str]) -> dict[str, tuple[str, ...]]:
    """By role, those of ``topics`` for which the topics file says otherwise now, sorted; without a text nothing."""
    pairs = {topic: (rows.get(topic, {}), dict(_cells(now, topic))) for topic in sorted(topics)}
    found = {role: tuple(t for t, (old, new) in pairs.items() if old.get(role) != new.get(role)) for role in ROLES}
    found[TEXT] = tuple(topic for topic in found[TEXT] if all(TEXT in row for row in pairs[topic]))
    return {role: names for role, names in found.items() if names}
