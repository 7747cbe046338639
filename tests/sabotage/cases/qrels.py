"""Judgements that are damaged, incomplete or not judgements."""

from __future__ import annotations

from tests.sabotage.case import EVERY, Case
from tests.sabotage.sabotages import QRELS, delete, empty, truncate

CASES = [
    Case("truncated", truncate(QRELS, 0.501), words=["qrels.txt:", "columns"]),
    Case("empty", empty(QRELS), words=["qrels.txt"], ways=EVERY),
    Case("missing", delete(QRELS), words=["qrels.txt"]),
]
