"""The sample of topics whose ids are examined: which documents it holds, and how much of a run it ever holds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pytest_riskguard.data import examined_ids as module
from pytest_riskguard.data.examined_ids import ENOUGH_JUDGED, MAX_RANKS, Examined, Sample
from pytest_riskguard.data.ids import Ids
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.errors import DataError

IntArray = np.typing.NDArray[np.int64]


def added(rankings: list[list[str]], written: IntArray | None = None) -> Examined:
    """The sample of these topics, which are added together."""
    sample = Sample()
    offsets = np.cumsum([0, *map(len, rankings)])
    documents = Ids.of([document for ranking in rankings for document in ranking])
    sample.add(np.arange(len(rankings)), offsets, documents, written)
    return sample.examined()


def test_documents_are_held_from_rank_1_on_whatever_the_order_of_the_lines() -> None:
    rankings = [["b", "a"], ["e", "c", "d"]]
    assert list(added(rankings).rankings(10)) == [(0, ["b", "a"]), (1, ["e", "c", "d"])]
    found = added(rankings, np.array([1, 0, 3, 4, 2]))
    assert list(found.rankings(10)) == [(0, ["a", "b"]), (1, ["c", "d", "e"])]
    assert list(found.rankings(2)) == [(0, ["a", "b"]), (1, ["c", "d"])]


def test_only_the_ranks_that_are_counted_are_held() -> None:
    names = [f"d{place}" for place in range(MAX_RANKS + 5)]
    found = added([names, ["a"]], np.arange(len(names) + 1))
    assert np.diff(found.offsets).tolist() == [MAX_RANKS, 1]
    assert found.documents.strings() == [*names[:MAX_RANKS], "a"]


def test_topics_that_are_not_examined_are_dropped_while_a_run_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_TOPICS", 20)
    sample, held = Sample(), []
    for place in range(500):
        sample.add(np.array([place]), np.array([0, 1]), Ids.of([f"d{place}"]), None)
        held.append(sum(len(part.places) for part in sample._parts))
    assert max(held) <= 25
    assert sum(later < earlier for earlier, later in itertools.pairwise(held)) < 40  # most are never held
    whole = Examined.joined([Examined(np.arange(500), np.arange(501), Ids.of(f"d{place}" for place in range(500)))])
    assert list(sample.examined().rankings(1)) == list(whole.rankings(1))


def test_ids_of_a_run_with_many_judged_documents_match_whatever_other_topics_have() -> None:
    """A fifth of the first documents is judged for the topic itself, and the others are judged for other topics."""
    topics = 60
    judged = {f"t{topic:02}": {f"d{topic}-{place}": 1 for place in range(10)} for topic in range(topics)}

    def run(own: int) -> dict[str, dict[str, float]]:
        return {
            f"t{topic:02}": {
                f"d{topic if place < own else (topic + 10) % topics}-{place}": 10.0 - place for place in range(10)
            }
            for topic in range(topics)
        }

    (found,) = score_run(run(round(10 * ENOUGH_JUDGED)), judged, ["P@10"])
    assert found.values.tolist() == [0.2] * topics
    with pytest.raises(DataError) as raised:
        score_run(run(1), judged, ["P@10"])
    assert raised.value.reason == "ids_do_not_match"
