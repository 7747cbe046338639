"""Ids of a gate's items, made of other people's text: readable, safe in a node id, each its own."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Sequence

#: Of letters, marks and digits there may be any; of other characters only these have no meaning to pytest or a shell.
_HARMLESS = "._+=-"
_LONGEST = 40


def readable(text: str) -> str:
    """The text with everything replaced that could end a node id, break a line or hide what it says."""
    safe = "".join(c if c in _HARMLESS or unicodedata.category(c)[0] in "LMN" else "_" for c in text)
    return safe[:_LONGEST]


def unique(ids: Sequence[str], sources: Sequence[str]) -> list[str]:
    """The ids; those that several have are told apart by a digest of what each was made of.

    A digest, not a number: it stays the same when another value comes or goes.
    """
    times = Counter(ids)
    return [
        _marked(one, hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:6])
        if times[one] > 1
        else one
        for one, source in zip(ids, sources, strict=True)
    ]


def _marked(one: str, digest: str) -> str:
    return f"{one[:-1]}~{digest}]" if one.endswith("]") else f"{one}~{digest}"
