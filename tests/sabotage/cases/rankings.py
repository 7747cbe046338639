"""Runs that can be read, but whose ids or order are not what they seem."""

from __future__ import annotations

from tests.sabotage.case import EVERY, Case, Sabotage
from tests.sabotage.project import TOPICS
from tests.sabotage.sabotages import CANDIDATE, QRELS, on_columns, prefix_ids

MISMATCH = ["expected document ids of qrels.txt", "no judged document in any topic"]


def prefix_in(count: int) -> Sabotage:
    """Document ids of the candidate prefixed in the first topics."""
    first = TOPICS[:count]
    return on_columns(CANDIDATE, lambda c: [*c[:2], f"kb:{c[2]}" if c[0] in first else c[2], *c[3:]])


CASES = [
    Case("ids-prefixed", prefix_ids(CANDIDATE, "web:"), words=[*MISMATCH, "begin with 'web:'"], ways=EVERY),
    Case("ids-suffixed", on_columns(CANDIDATE, lambda c: [*c[:2], f"{c[2]}.html", *c[3:]]), words=[*MISMATCH]),
    Case(
        "ids-upper-case", on_columns(CANDIDATE, lambda c: [*c[:2], c[2].upper(), *c[3:]]), words=["upper and lower"]
    ),
    Case("ids-prefixed-in-most-topics", prefix_in(40), words=["in 40 of the 60 topics", "begin with 'kb:'"]),
    Case("qrels-prefixed", prefix_ids(QRELS, "web:"), words=[*MISMATCH, "judgements begin with 'web:'"]),
    Case("ids-prefixed-stored", prefix_in(60), command=f"baseline add next {CANDIDATE}", words=MISMATCH),
]
