"""``no_topic_collapse``: which topics lose more than they may, and how many of them are too many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pytest_riskguard.data.topics import Tags
from pytest_riskguard.gates.alignment import Aligned
from pytest_riskguard.gates.kinds import Gate, NoTopicCollapse
from pytest_riskguard.risk.checks import ROUNDING_ERROR, FloatArray
from pytest_riskguard.risk.urisk import COUNTED
from pytest_riskguard.text import Names


def collapsed(gate: Gate, aligned: Aligned, differences: FloatArray) -> dict[int, Names]:
    """The topics that lost more than they may, by index, each with the limits that it exceeds.

    A loss of exactly ``max_loss`` is let through. Losses too small for any tool to print (1e-6 or less) do
    not count, not even for protected topics. ``ValueError`` for an unknown protected entry.
    """
    losses, topics = -differences, aligned.candidate.topics
    limits = {}
    if gate.max_loss is not None:
        limits["max_loss"] = losses > gate.max_loss + ROUNDING_ERROR
    if gate.max_share is not None:
        limits["max_share"] = losses > gate.max_share * np.abs(aligned.baseline.values) + ROUNDING_ERROR
    if gate.protected:
        guarded = protected_topics(gate.protected, topics, aligned.about.tags)
        limits["protected"] = np.array([topic in guarded for topic in topics])
    counted = losses > COUNTED
    places = np.flatnonzero(counted & np.any([*limits.values()], axis=0))
    return {place: tuple(name for name, beyond in limits.items() if beyond[place]) for place in places.tolist()}


def beyond_allowed(gate: Gate, collapsed: Mapping[int, Names], differences: FloatArray) -> tuple[int, ...]:
    """The topics that must go so that no more lose too much than may: protected ones, then the worst; by index."""
    assert isinstance(gate, NoTopicCollapse)
    protected = [place for place, exceeded in collapsed.items() if "protected" in exceeded]
    others = sorted((p for p in collapsed if p not in protected), key=lambda p: (round(float(differences[p]), 12), p))
    n, gone = differences.size - len(protected), 0
    while len(others) - gone > gate.most(n - gone):  # of fewer topics no more may
        gone += 1
    return tuple(sorted((*protected, *others[:gone])))


def protected_topics(entries: Sequence[str], topics: Names, tags: Tags) -> frozenset[str]:
    """The topics that entries name, directly or as ``TAG=VALUE``; ``ValueError`` for an entry that names none."""
    names, named = {*topics}, set[str]()
    by_tag: dict[str, set[str]] = {}
    for topic in topics:
        for tag, value in tags.get(topic, {}).items():
            by_tag.setdefault(f"{tag}={value}", set()).add(topic)
    for entry in entries:
        found = {entry} & names or by_tag.get("=".join(part.strip() for part in entry.split("=", 1)))
        if not found:
            hint = f"; known tags: {', '.join(sorted(by_tag)[:12])}" if by_tag else "; no topic has tags"
            raise ValueError(
                f"protected: {entry!r} is neither a judged topic nor the TAG=VALUE of one; a topic without relevant "
                f"documents has no score and cannot be protected{hint}"
            )
        named.update(found)
    return frozenset(named)
