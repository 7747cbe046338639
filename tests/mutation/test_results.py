"""Results of mutation tests are counted as mutmut wrote them, and every survivor that is listed has a reason."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

from tests.mutation.refused_by_types import inside_mutants
from tests.mutation.results import explanations, results_of, share_noticed, table

STATUSES = {"x_a__mutmut_1": 1, "x_a__mutmut_2": 0, "x_a__mutmut_3": 33, "x_a__mutmut_4": 36, "x_a__mutmut_5": 37}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    meta = tmp_path / "mutants" / "pytest_riskguard" / "risk" / "urisk.py.meta"
    meta.parent.mkdir(parents=True)
    names = {f"pytest_riskguard.risk.urisk.{name}": status for name, status in STATUSES.items()}
    not_run = {"pytest_riskguard.risk.urisk.x_a__mutmut_6": None}
    meta.write_text(json.dumps({"exit_code_by_key": names | not_run}), encoding="utf-8")
    return tmp_path


def test_each_exit_status_of_mutmut_is_counted_as_what_it_means(copy):
    assert table(results_of(copy))[2] == "| risk | 6 | 1 | 1 | 1 | 2 | 1 | 60.0% |"


def test_mutants_that_were_not_run_are_not_in_the_share(copy):
    assert share_noticed(results_of(copy)) == pytest.approx(3 / 5)


def test_a_complaint_of_mypy_counts_inside_a_mutant_whose_original_has_none(tmp_path):
    lines = ["def x_a__mutmut_orig():", "    pass", "def x_a__mutmut_1():", "    pass"]
    lines += ["def x_b__mutmut_orig():", "    pass", "def x_b__mutmut_1():", "    pass", "outside = 1"]
    (tmp_path / "module.py").write_text("\n".join(lines), encoding="utf-8")
    complaints = [(4, "in a mutant"), (6, "in an original"), (8, "in its mutant"), (9, "outside")]
    assert inside_mutants(tmp_path / "module.py", complaints) == ["in a mutant"]


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
