"""What every reader shares: text, gzip, digests, and what is no text at all."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import os
from pathlib import Path

import pytest

from pytest_riskguard.data import input_files
from pytest_riskguard.data.input_files import shown
from pytest_riskguard.data.text_files import LineReader
from pytest_riskguard.errors import MissingFileError, RunFormatError


def read(path: Path) -> list[tuple[int, bytes]]:
    return list(LineReader(path, error=RunFormatError))


def test_lines_come_with_their_numbers_and_without_line_feeds(write):
    assert read(write("a", "one\r\n\ntwo")) == [(1, b"one\r"), (2, b""), (3, b"two")]


@pytest.mark.parametrize("name", ["a.run", "a.run.gz"])
def test_the_digest_is_that_of_the_decompressed_bytes(write, name):
    content = b"\xef\xbb\xbf1 Q0 d 1 2.5 t\r\n"
    lines = LineReader(write(name, content), error=RunFormatError)
    assert list(lines) == [(1, b"1 Q0 d 1 2.5 t\r")]
    assert lines.digest == "sha256:" + hashlib.sha256(content).hexdigest()


def test_the_digest_is_unknown_until_the_last_line_was_read(write):
    lines = LineReader(write("a", "one\ntwo\n"), error=RunFormatError)
    with pytest.raises(AssertionError):
        _ = lines.digest


def test_gzip_is_told_by_content_and_not_by_name(tmp_path):
    packed_without_suffix = tmp_path / "a.run"
    packed_without_suffix.write_bytes(gzip.compress(b"text\n"))
    plain_with_suffix = tmp_path / "b.run.gz"
    plain_with_suffix.write_bytes(b"text\n")
    assert read(packed_without_suffix) == read(plain_with_suffix) == [(1, b"text")]


def test_a_gzip_of_several_members_is_read_whole(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two\n"))
    assert read(path) == [(1, b"one"), (2, b"two")]


def test_lines_across_blocks_keep_their_numbers(write, monkeypatch):
    monkeypatch.setattr(input_files, "_BLOCK", 7)
    text = "".join(f"line {number} é\n" for number in range(1, 50))
    found = read(write("a.gz", text))
    assert found == [(number, f"line {number} é".encode()) for number in range(1, 50)]


def test_a_line_as_long_as_a_block_is_read(write, monkeypatch, set_limit):
    monkeypatch.setattr(input_files, "_BLOCK", 8)
    set_limit("LINE_BYTES", 30)
    assert read(write("a", "x" * 29 + "\nshort\n")) == [(1, b"x" * 29), (2, b"short")]
    with pytest.raises(RunFormatError, match=r"a:2: expected at most 30 bytes in a line, found 31; .*'xxx"):
        read(write("a", "ok\n" + "x" * 31 + "\nshort\n"))


@pytest.mark.parametrize("block", [4, 2**20])
def test_bytes_that_are_not_utf8_are_refused_with_their_line(write, monkeypatch, block):
    monkeypatch.setattr(input_files, "_BLOCK", block)
    with pytest.raises(RunFormatError, match=r"a:3: expected UTF-8 text, found byte 0xe9; save it as UTF-8"):
        read(write("a", b"one\ntwo\ncaf\xe9\nfour\n"))


def test_a_nul_byte_is_refused_with_its_line(write):
    with pytest.raises(RunFormatError, match="a:2: expected text, found a NUL byte"):
        read(write("a", b"one\nt\0wo\n"))


def test_a_truncated_gzip_is_refused(tmp_path):
    path = tmp_path / "a.run.gz"
    path.write_bytes(gzip.compress(os.urandom(5000).hex().encode())[:-2000])
    with pytest.raises(RunFormatError, match=r"a\.run\.gz: expected a whole gzip file, .*truncated.*copy it again"):
        read(path)


def test_a_damaged_gzip_is_refused(tmp_path):
    packed = bytearray(gzip.compress(os.urandom(5000).hex().encode()))
    packed[2000:2100] = bytes(100)
    path = tmp_path / "a.run.gz"
    path.write_bytes(bytes(packed))
    with pytest.raises(RunFormatError, match=r"a\.run\.gz: .*(damaged|UTF-8|NUL)"):
        read(path)


def test_something_after_a_gzip_is_refused(tmp_path):
    path = tmp_path / "a.run.gz"
    path.write_bytes(gzip.compress(b"one\n") + b"garbage")
    with pytest.raises(RunFormatError, match="expected a whole gzip file, found a damaged one"):
        read(path)


def test_a_name_that_promises_gzip_is_said_when_the_content_is_no_text(tmp_path):
    path = tmp_path / "a.run.gz"
    path.write_bytes(b"\x8b\x1f\xff")
    with pytest.raises(RunFormatError, match="its name says gzip, its content does not"):
        read(path)


@pytest.mark.parametrize(
    ("name", "compress"),
    [("xz", lzma.compress), ("bzip2", bz2.compress), ("zstd", lambda _: b"\x28\xb5\x2f\xfd\x04")],
)
def test_another_compression_than_gzip_is_named(tmp_path, name, compress):
    path = tmp_path / "a.run.gz"
    path.write_bytes(compress(b"1 Q0 d 1 2.5 t\n"))
    with pytest.raises(RunFormatError, match=f"it is compressed with {name}: unpack it, only gzip is read"):
        read(path)


def test_a_path_that_cannot_be_read_is_a_missing_input(tmp_path):
    for path, words in (
        (tmp_path / "none.run", "no such file"),
        (tmp_path, "expected a file, found a folder"),
        (Path("a\0b"), "not a path|cannot be read"),
        (tmp_path / ("x" * 5000), "cannot be read"),
        (tmp_path / "none.run" / "below", "no such file"),
    ):
        with pytest.raises(MissingFileError, match=words) as caught:
            read(path)
        assert caught.value.reason == "missing_input"


def test_more_lines_than_the_limit_are_refused_with_the_number_found(write, set_limit):
    set_limit("LINES", 3)
    assert len(read(write("a", "1\n2\n3\n"))) == 3
    with pytest.raises(RunFormatError, match=r"a: expected at most 3 lines, found 4; .*set RISKGUARD_LIMITS"):
        read(write("a", "1\n\n\n4\n5"))


def test_half_a_character_at_the_end_of_the_longest_line_is_refused(write, set_limit):
    set_limit("LINE_BYTES", 3)
    with pytest.raises(RunFormatError, match="a:1: expected UTF-8 text, found byte 0xc3"):
        read(write("a", b"ab\xc3"))
    with pytest.raises(RunFormatError, match="a:1: expected at most 3 bytes in a line, found 4"):
        read(write("a", "abé"))


def test_content_that_was_read_already_is_not_read_again(tmp_path):
    lines = LineReader(tmp_path / "gone", error=RunFormatError, content=b"one\ntwo")
    assert list(lines) == [(1, b"one"), (2, b"two")]
    assert lines.digest == "sha256:" + hashlib.sha256(b"one\ntwo").hexdigest()


def test_a_shown_line_is_quoted_escaped_and_cut():
    assert shown(b"a\x1b[31m\r\n") == r"'a\x1b[31m'"
    assert shown("\u202eabc".encode()) == r"'\u202eabc'"
    assert shown(b"x" * 200) == repr("x" * 79 + "…")
