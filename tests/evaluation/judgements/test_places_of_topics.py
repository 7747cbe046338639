from __future__ import annotations

import pytest

from pytest_riskguard.evaluation.judgements.judgement_arrays import JudgementArrays


@pytest.mark.parametrize("topics", [("a", "b", "c"), ("b",), ("c", "a"), ()])
def test_places_are_those_of_the_topics_asked_for(topics: tuple[str, ...]) -> None:
    arrays = JudgementArrays.of({topic: {"d": 1.0} for topic in "abc"}, "abc")
    assert arrays.places_of(topics).tolist() == ["abc".index(topic) for topic in topics]
    with pytest.raises(KeyError):
        arrays.places_of(("a", "z"))
