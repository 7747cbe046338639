"""Topics found by their query texts, and ids made of texts."""

from __future__ import annotations

import pytest

from pytest_riskguard.data.given_file import InputData
from pytest_riskguard.data.records import MAX_ID_LENGTH, derived_id, topics_of_texts
from pytest_riskguard.errors import DataError

DATA = InputData("run", reason="bad_run")


def test_a_topic_is_found_by_its_text_however_it_is_spaced_and_other_texts_are_ids():
    queries = {"t1": "red  shoes", "t2": "cafe\u0301"}
    texts = [" red shoes ", "caf\u00e9", "Red shoes", " new "]
    assert topics_of_texts(DATA, texts, queries) == ["t1", "t2", "Red shoes", "new"]
    assert topics_of_texts(DATA, ["new"], None) == ["new"]


def test_long_texts_get_ids_that_differ_where_the_texts_do():
    assert derived_id("x" * MAX_ID_LENGTH) == "x" * 60
    assert derived_id("x" * 61).startswith("x" * 48 + "~")
    first, second = "how to " * 30 + "a", "how to " * 30 + "b"
    assert derived_id(first) == derived_id(f" {first} ") != derived_id(second)
    assert len(derived_id(first)) <= MAX_ID_LENGTH


def test_the_text_of_two_topics_names_neither():
    with pytest.raises(DataError, match=r"'shoes' is the text of 2 topics \('a', 'b'\)"):
        topics_of_texts(DATA, ["shoes"], {"a": "shoes", "b": "shoes"})
