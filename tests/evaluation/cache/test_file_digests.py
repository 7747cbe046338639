"""Digests of files: read once while a file rests, and again whenever it may have changed."""

from __future__ import annotations

import gzip
import hashlib
import os
import time
from pathlib import Path

import pytest

from pytest_riskguard.evaluation.cache import file_digests as module
from pytest_riskguard.evaluation.cache.file_digests import file_digest, stamp_of, text_digest, unpacking


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.run"
    path.write_bytes(b"one")
    return path


@pytest.fixture
def hashed(monkeypatch):
    """How many files were read."""
    files = []
    computed = module._computed
    monkeypatch.setattr(module, "_computed", lambda path, *rest: files.append(path) or computed(path, *rest))
    return files


@pytest.fixture
def at_rest(monkeypatch):
    """As if three seconds had passed since every change."""
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 3_000_000_000)


def sha256(content):
    return hashlib.sha256(content).hexdigest()


@pytest.mark.usefixtures("at_rest")
def test_a_file_at_rest_is_read_once(folder, file, hashed):
    assert [file_digest(file, folder) for _ in range(3)] == [sha256(b"one")] * 3
    assert len(hashed) == 1


def test_a_file_that_has_just_changed_is_read_again(folder, file, hashed):
    assert [file_digest(file, folder) for _ in range(3)] == [sha256(b"one")] * 3
    assert len(hashed) == 3


def test_a_file_that_was_given_an_old_date_just_now_is_read_again(folder, file, hashed):
    os.utime(file, (1, 1))
    assert [file_digest(file, folder) for _ in range(2)] == [sha256(b"one")] * 2
    assert len(hashed) == 2


@pytest.mark.usefixtures("at_rest")
def test_a_file_of_the_future_is_read_again(folder, file, hashed):
    later = time.time() + 1000
    os.utime(file, (later, later))
    assert file_digest(file, folder) == file_digest(file, folder) == sha256(b"one")
    assert len(hashed) == 2


@pytest.mark.usefixtures("at_rest")
@pytest.mark.parametrize("how", ["written", "replaced", "as old", "moved"])
def test_a_file_that_changed_is_read_again(folder, file, how):
    status = file.stat()
    file_digest(file, folder)
    if how == "replaced":
        other = file.with_name("other")
        other.write_bytes(b"two")
        other.replace(file)
    elif how == "moved":
        file.with_name("b.run").write_bytes(b"two")
        file = file.with_name("b.run")
    else:
        file.write_bytes(b"two")
    if how == "as old":  # only the time of the change of its entry tells
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert file_digest(file, folder) == sha256(b"two")


@pytest.mark.parametrize("part", range(5))
def test_each_part_of_the_stamp_counts(folder, file, monkeypatch, at_rest, part):
    stamps = stamp_of(file)
    file_digest(file, folder)
    name = module._entry_name(file, stamps)
    first, second, size, third, fourth = (value + (place == part) for place, value in enumerate(stamps))
    other = (first, second, size, third, fourth)
    assert module._kept(folder, name) == sha256(b"one")
    assert module._kept(folder, module._entry_name(file, other)) is None
    assert module._kept(folder, module._entry_name(file.with_name("b"), stamps)) is None


@pytest.mark.usefixtures("at_rest")
@pytest.mark.parametrize(
    "content", [b"", b"x", b"\xff\xfe", "{name} ", "{name} {short}\n", "{name} {long}\n", "{other} {right}\n"]
)
def test_a_damaged_entry_is_not_believed(folder, file, content):
    file_digest(file, folder)
    name = module._entry_name(file, stamp_of(file))
    if isinstance(content, str):
        texts = {"short": "a" * 63, "long": "z" * 64, "right": sha256(b"other"), "other": "0" * 64}
        content = content.format(name=name, **texts).encode()
    folder.write("files", name, content)
    assert file_digest(file, folder) == sha256(b"one")


