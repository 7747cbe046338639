"""The simulation of pools: verdicts warn where its table has a share that is off."""

from __future__ import annotations

import csv
from itertools import product

import numpy as np
import pytest

from pytest_riskguard import check
from tests.benchmarks.calibration.pool_study import (
    ALPHAS,
    NOMINAL,
    POPULATIONS,
    SYSTEMS,
    TOO_FAR,
    TOPICS,
)
from tests.docs.pages import DOCS

TEXT = (DOCS / "explanation/georisk.md").read_text(encoding="utf-8")
#: Of the table on the page.
COLUMNS = ("percentile", "bca", "student_t")

Cell = tuple[str, int, int, float]


def page() -> dict[Cell, dict[str, str]]:
    """The table that the page shows: cells by population, topics, systems and alpha."""
    with (DOCS / "data/calibration/georisk.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, strict=True))[1:]
    cells: dict[Cell, dict[str, str]] = {}
    for population, topics, systems, alpha, *shares, simulations in rows:
        cell = population, int(topics), int(systems), float(alpha)
        assert cell not in cells
        cells[cell] = {**dict(zip(COLUMNS, shares, strict=True)), "simulations": simulations}
    return cells


def is_off(share: str) -> bool:
    """Whether a share is further from what is due than a verdict lets pass without a warning."""
    return abs(float(share) - NOMINAL) > TOO_FAR


def test_the_table_has_every_cell_and_the_page_shows_it():
    assert list(page()) == list(product(POPULATIONS, TOPICS, SYSTEMS, ALPHAS))
    assert {int(row["simulations"]) for row in page().values()} == {6000}
    assert "\n:file: ../data/calibration/georisk.csv\n" in TEXT


@pytest.mark.parametrize(("topics", "alpha"), sorted({(cell[1], cell[3]) for cell in page()}))
def test_a_verdict_warns_where_the_page_has_a_share_that_is_off(topics, alpha):
    rng = np.random.default_rng(topics)
    systems = [{str(n): float(x) for n, x in enumerate(rng.beta(2, 3, topics))} for _ in range(3)]
    verdict = check("georisk_not_worse", systems[0], dict(zip("ab", systems[1:], strict=True)), alpha=alpha)
    warned = "few_topics" in {warning.code for warning in verdict.warnings}
    shown = [row["bca"] for cell, row in page().items() if (cell[1], cell[3]) == (topics, alpha)]
    assert warned or not any(map(is_off, shown))
    assert warned == (topics < 50 and alpha > 1)
