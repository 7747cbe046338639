"""Rows whose columns could be taken for others are read, or refused, as they are line by line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_riskguard.data import trec_files
from tests.data.runs.test_trec_blocks import by_columns, by_lines, outcome

Write = Callable[[str, str], Path]

GOOD = "1 Q0 z 9 0.5 t\n"
#: Texts of which blanks, or line feeds, could be counted as if all rows had six columns.
SHIFTED = {
    "a column too few, then one too many": "1 Q0 a 1 2\n1 Q0 b 2 1 t more\n",
    "the same, as if the last column stood in the next line": "1 Q0 a 1 2\nx 1 Q0 b 2 1 t\n",
    "two blanks and five columns": "1 Q0 a  2 t\n",
    "a blank in front and five columns": " 1 Q0 a 2 t\n",
    "a control character in an id, and five columns": "1 Q0 a\x01b 1 2\n",
    "a row in two lines": "1 Q0  a 1 2\nt\n",
    "two rows in a line": "1 Q0 a 1 2 t  1 Q0 b 2 1 t\n",
    "a zero byte in an id": "1 Q0 a\0b 1 2 t\n",
    "a zero byte behind an id": "1 Q0 a\0 1 2 t\n",
    "a score below all that 32 bits can hold": "1 Q0 a 1 -4e38 t\n",
    "a score above them": "1 Q0 a 1 4e38 t\n",
}
#: Rows that are right, however they look.
RIGHT = {
    "a control character in an id": "1 Q0 a\x01b 1 2 t\n",
    "tabs": "1\tQ0\ta\t1\t2\tt\n",
    "blanks at both ends": "  1 Q0 a 1 2 t \n",
    "a blank line": "1 Q0 a 1 2 t\n\n1 Q0 b 2 1 t\n",
    "the lowest score": "1 Q0 a 1 -3e38 t\n",
}


@pytest.mark.parametrize("text", SHIFTED.values(), ids=SHIFTED)
def test_what_line_by_line_is_no_run_is_none_in_columns(text: str, write: Write) -> None:
    for name, content in (("a.run", text), ("b.run", text + GOOD), ("c.run", GOOD + text)):
        path = write(name, content)
        found = outcome(by_columns, path)
        assert found == outcome(by_lines, path)
        assert found.startswith("RunFormatError")


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_what_line_by_line_is_a_run_is_the_same_in_columns(text: str, write: Write) -> None:
    path = write("a.run", text + GOOD)
    found = outcome(by_columns, path)
    assert found == outcome(by_lines, path)
    assert "'z'" in found


@pytest.mark.parametrize("blank", [" ", "  ", "\t"])
def test_the_longest_row_is_that_of_the_limit(blank: str, write: Write, set_limit) -> None:
    row = blank.join(["1", "Q0", "a" * 40, "1", "2", "t"])
    path = write("a.run", f"{GOOD}{row}\n")
    for limit, is_read in ((len(row), True), (len(row) - 1, False)):
        set_limit("ROW_BYTES", limit)
        found = outcome(by_columns, path)
        assert found == outcome(by_lines, path)
        assert ("RunFormatError" not in found) == is_read
        with pytest.MonkeyPatch.context() as patch:
            if is_read:
                patch.setattr(trec_files, "lines_of", None)
            assert outcome(by_columns, path) == found  # in columns, not line by line


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("t", "u"),
        ("topic-1", "topic-10"),
        ("topic-12", "topic-123"),
        ("topic-lo1", "topic-lo2"),
        ("topic-long-1", "topic-long-2"),
        ("topic-that-is-very-long-1", "topic-that-is-very-long-2"),
        ("topic-that-is-very-long", "topic-that-is-very-long-2"),
    ],
)
def test_topics_that_follow_each_other_are_told_apart(one: str, other: str, write: Write) -> None:
    for topics in ((one, other), (other, one)):
        pairs = [
            (topic, document) for topic, documents in zip(topics, ("ab", "cd"), strict=True) for document in documents
        ]
        rows = [f"{topic} Q0 {document} 1 2 t\n" for topic, document in pairs]
        path = write("a.run", "".join(rows))
        found, _ = by_columns(path)
        assert [(name, len(documents)) for name, documents, _ in found] == [(topic, 2) for topic in topics]
