"""Runs as MS MARCO has them: query, passage and rank with tabs and without a header; a score may follow."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_riskguard.formats.columns import number
from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.named_rows import NamedRows, NumberedRow
from pytest_riskguard.formats.records import Kind, Ranking, Records

_COLUMNS = ("qid", "pid", "rank", "score")
_EXPECTED = "3 columns (qid, pid, rank) or 4 (with the score) between tabs or spaces"


def fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the first line has an id, another one, and a rank, which is where rankings start."""
    cells = file.first_line.split()
    nearness = 2 if "\t" in file.first_line else 0
    if file.looks_like_json or len(cells) not in (3, 4):
        return Misfit(f"its first line does not have {_EXPECTED}")
    if not _is_rank(cells[2]):
        return Misfit(
            f"the third column of its first line is not a rank but {cells[2]!r:.40}; name the columns in a first "
            "line, such as qid, docid, score",
            nearness,
        )
    if len(cells) == 4 and number(cells[3]) != number(cells[3]):
        return Misfit(f"the fourth column of its first line is not a score but {cells[3]!r:.40}", nearness)
    return None


def rankings(file: InputFile) -> Records[Ranking]:
    """The documents of each topic by their scores, or else by their ranks."""
    columns = _COLUMNS[: len(file.first_line.split())]
    return NamedRows(columns, _rows(file, len(columns)), "rankings", file.refuse).rankings()


def _rows(file: InputFile, columns: int) -> Iterator[NumberedRow]:
    for line, content in file.lines():
        if not (cells := content.decode().split()):
            continue
        if len(cells) != columns:
            raise file.refuse(line, f"expected {columns} columns as in the first line, found {len(cells)}")
        if not _is_rank(cells[2]):
            raise file.refuse(line, f"expected a whole number as the rank, found {cells[2]!r:.60}")
        yield line, cells


def _is_rank(cell: str) -> bool:
    return cell.isascii() and cell.isdigit()
