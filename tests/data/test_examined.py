"""The topics whose ids are examined, collected while a run is read."""

from __future__ import annotations

import numpy as np

from pytest_riskguard.data import id_checks
from pytest_riskguard.data.examined_ids import Sample
from pytest_riskguard.data.id_checks import MAX_RANKS
from pytest_riskguard.data.ids import Ids


def test_documents_are_held_from_rank_1_on_as_far_as_they_are_counted():
    names = [f"d{place}" for place in range(MAX_RANKS + 5)]
    for written, first in ((None, names), (np.arange(len(names) + 1)[::-1], ["a", *reversed(names)])):
        sample = Sample()
        sample.add(np.array([3, 5]), np.array([0, len(names), len(names) + 1]), Ids.of([*names, "a"]), written)
        found = sample.examined()
        assert np.diff(found.offsets).tolist() == [MAX_RANKS, 1]
        assert found.documents.strings()[:MAX_RANKS] == first[:MAX_RANKS]


def test_topics_that_are_not_examined_are_dropped_whatever_the_order_of_reading(monkeypatch):
    monkeypatch.setattr(id_checks, "MAX_TOPICS", 20)
    found = []
    for places in (range(500), reversed(range(500))):
        sample, held = Sample(), []
        for place in places:
            sample.add(np.array([place]), np.array([0, 1]), Ids.of([f"d{place}"]), None)
            held.append(sum(len(part.places) for part in sample._parts))
        assert max(held) <= 25
        found.append(sample.examined())
        assert found[-1].documents.strings() == [f"d{place}" for place in found[-1].places]
    assert found[0].places.tolist() == found[1].places.tolist()
