"""Files of arrays: what was written comes back, and nothing else is believed."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pytest_riskguard.evaluation.array_files import (
    FORMAT,
    ArrayFileError,
    decoded,
    encoded,
    identifier_arrays,
    is_array_file,
)
from pytest_riskguard.evaluation.runs.identifiers import Identifiers

ARRAYS: dict[str, Any] = {
    "ranks": np.array([3, -1, 2**31 - 1], dtype=np.int32),
    "none": np.zeros(0, dtype=np.int64),
    "values": np.array([0.1, -0.0, 1e300]),
}


def test_arrays_and_header_come_back():
    content = encoded("part", {"topics": 2, "name": "a ü"}, ARRAYS)
    file = decoded("part", content)
    assert file.header == {"topics": 2, "name": "a ü"}
    assert file.arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert_array_equal(file.array(name, array.dtype.str), array)
        assert file.arrays[name].dtype == array.dtype
    assert np.signbit(file.arrays["values"][1])
    with pytest.raises(ValueError, match="read-only"):
        file.arrays["ranks"][0] = 1


def test_the_same_content_is_the_same_bytes_whatever_the_memory_of_its_arrays():
    turned = {name: np.repeat(array, 2)[::2] for name, array in ARRAYS.items()}
    swapped = {**ARRAYS, "values": ARRAYS["values"].astype(">f8")}
    one = encoded("part", {"a": 1, "b": 2}, ARRAYS)
    assert one == encoded("part", {"b": 2, "a": 1}, turned) == encoded("part", {"a": 1, "b": 2}, swapped)


@given(st.lists(st.text(max_size=5), max_size=20), st.data())
def test_ids_come_back(ids, data):
    places = data.draw(st.lists(st.integers(0, max(len(ids) - 1, 0)), max_size=20)) if ids else []
    chosen = Identifiers.of(ids).at(np.array(places, dtype=np.int64))
    file = decoded("ids", encoded("ids", {}, identifier_arrays("docs", chosen)))
    assert file.texts("docs") == tuple(ids[place] for place in places)
    assert len(file.arrays["docs.text"]) == sum(len(ids[place].encode()) for place in places)


def test_many_ids_come_back():
    ids = [f"d{number}" for number in range(150_000)]
    assert decoded("ids", encoded("ids", {}, identifier_arrays("docs", ids))).texts("docs") == tuple(ids)


def test_every_changed_byte_and_every_cut_is_noticed():
    content = encoded("part", {"a": 1}, ARRAYS)
    for place in range(len(content)):
        with pytest.raises(ArrayFileError):
            decoded("part", content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(ArrayFileError):
            decoded("part", content[:place])
    with pytest.raises(ArrayFileError, match="changed or cut off"):
        decoded("part", content + b"\n")


@pytest.mark.parametrize(
    ("content", "kind"),
    [(b"", "part"), (encoded("other", {}, {}), "part"), (b"1 Q0 d1 1 2.0 tag\n" * 100, "part")],
)
def test_another_kind_of_file_is_named(content, kind):
    with pytest.raises(ArrayFileError, match=f"expected a file of {FORMAT} part, found"):
        decoded(kind, content)
    assert not is_array_file(content, kind)
    assert is_array_file(encoded(kind, {}, {}), kind)


def forged(described, rest=b""):
    body = (described if isinstance(described, bytes) else json.dumps(described).encode()) + b"\n" + rest
    return f"{FORMAT} part\n{hashlib.sha256(body).hexdigest()}\n".encode() + body


@pytest.mark.parametrize(
    "described",
    [
        b"[]",
        b"{",
        b"\xff",
        {"arrays": []},
        {"header": {}, "arrays": [["a", "<i8"]]},
        {"header": {}, "arrays": [["a", "<i8", 10**15]]},
        {"header": {}, "arrays": [["a", "<i8", -1]]},
        {"header": {}, "arrays": [["a", "|O", 1]]},
        {"header": {}, "arrays": [["a", "<i8", 1]]},
        {"header": {}, "arrays": []},
    ],
)
def test_sizes_and_types_are_checked_before_they_are_used(described):
    with pytest.raises(ArrayFileError):
        decoded("part", forged(described, b"1234567"))


def test_arrays_of_another_type_or_length_are_refused():
    file = decoded("part", encoded("part", {}, ARRAYS | identifier_arrays("ids", ["a", "bc"])))
    for name, kind, length in (("ranks", "<i8", 3), ("ranks", "<i4", 4), ("nothing", "<i8", None)):
        with pytest.raises(ArrayFileError, match=f"expected an array '{name}'"):
            file.array(name, kind, length)
    with pytest.raises(ArrayFileError, match=r"ids\.lengths"):
        file.identifiers("ids", 3)


@pytest.mark.parametrize(
    ("text", "lengths"), [(b"ab", [1]), (b"ab", [3, -1]), (b"ab", [2**62, 2**62, 2**62, 2**62 + 2])]
)
def test_ids_that_do_not_fill_their_text_are_refused(text, lengths):
    arrays: dict[str, Any] = {
        "ids.text": np.frombuffer(text, dtype=np.uint8),
        "ids.lengths": np.array(lengths, dtype=np.int64),
    }
    file = decoded("part", encoded("part", {}, arrays))
    with pytest.raises(ArrayFileError, match="fill their text"):
        file.identifiers("ids")


def test_ids_that_are_not_utf8_are_refused():
    arrays: dict[str, Any] = {
        "ids.text": np.array([0xFF], dtype=np.uint8),
        "ids.lengths": np.array([1], dtype=np.int64),
    }
    with pytest.raises(ArrayFileError, match="UTF-8"):
        decoded("part", encoded("part", {}, arrays)).texts("ids")


@pytest.mark.parametrize("array", [np.zeros((2, 2)), np.array(["a"]), np.zeros(2, dtype=np.float32)])
def test_other_arrays_are_not_written(array):
    with pytest.raises(ValueError, match="expected a flat array"):
        encoded("part", {}, {"a": array})
