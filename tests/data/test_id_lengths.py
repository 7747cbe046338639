"""No format gives an id longer than a row of a run may be, or a text longer than a line, in however few bytes."""

from __future__ import annotations

import json
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard.data.formats import OWN, format_named
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.input_files import InputFile
from pytest_riskguard.data.runs import read_run
from pytest_riskguard.data.topics import read_topics
from pytest_riskguard.errors import FileError, RunFormatError
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


def engine(document: str) -> Any:
    return [{"query_id": "q1", "took": 1, "hits": {"hits": [{"_id": document, "_score": 1.0}]}}]


BOMBS: dict[str, tuple[str, Callable[[str], Any], str]] = {
    "json list": ("a.json", lambda document: {"q1": {document: 1.0}}, IN_A_ROW),
    "json line": ("a.jsonl", lambda document: {"query_id": "q1", "doc_id": document, "score": 1}, IN_A_LINE),
    "engine": ("a.json", engine, IN_A_ROW),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_text_that_is_too_long_is_refused_before_it_exhausts_anything(tmp_path: Path, name: str) -> None:
    file, made, expected = BOMBS[name]
    (tmp_path / file).write_text(json.dumps(made("x" * LONG)))
    before = resource.getrusage(resource.RUSAGE_SELF)
    with pytest.raises(RunFormatError, match=expected):
        read_run(tmp_path / file)
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert after.ru_utime - before.ru_utime < 5
    assert after.ru_maxrss - before.ru_maxrss < 200_000  # kilobytes
