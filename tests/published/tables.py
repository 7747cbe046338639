"""The tables of docs/reproduction.md: ``python -m tests.published.tables`` writes them, and needs the real runs."""

import csv
import io
from collections.abc import Iterable, Sequence

from tests.house import CHECKOUT

FOLDER = CHECKOUT / "docs/data/reproduction"


def as_csv(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def main() -> None:
    from tests.published import interval_tables, pools
    from tests.shared_data import SHARED

    for name, text in {**pools.tables(SHARED), **interval_tables.tables(SHARED)}.items():
        (FOLDER / f"{name}.csv").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
