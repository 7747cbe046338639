"""What kernels share: sums of numbers, and which ones are refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.risk import checks
from pytest_riskguard.risk.checks import (
    between_0_and_1,
    exact_sum,
    loss_weight,
    per_topic,
    systems_by_topics,
)


@given(st.lists(st.floats(-1e90, 1e90), min_size=1, max_size=60))
def test_long_vectors_are_summed_without_rounding(values):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "FEW_NUMBERS", 0)
        patch.setattr(checks, "BLOCK", 14)
        patch.setattr(checks, "BLOCK_BITS", 4)
        assert exact_sum(np.array(values)) == math.fsum(values)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: per_topic([[0.1]], name="d"), r"^d must have one axis \(topics\), got shape \(1, 1\)$"),
        (lambda: per_topic([-1.1e100], name="d"), r"^d must be finite and at most 1e\+100 in size, got -1.1e\+100$"),
        (lambda: systems_by_topics(np.zeros((2, 0)), name="p"), "^p must hold at least 1 topics, got 0$"),
        (
            lambda: systems_by_topics([[0.1, 0.2], [0.3, math.inf]]),
            r"^scores must be finite and at most 1e\+100 in size, got inf for system 1, topic 1 \(counted from 0\)$",
        ),
        (lambda: between_0_and_1(1.0, name="level"), "^level must be between 0 and 1, got 1.0$"),
        (lambda: between_0_and_1(0, name="level"), "^level must be between 0 and 1, got 0$"),
        (lambda: loss_weight(math.inf), "^alpha must be finite and at least 0, got inf$"),
    ],
)
def test_an_error_is_a_whole_sentence_that_names_the_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_largest_scores_are_taken():
    assert per_topic([1e100, -1e100], name="d").tolist() == [1e100, -1e100]
    assert systems_by_topics([[1e100], [-1e100]]).tolist() == [[1e100], [-1e100]]
