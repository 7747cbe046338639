"""Topics files: query texts, tags and weights."""

from tests.sabotage.case import Sabotage
from tests.sabotage.sabotages import (
    CONFIG,
    TOPICS_FILE,
    on_columns,
    replace_text,
)

TAB = "\t"


def weigh(weight: str) -> Sabotage:
    """A weight column with the same weight everywhere."""
    return on_columns(TOPICS_FILE, lambda c: [*c, "weight" if c[0] == "topic" else weight], TAB)


def tagged(intent: str) -> Sabotage:
    """Every topic has this intent, with a digit of its own for ``{}``, and a gate is about each intent."""
    tag = on_columns(TOPICS_FILE, lambda c: c if c[0] == "topic" else [*c[:2], intent.format(c[0][1])], TAB)
    slices = replace_text(CONFIG, "alpha: 1}", "alpha: 1, slice: intent}")
    return lambda folder: (tag(folder), slices(folder))
