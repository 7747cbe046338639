"""nDCG of document scores, against plain Python, ir-measures and LightGBM."""

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.ltr import JudgedQueries
from pytest_riskguard.ltr.queries import measure_name
from tests.ltr import plain_lambdas as plain


@pytest.mark.slow
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.0, 0.5, 2.0])), min_size=1, max_size=6), min_size=1
    ),
    st.integers(1, 7),
    st.sampled_from(["exponential", "linear"]),
)
def test_ndcg_is_the_mean_over_orders_of_equal_scores(queries, k, gain):
    labels = [label for query in queries for label, _ in query]
    scores = [score for query in queries for _, score in query]
    found = JudgedQueries(labels, [len(query) for query in queries], k=k, gain=gain).ndcg(scores)
    worth = (lambda label: 2.0**label - 1) if gain == "exponential" else float
    expected = [plain.expected_ndcg([worth(label) for label, _ in q], [score for _, score in q], k) for q in queries]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("gain", ["exponential", "linear"])
def test_ndcg_is_that_of_ir_measures(gain):
    rng = np.random.default_rng(0)
    group = rng.integers(1, 40, 50)
    labels = rng.integers(0, 5, group.sum()) * (rng.uniform(size=group.sum()) < 0.3)
    scores = rng.normal(size=group.sum())
    found = JudgedQueries(labels, group, gain=gain).ndcg(scores)
    names = [(str(query), str(row)) for row, query in enumerate(np.repeat(np.arange(group.size), group))]
    qrels = [ir_measures.Qrel(query, row, int(labels[int(row)])) for query, row in names]
    run = [ir_measures.ScoredDoc(query, row, scores[int(row)]) for query, row in names]
    digits = 5.1e-6 if gain == "exponential" else 1e-9  # gdeval, which computes it, rounds to five places
    measure = ir_measures.parse_measure(measure_name(10, gain))
    for metric in ir_measures.iter_calc([measure], qrels, run):
        assert metric.value == pytest.approx(found[int(metric.query_id)], abs=digits)


@pytest.mark.parametrize(
    ("labels", "group", "options", "message"),
    [
        ([[1]], [1], {}, "labels must have one value for each of the 1 documents, got shape"),
        ([1, np.nan], [2], {}, "labels must be finite, got nan in row 1"),
        ([1, -1], [2], {}, "labels must be at least 0, got -1 in row 1 "),
        (
            [1, 31],
            [2],
            {},
            r"at most 30 .* got 31 in row 1 \(counted from 0\); gain='linear' takes larger ones",
        ),
        ([1, 2], [1], {}, "group must add up to the 2 documents, got 1"),
        ([1, 2], [2, 0], {}, r"whole numbers of at least 1, got 0 at place 1 .counted from 0"),
        ([1, 2], [1, 0.5], {}, "got 0.5 at place 1"),
        ([1, 2], [1, np.inf], {}, "got inf at place 1"),
        ([1, 2], [2**62, 1], {}, "at place 0"),
        ([1, 2], [[2]], {}, "group must have one axis"),
        ([1, 2], [2], {"k": True}, "k must be a whole number of at least 1, got True"),
        ([1, 2], [2], {"gain": "log"}, "gain must be one of exponential, linear, got 'log'"),
    ],
)
def test_bad_judged_queries_are_refused(labels, group, options, message):
    with pytest.raises(ValueError, match=message):
        JudgedQueries(labels, group, **options)
