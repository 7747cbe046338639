"""Tables of shares, as CSV files of the docs."""

from __future__ import annotations

import csv
import io
import math
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
