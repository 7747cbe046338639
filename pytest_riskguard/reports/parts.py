"""What a report is made of: sections of sentences, tables and plots, the same for a terminal, Markdown and a page."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import groupby, takewhile, zip_longest
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from pytest_riskguard.frozen import frozen
from pytest_riskguard.reports.terminal import layout
from pytest_riskguard.text import clean, columns, fitted, plain, probability, short, signed

if TYPE_CHECKING:
    from pytest_riskguard.reports.html.charts.plots import Plot

#: The least columns of a terminal that a name keeps, and words; what the first name takes where there is no need to
#: cut it further.
_LEAST, _LEAST_WORDS, _FIRST_NAME = 8, 6, 24
#: A table that needs no more columns is shown on any terminal.
_ALWAYS = 80
#: Characters of a cell, and of a sentence.
_MAX_CELL, _MAX_SENTENCE = 200, 2000

#: A cell: an interval is a pair of numbers, a link a text with its address.
Cell = str | float | None | tuple[float | None, float | None] | tuple[str, str | None]


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
        Raw values. A pair of numbers is an interval, a pair of texts a text and the address that it links to. A text
        in a column of numbers, which is your own, stays as it is.
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

    @property
    def links(self) -> list[list[str | None]]:
        """For each cell the address that it links to."""
        return [[v[1] if isinstance(v, tuple) and isinstance(v[0], str) else None for v in row] for row in self.rows]

    def lines(self, width: int, *, indent: int = 2, head: bool = True, whole: bool = False) -> list[str]:
        """The table for a terminal: names are cut, then words broken, where lines would be longer than ``width``.

        A table that needs more room all the same is left out; of a ``whole`` one only names are cut, even if it
        is too wide then.
        """
        kinds = self.kinds
        grid = [[clean(cell, limit=_MAX_CELL) for cell in row] for row in (self.columns, *self.cells)]
        grid = grid if head else grid[1:]
        for gap, broken in ((2, False),) if whole else ((2, False), (1, False), (1, True)):
            widths = _widths(grid, kinds, width - indent - gap * (len(kinds) - 1), broken=broken)
            needed = sum(widths) + gap * (len(kinds) - 1) + indent
            if needed <= (max(width, _ALWAYS) if broken else width) or whole:
                rows = [*_shortened(grid, kinds, widths, head=head)]
                for place in (place for place, kind in enumerate(kinds) if kind == "name"):
                    widths[place] = max(columns(row[place]) for row in rows)
                broken_rows = (line for row in rows for line in _broken(row, kinds, widths))
                return [(" " * indent + (" " * gap).join(line)).rstrip() for line in broken_rows]
        return layout.wrapped([f"left out: it needs {needed} columns"], width=width, indent=" " * indent)


def _widths(grid: Sequence[Sequence[str]], kinds: Sequence[str], room: int, *, broken: bool) -> list[int]:
    """The width of each column: those on the right give way before those on the left."""
    widths = [max(map(columns, column)) for column in zip(*grid, strict=True)]
    names = [place for place, kind in enumerate(kinds) if kind == "name"]
    giving_way = [(place, _FIRST_NAME if place == names[0] else _LEAST) for place in reversed(names)]
    giving_way += [(place, _LEAST) for place in names[:1]]
    if broken:
        giving_way += [(place, _LEAST_WORDS) for place in reversed(range(len(kinds))) if kinds[place] == "text"]
    for place, least in giving_way:
        widths[place] -= max(min(sum(widths) - room, widths[place] - least), 0)
    return widths


def _cell(value: object, form: str, none: str) -> str:
    match value:
        case None:
            return none
        case str():
            return value
        case bool():
            return "yes" if value else "no"
        case (str() as text, _):
            return text
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


def _shortened(
    grid: Sequence[Sequence[str]], kinds: Sequence[str], widths: Sequence[int], *, head: bool
) -> Iterable[Sequence[str]]:
    """The rows with names that fit: those of the first column of names are all different, and keep their ends."""
    shown = [list(column) for column in zip(*grid, strict=True)]
    for place, (kind, width) in enumerate(zip(kinds, widths, strict=True)):
        if kind == "name" and place > kinds.index(kind):
            shown[place] = [fitted(name, width) for name in shown[place]]
        elif kind == "name":
            every = list(dict.fromkeys(shown[place][head:]))
            short_names = shortened(every, partial(ends, width=width))
            by_name = dict(zip(every, short_names, strict=True))
            shown[place][head:] = [by_name[name] for name in shown[place][head:]]
    return zip(*shown, strict=True)


def _broken(row: Sequence[str], kinds: Sequence[str], widths: Sequence[int]) -> Iterable[list[str]]:
    """The cells of each line of a row: more than one line where words must be broken."""
    parts = [
        layout.wrapped([cell], width=width, indent="", hanging="", breaks_words=True)
        if kind == "text" and columns(cell) > width
        else [cell]
        for cell, kind, width in zip(row, kinds, widths, strict=True)
    ]
    for line in zip_longest(*parts, fillvalue=""):
        blanks = [" " * (width - columns(cell)) for cell, width in zip(line, widths, strict=True)]
        yield [
            blank + cell if kind == "number" else cell + blank
            for cell, blank, kind in zip(line, blanks, kinds, strict=True)
        ]


@frozen
class Section:
    """A report, or a part of one: sentences, then tables, plots and smaller sections.

    Parameters
    ----------
    title : str
    text : sequence of str
        Sentences, most important first; the first one of a report is the answer that its page begins with.
    parts : sequence of Table, Plot or Section
        In this order. A terminal and Markdown leave out plots.
    warnings : sequence of str
        What to be careful about.
    notes : sequence of str
        How to read the section.
    state : str
        ``pass``, ``fail``, ``inconclusive`` or ``incomparable``: the colour of its edge on a page.
    is_open : bool or None
        On a page: folded, open or closed; by default it is no fold.
    """

    title: str
    text: Sequence[str] = ()
    parts: Sequence[Table | Plot | Section] = ()
    warnings: Sequence[str] = ()
    notes: Sequence[str] = ()
    state: str = ""
    is_open: bool | None = None

    def to_text(self, width: int) -> str:
        """The section for a terminal of so many columns; no text is readable in fewer than 60."""
        return "\n".join(self._lines(max(width, 60)))

    def _lines(self, width: int) -> list[str]:
        found = _wrapped([self.title], width, indent="") + _wrapped(self.text, width)
        for part in self.parts:
            if isinstance(part, Section):
                found += ["", *part._lines(width)]
            elif isinstance(part, Table):
                titled = _wrapped([part.title], width, indent="") if part.title else []
                found += ["" for _ in titled] + titled + part.filled.lines(width) + _wrapped([part.note], width)
        found += [""] * bool(self.parts and self.warnings) + _wrapped(self.warnings, width)
        notes = _wrapped(self.notes, width, indent="", hanging="")
        return [*found, "", *notes] if notes else found

    def to_markdown(self) -> str:
        """The section as Markdown."""
        return "\n".join(self._markdown(2))

    def _markdown(self, level: int) -> list[str]:
        from pytest_riskguard.reports.markdown import prose, table

        found = [f"{'#' * level} {prose(self.title)}", ""]
        found += [f"- {prose(line)}" for line in self.text] + [""] * bool(self.text)
        for part in self.parts:
            if isinstance(part, Section):
                found += part._markdown(level + 1)
            elif isinstance(part, Table):
                found += [f"**{prose(part.title)}**", ""] if part.title else []
                found += [*table(part.filled, most=len(part.rows)), ""]
                found += [prose(part.note), ""] if part.note else []
        found += [f"- {prose(line)}" for line in self.warnings] + [""] * bool(self.warnings)
        return found + [line for note in self.notes for line in (prose(note), "")]

    def to_page(self) -> str:
        """The section as a whole HTML page, one file without outside parts; needs the extra ``report``."""
        from pytest_riskguard.reports.html.whole_page import whole_page

        return whole_page("report.html", title=self.title, style="report.css", report=self)


def _wrapped(texts: Iterable[str], width: int, *, indent: str = "  ", hanging: str = "  ") -> list[str]:
    shown = [clean(text, limit=_MAX_SENTENCE) for text in texts if text]
    return layout.wrapped(shown, width=width, indent=indent, hanging=hanging)


# ---- names

#: Longer names are cut even where there is room.
_MAX_NAME = 1000
#: The parts of a name that are compared: words, numbers, other characters.
_PART = re.compile(r"\d+(?:\.\d+)*|[^\W\d_]+|.")


def shortened(names: Sequence[str], cut: Callable[[str], str]) -> list[str]:
    """The names, all different and short enough, as one printable line each.

    ``cut`` shortens a text and leaves a short enough one as it is. Of names that it makes the same only what differs
    is kept, such as ``…1…`` of ``ltr-alpha1-final``; where that does not help either, a number is added.
    """
    whole = [clean(name, limit=_MAX_NAME) for name in names]
    found = [cut(name) for name in whole]
    equal = [place for place, text in enumerate(found) if text != whole[place] and found.count(text) > 1]
    for place, text in zip(equal, _differing([whole[place] for place in equal]), strict=True):
        found[place] = cut(text) if text.strip("…") else found[place]
    kept, different = {text for text, name in zip(found, whole, strict=True) if text == name}, list[str]()
    for text, name in zip(found, whole, strict=True):
        shown, number = text, 1
        while shown in different or (shown in kept and shown != name):
            number, start = number + 1, text
            while start and cut(f"{start}~{number}") != f"{start}~{number}":
                start = start[:-1]
            shown = f"{start}~{number}"
        different.append(shown)
    return different


def _differing(names: Sequence[str]) -> list[str]:
    """What differs in each name; an ellipsis stands for what they have in common."""
    split = [_PART.findall(name) for name in names]
    start = _in_common(split)
    end = _in_common([parts[start:][::-1] for parts in split])
    everywhere = set[int]()
    if len({len(parts) for parts in split}) == 1:
        everywhere = {place for place, column in enumerate(zip(*split, strict=True)) if len(set(column)) == 1}
    texts = []
    for parts in split:
        shared = [i < start or i >= len(parts) - end or i in everywhere for i in range(len(parts))]
        runs = groupby(zip(shared, parts, strict=True), key=itemgetter(0))
        texts.append("".join("…" if same else "".join(part for _, part in run) for same, run in runs))
    return texts


def _in_common(split: Sequence[Sequence[str]]) -> int:
    """How many equal parts all of them begin with."""
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, zip(*split, strict=False)))


def ends(name: str, width: int) -> str:
    """The name in at most ``width`` columns of a terminal, with its end kept: models often differ only there."""
    if columns(name) <= width:
        return name
    end = fitted(name[::-1], width // 2 + 1)[:-1]  # without the ellipsis
    return fitted(name, width - columns(end)) + end[::-1]


@cache
def glossary() -> str | None:
    """The page that explains the words of a report; None in a copy of the package that was never installed."""
    from importlib import metadata

    try:
        addresses = metadata.metadata("pytest-riskguard").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return None
    start = dict(address.split(", ", 1) for address in addresses if ", " in address).get("Documentation")
    return start and urljoin(start, "glossary.md")
