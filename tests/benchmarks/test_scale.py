"""The benchmark of scale on tiny files: all libraries compute the same, and its tables can be made."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from tests.benchmarks.scale import comparisons
from tests.benchmarks.scale.measuring import ROOT, NotMeasuredError, alternately

benchmark = importlib.import_module("tests.benchmarks.scale.__main__")


#: What the table of each comparison holds.
CONTAINED = {
    "scoring": "riskguard",
    "comparing": "riskguard compare, failing",
    "verdicts": "1,000",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(benchmark.COMPARISONS))
def test_each_comparison_writes_what_the_page_shows(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = tmp_path / "written"
    monkeypatch.setattr(benchmark, "DATA", written)
    monkeypatch.setattr(comparisons, "PEERS", ("ir_measures", "pytrec_eval"))  # ranx compiles for ten seconds
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


def test_libraries_that_disagree_are_noticed() -> None:
    with pytest.raises(NotMeasuredError, match="b and a disagree on AP"):
        comparisons._check_means({"a": '[{"AP": 0.25}]', "b": '[{"AP": 0.26}]'})


def test_a_command_that_fails_is_no_measurement() -> None:
    with pytest.raises(NotMeasuredError, match="broken: ended with 3: no such run"):
        alternately({"broken": ["sh", "-c", "echo no such run >&2; exit 3"]}, rounds=1)
