"""Runs in several files: which files count, and a digest that neither names nor order change."""

from __future__ import annotations

import hashlib
from pathlib import Path

import fsspec
import pytest

from pytest_riskguard.errors import RunFormatError
from pytest_riskguard.evaluation.runs import run_folders
from pytest_riskguard.evaluation.runs.run_folders import digest_of, folder_of


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "prod"
    folder.mkdir()
    for name in ("part-1.run", "part-0.run", "_SUCCESS", ".part-0.run.crc"):
        (folder / name).write_text(name, encoding="utf-8")
    return folder


def test_parts_are_sorted_and_notes_of_engines_left_out(folder):
    (folder / "_temporary").mkdir()
    found = folder_of(folder)
    assert [file.name for file in found.files] == ["part-0.run", "part-1.run"]
    assert found.shown == str(folder)


def test_a_file_is_not_a_folder_and_a_missing_path_neither(folder):
    assert folder_of(folder / "part-0.run") is None
    assert folder_of(folder / "none") is None


def test_an_address_is_a_folder_or_a_run_of_one_file(folder):
    files = fsspec.filesystem("memory")
    files.pipe({"/b/run/1.run": b"1", "/b/run/_SUCCESS": b""})
    try:
        found = folder_of(Path("memory://b/run"))
        assert [file.as_posix() for file in found.files] == ["memory:/b/run/1.run"]
        assert found.shown == "memory://b/run"
        assert folder_of(Path("memory://b/run/1.run")).files == (Path("memory://b/run/1.run"),)
    finally:
        files.rm("/b", recursive=True)


def test_folders_within_and_folders_without_parts_are_refused(folder, tmp_path, monkeypatch):
    (folder / "deeper").mkdir()
    with pytest.raises(RunFormatError, match=r"prod: expected the parts of a run, found the folder 'deeper' among"):
        folder_of(folder)
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunFormatError, match="empty: expected the parts of a run, found a folder without files"):
        folder_of(tmp_path / "empty")
    (folder / "deeper").rmdir()
    monkeypatch.setenv(run_folders.PARTS.variable, "1")
    with pytest.raises(RunFormatError, match="at most 1 files in the folder of a run, found 2"):
        folder_of(folder)


def test_the_digest_depends_on_the_content_of_the_parts_alone():
    one, two, three = (f"sha256:{hashlib.sha256(text).hexdigest()}" for text in (b"1", b"2", b"3"))
    assert digest_of([one]) == one
    assert digest_of([one, two]) == digest_of([two, one])
    assert len({digest_of(parts) for parts in ([one, two], [one, three], [one], [one, one], [one, two, three])}) == 5
    written = f"{min(one, two)}\n{max(one, two)}\n".encode()
    assert digest_of([two, one]) == f"sha256:{hashlib.sha256(written).hexdigest()}"
