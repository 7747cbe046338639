"""Baselines of training queries: from documents, from scores per query, from a store."""

import numpy as np
import pytest

from pytest_riskguard.baselines.store import Store
from pytest_riskguard.errors import BaselineError, DataError
from pytest_riskguard.ltr import JudgedQueries, QueryBaselines
from pytest_riskguard.ltr.queries import measure_name

LABELS, GROUP = [2, 0, 1, 0, 0, 3, 0], [3, 2, 2]


def test_a_feature_and_another_model_score_the_documents():
    judged = JudgedQueries(LABELS, GROUP, k=2)
    bm25, model = [0.1, 0.5, 0.2, 1.0, 2.0, 0.0, 0.0], [3.0, 2, 1, 0, 0, 1, 0]
    found = QueryBaselines.from_document_scores(LABELS, GROUP, {"bm25": bm25, "old": model}, k=2)
    assert (found.names, found.queries, found.k, found.gain) == (("bm25", "old"), ("1", "2", "3"), 2, "exponential")
    np.testing.assert_array_equal(found.scores, [judged.ndcg(bm25), judged.ndcg(model)])
    mean = found.mean()
    assert mean.names == ("mean of bm25, old",)
    np.testing.assert_allclose(mean.scores, [(judged.ndcg(bm25) + judged.ndcg(model)) / 2])
    assert mean.mean() is mean


def test_scores_of_queries_are_put_in_the_order_of_training():
    scores = {"prod": {"c": 0.3, "a": 0.1, "b": 0.2, "unused": 0.9}}
    found = QueryBaselines.from_query_scores(scores, queries=["a", "b", "c"], k=5, gain="linear")
    assert found.scores.tolist() == [[0.1, 0.2, 0.3]]
    assert (found.k, found.gain) == (5, "linear")
    found = QueryBaselines.from_query_scores(scores, queries=["a"])
    assert (found.k, found.gain) == (10, "exponential")


def test_a_baseline_that_cannot_be_scored_is_named():
    with pytest.raises(ValueError, match="baseline old: scores must be numbers, got nan in row 6"):
        QueryBaselines.from_document_scores(LABELS, GROUP, {"bm25": LABELS, "old": [1, 2, 3, 4, 5, 6, np.nan]})
    with pytest.raises(ValueError, match="baseline old: scores must have one value for each of the 7 documents"):
        QueryBaselines.from_document_scores(LABELS, GROUP, {"old": [1, 2, 3]})


def test_queries_without_a_relevant_document_need_no_score():
    data = JudgedQueries(LABELS, GROUP)
    given = {"prod": {"a": 0.5, "c": 1.0}}
    found = QueryBaselines.from_query_scores(given, queries=["a", "b", "c"], data=data)
    assert found.scores.tolist() == [[0.5, 0.0, 1.0]]
    with pytest.raises(DataError, match="prod has no score for 1 of 3 queries: b"):
        QueryBaselines.from_query_scores(given, queries=["a", "b", "c"])
    with pytest.raises(DataError, match="prod has no score for 1 of 3 queries: x"):
        QueryBaselines.from_query_scores(given, queries=["x", "b", "c"], data=data)


@pytest.mark.parametrize("gain", ["exponential", "linear"])
def test_stored_baselines_score_what_their_documents_do(tmp_path, gain):
    scores = [0.1, 0.5, 0.2, 1.0, 2.0, 0.7, 0.3]
    queries = np.repeat(["a", "b", "c"], GROUP)
    rows = list(zip(queries, LABELS, scores, strict=True))
    (tmp_path / "qrels").write_text("".join(f"{q} 0 d{n} {label}\n" for n, (q, label, _) in enumerate(rows)))
    ranked = sorted(enumerate(rows), key=lambda row: (row[1][0], -row[1][2]))
    (tmp_path / "run").write_text("".join(f"{q} Q0 d{n} 0 {score} prod\n" for n, (q, _, score) in ranked))
    store = tmp_path / "store"
    Store(store).add(
        "prod",
        tmp_path / "run",
        qrels=tmp_path / "qrels",
        topics=None,
        measures=[measure_name(k, gain) for k in (10, 3)],
    )
    data = JudgedQueries(LABELS, GROUP, gain=gain)
    direct = QueryBaselines.from_document_scores(LABELS, GROUP, {"prod": scores}, queries=["a", "b", "c"], gain=gain)
    for place, names in ((store, ()), (str(store), ("prod",))):
        found = QueryBaselines.from_store(place, *names, queries=["a", "b", "c"], data=data, gain=gain)
        assert (found.names, found.k, found.gain) == (("prod",), 10, gain)
        np.testing.assert_allclose(found.scores, direct.scores, rtol=0, atol=1e-12)
    assert QueryBaselines.from_store(store, queries=["a", "c"], k=3, gain=gain).k == 3
    with pytest.raises(BaselineError, match="other"):
        QueryBaselines.from_store(store, "other", queries=["a"])
    with pytest.raises(BaselineError, match="nDCG"):
        QueryBaselines.from_store(store, "prod", queries=["a"], k=7, gain=gain)
    with pytest.raises(DataError, match="expected stored baselines, found none: riskguard baseline add stores one"):
        QueryBaselines.from_store(tmp_path / "empty", queries=["a"])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: QueryBaselines((), (), np.zeros((0, 0))), ValueError, "shape"),
        (lambda: QueryBaselines(("a",), ("q",), np.zeros(1)), ValueError, r"\(1, 1\), got \(1,\)"),
        (
            lambda: QueryBaselines(("a", "a"), ("q",), np.zeros((2, 1))),
            ValueError,
            "baselines must have different names, got 'a' twice",
        ),
        (
            lambda: QueryBaselines(("a",), ("q",), np.array([[1.5]])),
            DataError,
            "baseline a, query q: nDCG@10 must be",
        ),
        (
            lambda: QueryBaselines(("a", "b"), ("q", "r"), np.array([[0, 1], [0.5, -0.5]])),
            DataError,
            "baseline b, query r: nDCG@10 must be from 0 to 1, got -0.5",
        ),
        (lambda: QueryBaselines(("a",), ("q",), np.array([[np.nan]])), DataError, "must be from 0 to 1, got nan"),
        (
            lambda: QueryBaselines(("a",), ("q", "q"), np.zeros((1, 2))),
            ValueError,
            "queries must have different names, got 'q' twice",
        ),
        (lambda: QueryBaselines(("a",), ("q",), np.zeros((1, 1)), k=0), ValueError, "k must be a whole number"),
    ],
)
def test_bad_baselines_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_data_with_other_labels_are_refused():
    baselines = QueryBaselines.from_document_scores([0.1, 1, 2, 0], [2, 2], {"b": [1, 2, 3, 4]}, gain="linear")
    for labels in ([0.1, 1, 2, 0], np.array([0.1, 1, 2, 0], np.float32)):
        baselines.check(JudgedQueries(labels, [2, 2], gain="linear"))
    swapped = JudgedQueries([2, 0, 0.1, 1], [2, 2], gain="linear")
    with pytest.raises(DataError, match=r"query 1 has other labels in the data .*: 2 and not 0\.1 in row 0"):
        baselines.check(swapped)
    by_query = {"b": {"q1": 0.5, "q2": 0.5}}
    QueryBaselines.from_query_scores(by_query, queries=["q1", "q2"]).check(swapped)  # nothing is known of its data
    with pytest.raises(DataError, match="query q2 has other labels"):
        QueryBaselines.from_query_scores(by_query, queries=["q1", "q2"], data=swapped).check(
            JudgedQueries([2, 0, 0, 1], [2, 2])
        )
