"""What reports say of documents and systems: titles, addresses, metadata. None of it may hide or change a verdict."""

from __future__ import annotations

from tests.sabotage.case import Sabotage
from tests.sabotage.sabotages import CONFIG, replace_text


def collection(settings: str) -> Sabotage:
    """riskguard.yaml with more about its collection."""
    return replace_text(CONFIG, "topics: topics.tsv}", f"topics: topics.tsv, {settings}}}")


def candidate(settings: str) -> Sabotage:
    """riskguard.yaml with a candidate that has metadata."""
    return replace_text(
        CONFIG, "candidate: runs/candidate.run", f"candidate: {{run: runs/candidate.run, {settings}}}"
    )
