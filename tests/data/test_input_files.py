"""Input files must be regular files of a limited size; anything else in their place is refused."""

from __future__ import annotations

import errno
import gzip
import os
import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_riskguard import limits
from pytest_riskguard.config.load import load_config
from pytest_riskguard.data.collection import read_topics
from pytest_riskguard.data.input_files import ContentError, LimitError, blocks, open_regular, read_limited
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.runs import read_run
from pytest_riskguard.data.score_files import read_scores
from pytest_riskguard.data.titles import read_titles
from pytest_riskguard.errors import ConfigError, DataError, MissingFileError, ScoresFormatError, UsageError
from pytest_riskguard.limits import Limit
from pytest_riskguard.reports.json import read as read_report

LIMIT = Limit(10, "bytes in a test")


def text_of(path: Path) -> bytes:
    return b"".join(blocks(path, limits.RUN_BYTES))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file"


def folder(path):
    path.mkdir()


def pipe(path):
    os.mkfifo(path)


def unix_socket(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def link_to_a_device(path):
    path.symlink_to("/dev/zero")


def link_to_a_pipe(path):
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to("pipe")


def loop_of_links(path):
    path.symlink_to(path.name)


def missing(path):
    pass


READERS: dict[str, Callable[[Path], object]] = {
    "documents": lambda path: list(read_titles(path, ())),
    "run": read_run,
    "qrels": read_qrels,
    "topics": read_topics,
    "scores": read_scores,
    "report": read_report,
    "settings": load_config,
    "blocks": text_of,
}
IRREGULAR = {
    folder: "expected a file, found a folder",
    pipe: "expected a regular file, found a pipe, socket or device",
    unix_socket: "expected a regular file, found a pipe, socket or device",
    link_to_a_device: "expected a regular file, found a pipe, socket or device",
    link_to_a_pipe: "expected a regular file, found a pipe, socket or device",
    loop_of_links: "cannot be read",
    missing: "no such file",
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("make", IRREGULAR)
def test_no_reader_reads_or_waits_for_anything_but_a_regular_file(path, make, reader):
    make(path)
    problem = "expected Parquet files, found none" if (make, reader) == (folder, "scores") else IRREGULAR[make]
    with pytest.raises((MissingFileError, ConfigError, ScoresFormatError), match=rf"file.*: {problem}"):
        READERS[reader](path)


@pytest.mark.parametrize("reader", READERS)
def test_a_file_without_permission_is_said_to_be_unreadable(path, monkeypatch, reader):
    def refuse(*args: object, **options: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    path.write_text("text\n")
    monkeypatch.setattr(os, "open", refuse)  # root may read everything, so chmod would show nothing
    with pytest.raises((MissingFileError, ConfigError), match=r"file.*: cannot be read \(Permission denied\)"):
        READERS[reader](path)


def test_the_opened_file_is_checked_and_not_what_was_at_its_path_before(path, monkeypatch):
    path.write_text("text\n")
    (path.parent / "pipe").unlink(missing_ok=True)
    os.mkfifo(path.parent / "pipe")
    really_open = os.open

    def exchanged(target: Path, flags: int) -> int:
        return really_open(path.parent / "pipe", flags)

    monkeypatch.setattr(os, "open", exchanged)
    with pytest.raises(MissingFileError, match="expected a regular file, found a pipe"):
        open_regular(path)


def test_a_file_that_fails_while_it_is_read_is_missing(path, monkeypatch):
    path.write_text("text\n")
    with pytest.raises(MissingFileError, match="not a path"):
        open_regular(Path("a\0b"))
    with pytest.raises(MissingFileError, match="cannot be read"):
        open_regular(path.parent / ("x" * 5000))
    with pytest.raises(MissingFileError, match=r"cannot be read \(Not a directory\)|no such file"):
        open_regular(path / "below")


def test_the_environment_scales_all_limits(path, monkeypatch):
    path.write_bytes(b"x" * 11)
    with pytest.raises(LimitError) as caught:
        read_limited(path, LIMIT)
    assert str(caught.value) == (
        "expected at most 10 bytes in a test, found 11; "
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


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system has no /proc")
def test_a_file_of_reported_size_0_is_still_read_up_to_the_limit():
    status = Path("/proc/self/status")
    assert status.stat().st_size == 0
    with pytest.raises(LimitError, match="found 11"):
        read_limited(status, LIMIT)
    with pytest.raises(LimitError, match="expected at most 10 bytes"):
        list(blocks(status, LIMIT))


@pytest.mark.parametrize("compressed", [False, True])
def test_text_beyond_the_limit_is_refused_with_its_size(path, compressed):
    path.write_bytes(gzip.compress(b"x" * 11) if compressed else b"x" * 11)
    with pytest.raises(LimitError, match="expected at most 10 bytes in a test, found 11"):
        list(blocks(path, LIMIT))


@pytest.mark.slow
def test_a_file_that_compresses_far_better_than_text_is_refused_early(path):
    path.write_bytes(gzip.compress(b"\n" * 2**27))  # 130 kB
    with pytest.raises(LimitError, match=r"at most 100 times the compressed size .*, found \d+; .*RISKGUARD_LIMITS"):
        text_of(path)


def test_a_small_file_may_have_any_compression_ratio(path):
    path.write_bytes(gzip.compress(b"\n" * 2**22))
    assert text_of(path) == b"\n" * 2**22


def test_many_members_with_text_are_read(path):
    path.write_bytes(gzip.compress(b"text\n") * 5000)
    assert text_of(path) == b"text\n" * 5000


def test_a_damaged_gzip_says_how_it_is_damaged(path):
    whole = gzip.compress(os.urandom(5000))
    for content, words in (
        (whole[:-2000], "ends too early (truncated)"),
        (whole + b"garbage", "damaged one (Not a gzipped file"),
        (whole[:-8] + bytes(8), "damaged one (CRC check failed"),
        (b"\x1f\x8b", "ends too early"),
        (b"\x1f\x8b\x08\x00" + bytes(6) + b"\xff\xff", "damaged one (Error -3"),
    ):
        path.write_bytes(content)
        with pytest.raises(ContentError, match=re.escape(words)) as caught:
            text_of(path)
        assert not isinstance(caught.value, LimitError)


LIMITED = {
    "RUN_BYTES": ("run", "t1 Q0 d1 1 2 x\nt2 Q0 d1 1 2 x\n", "bytes of text in a run, found 30"),
    "TABLE_BYTES": ("qrels", "t1 0 d1 1\nt2 0 d1 1\n", "bytes of text in a table, found 20"),
    "LINES": ("topics", "".join(f"t{i}\ta\n" for i in range(20)), "lines, found 20"),
    "LINE_BYTES": ("topics", "t1\tabcdefghijk\n", "bytes in a line, found 14"),
    "ROW_BYTES": ("run", "t1 Q0 d1 1 2 x\n", "bytes in a row of a run or of qrels, found 14"),
    "TOPICS": ("run", "".join(f"t{i} Q0 d1 1 2 x\n" for i in range(20)), "topics, found 14"),
    "DOCUMENTS": ("run", "".join(f"t Q0 d{i} 1 2 x\n" for i in range(20)), "in a topic, found 14"),
    "JUDGEMENTS": ("qrels", "".join(f"t{i} 0 d 1\n" for i in range(20)), "judgements, found 14"),
    "CELLS": ("scores", "topic,AP,RR\n" + "".join(f"t{i},0,1\n" for i in range(7)), "found 14"),
    "CORPUS_BYTES": (
        "documents",
        '{"id": "d1"}\n\n\n\n',
        "in a documents file, found 16",
    ),
    "REPORT_BYTES": ("report", "{}" + " " * 20, "bytes in a report, found 22"),
    "YAML_BYTES": ("settings", "#" * 14, "bytes of settings, found 14"),
}


@pytest.mark.parametrize("limit", LIMITED)
def test_each_limit_is_refused_with_the_number_found_and_can_be_raised(path, set_limit, limit):
    reader, content, words = LIMITED[limit]
    path.write_text(content)
    set_limit(limit, 13)
    problem = rf"expected at most 13 .*{words}; if the file is right, set RISKGUARD_LIMITS to a larger"
    with pytest.raises((DataError, ConfigError), match=problem):
        READERS[reader](path)
    set_limit(limit, 40)
    if reader in ("report", "settings"):  # these are too short to be anything
        with pytest.raises((DataError, ConfigError), match=r"^(?!.*RISKGUARD_LIMITS)"):
            READERS[reader](path)
    else:
        READERS[reader](path)


def test_topics_and_documents_are_limited_in_every_table(path, set_limit):
    set_limit("TOPICS", 2)
    set_limit("DOCUMENTS", 2)
    for reader, content in {
        "qrels": "t1 0 d 1\nt2 0 d 1\nt3 0 d 1\n",
        "topics": "t1\ta\nt2\tb\nt3\tc\n",
        "scores": "topic,AP\nt1,0\nt2,0\nt3,0\n",
        "run": "t1 Q0 d 1 2 x\nt2 Q0 d 1 2 x\nt1 Q0 e 1 2 x\nt3 Q0 d 1 2 x\n",
    }.items():
        path.write_text(content)
        with pytest.raises(DataError, match="expected at most 2 topics, found 3"):
            READERS[reader](path)
    for reader, content in {
        "qrels": "t 0 a 1\nt 0 b 1\nt 0 c 1\n",
        "run": "t Q0 a 1 2 x\nu Q0 a 1 2 x\nt Q0 b 1 2 x\nt Q0 c 1 2 x\n",
    }.items():
        path.write_text(content)
        with pytest.raises(DataError, match="expected at most 2 documents in a topic, found 3"):
            READERS[reader](path)
