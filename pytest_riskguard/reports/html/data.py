"""What the script of the page reads: topics of the tables as JSON that cannot end the element it stands in."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pytest_riskguard.reports.html.rows import SCRIPTED, TopicRow

#: Bytes that the topics of all gates may take together, so that the page stays below 5 MB.
BUDGET = 3_000_000
#: What could end the script element or a line of it, as JSON escapes.
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def embedded(names: Sequence[str], tables: Sequence[Sequence[TopicRow]], *, budget: int) -> str:
    """An object from gate to its rows; of tables that are too long, the most harmful topics.

    A table that stands whole in the page needs no rows here.
    """
    long = [(name, rows) for name, rows in zip(names, tables, strict=True) if len(rows) > SCRIPTED]
    share = budget // max(len(long), 1)
    parts = (f'{dumps(name)}:{{"of":{len(rows)},"rows":[{",".join(_fitting(rows, share))}]}}' for name, rows in long)
    return "{" + ",".join(parts) + "}"


def _fitting(rows: Sequence[TopicRow], budget: int) -> list[str]:
    found: list[str] = []
    for row in rows:
        text = dumps(row.cells)
        budget -= len(text.encode()) + 1
        if budget < 0:
            break
        found.append(text)
    return found


def dumps(value: object) -> str:
    """JSON for the inside of a script element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES)
