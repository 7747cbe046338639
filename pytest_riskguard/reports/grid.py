"""Lines of systems with their figures, in columns that fit a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

#: The longest part of a name in a table, and the shortest that still tells systems apart.
LONGEST_NAME, SHORTEST_NAME = 20, 8


def note(text: str, *, width: int) -> str:
    """A line under a table, wrapped."""
    return textwrap.fill(text, width=width, initial_indent="  ", subsequent_indent="    ")


def label_width(names: Sequence[str], *, width: int, cells: int, numbered: bool = True) -> int:
    """What is left for names beside figures of so many columns."""
    taken = 2 + (len(str(len(names))) + 2 if numbered else 0) + cells
    return width - taken


def grid(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    names: Sequence[str],
    cells: Sequence[int],
    *,
    width: int,
    numbered: bool = True,
    longest: int = LONGEST_NAME,
) -> str:
    """Lines of a number, a name cut to fit, and figures to the right of their columns."""
    from rich.cells import cell_len, set_cell_size

    cells = cells[: len(header)]
    room = max(label_width(names, width=width, cells=sum(cells), numbered=numbered), SHORTEST_NAME)
    label = min(max(cell_len(name) for name in names), longest, room)
    digits = len(str(len(names)))

    def fitted(name: str) -> str:
        return set_cell_size(name if cell_len(name) <= label else set_cell_size(name, label - 1) + "…", label)

    def line(number: str, name: str, figures: Sequence[str]) -> str:
        start = f"  {number:>{digits}}  " if numbered else "  "
        figured = "".join(f"{figure:>{cell}}" for figure, cell in zip(figures, cells, strict=True))
        return (start + fitted(name) + figured).rstrip()

    lines = [line("", "", header)]
    lines += [line(str(i), name, row) for i, (name, row) in enumerate(zip(names, rows, strict=True), start=1)]
    return "\n".join(lines)
