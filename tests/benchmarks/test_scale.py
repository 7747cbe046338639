"""The benchmark of scale on tiny files: all libraries compute the same, and its tables can be made."""

from __future__ import annotations

import csv
import importlib
from pathlib import Path

import pytest

from pytest_riskguard.formats.input_files import JUDGEMENTS
from tests.benchmarks.scale import comparisons, generated_runs, tables
from tests.benchmarks.scale.comparisons import Row
from tests.benchmarks.scale.measuring import NotMeasuredError, alternately

benchmark = importlib.import_module("tests.benchmarks.scale.__main__")


@pytest.mark.slow
@pytest.mark.parametrize("name", list(benchmark.COMPARISONS))
def test_each_comparison_runs_on_tiny_files(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    benchmark.main(["--only", name, "--small", "--rounds", "1", "--folder", str(tmp_path)])
    printed = capsys.readouterr().out
    assert printed.startswith(f"{name}\ntask ")
    assert "riskguard" in printed


@pytest.mark.slow
def test_libraries_that_disagree_are_noticed(tmp_path: Path) -> None:
    collection = comparisons.generated(tmp_path, 20, 20)
    rows = comparisons.scoring(collection, ["nDCG@10"], peers=["ir_measures"], rounds=1)
    assert [row.contestant for row in rows] == ["riskguard", "ir_measures"]
    with pytest.raises(NotMeasuredError, match="b and a disagree on AP"):
        comparisons._check_means({"a": '[{"AP": 0.25}]', "b": '[{"AP": 0.26}]'})


def test_the_same_arguments_generate_the_same_bytes(tmp_path: Path) -> None:
    one, other = (comparisons.generated(tmp_path / name, 5, 40) for name in ("one", "other"))
    for first, second in zip((one.baseline, one.qrels), (other.baseline, other.qrels), strict=True):
        assert Path(first).read_bytes() == Path(second).read_bytes()
    assert Path(one.baseline).read_bytes() != Path(one.candidate).read_bytes()


def test_of_many_topics_fewer_documents_are_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = generated_runs.write_collection(tmp_path, topics=4, depth=40).qrels.read_text()
    monkeypatch.setattr(generated_runs, "MANY_TOPICS", 4)
    many = generated_runs.write_collection(tmp_path, topics=4, depth=40).qrels.read_text()
    assert (few.count("\n"), many.count("\n")) == (120, 40)
    assert generated_runs.JUDGED_OF_MANY * 100_000 < JUDGEMENTS.value < generated_runs.JUDGED * 100_000


def test_a_command_that_fails_is_no_measurement() -> None:
    with pytest.raises(NotMeasuredError, match="broken: ended with 3: no such run"):
        alternately({"broken": ["sh", "-c", "echo no such run >&2; exit 3"]}, rounds=1)


ROWS = [
    Row("score a run", "1,000 x 100", "riskguard", 0.5, 60.4, 0.25, 0.1),
    Row("score a run", "1,000 x 100", "ir_measures", 2.0, 604.0, 1.0, 1.0),
    Row("score a run", "10,000 x 100", "riskguard", 4.0, 70.0),
    Row("score a run", "10,000 x 100", "ir_measures", 20.0, 6000.0),
]


def test_a_table_has_a_line_for_each_measurement() -> None:
    header, first, *_, last = csv.reader(tables.as_csv(ROWS).splitlines())
    assert header == list(tables.HEADER)
    assert first == ["score a run", "1,000 x 100", "riskguard", "0.50", "60", "0.25", "0.10"]
    assert last == ["score a run", "10,000 x 100", "ir_measures", "20.0", "6000", "", ""]


def test_the_chart_draws_slower_tools_higher() -> None:
    chart = tables.growth_chart(ROWS)
    lines = [part.split('"')[0] for part in chart.split('<polyline points="')[1:]]
    heights = [[float(point.split(",")[1]) for point in line.split()] for line in lines]
    assert len(heights) == 2
    assert all(ours > theirs for ours, theirs in zip(*heights, strict=True))  # SVG counts downwards
