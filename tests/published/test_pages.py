"""What the pages on published figures show is what the tests and the study compute."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from pytest_riskguard.inference.intervals import METHODS, Interval
from tests.benchmarks import study_web2012
from tests.published import csv_tables, pools

ROOT = Path(__file__).resolve().parents[2]
ERRATA = (ROOT / "docs/explanation/errata.md").read_text(encoding="utf-8")
REPRODUCTION = (ROOT / "docs/reproduction.md").read_text(encoding="utf-8")


def shown(name: str) -> str:
    """The file behind a table that the page on reproduction shows."""
    assert f":file: data/reproduction/{name}.csv\n" in REPRODUCTION
    return (csv_tables.FOLDER / f"{name}.csv").read_text(encoding="utf-8")


@pytest.mark.nightly
def test_the_tables_of_the_study_are_what_it_prints(shared):
    for name, table in study_web2012.tables(shared).items():
        assert shown(name) == csv_tables.as_csv(table)


@pytest.mark.parametrize("name", ["reference-baselines", "multiple-baselines", "minus-convention"])
def test_the_tables_of_pools_are_what_is_computed(shared, name):
    assert shown(name) == csv_tables.as_csv(pools.tables(shared)[name])


def test_what_is_said_below_the_tables_is_in_them():
    risky = {}
    for r, level, method, count, *_ in csv.reader(shown("study-intervals").splitlines()[1:]):
        risky[r, level, method] = int(count)
    for r in ("1", "10"):
        for level in ("95%", "99.9%"):
            t, basic, studentized, percentile, bca = (risky[r, level, method] for method in METHODS)
            assert basic <= t <= percentile <= bca
            assert t <= studentized <= bca
    assert "Student-t calls 3 of 48 runs risky, basic 0, percentile 25, BCa 37, and studentized" in " ".join(
        REPRODUCTION.split()
    )
    assert [risky["10", "99.9%", method] for method in METHODS] == [3, 0, 24, 25, 37]


@pytest.mark.parametrize(
    ("lower", "upper", "verdict"),
    [
        (-0.2, -0.1, "risky"),
        (-0.2, 0.0, "neither"),
        (-0.1, 0.1, "neither"),
        (0.0, 0.1, "neither"),
        (0.1, 0.2, "better"),
    ],
)
def test_the_study_calls_risky_what_lies_below_zero(lower, upper, verdict):
    assert study_web2012.verdict(Interval("bca", 0.95, lower, upper)) == verdict


def test_every_erratum_is_held_by_a_test_that_is_there():
    named = set(re.findall(r"`(test_\w+)`", ERRATA))
    there = {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert len(named) >= 15
    assert named <= there
    entries = re.split(r"^\*\*", ERRATA, flags=re.MULTILINE)[1:]
    assert [entry.split("\n")[0] for entry in entries if not re.search(r"^- Tests?: `", entry, re.MULTILINE)] == []
