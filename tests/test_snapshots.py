"""Golden outputs find a change, and are written only when asked for."""

import pytest

from tests.snapshots import UPDATE, golden


def test_a_text_that_changed_is_shown_as_a_change(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    golden(tmp_path / "a.txt", "one\ntwo\n")
    with pytest.raises(AssertionError, match=r"a\.txt changed[^\0]*-two\n\+three"):
        golden(tmp_path / "a.txt", "one\nthree\n")


def test_a_text_that_nobody_looked_at_is_no_golden_one(tmp_path, monkeypatch):
    path = tmp_path / "golden" / "a.txt"
    with pytest.raises(AssertionError, match=r"no a\.txt in golden"):
        golden(path, "one\n")
    assert not path.exists()
    monkeypatch.setenv(UPDATE, "1")
    golden(path, "one\n")
    assert path.read_text() == "one\n"
