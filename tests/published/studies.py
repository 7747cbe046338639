"""The studies of the command line on the runs of the papers, by the figures that ``--csv`` prints."""

import contextlib
import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pytest_riskguard.cli.main import run


@dataclass(frozen=True)
class Figures:
    """What a study prints: figures by part, row and column, and its answers."""

    cells: dict[tuple[str, str, str], list[tuple[float, float, float]]]
    texts: dict[tuple[str, str, str], str]

    def __call__(self, part: str, row: str, column: str | float) -> float:
        label = column if isinstance(column, str) else f"{column:g}"
        return self.cells[part, row, label][0][0]

    def column(self, part: str, column: str, rows: Sequence[str] = ()) -> list[float]:
        """A column of a table, of some rows or all."""
        known = [row for at, row, label in self.cells if (at, label) == (part, column)]
        return [self(part, row, column) for row in rows or known]


def table(path: Path, scores: Mapping[str, np.ndarray], topics: Sequence[object]) -> Path:
    """A table of scores, with a column for each system."""
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["topic", *scores])
        for place, topic in enumerate(topics):
            lines.writerow([topic, *(repr(float(values[place])) for values in scores.values())])
    return path


def printed(*words: object) -> str:
    """What ``riskguard study`` prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert run(["study", *map(str, words)]) == 0
    return out.getvalue()


def figures(name: str, *words: object) -> Figures:
    """The figures of a study."""
    cells: dict[tuple[str, str, str], list[tuple[float, float, float]]] = {}
    texts = {}
    for line in csv.DictReader(io.StringIO(printed(name, *words, "--csv"))):
        key = line["part"], line["row"], line["column"]
        try:
            value, low, high = (float(line[end] or "nan") for end in ("value", "low", "high"))
            cells.setdefault(key, []).append((value, low, high))
        except ValueError:
            texts[key] = line["value"]
    return Figures(cells, texts)
