"""No format gives an id longer than a row of a run may be, or a text longer than a line, in however few bytes."""

from __future__ import annotations

import json
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_riskguard import run
from pytest_riskguard.data.formats import OWN, format_named
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.input_files import InputFile
from pytest_riskguard.data.runs import read_run
from pytest_riskguard.data.topics import read_topics
from pytest_riskguard.errors import DataError, FileError, RunFormatError
from tests.data.test_every_format import CASES
from tests.data.world import WORLD, Case

IN_A_ROW = "expected at most 2,048 bytes in a row of a run or of qrels, found"
IN_A_LINE = "expected at most 1,048,576 bytes in a line, found"
LONG = 20_000_000


@pytest.mark.parametrize("case", [case for case in CASES if case.known != OWN[case.kind]], ids=lambda case: case.id)
def test_every_format_refuses_what_is_too_long(
    case: Case, tmp_path: Path, set_limit: Callable[[str, int], None]
) -> None:
    for module in case.needs:
        pytest.importorskip(module)
    path = tmp_path / case.file
    path.write_bytes(case.content(WORLD))
    set_limit("LINE_BYTES" if case.kind == "topics" else "ROW_BYTES", 1)  # topics may have texts alone
    file = InputFile(GivenFile(path, part=case.part), error=FileError)

    def read() -> None:
        if case.kind == "topics":
            read_topics(GivenFile(path, format=case.known, part=case.part))
        list(format_named(case.known, case.kind).reader(case.kind)(file).rows)

    with pytest.raises(FileError, match="RISKGUARD_LIMITS"):
        read()


def jsonl(path: Path) -> None:
    path.write_text(json.dumps({"query_id": "q1", "doc_id": "x" * LONG, "score": 1}))


def ranx(path: Path) -> None:
    path.write_text(json.dumps({"q1": {"x" * LONG: 1.0}}))


def elasticsearch(path: Path) -> None:
    hits = {"hits": [{"_id": "x" * LONG, "_score": 1.0}]}
    path.write_text(json.dumps([{"query_id": "q1", "took": 1, "hits": hits}]))


BOMBS: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "json list": ("a.json", ranx, IN_A_ROW),
    "json line": ("a.jsonl", jsonl, IN_A_LINE),
    "engine": ("a.json", elasticsearch, IN_A_ROW),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_text_that_is_too_long_is_refused_before_it_exhausts_anything(tmp_path: Path, name: str) -> None:
    file, write, expected = BOMBS[name]
    write(tmp_path / file)
    before = resource.getrusage(resource.RUSAGE_SELF)
    with pytest.raises(RunFormatError, match=expected):
        read_run(tmp_path / file)
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert after.ru_utime - before.ru_utime < 5
    assert after.ru_maxrss - before.ru_maxrss < 200_000  # kilobytes


def test_a_live_answer_has_no_longer_ids_either() -> None:
    with pytest.raises(DataError, match=rf"'x+…': {IN_A_ROW} 3,000"):
        run({"q1": [("x" * 3000, 1.0)]})
    assert run({"q1": [("x" * 2048, 1.0)]}).topics
    with pytest.raises(DataError, match=f"{IN_A_ROW} 2,049"):
        run({"q1": [("é" * 1024 + "x", 1.0)]})
