"""Results of mutation tests are counted, and every survivor that is listed has a reason."""

from __future__ import annotations

import csv
import importlib
import json

import pytest

from tests.mutation.__main__ import TESTS
from tests.mutation.refused_by_types import refused_at
from tests.mutation.results import EXPLANATIONS_FILE, explanations, record, results_of, share_noticed, table

NAMES = [f"pytest_riskguard.risk.urisk.x_a__mutmut_{number}" for number in range(1, 7)]
OUTCOMES = ("killed", "survived", "survived", "timed out", "refused")


@pytest.fixture
def copy(tmp_path):
    meta = tmp_path / "mutants" / "pytest_riskguard" / "risk" / "urisk.py.meta"
    meta.parent.mkdir(parents=True)
    meta.write_text(json.dumps({"exit_code_by_key": dict.fromkeys(NAMES)}), encoding="utf-8")
    record(tmp_path, dict(zip(NAMES, OUTCOMES, strict=False)) | {"of another package": "killed"})
    return tmp_path


def test_outcomes_are_counted_and_the_share_is_of_those_that_were_run(copy):
    assert table(results_of(copy))[2] == "| risk | 6 | 1 | 1 | 1 | 2 | 1 | 60.0% |"


def test_nothing_that_was_run_is_nothing_that_survived():
    assert share_noticed([]) == 1


def test_mypy_refuses_a_mutant_if_it_complains_inside_it_and_not_inside_the_original(tmp_path):
    lines = ["def x_a__mutmut_orig():", "    pass", "def x_a__mutmut_1():", "    pass"]
    lines += ["def x_b__mutmut_orig():", "    pass", "def x_b__mutmut_1():", "    pass", "outside = 1"]
    (tmp_path / "module.py").write_text("\n".join(lines), encoding="utf-8")
    assert refused_at(tmp_path / "module.py", [4, 6, 8, 9]) == ["x_a__mutmut_1"]


def test_each_survivor_has_a_reason_and_its_function_exists():
    for row in explanations():
        assert row["why"].strip(), row["mutant"]
        module, _, mutant = row["mutant"].rpartition(".")
        # x_function, or xǁClassǁmethod
        *owner, function = mutant.rpartition("__mutmut_")[0].removeprefix("x").removeprefix("_").split("ǁ")
        defined = importlib.import_module(f"pytest_riskguard.{module}")
        assert hasattr(getattr(defined, owner[-1]) if owner else defined, function), row


def test_no_survivor_is_listed_twice():
    names = [row["mutant"] for row in explanations()]
    assert len(names) == len(set(names))


def test_the_published_counts_add_up():
    with (EXPLANATIONS_FILE.with_name("results.csv")).open(encoding="utf-8", newline="") as file:
        *packages, total = csv.DictReader(file)
    assert [row["package"] for row in packages] == [*TESTS]
    counts = ("refused by mypy", "killed by tests", "timed out", "survived")
    for row in (*packages, total):
        assert sum(int(row[count]) for count in counts) == int(row["changes"])
        assert row["noticed"] == f"{1 - int(row['survived']) / int(row['changes']):.1%}"
    for count in ("changes", *counts):
        assert sum(int(row[count]) for row in packages) == int(total[count])
