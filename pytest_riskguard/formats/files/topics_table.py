"""Topics as a table with tabs, with or without a header; ``evaluation`` reads them."""

from __future__ import annotations

from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.records import Kind


def fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the first line has a tab; a file of another kind of text is nearest to this."""
    if "\t" in file.first_line and not file.looks_like_json:
        return None
    return Misfit("the first line has no tab", 0 if file.looks_like_json else 1)
