"""Tables of shares, as CSV files of the docs."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

#: The tables, which pages of the docs show and the tests read.
TABLES = Path(__file__).resolve().parents[3] / "docs" / "data" / "calibration"

#: A header, then rows.
Table = list[list[str]]


def percent(share: float) -> str:
    return "" if math.isnan(share) else f"{100 * share:.1f}"


def row(*cells: object) -> list[str]:
    return [str(cell) for cell in cells]


def as_csv(table: Table) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(table)
    return out.getvalue()


def read(name: str) -> Table:
    """A table as the docs have it."""
    with (TABLES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, strict=True))


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
