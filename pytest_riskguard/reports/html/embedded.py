"""Data for the page's script: JSON that cannot end its element, within a budget of bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence

#: Bytes that the data of all comparisons may take together, so that the page stays below 5 MB.
MAX_BYTES = 2_000_000
#: Characters that could end the script element or one of its lines, as JSON escapes.
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def script_json(value: object) -> str:
    """JSON for the inside of a script element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES)


def size(value: object) -> int:
    """Bytes that a value takes in the page."""
    return len(script_json(value).encode("utf-8", "replace"))


def fitting(items: Sequence[object], budget: int) -> int:
    """How many of the first items fit into a budget of bytes."""
    for count, item in enumerate(items):
        budget -= size(item) + 1
        if budget < 0:
            return count
    return len(items)