def test_a_file_that_changes_while_it_is_read_has_no_digest(folder, file, monkeypatch):
    real = module.sha256_of

    def changing(opened):
        digest = real(opened)
        file.write_bytes(b"longer")
        return digest

    monkeypatch.setattr(module, "sha256_of", changing)
    assert file_digest(file, folder) is None


def test_a_file_that_is_replaced_before_it_is_opened_has_no_digest(folder, file, monkeypatch):
    stamp = stamp_of(file)
    file.write_bytes(b"longer")
    monkeypatch.setattr(module, "stamp_of", lambda _: stamp)
    assert file_digest(file, folder) is None


def test_what_is_no_file_has_no_digest(folder, tmp_path):
    for path in (tmp_path, tmp_path / "missing", tmp_path / "nul\0", tmp_path / ("long" * 1000)):
        assert file_digest(path, folder) is None
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        assert file_digest(tmp_path / "pipe", folder) is None


def test_a_file_beyond_the_limit_of_runs_is_not_even_hashed(folder, file, hashed, monkeypatch):
    monkeypatch.setenv("RISKGUARD_MAX_RUN_BYTES", "2")
    assert file_digest(file, folder) is None
    assert hashed == []


class Unpacking:
    """Unpacks gzip files, and counts."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, path: Path) -> str:
        self.count += 1
        return f"sha256:{sha256(gzip.decompress(path.read_bytes()))}"


@pytest.fixture
def packed(tmp_path):
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(b"one"))
    return path


def test_a_packed_text_is_unpacked_once(folder, packed):
    unpack = Unpacking()
    assert {text_digest(packed, unpack) for _ in range(3)} == {f"sha256:{sha256(b'one')}"}
    assert unpack.count == 1
    packed.write_bytes(gzip.compress(b"two"))
    assert text_digest(packed, unpack) == f"sha256:{sha256(b'two')}"
    assert unpack.count == 2


def test_a_packed_file_is_read_each_time_however_long_it_rests(folder, packed, at_rest):
    unpack = Unpacking()
    status = packed.stat()
    text_digest(packed, unpack)
    content = packed.read_bytes()
    packed.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    os.utime(packed, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(gzip.BadGzipFile):
        text_digest(packed, unpack)


@pytest.mark.parametrize("variable", ["RISKGUARD_CACHE", "RISKGUARD_MAX_RATIO", "RISKGUARD_MAX_RUN_BYTES"])
def test_a_packed_text_is_unpacked_again_where_another_limit_holds(folder, packed, monkeypatch, variable):
    unpack = Unpacking()
    text_digest(packed, unpack)
    monkeypatch.setenv(variable, "off" if variable == "RISKGUARD_CACHE" else "3")
    text_digest(packed, unpack)
    assert unpack.count == 2


def test_a_packed_file_that_changes_meanwhile_is_not_remembered(folder, packed):
    def unpack(path):
        path.write_bytes(gzip.compress(b"two"))
        return f"sha256:{sha256(b'two')}"

    content = packed.read_bytes()
    text_digest(packed, unpack)
    packed.write_bytes(content)
    assert text_digest(packed, Unpacking()) == f"sha256:{sha256(b'one')}"


def test_what_a_reading_says_of_a_packed_text_is_remembered_if_the_file_stayed_the_same(folder, packed):
    with unpacking(packed) as tell:
        tell(f"sha256:{sha256(b'one')}")
    unpack = Unpacking()
    assert text_digest(packed, unpack) == f"sha256:{sha256(b'one')}"
    assert unpack.count == 0
    packed.write_bytes(gzip.compress(b"two"))
    content = packed.read_bytes()
    with unpacking(packed) as tell:
        packed.write_bytes(gzip.compress(b"three"))
        tell(f"sha256:{sha256(b'three')}")
    for restored in (content, packed.read_bytes()):
        packed.write_bytes(restored)
        assert text_digest(packed, unpack) == f"sha256:{sha256(gzip.decompress(restored))}"
    assert unpack.count == 2
