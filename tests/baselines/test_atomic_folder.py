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
    _is_between,
    _made_work_folder,
    copy_compressed,
    held_names,
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
