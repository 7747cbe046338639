"""Copies and looks, each by itself; whole writes are in ``test_writing``."""

from __future__ import annotations

import gzip
from pathlib import Path
from types import SimpleNamespace

from pytest_riskguard.baselines.atomic_folder import copy_compressed, held_names, newest, sha256

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


def test_a_folder_that_is_back_in_its_place_while_it_is_looked_for_is_found(tmp_path, monkeypatch):
    old = tmp_path / ".tmp-old-prod"
    old.mkdir()
    is_folder = type(tmp_path).is_dir

    def look_and_put_back(path: Path) -> bool:
        found = is_folder(path)
        if path.name == "prod" and old.exists():
            old.rename(tmp_path / "prod")
        return found

    monkeypatch.setattr(type(tmp_path), "is_dir", look_and_put_back)
    assert newest(tmp_path, "prod") == tmp_path / "prod"


def test_a_folder_that_gets_another_name_while_the_store_is_listed_is_found(tmp_path, monkeypatch):
    (tmp_path / "prod").mkdir()
    listings = [[], [tmp_path / "prod"]]
    monkeypatch.setattr(type(tmp_path), "iterdir", lambda _: iter(listings.pop(0)))
    assert held_names(tmp_path) == {"prod"}
