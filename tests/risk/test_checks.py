"""What kernels share: the order of numbers, and which ones are refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.risk import checks
from pytest_riskguard.risk.checks import exact_sum, first_in_order, stable_order


@pytest.mark.parametrize(
    "kind", ["different", "a few equal", "few values", "all the same", "zeros of both signs", "nothing"]
)
def test_the_order_is_that_of_a_stable_sort(kind):
    rng = np.random.default_rng(3)
    values = {
        "different": rng.normal(size=5000),
        "a few equal": np.concatenate([rng.normal(size=5000), rng.permutation(np.repeat([-1.5, 0.0, 2.0], 30))]),
        "few values": rng.integers(0, 40, 5000) / 8,
        "all the same": np.full(300, 2.5),
        "zeros of both signs": rng.choice([-0.0, 0.0, 1.0], 500),
        "nothing": np.zeros(0),
    }[kind]
    assert stable_order(values).tolist() == np.argsort(values, kind="stable").tolist()


@given(st.lists(st.integers(-3, 3).map(float), max_size=40), st.integers(0, 45))
def test_the_first_in_order_are_those_of_a_stable_sort(values, count):
    array = np.array(values)
    assert first_in_order(array, count).tolist() == np.argsort(array, kind="stable")[:count].tolist()


@given(st.lists(st.floats(-1e90, 1e90), min_size=1, max_size=60))
def test_long_vectors_are_summed_without_rounding(values):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "FEW_NUMBERS", 0)
        patch.setattr(checks, "BLOCK", 14)
        patch.setattr(checks, "BLOCK_BITS", 4)
        assert exact_sum(np.array(values)) == math.fsum(values)
