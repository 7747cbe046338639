"""Golden outputs find a change, and are written only when asked for."""

import pytest

from tests.snapshots import UPDATE, golden, golden_json


@pytest.fixture(autouse=True)
def _comparing(monkeypatch):
    monkeypatch.delenv(UPDATE, raising=False)


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


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"a": [1, 0.1 + 1e-14]}, None),
        ({"a": [1, 0.1 + 1e-9]}, r"\.a\[1\]: 0\.1 is now 0\.100000001"),
        ({"a": [1.0, 0.1]}, r"\.a\[0\]: 1 is now 1\.0"),
        ({"a": [1]}, "2 items are now 1"),
        ({"b": 1}, r"keys \['a'\] are now \['b'\]"),
    ],
)
def test_json_is_compared_value_by_value(tmp_path, value, said):
    (tmp_path / "a.json").write_text('{"a": [1, 0.1]}')
    if said is None:
        golden_json(tmp_path / "a.json", value)
    else:
        with pytest.raises(AssertionError, match=said):
            golden_json(tmp_path / "a.json", value)
