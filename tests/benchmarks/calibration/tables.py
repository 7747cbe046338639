"""Studies and their tables of shares, as CSV files of the docs."""

import csv
import io
import math
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

#: The tables, which pages of the docs show and the tests read.
TABLES = Path(__file__).resolve().parents[3] / "docs" / "data" / "calibration"

#: A header, then rows.
Table = list[list[str]]
#: The first columns of a row by the words of the header, as numbers where they are numbers.
Place = dict[str, Any]


@dataclass(frozen=True)
class Study:
    """A simulation, row by row of a table; the one shown was made with ``simulations`` data sets for each row.

    Attributes
    ----------
    simulate : callable
        What stands in the other columns, from a row's place (its first columns), a generator of its own and how many
        data sets to draw. A float is a share.
    places : int
        How many columns name the place.
    no_share : tuple of str
        Columns that hold no share.
    fewer : mapping
        Columns that the table shown counts on so many data sets at the most.
    part : int
        The part of the data sets that all columns are counted on at least.
    """

    simulate: Callable[[Place, np.random.Generator, int], Mapping[str, object]]
    simulations: int
    places: int
    no_share: tuple[str, ...] = ()
    fewer: Mapping[str, int] = field(default_factory=dict)
    part: int = 1

    def again(self, name: str, pool: Executor, *, simulations: int, seed: int) -> Table:
        """The table of this name, simulated again by a pool of processes."""
        header, *lines = read(name)
        heads = [line[: self.places] for line in lines]
        rows = pool.map(self.row, heads, repeat(header), repeat(simulations), repeat(seed))
        return [header, *([*head, *row] for head, row in zip(heads, rows, strict=True))]

    def row(self, head: list[str], header: list[str], simulations: int, seed: int) -> list[str]:
        """What stands beside a row's place."""
        place = dict(zip(header, map(_value, head), strict=False))
        rng = np.random.default_rng([seed, zlib.crc32(",".join(head).encode())])
        found = self.simulate(place, rng, simulations)
        return [shown(found[column]) for column in header[self.places :]]

    def counted(self, column: str, simulations: int) -> int | None:
        """On how many of a row's data sets a column is counted; None if it is no share."""
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


def disagreements(study: Study, again: Table, shown: Table, simulations: int) -> list[str]:
    """Where a table simulated again, with so many data sets, differs from the one shown by more than chance."""
    found = []
    for one, other in zip(again[1:], shown[1:], strict=True):
        for column, ours, theirs in list(zip(shown[0], one, other, strict=True))[study.places :]:
            counts = [study.counted(column, count) for count in (simulations, study.simulations)]
            if None in counts or ours == theirs == "":
                continue
            if not abs(float(ours) - float(theirs)) <= allowed(float(ours), float(theirs), *counts):
                found.append(f"{' '.join(one[: study.places])}, {column}: {ours}, shown as {theirs}")
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
