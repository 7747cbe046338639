"""When so many documents are judged that ids match."""

from __future__ import annotations

import pytest

from pytest_riskguard.data.examined_ids import ENOUGH_JUDGED
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.errors import DataError


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
