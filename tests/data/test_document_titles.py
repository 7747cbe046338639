"""Files of titles and addresses: JSON Lines and tables, of which only what is wanted is kept."""

import json
from pathlib import Path

import pytest

from pytest_riskguard.data.titles import MAX_TITLE, DocumentTitles, read_titles
from pytest_riskguard.errors import DocumentsFormatError, MissingFileError


def read(path: Path, *wanted: str) -> list[tuple[str, str, str]]:
    return [(name, *two) for name, two in read_titles(path, wanted).items()]


LINES = [
    {"_id": "b", "id": "a", "title": " Title \n of a ", "url": "https://user:secret@host:8080/a?b#c", "body": "text"},
    {"_id": "b", "title": None, "url": "javascript:alert(1)"},
    {"docid": 7, "title": "x" * 1000},
    {"docno": 0, "title": 1984},
    {"docno": "whole", "title": "x" * MAX_TITLE},
    {"id": "c", "title": [], "url": {}},
    {"id": "unwanted"},
]


def test_json_lines_have_an_id_a_title_and_an_address(write):
    path = write("documents.txt", "\n" + "\n\n".join(map(json.dumps, LINES)) + "\n")
    assert read(path, "a", "b", "7", "0", "whole", "c") == [
        ("a", "Title of a", "https://host:8080/a?b#c"),
        ("b", "", ""),
        ("7", "x" * MAX_TITLE, ""),
        ("0", "1984", ""),
        ("whole", "x" * MAX_TITLE, ""),
        ("c", "", ""),
    ]


def test_a_table_has_a_header_and_may_be_compressed(write):
    path = write("documents.tsv.gz", "Title\tdocid\turl\r\nA é\ta\t\r\nB\tb\thttp://host/b\r\n")
    assert read(path, "a", "b") == [("a", "A é", ""), ("b", "B", "http://host/b")]


def test_only_addresses_of_the_web_are_kept(write):
    urls = (
        "data:text/html,x",
        "//host/a",
        "/a",
        "ftp://host/a",
        "https://",
        "https://h/a b",
        "http://[/",
        "http://h",
    )
    path = write("documents.txt", "\n".join(json.dumps({"id": url, "url": url}) for url in urls))
    assert [url for _, _, url in read(path, *urls) if url] == ["http://h"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"id": "a"}\n{"id": ', "documents.txt:2: expected one JSON value in each line: not JSON"),
        ('{"id": "a"}\n[1]\n', "documents.txt:2: expected a JSON object, found a list"),
        ('{"title": "a"}\n', r"documents.txt:1: expected an id under one of id, _id, docid.*, found None"),
        ('{"id": true}\n', "expected an id under one of .*, found True"),
        ("a\tTitle of a\n", "documents.txt:1: expected JSON Lines, or a header with tabs that names id, _id, docid"),
        ("id\ttitle\na\n", r"documents.txt:2: expected 2 columns \(id, title\), found 1"),
    ],
)
def test_errors_say_where_and_what_was_expected(write, content, problem):
    with pytest.raises(DocumentsFormatError, match=problem):
        read(write("documents.txt", content), "a")


def test_documents_that_may_be_wanted_later_are_read_at_once(write):
    rows = [("a", "A", "http://a"), ("b", "B", None), ("a", "again", "http://again")]
    titled = [dict(zip(("id", "title", "url"), row, strict=True)) for row in rows]
    path = write("documents.txt", "\n".join(map(json.dumps, titled)))
    titles = DocumentTitles(path)
    assert titles.of(["a", "x"], lambda: ["b"]) == ({"a": "A"}, {"a": "http://a"})
    path.unlink()
    assert titles.of(["b", "a", "x"]) == ({"a": "A", "b": "B"}, {"a": "http://a"})
    with pytest.raises(MissingFileError):
        titles.of(["c"])


def test_parquet_may_hold_ids_as_decimals_and_texts_as_bytes(tmp_path):
    arrow, writer = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "documents.parquet"
    writer.write_table(arrow.table({"id": [1.0, 2.0], "title": [b"One", None]}), path)
    assert read(path, "1", "2") == [("1", "One", ""), ("2", "", "")]
    writer.write_table(arrow.table({"id": [b"a"], "title": ["A"]}), path)
    assert read(path, "a") == [("a", "A", "")]
    writer.write_table(arrow.table({"id": [1.5]}), path)
    with pytest.raises(DocumentsFormatError, match=r":1: expected an id under one of .*, found 1\.5"):
        read(path, "1")
