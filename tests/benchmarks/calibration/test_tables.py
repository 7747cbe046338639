"""Every table of the study can be made again, and agrees with what the docs show."""

from __future__ import annotations

import re

import pytest

from tests.benchmarks.calibration.studies import STUDIES
from tests.benchmarks.calibration.tables import Table, disagreements, processes, read
from tests.docs.pages import DOCS
from tests.shared_data import SHARED

#: Data sets for each cell of a study made again.
AGAIN = {
    "few-changes": 150,
    "plain-cases": 100,
    "not-inferior": 150,
    "equivalent": 150,
    "unequal-sizes": 100,
    "year": 200,
    "no-drift": 40,
    "georisk": 80,
    "families": 40,
    "pools": 40,
    "parts": 60,
    "intervals": 80,
    "replicates": 80,
    "weighted-topics": 80,
}
NEEDS_RUNS = {"few-changes", "families", "not-inferior", "equivalent", "unequal-sizes", "year", "no-drift"}
SHOWN: Table = [["topics", "rule", "skewness"], ["50", "2.5", "1"], ["100", "3.0", "2"]]


def counts(column: str) -> tuple[int, ...] | None:
    return {"topics": (), "rule": (1000, 4000)}.get(column)


@pytest.mark.parametrize(
    ("again", "said"),
    [
        ([["50", "2.6", "9"], ["100", "3.4", "9"]], []),
        ([["100", "3.4", ""]], []),
        ([["50", "9.9", "1"]], ["50, rule: 9.9, shown as 2.5"]),
        ([["50", "nan", "1"]], ["50, rule: nan, shown as 2.5"]),
    ],
)
def test_shares_further_apart_than_chance_are_told(again, said):
    assert disagreements([SHOWN[0], *again], SHOWN, counts) == said


def test_the_page_names_every_study():
    text = (DOCS / "explanation" / "calibration.md").read_text(encoding="utf-8")
    assert set(STUDIES) <= set(re.findall(r"`([\w-]+)`", text))


@pytest.mark.nightly
@pytest.mark.parametrize("name", STUDIES)
def test_made_again_every_table_agrees_with_the_one_shown(name):
    if name in NEEDS_RUNS and not SHARED.is_dir():
        pytest.skip("no folder 'shared' with the real runs")
    study = STUDIES[name]

    def counted(column: str) -> tuple[int, ...] | None:
        shown, again = (study.counted(column, count) for count in (study.simulations, AGAIN[name]))
        return None if shown is None or again is None else (again, shown) if shown else ()

    with processes(2) as pool:
        tables = study.tables(pool, simulations=AGAIN[name], seed=1)
    found = []
    for file, table in tables.items():
        found += [f"{file}: {line}" for line in disagreements(table, read(file), counted)]
    assert found == []
