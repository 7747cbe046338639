"""Reference baselines over a pool."""

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pytest_riskguard.risk.pools import KINDS, reference_scores

scores = st.integers(-1000, 1000).map(lambda k: k / 1000)
pools = st.tuples(st.integers(1, 9), st.integers(1, 12)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=scores)
)


@given(pools)
def test_each_kind_is_that_of_the_topics_scores(pool):
    by_topic = pool.T.tolist()
    exact = [float(sum(map(Fraction, topic)) / len(topic)) for topic in by_topic]
    assert reference_scores(pool, kind="mean") == pytest.approx(exact, rel=1e-15, abs=0)
    assert reference_scores(pool, kind="median").tolist() == [statistics.median(topic) for topic in by_topic]
    assert reference_scores(pool, kind="max").tolist() == [max(topic) for topic in by_topic]


@given(pools, st.sampled_from(KINDS), st.randoms(use_true_random=False))
def test_the_order_of_systems_moves_no_bit_and_that_of_topics_goes_along(pool, kind, random):
    systems, topics = list(range(pool.shape[0])), list(range(pool.shape[1]))
    random.shuffle(systems)
    random.shuffle(topics)
    computed = reference_scores(pool, kind=kind)
    assert reference_scores(pool[systems][:, topics], kind=kind).tobytes() == computed[topics].tobytes()


@pytest.mark.parametrize(
    ("pool", "kind", "message"),
    [
        ([[0.1]], "mode", "reference baseline must be one of mean, median, max, got 'mode'"),
        ([0.1, 0.2], "mean", r"two axes \(systems, topics\), got shape \(2,\)"),
        (np.zeros((0, 2)), "mean", "scores must hold at least 1 systems, got 0"),
        ([[0.1, 0.2], [0.3, math.nan]], "median", "finite, got nan for system 1, topic 1"),
    ],
)
def test_errors_say_what_is_wrong(pool, kind, message):
    with pytest.raises(ValueError, match=message):
        reference_scores(pool, kind=kind)
