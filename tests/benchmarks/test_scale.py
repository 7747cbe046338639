"""The benchmark of scale on tiny files: the same means as ir_measures, and tables that the page shows."""

import importlib
import re

import pytest

from tests.benchmarks.scale.measuring import ROOT, NotMeasuredError, alternately

benchmark = importlib.import_module("tests.benchmarks.scale.__main__")
PAGE = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "contained"), [("comparing", "riskguard compare"), ("formats", "judgements,jsonl")])
def test_each_table_is_written_for_the_page(name, contained, tmp_path, monkeypatch):
    monkeypatch.setattr(benchmark, "DATA", tmp_path / "written")
    benchmark.main(["--only", name, "--small", "--write", "--rounds", "1", "--folder", str(tmp_path)])
    assert contained in (tmp_path / "written" / f"{name}.csv").read_text(encoding="utf-8")


def test_the_page_shows_tables_that_are_kept():
    shown = re.findall(r"^```\{data\} performance/(.+)$", PAGE, re.MULTILINE)
    assert sorted(shown) == sorted(path.stem for path in (ROOT / "docs/data/performance").iterdir())


def test_means_that_differ_are_noticed():
    with pytest.raises(NotMeasuredError, match="expected the means of ir_measures"):
        benchmark.check_means("{'AP': 0.25}\n", "{'AP': 0.26}\n")


def test_a_command_that_fails_is_no_measurement():
    with pytest.raises(NotMeasuredError, match="broken: ended with 3: no such run"):
        alternately({"broken": ["sh", "-c", "echo no such run >&2; exit 3"]}, rounds=1)
