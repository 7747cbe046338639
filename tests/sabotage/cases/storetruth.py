"""Stores that lie although every digest fits, judgements that shrink, and commands that replace baselines."""

from pathlib import Path

from tests.sabotage.case import Sabotage
from tests.sabotage.sabotages import (
    QRELS,
    append,
    on_columns,
    on_manifest,
    spelt_out,
)


def grades(*topics: str) -> Sabotage:
    """Every grade of these topics set to 0."""
    return on_columns(QRELS, lambda c: [*c[:3], "0"] if c[0] in spelt_out(topics) else c)


def swap_relevant(*topics: str) -> Sabotage:
    """Every grade of these topics set to 0, but for a document that no run retrieves."""
    none_retrieved = append(QRELS, "".join(f"{topic} 0 doc-{topic}-99 1\n" for topic in spelt_out(topics)))

    def sabotage(folder: Path) -> None:
        grades(*topics)(folder)
        none_retrieved(folder)

    return sabotage


def nameless(folder: Path) -> None:
    """The manifest of prod without its name."""
    on_manifest(lambda manifest: manifest.pop("name"))(folder)
