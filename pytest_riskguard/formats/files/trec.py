"""TREC's formats: ``topic Q0 docid rank score tag`` and ``topic iteration docid grade``, with spaces between columns.

``evaluation`` reads these line by line, since runs may be large; only the recognition is here.
"""

from __future__ import annotations

from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.records import Kind

_COLUMNS = {"rankings": (6, "topic Q0 docid rank score tag"), "judgements": (4, "topic iteration docid grade")}


def fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the first line has the right number of columns; a file of another kind of text is nearest to this."""
    number, names = _COLUMNS[kind]
    columns = len(file.first_line.split())
    is_json = file.first_object is not None or file.json_or_none is not None  # a topic's id may begin with a bracket
    if columns == number and not is_json:
        return None
    return Misfit(f"the first line has {columns} columns, not {number} ({names})", 0 if file.looks_like_json else 1)
