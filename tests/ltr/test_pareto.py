"""The Pareto front against its definition, model by model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.ltr.model_comparison import pareto_front

#: Few values, so that ties are common.
models = st.lists(st.tuples(*(st.integers(-2, 3).map(float),) * 2), max_size=12)


def beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether a model, as mean and risk, is at least as good in both and better in one."""
    return one[0] >= other[0] and one[1] <= other[1] and one != other


@given(models)
def test_a_model_is_on_the_front_if_no_other_beats_it(given_models):
    front = pareto_front(*np.array(given_models).reshape(-1, 2).T)
    assert front.dtype == np.bool_
    assert front.tolist() == [not any(beats(other, one) for other in given_models) for one in given_models]


@pytest.mark.parametrize(
    ("means", "risks", "front"),
    [
        ([], [], []),
        ([0.4], [0.1], [True]),
        ([0.4, 0.4], [0.1, 0.1], [True, True]),
        ([0.4, 0.4, 0.5], [0.1, 0.0, 0.2], [False, True, True]),
        ([0.5, 0.4], [0.1, 0.1], [True, False]),
        # SIGIR 2016, Table 7, top half: NDCG@10 and risk against BM25 of L'MART, then U-CRO, T-FARO, T*-FARO and
        # GeoRisk at alpha 1 and 5
        (
            [0.4578, 0.4558, 0.4461, 0.4576, 0.4569, 0.4557, 0.4562, 0.4581, 0.4557],
            [0.036, 0.035, 0.032, 0.035, 0.036, 0.037, 0.037, 0.037, 0.038],
            [True, False, True, True, False, False, False, True, False],
        ),
    ],
)
def test_fronts_by_hand(means, risks, front):
    assert pareto_front(np.array(means), np.array(risks)).tolist() == front
