"""The calibration study: its process, its tables on the page, and what others found for the same cells."""

import csv
import re

import numpy as np
import pytest

from tests.benchmarks.calibration.interval_study import EVERY_TOPIC, METHODS, STUDY, truth
from tests.benchmarks.calibration.tables import TABLES, allowed
from tests.docs.pages import DOCS

Row = dict[str, str]

#: Simulations of the page and of the published tables, for each cell.
SIMULATIONS = 4000

# Measured with a prototype that shares no code with this project, from the process of this study: 4000 simulations
# for each cell, percentages to one digit. r is 1 + alpha. Columns: coverage by method, then the share of data sets
# whose two-sided 95% upper limit is below 0, by method (Student-t, basic, percentile, BCa, studentized).
PUBLISHED_ZERO = """
25 1 95.0 93.6 92.3 91.1 92.9 2.7 3.5 4.0 4.5 3.6
25 2 94.5 92.8 92.2 91.6 92.8 1.3 1.5 2.5 3.5 2.8
25 6 89.1 86.6 88.2 88.5 90.2 0.2 0.2 0.9 2.4 1.3
25 11 83.4 79.5 82.9 84.2 86.1 0.2 0.2 0.6 2.1 1.0
50 1 95.5 95.1 94.5 93.9 94.6 2.6 2.8 3.0 3.3 3.0
50 2 94.0 93.5 93.3 92.9 93.8 1.6 1.6 2.2 3.0 2.5
50 6 92.3 90.2 92.1 93.2 94.6 0.5 0.4 1.2 2.4 1.7
50 11 88.7 85.8 89.2 90.8 92.4 0.4 0.3 0.9 2.5 1.8
100 1 94.8 94.6 94.2 94.0 94.4 2.9 2.9 3.1 3.3 3.0
100 2 94.7 94.4 94.3 94.0 94.3 2.1 2.0 2.5 3.3 3.0
100 6 93.1 92.1 93.1 94.2 95.0 1.0 0.9 1.6 2.6 2.2
100 11 92.0 90.2 92.3 93.8 95.1 0.5 0.3 1.2 2.2 1.8
250 1 95.3 95.2 95.1 95.0 95.1 2.0 2.1 2.1 2.1 2.1
250 2 94.9 94.6 94.7 94.8 95.0 1.9 1.8 2.1 2.5 2.3
250 6 94.3 93.8 94.3 94.3 94.9 1.5 1.3 1.9 2.9 2.6
250 11 93.8 92.7 94.0 94.6 95.3 1.1 0.9 1.6 2.6 2.3
"""
# The same for two equal systems; the last column is the share of sign-flip p-values of 2.5% or less.
PUBLISHED_EQUAL = """
25 1 94.9 93.7 92.5 91.5 92.7 2.8 3.5 4.1 4.6 3.9 2.9
25 2 93.9 92.1 92.2 91.8 93.5 13.5 15.1 20.7 26.6 21.7 2.7
25 6 92.0 89.1 91.5 93.1 95.7 56.0 55.6 74.9 85.2 80.0 2.8
25 11 91.0 87.6 90.7 92.9 96.2 74.1 71.9 90.4 96.0 93.2 2.5
50 1 95.2 94.7 94.3 93.5 94.6 2.2 2.4 2.5 3.0 2.5 2.1
50 2 94.2 93.5 93.4 93.2 94.2 31.0 31.0 37.4 42.5 39.3 3.2
50 6 93.8 92.0 93.5 94.5 96.0 94.0 92.6 96.7 98.5 97.7 2.6
50 11 93.2 91.3 92.6 93.8 95.5 99.3 98.8 99.9 100.0 100.0 2.8
100 1 95.1 94.8 94.5 94.2 94.5 2.6 2.8 2.9 3.1 2.9 3.0
100 2 94.3 93.9 94.0 94.0 94.4 60.8 59.9 64.4 67.5 66.2 2.5
100 6 93.6 92.4 93.4 94.5 95.1 100.0 100.0 100.0 100.0 100.0 2.5
100 11 94.2 93.0 94.1 95.4 96.2 100.0 100.0 100.0 100.0 100.0 2.4
250 1 95.2 95.0 95.0 94.9 94.9 2.4 2.5 2.5 2.5 2.4 2.5
250 2 94.8 94.8 94.6 94.7 94.7 94.8 94.7 95.4 96.0 95.8 2.7
250 6 94.1 93.7 94.3 94.7 95.2 100.0 100.0 100.0 100.0 100.0 2.6
250 11 95.2 94.6 95.3 95.4 95.8 100.0 100.0 100.0 100.0 100.0 2.8
"""
COLUMNS = [f"{what} {method}" for what in ("covers", "fails") for method in METHODS]


