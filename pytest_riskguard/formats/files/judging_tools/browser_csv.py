"""CSV as Quepid's pages write it.

Quotes are doubled in every cell, but only cells with a comma or a line end are quoted: ``19"" monitor`` means
``19" monitor``, which readers of CSV refuse or get wrong.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_riskguard.formats.content import InputFile


def rows(file: InputFile) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the number of its last line; cells without spaces around them."""
    row: list[str] = []
    open_cell: str | None = None  # a quoted cell whose end has not come yet
    number = 0
    for number, line in file.lines():
        rest: str | None = line.decode().removesuffix("\r")
        while rest is not None:
            if open_cell is None and _is_quoted(rest):
                open_cell, rest = "", rest[1:]
            if open_cell is None:
                cell, comma, after = (rest or "").partition(",")
                rest = after if comma else None
            else:
                inside, is_closed, after = _until_quote(rest or "")
                open_cell += inside
                if not is_closed:
                    open_cell += "\n"
                    break
                if after and not after.startswith(","):
                    raise file.refuse(number, f"expected a comma after a quoted cell, found {after!r:.40}")
                cell, open_cell = open_cell, None
                rest = after[1:] if after else None
            row.append(cell.replace('""', '"').strip())
        if open_cell is None:
            if any(row):
                yield number, row
            row = []
    if open_cell is not None:
        raise file.refuse(number, "expected the end of a quoted cell, found the end of the file")


def _is_quoted(text: str) -> bool:
    """An odd number of quotes at the start: doubled ones are part of the cell."""
    return (len(text) - len(text.lstrip('"'))) % 2 == 1


def _until_quote(text: str) -> tuple[str, bool, str]:
    """What stands before the quote that ends a cell, whether there is one, and what follows it."""
    place = 0
    while (place := text.find('"', place)) >= 0:
        if text[place : place + 2] != '""':
            return text[:place], True, text[place + 1 :]
        place += 2
    return text, False, ""
