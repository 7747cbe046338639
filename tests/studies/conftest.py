"""The command in a working folder, as in the tests of the command line, and a table of scores to study."""

import csv
from collections import defaultdict
from typing import Any

import pytest

from tests.cli.conftest import command, done, folder, refused, template
from tests.studies import pools

__all__ = ["command", "done", "folder", "refused", "template"]


@pytest.fixture
def table(folder):
    """``pool.csv``, with a column for each system of ``pools.SCORES``."""
    pools.write(folder / "pool.csv", pools.SCORES)


@pytest.fixture
def figures(command, table):
    """What ``--csv`` prints of a study: by part, row and column a value, (low, high), or (value, low, high)."""

    def read(line: str, scores: str = "pool.csv") -> dict[str, dict[str, dict[str, Any]]]:
        ended = command(f"study {line} --scores {scores} --csv")
        assert (ended.status, ended.err) == (0, "")
        head, *rows = csv.reader(ended.out.splitlines())
        assert head == ["part", "row", "column", "value", "low", "high"]
        found: dict[str, Any] = defaultdict(lambda: defaultdict(dict))
        for part, row, column, *cell in rows:
            known = [plain(one) for one in cell if one]
            found[part][row][column] = tuple(known) if len(known) > 1 else (*known, None)[0]
        return found

    return read


def plain(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
