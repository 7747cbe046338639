"""The benchmark of scale on tiny files: all libraries compute the same, and its tables can be made."""

from __future__ import annotations

import csv
import importlib
import re
from pathlib import Path

import pytest

from pytest_riskguard.formats.input_files import JUDGEMENTS
from tests.benchmarks.scale import comparisons, generated_runs, tables
from tests.benchmarks.scale.comparisons import Row
from tests.benchmarks.scale.measuring import ROOT, NotMeasuredError, alternately

benchmark = importlib.import_module("tests.benchmarks.scale.__main__")


#: What the table of each comparison holds.
CONTAINED = {
    **{"scoring": "riskguard", "comparing": "riskguard compare, failing", "caching": "from the cache"},
    **{"growing": "300 x 50", "verdicts": "1,000", "several": "3 gates", "intervals": "six intervals"},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(benchmark.COMPARISONS))
def test_each_comparison_writes_what_the_page_shows(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = tmp_path / "written"
    monkeypatch.setattr(benchmark, "DATA", written)
    monkeypatch.setattr(benchmark, "PICTURES", written)
    benchmark.main(["--only", name, "--small", "--write", "--rounds", "1", "--folder", str(tmp_path)])
    head, table, *_ = capsys.readouterr().out.split("\n\n")
    assert head == name
    assert len(table.splitlines()) >= 3
    files = {path.name: path.read_text(encoding="utf-8") for path in written.iterdir()}
    assert CONTAINED[name] in "".join(files.values())
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    assert [file for file in files if f"/{file}" not in page] == []


def test_the_page_shows_tables_that_are_kept() -> None:
    shown = set(re.findall(r"^:file: (.+)$", (ROOT / "docs" / "performance.md").read_text(encoding="utf-8"), re.M))
    assert shown == {f"data/performance/{path.name}" for path in (ROOT / "docs/data/performance").iterdir()}


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
