"""Studies and their tables of shares, as CSV files of the docs."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

#: The tables, which pages of the docs show and the tests read.
TABLES = Path(__file__).resolve().parents[3] / "docs" / "data" / "calibration"

#: A header, then rows.
Table = list[list[str]]
#: A row of a table: the name of its file, and values by the words of the header. Floats are shares.
Row = tuple[str, dict[str, object]]


@dataclass(frozen=True)
class Study:
    """A simulation, cell by cell; the tables shown were made with ``simulations`` data sets for each.

    Attributes
    ----------
    cells : callable
        The cells for a number of data sets and a seed.
    simulate : callable
        The rows that a cell gives.
    place, no_share : tuple of str
        Columns that name the cell, and others that hold no share.
    fewer : mapping
        Columns that are counted on so many data sets at the most.
    part : int
        The part of the data sets that all columns are counted on at least.
    """

    cells: Callable[[int, int], Iterable[Any]]
    simulate: Callable[[Any], list[Row]]
    simulations: int
    place: tuple[str, ...]
    no_share: tuple[str, ...] = ()
    fewer: Mapping[str, int] = field(default_factory=dict)
    part: int = 1

    def tables(self, pool: Executor, *, simulations: int, seed: int) -> dict[str, Table]:
        """The tables by the names of their files, simulated by a pool of processes."""
        found: dict[str, Table] = {}
        for rows in pool.map(self.simulate, self.cells(simulations, seed)):
            for name, row in rows:
                found.setdefault(name, [[*row]]).append([shown(value) for value in row.values()])
        return found

    def counted(self, column: str, simulations: int) -> int | None:
        """On how many of a cell's data sets a column was counted: 0 if it names the cell, None if it is no share."""
        if column in self.place:
            return 0
        if column in self.no_share:
            return None
        return min(max(simulations // self.part, 1), self.fewer.get(column, simulations))


def shown(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    return "" if math.isnan(value) else f"{100 * value:.1f}"


def as_csv(table: Table) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(table)
    return out.getvalue()


def read(name: str) -> Table:
    """A table as the docs have it."""
    with (TABLES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, strict=True))


def places(name: str) -> Iterator[dict[str, Any]]:
    """The rows of a table as the docs have it: they name the cells that a study simulates.

    By the words of the header, as numbers where they are numbers.
    """
    header, *rows = read(name)
    for row in rows:
        yield dict(zip(header, map(_value, row), strict=True))


def _value(text: str) -> Any:
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text


#: So many standard errors may two simulations of the same share differ by: thousands are compared.
ERRORS = 4.5


def allowed(one: float, other: float, *simulations: int) -> float:
    """How far two simulated shares of the same thing may lie apart, in points; both are rounded to a tenth."""
    p = min(max((one + other) / 200, 0.002), 0.998)
    return 100 * ERRORS * math.sqrt(p * (1 - p) * sum(1 / count for count in simulations)) + 0.1


def disagreements(again: Table, shown: Table, counts: Callable[[str], tuple[int, ...] | None]) -> list[str]:
    """Where a table simulated again and the one shown differ by more than chance explains.

    ``counts`` gives the data sets behind a column of each of the two: none for a column that names the cell of a row,
    None for one that holds no share. ``again`` may have some of the rows only.
    """
    header = shown[0]
    if again[0] != header:
        return [f"columns are {again[0]}, not {header}"]
    places = [i for i, column in enumerate(header) if counts(column) == ()]
    rows = {tuple(line[i] for i in places): line for line in shown[1:]}
    found = []
    for line in again[1:]:
        place = tuple(line[i] for i in places)
        for i, column in enumerate(header):
            of, again_and_shown = counts(column), (line[i], rows[place][i])
            if not of or again_and_shown == ("", ""):
                continue
            one, other = map(float, again_and_shown)
            if not abs(one - other) <= allowed(one, other, *of):
                found.append(f"{' '.join(place)}, {column}: {one}, shown as {other}")
    return found


@contextmanager
def processes(workers: int) -> Iterator[Executor]:
    """Processes of one thread each; how many there are changes no result."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ |= dict.fromkeys(names, "1")  # inherited by the workers, which load numpy anew
    try:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            yield pool
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
