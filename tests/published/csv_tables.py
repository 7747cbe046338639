"""Tables of docs/reproduction.md as the CSV files that the page shows."""

from __future__ import annotations

import argparse
import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "docs/data/reproduction"


def as_csv(table: str) -> str:
    """A Markdown table as CSV; its second line, the rule under the header, is left out."""
    header, _, *rows = table.splitlines()
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip("|"))] for row in (header, *rows)]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(cells)
    return text.getvalue()


def print_or_write(description: str | None, tables: Mapping[str, str]) -> None:
    """What the scripts do: print the tables, or with ``--write`` put them where the page finds them."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the tables to docs/data/reproduction")
    if parser.parse_args().write:
        for name, table in tables.items():
            (FOLDER / f"{name}.csv").write_text(as_csv(table), encoding="utf-8", newline="\n")
    else:
        print("\n\n".join(tables.values()))
