"""Copies of runs are the same bytes each time, and what leads elsewhere is a link on every system."""

from __future__ import annotations

import gzip
import os
from types import SimpleNamespace

import pytest

from pytest_riskguard.baselines.atomic_folder import copy_compressed, is_link, sha256

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
