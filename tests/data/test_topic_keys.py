"""Topics found by their query texts, and ids made of texts."""

from __future__ import annotations

import pytest

from pytest_riskguard.data.records import MAX_ID_LENGTH, AmbiguousTextError, TopicKeys, derived_id, normal


def test_a_topic_is_found_by_its_text_however_it_is_spaced():
    keys = TopicKeys({"t1": "red  shoes", "t2": "cafe\u0301"})
    assert keys.id_of(" red shoes ") == "t1"
    assert keys.id_of("caf\u00e9") == "t2"


def test_a_text_that_no_topic_has_is_its_own_id():
    assert TopicKeys({"t1": "red shoes"}).id_of("Red shoes") == "Red shoes"


def test_texts_of_up_to_60_characters_are_ids():
    assert derived_id("x" * 60) == "x" * 60
    assert derived_id("x" * 61).startswith("x" * 48 + "~")


def test_long_texts_get_ids_that_differ_where_the_texts_do():
    first, second = "how to " * 30 + "a", "how to " * 30 + "b"
    assert derived_id(first) != derived_id(second)
    assert derived_id(first) == derived_id(f" {first} ")
    assert len(derived_id(first)) <= MAX_ID_LENGTH
    assert derived_id(normal("x" * MAX_ID_LENGTH)) == "x" * MAX_ID_LENGTH


def test_the_text_of_two_topics_names_neither():
    with pytest.raises(AmbiguousTextError, match=r"'shoes' is the text of 2 topics \('a', 'b'\)"):
        TopicKeys({"a": "shoes", "b": "shoes"}).id_of("shoes")
