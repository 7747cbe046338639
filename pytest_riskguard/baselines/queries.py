"""``queries.tsv``: what the topics file said of each scored topic when a baseline was stored.

A run answers the texts that its system was given, so scores for other texts cannot be compared with it; and weights,
clusters and strata decide what its losses count. Texts and names are kept as digests.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence

from pytest_riskguard.data.topics import Topics

#: What decides how much a topic counts, as the columns are named, in their order.
ROLES = ("weight", "cluster", "stratum")
#: By column: the digest of the text, and what else is known.
Known = Mapping[str, str]
#: Hexadecimal digits of a text's digest: 64 bits.
_DIGITS = 16


def known(topics: Topics, scored: Sequence[str]) -> Mapping[str, Known]:
    """What is known of each scored topic; topics without a text are left out."""
    return {topic: _of(topics, topic) for topic in scored if topic in topics.queries}


def to_bytes(rows: Mapping[str, Known]) -> bytes:
    """One line for each topic, sorted, as ``from_bytes`` reads it; roles that no topic has get no column."""
    columns = ["query", *(role for role in ROLES if any(role in row for row in rows.values()))]
    lines = [
        ["topic", *columns],
        *([topic, *(rows[topic].get(name, "") for name in columns)] for topic in sorted(rows)),
    ]
    return "".join("\t".join(cells) + "\n" for cells in lines).encode()


def from_bytes(content: bytes) -> Mapping[str, Known]:
    """What is known by topic."""
    header, *lines = (line.split("\t") for line in content.decode().split("\n")[:-1])
    pairs = ((cells[0], zip(header[1:], cells[1:], strict=True)) for cells in lines)
    return {topic: {name: cell for name, cell in known if cell} for topic, known in pairs}


def rephrased(rows: Mapping[str, Known], queries: Mapping[str, str], topics: Collection[str]) -> tuple[str, ...]:
    """Those of ``topics`` that have another text now, sorted; without a text then or now a topic is not counted."""
    both = (topic for topic in topics if topic in rows and topic in queries)
    return tuple(sorted(topic for topic in both if rows[topic]["query"] != _digest(queries[topic])))


def reassigned(rows: Mapping[str, Known], now: Topics, topics: Collection[str]) -> dict[str, tuple[str, ...]]:
    """By role, those of ``topics`` that have another weight, cluster or stratum now, sorted."""
    nothing: Known = {}
    pairs = {topic: (rows.get(topic, nothing), _of(now, topic)) for topic in sorted(topics)}
    changed = {role: tuple(t for t, (old, new) in pairs.items() if old.get(role) != new.get(role)) for role in ROLES}
    return {role: names for role, names in changed.items() if names}


def _of(topics: Topics, topic: str) -> Known:
    row = {}
    if topic in topics.queries:
        row["query"] = _digest(topics.queries[topic])
    if topic in topics.weights:
        row["weight"] = repr(float(topics.weights[topic]))
    for role, names in (("cluster", topics.clusters), ("stratum", topics.strata)):
        if topic in names:
            row[role] = _digest(names[topic])
    return row


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]
