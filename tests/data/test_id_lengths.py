"""No format gives an id longer than a row of a run may be, or a text longer than a line, in however few bytes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_riskguard.data.checks import Rows
from pytest_riskguard.data.formats import OWN, format_named
from pytest_riskguard.data.given_file import GivenFile, InputData
from pytest_riskguard.data.input_files import InputFile
from pytest_riskguard.data.topics import read_topics
from pytest_riskguard.errors import DataError, FileError
from tests.data.test_every_format import CASES
from tests.data.world import WORLD, Case


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


def test_ids_and_texts_of_exactly_the_limit_are_taken(set_limit: Callable[[str, int], None]) -> None:
    set_limit("ROW_BYTES", 3)
    set_limit("LINE_BYTES", 4)
    rows = Rows(InputData("data", reason="bad_run"), None)
    assert rows.ids(["abc"], "docid").strings() == ["abc"]
    assert rows.ids(["abcd"], "query text", is_text=True).strings() == ["abcd"]
    with pytest.raises(DataError, match="found 4"):
        rows.ids(["abc", "abcd", "abcde"], "docid")
