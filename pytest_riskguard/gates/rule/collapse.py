"""Did too many topics lose more than they may? A question about topics, not about a mean: no interval, no alpha."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pytest_riskguard.gates.alignment import Aligned
from pytest_riskguard.gates.kinds import Gate, NoTopicCollapse
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray
from pytest_riskguard.risk.urisk import COUNTED


def collapsed(gate: Gate, aligned: Aligned, differences: FloatArray) -> dict[int, tuple[str, ...]]:
    """The topics that lost more than they may, by index, each with the limits that it exceeds.

    A loss of exactly ``max_loss`` is let through. Losses too small for any tool to print (1e-6 or less) do
    not count, not even for protected topics. ``ValueError`` for an unknown protected entry.
    """
    if not gate.by_topic:
        return {}
    losses = -differences
    limits = {}
    if gate.max_loss is not None:
        limits["max_loss"] = losses > gate.max_loss + ROUNDING_ERROR
    if gate.max_share is not None:
        limits["max_share"] = losses > gate.max_share * np.abs(aligned.baseline.values) + ROUNDING_ERROR
    if gate.protected:
        topics = aligned.candidate.topics
        guarded = protected_topics(gate.protected, topics, aligned.tags)
        limits["protected"] = np.array([topic in guarded for topic in topics])
    return {
        int(i): exceeded
        for i in np.flatnonzero(losses > COUNTED)
        if (exceeded := tuple(name for name, beyond in limits.items() if beyond[i]))
    }


def beyond_allowed(gate: Gate, collapsed: Mapping[int, tuple[str, ...]], differences: FloatArray) -> tuple[int, ...]:
    """The topics that must go so that no more lose too much than may: protected ones, then the worst; by index."""
    if not isinstance(gate, NoTopicCollapse):
        return ()
    protected = [place for place, exceeded in collapsed.items() if "protected" in exceeded]
    others = sorted((p for p in collapsed if p not in protected), key=lambda p: (round(float(differences[p]), 12), p))
    gone, n = 0, differences.size - len(protected)
    while len(others) - gone > gate.most(n - gone):
        gone += 1
    return tuple(sorted((*protected, *others[:gone])))


def protected_topics(
    entries: Sequence[str], topics: tuple[str, ...], tags: Mapping[str, Mapping[str, str]]
) -> frozenset[str]:
    """The topics that entries name, directly or as ``TAG=VALUE``; ``ValueError`` for an entry that names none."""
    named: set[str] = set()
    for entry in entries:
        tag, equals, value = entry.partition("=")
        if entry in topics:
            named.add(entry)
        elif equals and (
            tagged := [topic for topic in topics if tags.get(topic, {}).get(tag.strip()) == value.strip()]
        ):
            named.update(tagged)
        else:
            raise ValueError(_nothing_named(entry, topics, tags))
    return frozenset(named)


def _nothing_named(entry: str, topics: tuple[str, ...], tags: Mapping[str, Mapping[str, str]]) -> str:
    known = sorted({f"{tag}={value}" for topic in topics for tag, value in tags.get(topic, {}).items()})
    hint = f"; known tags: {', '.join(known[:12])}" if known else "; no topic has tags"
    return (
        f"protected: {entry!r} is neither a judged topic nor the TAG=VALUE of one; a topic without relevant "
        f"documents has no score and cannot be protected{hint}"
    )
