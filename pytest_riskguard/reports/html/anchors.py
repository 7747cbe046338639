"""Addresses inside the page: a gate's name, and behind a slash the topic, such as ``no-risk/c-11``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from pytest_riskguard.text import clean

#: What the page's own ids begin with, so that no gate's name can be one of them.
OWN = "rg-"
#: Longest id of a topic in the page.
MAX_TOPIC = 120
_MAX_LENGTH = 80


def anchors(names: Sequence[str]) -> list[str]:
    """An id for each gate, in their order: its name without what an address cannot hold, and no two alike."""
    taken: set[str] = set()
    ids = []
    for name in names:
        plain = re.sub(r"[^\w.\[\]-]+", "-", clean(name, limit=_MAX_LENGTH)).strip("-") or "gate"
        plain = f"gate-{plain}" if plain.startswith(OWN) else plain
        anchor, number = plain, 1
        while anchor in taken:
            number += 1
            anchor = f"{plain}-{number}"
        taken.add(anchor)
        ids.append(anchor)
    return ids


def topic_anchor(gate: str, topic: str) -> str:
    """The id of a topic's row, for the gate with this id."""
    return f"{gate}/{quote(clean(topic, limit=MAX_TOPIC), safe='', errors='replace')}"
