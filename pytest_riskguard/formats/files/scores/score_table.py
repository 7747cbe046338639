"""Per-topic scores as a table with a row for each topic and a column for each measure; ``evaluation`` reads it."""

from __future__ import annotations

from pytest_riskguard.formats.columns import SYNONYMS
from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.records import Kind


def fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the first column is named as one of topics; a file of another kind of text is nearest to this."""
    if file.looks_like_json:
        return Misfit("it is JSON")
    line = file.first_line
    first, tab, _ = line.partition("\t") if "\t" in line else line.partition(",")
    if tab and first.strip().strip('"').lower() in SYNONYMS["topic"]:
        return None
    return Misfit("its first line names no column of topics, then columns of scores", 1)
