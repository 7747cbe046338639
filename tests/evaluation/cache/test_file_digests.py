"""Digests of files: read once while a file rests, and again whenever it may have changed."""

from __future__ import annotations

import hashlib
import os
import time

import pytest

from pytest_riskguard.evaluation.cache import file_digests as module
from pytest_riskguard.evaluation.cache.file_digests import file_digest, stamp_of


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
    real = hashlib.file_digest

    def changing(opened, name):
        digest = real(opened, name)
        file.write_bytes(b"longer")
        return digest

    monkeypatch.setattr(hashlib, "file_digest", changing)
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
