"""Tables with tabs: judgements and rankings with named columns; topics also without a header, or with tags.

``evaluation`` reads tables of topics line by line, so that only their recognition is here.
"""

from __future__ import annotations

import re

from pytest_riskguard.formats.content import START_BYTES, InputFile, Misfit
from pytest_riskguard.formats.files import named_columns
from pytest_riskguard.formats.files.named_columns import judgements, rankings
from pytest_riskguard.formats.records import Kind

__all__ = ["fits", "judgements", "rankings"]

#: How a header names its first two columns; a row with other names is not a header.
TOPIC_NAMES = ("topic", "id", "qid", "query_id")
TEXT_NAMES = ("query", "text", "title")
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


def fits(file: InputFile, kind: Kind) -> Misfit | None:
    """Whether the first line has a tab, and is a header where one is needed."""
    if "\t" not in file.first_line or file.looks_like_json:
        return Misfit("the first line has no tab", 0 if kind != "topics" or file.looks_like_json else 1)
    if kind != "topics":
        return named_columns.fits(file, kind)
    first, second = (cell.strip().lower() for cell in file.first_line.split("\t")[:2])
    is_header = first in TOPIC_NAMES and second in TEXT_NAMES
    if is_header and _is_quoted(file):
        return Misfit("its cells are quoted")
    if file.columns or (not is_header and named_columns.fits(file, kind) is None):
        return Misfit("its columns are named, and are not an id, then a query text")
    return None


def _is_quoted(file: InputFile) -> bool:
    """Whether cells are quoted as in CSV: some hold doubled quotes, and none begins with a quote otherwise."""
    lines = file.start.decode(errors="replace").splitlines()
    if len(file.start) == START_BYTES:  # the last line may go on
        del lines[-1]
    cells = [cell for line in lines for cell in line.split("\t")]
    quoted = [cell for cell in cells if cell.startswith('"')]
    return any('""' in cell[1:-1] for cell in quoted) and all(map(_QUOTED.fullmatch, quoted))
