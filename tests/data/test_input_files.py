"""Input files are regular files of a limited size, plain or gzip, that hold text; anything else is refused."""

import gzip
import hashlib
import os
import random
import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_riskguard import limits
from pytest_riskguard.config.load import load_config
from pytest_riskguard.data import input_files
from pytest_riskguard.data.input_files import (
    InputFile,
    blocks,
    read_limited,
)
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.runs import read_run
from pytest_riskguard.data.score_files import read_scores
from pytest_riskguard.data.titles import read_titles
from pytest_riskguard.data.topics import read_topics
from pytest_riskguard.errors import (
    ConfigError,
    DataError,
    FileError,
    RunFormatError,
    UsageError,
)
from pytest_riskguard.limits import Limit
from pytest_riskguard.reports.json import read as read_report

LIMIT = Limit(10, "bytes in a test")
Make = Callable[[Path], object]


def text_of(path: Path) -> bytes:
    return b"".join(blocks(path, limits.RUN_BYTES))


def read(path: Path) -> list[tuple[int, bytes]]:
    return list(InputFile(path, error=RunFormatError).lines())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file"


def unix_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def link_to_a_pipe(path: Path) -> None:
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to("pipe")


READERS: dict[str, Callable[[Path], object]] = {
    "documents": lambda path: list(read_titles(path, ())),
    "run": read_run,
    "qrels": read_qrels,
    "topics": read_topics,
    "scores": read_scores,
    "report": read_report,
    "settings": lambda path: load_config(path, require_gates=False),
    "blocks": text_of,
}
FOLDERS = {
    "scores": "expected per-topic scores, found none",
    "run": "expected answers of a search engine, found none",
    **dict.fromkeys(("qrels", "topics"), "expected a file, or a folder with qrels/test.tsv .*, found another folder"),
}
NO_FILE = "expected a regular file, found a pipe or device"
IRREGULAR: dict[str, tuple[Make, str]] = {
    "folder": (Path.mkdir, "expected a regular file, found a folder"),
    "pipe": (os.mkfifo, NO_FILE),
    "socket": (unix_socket, NO_FILE),
    "link to a device": (lambda path: path.symlink_to("/dev/zero"), NO_FILE),
    "nothing": (lambda _: None, "no such file"),
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", IRREGULAR)
def test_no_reader_reads_or_waits_for_anything_but_a_regular_file(path, kind, reader):
    make, problem = IRREGULAR[kind]
    make(path)
    if kind == "folder":
        problem = FOLDERS.get(reader, problem)
    with pytest.raises((FileError, ConfigError), match=rf"file.*: {problem}"):
        READERS[reader](path)


def test_the_environment_scales_all_limits(path, monkeypatch):
    path.write_bytes(gzip.compress(b"x" * 11))
    with pytest.raises(FileError) as caught:
        read_limited(path, LIMIT)
    assert str(caught.value) == (
        f"{path}: expected at most 10 bytes in a test, found 11; "
        "if the file is right, set RISKGUARD_LIMITS to a larger factor (now 1)"
    )
    for text, value in (("1.1", 11), ("2", 20), ("1e-9", 1), ("", 10)):
        monkeypatch.setenv("RISKGUARD_LIMITS", text)
        assert (LIMIT.value, limits.TOPICS.value) == (value, round(1e6 * float(text or 1)) or 1)


@pytest.mark.parametrize("text", ["0", "-1", "many", "nan", "inf"])
def test_a_factor_that_is_none_is_a_usage_error(monkeypatch, text):
    monkeypatch.setenv("RISKGUARD_LIMITS", text)
    with pytest.raises(UsageError, match=f"RISKGUARD_LIMITS: expected a factor above 0, such as 2, found '{text}'"):
        _ = LIMIT.value


def test_a_file_that_compresses_far_better_than_text_is_refused(path, set_limit, monkeypatch):
    monkeypatch.setattr(input_files, "FREE_BYTES", 10_000)
    set_limit("RATIO", 1)
    path.write_bytes(packed := gzip.compress(b"\n" * 10_000))
    assert len(text_of(path)) == 10_000
    monkeypatch.setattr(input_files, "FREE_BYTES", 9_999)
    set_limit("RATIO", 10_000 // len(packed) + 1)
    assert len(text_of(path)) == 10_000
    set_limit("RATIO", 10_000 // len(packed))
    with pytest.raises(FileError, match=r"at most \d+ times the compressed size .*, found \d+; .*RISKGUARD_LIMITS"):
        text_of(path)


def test_a_small_file_may_have_any_compression_ratio_and_any_number_of_members(path):
    for content, text in (
        (gzip.compress(b"\n" * 2**22), b"\n" * 2**22),
        (gzip.compress(b"a\n") * 5000, b"a\n" * 5000),
    ):
        path.write_bytes(content)
        assert text_of(path) == text


WHOLE = gzip.compress(random.Random(1).randbytes(5000), mtime=0)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (WHOLE[:-2000], "ended before"),
        (WHOLE + b"garbage", r"damaged one \(Not a gzipped file"),
        (b"\x1f\x8b\x08\x00" + bytes(6) + b"\xff\xff", r"damaged one \(Error -3"),
    ],
)
def test_a_damaged_gzip_says_how_it_is_damaged(path, content, problem):
    path.write_bytes(content)
    with pytest.raises(RunFormatError, match=f"file: expected a whole gzip file, .*{problem}.*copy it again"):
        read(path)


CONTENT = {
    "run": "t1 Q0 d1 1 2 x\nt1 Q0 d2 2 1 x\nt2 Q0 d1 1 2 x\n",
    "qrels": "t 0 docA 1\nt 0 d 0\n",
    "documents": '{"id": 1}\n',
    "topics": "id\tquery\n1\ta\n2\tbcdefgh\n3\tc",
    "scores": "topic,AP,RR\na,0,1\nb,0,1\n",
    "settings": "collection: {qrels: q}",
}
LIMITED = [
    ("RUN_BYTES", "run", 45, "bytes of text in a run"),
    ("TABLE_BYTES", "qrels", 19, "bytes of text in a table"),
    ("CORPUS_BYTES", "documents", 10, "bytes of text in a documents file"),
    ("LINES", "topics", 4, "lines"),
    ("LINE_BYTES", "topics", 9, "bytes in a line"),
    ("ROW_BYTES", "run", 14, "bytes in a row of a run or of qrels"),
    ("CELLS", "scores", 4, "cells in a table (rows times columns)"),
    ("YAML_BYTES", "settings", 22, "bytes of settings"),
    ("JUDGEMENTS", "qrels", 2, "judgements"),
    *(("DOCUMENTS", reader, 2, "documents in a topic") for reader in ("run", "qrels")),
    *(("TOPICS", reader, 2, "topics") for reader in ("run", "scores")),
    ("TOPICS", "topics", 3, "topics"),
]


@pytest.mark.parametrize(("limit", "reader", "found", "words"), LIMITED)
def test_as_much_as_each_limit_is_read_and_more_is_refused_with_the_number_found(
    path, set_limit, limit, reader, found, words
):
    path.write_text(CONTENT[reader])
    set_limit(limit, found)
    READERS[reader](path)
    set_limit(limit, found - 1)
    problem = f"expected at most {found - 1} {words}, found {found}; if the file is right, set RISKGUARD_LIMITS to a"
    with pytest.raises((DataError, ConfigError), match=re.escape(problem)):
        READERS[reader](path)


# Lines of text.


@pytest.mark.parametrize("name", ["a.run", "a.run.gz"])
@pytest.mark.parametrize("content", [b"\xef\xbb\xbf1 Q0 d 1 2.5 t\r\n", b""])
def test_the_digest_is_that_of_the_decompressed_bytes(write, name, content):
    file = InputFile(write(name, content), error=RunFormatError)
    assert b"".join(line for _, line in file.lines()) == content[3:-1] == file.content[:-1]
    assert file.digest == "sha256:" + hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("block", [4, 2**20])
@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"one\ntwo\ncaf\xe9\nfour\n", ":3: expected UTF-8 text, found byte 0xe9; .* another encoding as UTF-8"),
        (b"one\nt\0wo\n", ":2: expected text, found a NUL byte"),
        (b"ok\n" + b"x" * 31 + b"\nshort\n", ":2: expected at most 30 bytes in a line, found 31; .*'xxx"),
        (b"x" * 29 + "é".encode(), ":1: expected at most 30 bytes in a line, found 31"),
        (b"1\n\n\n4\n5", r"expected at most 4 lines, found 5; .*set RISKGUARD_LIMITS"),
    ],
)
def test_what_is_no_text_is_refused_with_its_line(write, monkeypatch, set_limit, block, content, problem):
    monkeypatch.setattr(input_files, "_BLOCK", block)
    set_limit("LINE_BYTES", 30)
    set_limit("LINES", 4)
    with pytest.raises(RunFormatError, match=f"^.*/a.*{problem}"):
        read(write("a", content))
    assert read(write("a", b"x" * 30 + b"\n\n3\r\n4")) == [(1, b"x" * 30), (2, b""), (3, b"3\r"), (4, b"4")]
