"""What a report is made of: sections of sentences, tables and plots, the same for a terminal and a page."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_riskguard.frozen import frozen
from pytest_riskguard.reports.numbers import plain, probability, short, signed
from pytest_riskguard.text import clean, columns, fitted

if TYPE_CHECKING:
    from pytest_riskguard.reports.html.charts.plots import Plot

#: The page that explains the words of a report.
GLOSSARY = "https://github.com/pytest-riskguard/pytest-riskguard/blob/main/docs/glossary.md"
#: The least columns of a terminal that a name keeps.
_LEAST = 8
#: Characters of a cell and of a sentence.
_MAX_CELL, _MAX_SENTENCE = 200, 2000


@frozen
class Table:
    """Rows of cells under named columns.

    Parameters
    ----------
    title : str
    columns : mapping of str to str
        From the label of a column to what it holds: ``name``, text from outside, which is cut where a line is too
        long; ``text``, words of your own; or numbers, by their format: ``.4f``, ``+.4f`` with a sign, ``d``, ``.1%``,
        ``g`` for a parameter, ``p`` for a p-value, ``number`` for those that are texts already.
    rows : sequence of sequences
        Raw values. A pair of numbers is an interval. In a column of numbers a text of your own stays as it is.
    note : str
        How to read the table.
    none : str
        What stands where a value is None.
    """

    title: str
    columns: Mapping[str, str]
    rows: Sequence[Sequence[Any]]
    note: str = ""
    none: str = ""

    @property
    def kinds(self) -> list[str]:
        """``name``, ``text`` or ``number``, for each column."""
        return [kind if kind in ("name", "text") else "number" for kind in self.columns.values()]

    @property
    def cells(self) -> list[list[str]]:
        """The rows as texts."""
        return [
            [_cell(value, form, self.none) for value, form in zip(row, self.columns.values(), strict=True)]
            for row in self.rows
        ]

    @property
    def filled(self) -> Table:
        """The table without columns that have no value."""
        kept = [place for place, column in enumerate(zip(*self.cells, strict=True)) if any(column)]
        if not kept:
            return self
        columns = [*self.columns.items()]
        rows = [[row[place] for place in kept] for row in self.rows]
        return replace(self, columns=dict(columns[place] for place in kept), rows=rows)

    def lines(self, width: int, *, indent: int = 2, head: bool = True, most: int | None = None) -> list[str]:
        """The table for a terminal, at most so many rows of it: names are cut where lines would be too long.

        Where that is not enough, gaps are narrower, and then lines longer than ``width``: figures are never cut.
        """
        kinds, rows = self.kinds, self.cells if most is None else self.cells[:most]
        grid = [[clean(cell, limit=_MAX_CELL) for cell in row] for row in ([*self.columns], *rows)]
        grid = grid if head else grid[1:]
        for gap in (2, 1):
            widths = _widths(grid, kinds, width - indent - gap * (len(kinds) - 1))
            if sum(widths) + gap * (len(kinds) - 1) + indent <= width:
                break
        columns_shown = [
            _shown([*column], kind, width)
            for column, kind, width in zip(zip(*grid, strict=True), kinds, widths, strict=True)
        ]
        return [(" " * indent + (" " * gap).join(cells)).rstrip() for cells in zip(*columns_shown, strict=True)]


def _widths(grid: Sequence[Sequence[str]], kinds: Sequence[str], room: int) -> list[int]:
    """The width of each column: names on the right give way before those on the left."""
    widths = [max(map(columns, column)) for column in zip(*grid, strict=True)]
    for place in reversed([place for place, kind in enumerate(kinds) if kind == "name"]):
        widths[place] -= max(min(sum(widths) - room, widths[place] - _LEAST), 0)
    return widths


def _shown(column: list[str], kind: str, width: int) -> list[str]:
    """The cells of a column, all as wide."""
    if kind == "name":
        column = [ends(cell, width) for cell in column]
    width = max(map(columns, column))
    blanks = [" " * (width - columns(cell)) for cell in column]
    right = kind == "number"
    return [blank + cell if right else cell + blank for blank, cell in zip(blanks, column, strict=True)]


def _cell(value: object, form: str, none: str) -> str:
    match value:
        case None:
            return none
        case str():
            return value
        case bool():
            return "yes" if value else "no"
        case (lower, upper):
            return none if lower is None or upper is None else f"[{_cell(lower, form, '')}, {_cell(upper, form, '')}]"
        case int() | float() if form not in ("name", "text", "number"):
            return _number(value, form)
    return str(value)


def _number(value: float, form: str) -> str:
    if math.isinf(value):
        return "∞"
    if form in ("p", "g"):
        return probability(value) if form == "p" else short(value)
    if form.endswith("f"):
        return (signed if form[0] == "+" else plain)(value, int(form[:-1].rpartition(".")[2]))
    return format(value, form)


@frozen
class Section:
    """A report, or a part of one: sentences, then tables, plots and smaller sections.

    Parameters
    ----------
    title : str
    text : sequence of str
        Sentences, most important first; the first one of a report is the answer that its page begins with.
    parts : sequence of Table, Plot or Section
        In this order. A terminal leaves out plots.
    warnings : sequence of str
        What to be careful about.
    notes : sequence of str
        How to read the section.
    """

    title: str
    text: Sequence[str] = ()
    parts: Sequence[Table | Plot | Section] = ()
    warnings: Sequence[str] = ()
    notes: Sequence[str] = ()

    def to_text(self, width: int) -> str:
        """The section for a terminal of so many columns; no text is readable in fewer than 60."""
        return "\n".join(self.lines(max(width, 60)))

    def lines(self, width: int, *, most: int | None = None) -> list[str]:
        """Its lines; ``most`` are the rows of a table."""
        found = wrapped(_cleaned(self.title), width=width, indent="")
        found += wrapped(_cleaned(*self.text), width=width)
        for part in self.parts:
            if isinstance(part, Section):
                found += ["", *part.lines(width, most=most)]
            elif isinstance(part, Table):
                found += ["", *wrapped(_cleaned(part.title), width=width, indent="")] if part.title else []
                found += part.filled.lines(width, most=most)
                found += [f"  and {len(part.rows) - most} more"] if most is not None and len(part.rows) > most else []
                found += wrapped(_cleaned(part.note), width=width)
        found += [""] * bool(self.parts and self.warnings) + wrapped(_cleaned(*self.warnings), width=width)
        notes = wrapped(_cleaned(*self.notes), width=width, indent="", hanging="")
        return [*found, "", *notes] if notes else found

    def to_page(self) -> str:
        """The section as a whole HTML page, one file without outside parts; needs the extra ``report``."""
        from pytest_riskguard.reports.html import ensure_available

        ensure_available()
        from pytest_riskguard.reports.html.whole_page import whole_page

        return whole_page("report.html", title=self.title, style="report.css", report=self)


def _cleaned(*texts: str) -> list[str]:
    return [clean(text, limit=_MAX_SENTENCE) for text in texts if text]


# ---- names


def ends(text: str, room: float) -> str:
    """The text if it has room, else its two ends around an ellipsis: names often differ only at their end."""

    def cut(kept: int) -> str:
        end = kept // 2
        return f"{text[: kept - end].rstrip()}…{text[len(text) - end :].lstrip()}"

    if columns(text) <= room:
        return text
    return cut(max(bisect_left(range(len(text)), True, key=lambda kept: columns(cut(kept)) > room) - 1, 0))


# ---- lines of a terminal

#: What is to be typed as it is.
_COMMAND = re.compile(r"`[^`]+`")
_WORD = re.compile(r"(?:`[^`]+`|\S)+")


def wrapped(
    paragraphs: Iterable[str], *, width: int, indent: str = "  ", hanging: str = "  ", breaks_words: bool = False
) -> list[str]:
    """The lines of each paragraph; those after the first are indented further.

    They are broken between words only, unless words that are longer than a line may be broken. What stands between
    backticks, a command, is one word, which is never broken.
    """
    lines = []
    for text in paragraphs:
        line, start = "", indent
        for word in _WORD.findall(text):
            if line and columns(f"{line} {word}") > width:
                lines.append(line)
                line, start = "", indent + hanging
            line = f"{line} {word}" if line else start + word
            while breaks_words and "`" not in word and columns(line) > width:
                whole = fitted(line, width + 1)[:-1]  # without the ellipsis
                lines.append(whole)
                line = indent + hanging + line[len(whole) :]
        lines += [line] if line else []
    return lines


def at_most(most: int, lines: list[str], text: str, width: int) -> list[str]:
    """The first lines of a wrapped text, with an ellipsis; commands that they lack follow, each on its own line."""
    if len(lines) <= most:
        return lines
    kept = [*lines[: most - 1], fitted(f"{lines[most - 1]} …", width)]
    shown, indent = "\n".join(kept), len(lines[0]) - len(lines[0].lstrip()) + 2
    missing = [command for command in _COMMAND.findall(text) if command not in shown]
    return [*kept, *(f"{'':{indent}}{command.strip('`')}" for command in missing)]
