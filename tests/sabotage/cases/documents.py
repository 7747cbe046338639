"""What reports say of documents and systems: titles, addresses. None of it may hide or change a verdict."""

from tests.sabotage.case import Sabotage
from tests.sabotage.sabotages import CONFIG, replace_text


def collection(settings: str) -> Sabotage:
    """riskguard.yaml with more about its collection."""
    return replace_text(CONFIG, "topics: topics.tsv}", f"topics: topics.tsv, {settings}}}")
