"""What a replacement changes: means, topics that fall, and topics that only one side has."""

import numpy as np
import pytest

from pytest_riskguard.baselines.entry import ScoreChange, TopicFall, changes_between
from pytest_riskguard.data.scores import TopicScores


def scores(measure="AP", **values):
    return TopicScores("prod", measure, tuple(values), np.array(list(values.values())))


def test_means_falls_and_topics_of_one_side_are_told():
    before = scores(a=0.5, b=0.25, c=1.0, d=0.5, e=0.75)
    after = scores(b=0.5, c=0.5, d=0.375, e=0.25, f=1.0)
    assert ScoreChange.between(before, after) == ScoreChange(
        measure="AP",
        before=0.6,
        after=0.525,
        topics=4,
        fallen=(TopicFall("c", 1.0, 0.5), TopicFall("e", 0.75, 0.25), TopicFall("d", 0.5, 0.375)),
        gone=("a",),
        added=("f",),
    )


@pytest.mark.parametrize(
    ("after", "falls"), [(0.5, False), (0.5 - 1e-12, False), (0.5 - 2e-12, True), (0.75, False), (0.25, True)]
)
def test_a_fall_is_more_than_rounding(after, falls):
    change = ScoreChange.between(scores(a=0.5), scores(a=after))
    assert change.falls == falls
    assert [fall.topic for fall in change.fallen] == (["a"] if falls else [])


def test_measures_of_one_side_only_are_left_out():
    before = (scores("AP", a=0.5), scores("RR", a=1.0))
    after = (scores("P@10", a=0.5), scores("RR", a=0.5), scores("AP", a=0.75))
    assert [(change.measure, change.before, change.after) for change in changes_between(before, after)] == [
        ("RR", 1.0, 0.5),
        ("AP", 0.5, 0.75),
    ]