EXPLANATION = DOCS / "explanation"
ZERO, EQUAL = "urisk-zero", "equal-systems"


def table(name: str) -> list[Row]:
    """The rows of a table of the study, by the words of its header."""
    with (TABLES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def by_cell(name: str) -> dict[tuple[int, float], dict[str, float]]:
    return {
        (int(row["topics"]), int(row["alpha"])): {column: float(row[column]) for column in row} for row in table(name)
    }


def published(text: str, columns: list[str]) -> dict[tuple[int, int], dict[str, float]]:
    cells = {}
    for line in text.split("\n")[1:-1]:
        n, r, *shares = line.split()
        cells[int(n), int(r) - 1] = dict(zip(columns, map(float, shares), strict=True))
    return cells


@pytest.mark.parametrize(
    ("heading", "text", "columns"),
    [(ZERO, PUBLISHED_ZERO, COLUMNS), (EQUAL, PUBLISHED_EQUAL, [*COLUMNS, "sign-flip"])],
)
def test_the_page_agrees_with_the_published_tables_cell_by_cell(heading, text, columns):
    ours, theirs = by_cell(heading), published(text, columns)
    assert ours.keys() == theirs.keys()
    for cell, shares in theirs.items():
        for column, share in shares.items():
            error = allowed(ours[cell][column], share, SIMULATIONS, SIMULATIONS)
            assert ours[cell][column] == pytest.approx(share, abs=error, rel=0), (cell, column)


def test_two_equal_systems_fail_a_gate_that_warns_of_churn_in_no_more_than_3_5_percent():
    warn = [
        float(row["equal systems: auto, on_churn: warn"]) for row in table("whole-gates") if int(row["topics"]) >= 50
    ]
    moving = [
        float(row["on_churn: warn"]) for row in table("other-differences") if row["differences"] == EVERY_TOPIC.name
    ]
    assert (len(warn), len(moving)) == (12, 9)
    assert max(warn + moving) <= 3.5


def test_the_process_is_the_published_one():
    # "20% exact ties d=0; sd(d)=.161, mean|d|=.110"; "delta .048/.127/.171 at r=2/6/11"
    d = STUDY.draw(np.random.default_rng(0), (500, 500))
    assert np.mean(d == 0) == pytest.approx(0.2, abs=0.005)
    assert d.std() == pytest.approx(0.161, abs=0.001)
    means, shifts = zip(*(truth(STUDY, alpha, 400_000) for alpha in (1, 5, 10)), strict=True)
    assert means == pytest.approx([0.110] * 3, abs=0.001)
    assert shifts == pytest.approx([0.048, 0.127, 0.171], abs=0.001)


def test_pages_show_every_table():
    shown = [
        name
        for page in ("calibration.md", "georisk.md", "plain-cases.md")
        for name in re.findall(r"^```\{data\} calibration/(\S+)$", (EXPLANATION / page).read_text("utf-8"), re.M)
    ]
    assert sorted(shown) == sorted(path.stem for path in TABLES.iterdir())
