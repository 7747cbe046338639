"""Copies, links, flushes and deletions, each by itself; whole writes are in ``test_writing``."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_riskguard.baselines.atomic_folder import (
    _flush,
    _flush_all,
    _is_barely_made,
    _is_between,
    _is_held,
    _is_marker,
    _made_work_folder,
    copy_compressed,
    delete,
    held_names,
    is_link,
    newest,
    sha256,
)

RUN = b"q1 Q0 d1 1 2.0 prod\nq1 Q0 d2 2 1.0 prod\n"


def test_a_copy_is_the_same_bytes_whatever_the_run_is_called_and_whenever_it_is_made(tmp_path, monkeypatch):
    copies = []
    for time, name in ((1.0, "a.run"), (1_000_000_000.0, "b.run")):
        monkeypatch.setattr("gzip.time", SimpleNamespace(time=lambda time=time: time))
        source, target = tmp_path / name, tmp_path / f"copy of {name}.gz"
        source.write_bytes(RUN)
        assert copy_compressed(source, target) == sha256(RUN)
        copies.append(target.read_bytes())
    assert copies[0] == copies[1]
    assert gzip.decompress(copies[0]) == RUN
    # neither a name (flag 8) nor a time: RFC 1952, section 2.3
    assert (copies[0][3], copies[0][4:8]) == (0, bytes(4))


@pytest.mark.parametrize("known", [True, False])
def test_a_junction_is_a_link_where_python_knows_junctions(tmp_path, monkeypatch, known):
    if known:
        monkeypatch.setattr(os.path, "isjunction", lambda path: path == tmp_path, raising=False)
    else:
        monkeypatch.delattr(os.path, "isjunction", raising=False)
    assert is_link(tmp_path) == known
    assert not is_link(tmp_path.parent)


def test_a_folder_that_cannot_be_emptied_is_deleted_as_far_as_possible(tmp_path, monkeypatch):
    kept, deleted = tmp_path / "folder" / "kept", tmp_path / "folder" / "sub" / "deleted"
    deleted.parent.mkdir(parents=True)
    for path in (kept, deleted):
        path.touch()
    unlink = os.unlink

    def refuse(path, **options):
        if "kept" in os.fspath(path):
            raise PermissionError(path)
        unlink(path, **options)

    monkeypatch.setattr(os, "unlink", refuse)
    delete(tmp_path / "folder")
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["kept"]


def test_files_and_the_entries_of_folders_are_flushed(tmp_path, monkeypatch):
    flushed: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: flushed.append(os.fstat(handle).st_ino))
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path):
        _flush(path)
    assert flushed == [path.stat().st_ino for path in (tmp_path / "file", tmp_path)]


def test_links_are_not_flushed_and_what_comes_after_them_is(tmp_path, monkeypatch, link):
    flushed: list[str] = []
    monkeypatch.setattr("pytest_riskguard.baselines.atomic_folder._flush", lambda path: flushed.append(path.name))
    paths = [tmp_path / name for name in ("a", "link", "z")]
    (tmp_path / "a").touch()
    link(tmp_path / "link", tmp_path / "a")
    (tmp_path / "z").touch()
    monkeypatch.setattr(type(tmp_path), "iterdir", lambda _: iter(paths))
    _flush_all(tmp_path)
    assert flushed == ["a", "z", tmp_path.name]


def test_a_work_folder_that_is_gone_was_not_barely_made(tmp_path):
    assert not _is_barely_made(tmp_path / "gone")


def test_a_marker_is_a_regular_file_that_is_not_large(tmp_path):
    (tmp_path / "small").write_text("{}")
    (tmp_path / "large").write_text("{}" * 501)
    (tmp_path / "folder").mkdir()
    assert [_is_marker(tmp_path / name) for name in ("small", "large", "folder")] == [True, False, False]


def test_a_work_folder_of_something_else_is_not_barely_made(tmp_path):
    (tmp_path / "notes.txt").touch()
    assert not _is_barely_made(tmp_path)


@pytest.mark.parametrize("look_up", [held_names, lambda root: {"prod"} if newest(root, "prod") else set()])
def test_a_folder_that_leaves_its_place_and_is_back_while_it_is_looked_for_is_found(tmp_path, monkeypatch, look_up):
    (tmp_path / "prod").mkdir()
    work = _made_work_folder(tmp_path, replaces="prod")
    (work / "new").mkdir()
    steps = [lambda: (tmp_path / "prod").rename(work / "old"), lambda: (work / "new").rename(tmp_path / "prod")]
    if look_up is held_names:  # it leaves after the store was listed
        listed = type(tmp_path).iterdir

        def list_and_step(path: Path) -> Iterator[Path]:
            paths = list(listed(path))
            if len(steps) == 2:
                steps.pop(0)()
            return iter(paths)

        monkeypatch.setattr(type(tmp_path), "iterdir", list_and_step)
    else:
        steps.pop(0)()

    def step_and_look(path: Path) -> bool:
        if steps:
            steps.pop(0)()
        return _is_between(path)

    monkeypatch.setattr("pytest_riskguard.baselines.atomic_folder._is_between", step_and_look)
    assert look_up(tmp_path) == {"prod"}
    assert not steps


def test_files_beside_the_folders_of_a_store_are_not_held(tmp_path):
    (tmp_path / "notes.txt").touch()
    (tmp_path / "prod").mkdir()
    assert held_names(tmp_path) == {"prod"}
    assert held_names(tmp_path / "gone") == set()


@pytest.mark.parametrize(
    "listings",
    [
        (["prod"], ["prod"]),
        (["prod", ".tmp-1"], [".tmp-2"], [".tmp-2"]),
        ([".tmp-1"], ["prod", ".tmp-2"], [".tmp-2"]),
    ],
)
def test_a_store_is_listed_until_nothing_is_being_replaced(tmp_path, monkeypatch, listings):
    """A listing may miss a folder that is on its way, and the marker of its work folder may be gone by then."""
    (tmp_path / "prod").mkdir()
    left = [[tmp_path / name.replace("-", "-" + "0" * 31) for name in listing] for listing in listings]
    monkeypatch.setattr(type(tmp_path), "iterdir", lambda _: iter(left.pop(0)))
    assert held_names(tmp_path) == {"prod"}
    assert not left


def test_a_folder_that_is_back_right_after_it_was_not_there_is_no_file(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    is_dir = type(tmp_path).is_dir

    def look_and_step(path: Path) -> bool:
        answer = is_dir(path)
        if is_dir(tmp_path / "elsewhere"):
            (tmp_path / "elsewhere").rename(tmp_path / "prod")
        return answer

    monkeypatch.setattr(type(tmp_path), "is_dir", look_and_step)
    assert _is_held(tmp_path, "prod")
