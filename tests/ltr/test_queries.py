"""nDCG of document scores, against plain Python and ir-measures; baselines of documents, of queries, of a store."""

from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard import score_run
from pytest_riskguard.baselines.store import Store
from pytest_riskguard.cli.main import run
from pytest_riskguard.data import read_qrels
from pytest_riskguard.errors import BaselineError, DataError
from pytest_riskguard.ltr import JudgedQueries, QueryBaselines
from tests.ltr import plain_lambdas as plain

LABELS, GROUP, NAMES = [2, 0, 1, 0, 0, 3, 0], [3, 2, 2], ["a", "b", "c"]
LOG: Any = "log"
DATA = JudgedQueries(LABELS, GROUP, queries=NAMES)


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
    judged = JudgedQueries(labels, group, gain=gain)
    found = judged.ndcg(scores)
    names = [(str(query), str(row)) for row, query in enumerate(np.repeat(np.arange(group.size), group))]
    qrels = [ir_measures.Qrel(query, row, int(labels[int(row)])) for query, row in names]
    run = [ir_measures.ScoredDoc(query, row, scores[int(row)]) for query, row in names]
    digits = 5.1e-6 if gain == "exponential" else 1e-9  # gdeval, which computes it, rounds to five places
    for metric in ir_measures.iter_calc([ir_measures.parse_measure(judged.measure)], qrels, run):
        assert metric.value == pytest.approx(found[int(metric.query_id)], abs=digits)


def test_several_baselines_have_a_mean():
    bm25, old = [0.1, 0.5, 0.2, 1.0, 2.0, 0.0, 0.0], [3.0, 2, 1, 0, 0, 1, 0]
    found = QueryBaselines.from_document_scores(DATA, {"bm25": bm25, "old": old})
    np.testing.assert_array_equal(found.scores, [DATA.ndcg(bm25), DATA.ndcg(old)])
    mean = found.mean()
    assert (found.names, mean.names) == (("bm25", "old"), ("mean of bm25, old",))
    np.testing.assert_allclose(mean.only(), (DATA.ndcg(bm25) + DATA.ndcg(old)) / 2)


def test_scores_of_queries_are_put_in_the_order_of_the_data_and_a_barren_query_needs_none():
    found = QueryBaselines.from_query_scores(DATA, {"prod": {"c": 1.0, "a": 0.5, "unused": 0.9}})
    assert found.scores.tolist() == [[0.5, 0.0, 1.0]]


@pytest.mark.parametrize("gain", ["exponential", "linear"])
def test_stored_baselines_score_what_their_documents_do_ties_included(tmp_path, gain):
    scores = [0.5, 0.5, 0.2, 1.0, 2.0, 0.7, 0.7]  # the better of two with equal scores has the first name
    data = JudgedQueries(LABELS, GROUP, queries=NAMES, documents=[f"d{n}" for n in range(7)], gain=gain)
    rows = list(zip(np.repeat(NAMES, GROUP), LABELS, scores, strict=True))
    (tmp_path / "qrels").write_text("".join(f"{q} 0 d{n} {label}\n" for n, (q, label, _) in enumerate(rows)))
    ranked = sorted(enumerate(rows), key=lambda row: (row[1][0], -row[1][2]))
    (tmp_path / "run").write_text("".join(f"{q} Q0 d{n} 0 {score} prod\n" for n, (q, _, score) in ranked))
    store = tmp_path / "store"
    Store(store).add("prod", tmp_path / "run", qrels=tmp_path / "qrels", topics=None, measures=[data.measure])
    direct = QueryBaselines.from_document_scores(data, {"prod": scores})
    for place, names in ((store, ()), (str(store), ("prod",))):
        found = QueryBaselines.from_store(data, place, *names)
        assert found.names == ("prod",)
        np.testing.assert_allclose(found.scores, direct.scores, rtol=0, atol=1e-12)
    with pytest.raises(BaselineError, match="other"):
        QueryBaselines.from_store(data, store, "other")
    with pytest.raises(BaselineError, match="nDCG"):
        QueryBaselines.from_store(JudgedQueries(LABELS, GROUP, queries=NAMES, gain=gain, k=7), store, "prod")
    with pytest.raises(DataError, match="expected stored baselines, found none: riskguard baseline add stores one"):
        QueryBaselines.from_store(data, tmp_path / "empty")


@pytest.mark.parametrize("gain", ["exponential", "linear"])
def test_written_runs_are_judged_by_the_ndcg_that_the_data_give(tmp_path, monkeypatch, gain):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    group = rng.integers(2, 25, 30)
    queries = [f"query {number}%" for number in range(30)]
    documents: Any = [name for size in group for name in rng.permutation(40)[:size]]  # 10 comes before 9 in a run
    data = JudgedQueries(rng.integers(0, 4, group.sum()), group, queries=queries, documents=documents, gain=gain)
    # ties, the second also in 32 bits alone
    scores = {"bm25": rng.integers(0, 3, group.sum()), "model": 1 + rng.integers(0, 9, group.sum()) * 1e-9}
    data.write_runs("new/folder", scores)
    qrels = Path("new/folder/qrels.txt")
    direct = QueryBaselines.from_document_scores(data, scores)
    for name, expected in zip(scores, direct.scores, strict=True):
        np.testing.assert_array_equal(expected, data.ndcg(scores[name]))
        (found,) = score_run(Path(f"new/folder/{name}.run"), read_qrels(qrels), [data.measure])
        by_query = dict(zip(found.topics, found.values, strict=True))
        np.testing.assert_allclose([by_query.get(query, 0) for query in queries], expected, rtol=0, atol=1e-12)
        added = ["baseline", "add", name, f"new/folder/{name}.run", "--qrels", str(qrels)]
        assert run([*added, "--measure", data.measure]) == 0
    stored = QueryBaselines.from_store(data, "baselines", *scores)
    np.testing.assert_allclose(stored.scores, direct.scores, rtol=0, atol=1e-12)


def test_labels_are_written_as_they_are_and_others_can_read_them(tmp_path):
    data = JudgedQueries([0, 2, 0.1, 12345678], [2, 2], documents=["b", "a", "b", "é"], gain="linear")
    data.write_runs(tmp_path, {"prod": [1, 1, 1, 2]})
    assert (tmp_path / "qrels.txt").read_bytes().decode().splitlines()[::3] == ["1 0 b 0", "2 0 é 12345678"]
    assert float((tmp_path / "qrels.txt").read_text(encoding="utf-8").split()[11]) == 0.1
    ranked = [line.split()[2] for line in (tmp_path / "prod.run").read_text(encoding="utf-8").splitlines()]
    assert ranked == ["b", "a", "é", "b"]


def test_queries_without_names_are_numbered_and_labels_may_be_30_or_of_32_bits():
    data = JudgedQueries([0.1, 30.0], [1, 1])
    assert data.queries == ("1", "2")
    assert data.has(np.float32(data.labels), [1, 1])
    assert not data.has([0.1, 29], [1, 1])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: JudgedQueries([[1]], [1]),
            ValueError,
            "labels must have one value for each of the 1 documents",
        ),
        (lambda: JudgedQueries([1, np.nan], [2]), ValueError, "labels must be finite, got nan in row 1"),
        (lambda: JudgedQueries([1, -1], [2]), ValueError, "labels must be from 0 to 30 .* got -1 in row 1 "),
        (lambda: JudgedQueries([1, 31], [2]), ValueError, "from 0 to 30 with exponential gains, got 31 in row 1 "),
        (lambda: JudgedQueries([1, 2], [1]), ValueError, "group must add up to the 2 documents, got 1"),
        (lambda: JudgedQueries([1, 2], [2, 0]), ValueError, r"whole numbers of at least 1 .* got \[2, 0\]"),
        (lambda: JudgedQueries([1, 2], [1, 0.5]), ValueError, r"got \[1, 0.5\]"),
        (lambda: JudgedQueries([1, 2], [2**62, 1]), ValueError, "group must hold"),
        (lambda: JudgedQueries([1, 2], [[2]]), ValueError, "along one axis"),
        (lambda: JudgedQueries([1, 2], [2], k=True), ValueError, "k must be a whole number of at least 1, got True"),
        (
            lambda: JudgedQueries([1], [1], gain=LOG),
            ValueError,
            "must be one of exponential, linear, got 'log'",
        ),
        (lambda: JudgedQueries([1], [1], queries=["a", "b"]), ValueError, "must name the 1 of group, got 2 names"),
        (
            lambda: JudgedQueries([1, 1], [1, 1], queries="aa"),
            ValueError,
            "queries must have different names",
        ),
        (
            lambda: JudgedQueries([1, 0], [2], documents=["a"]),
            ValueError,
            "documents must name the 2 of labels, got 1 names",
        ),
        (
            lambda: JudgedQueries([1, 0, 1], [1, 2], documents="aaa"),
            ValueError,
            r"documents of a query must have different names, got \('2', 'a'\) twice",
        ),
        (lambda: DATA.write_runs("x", {}), ValueError, "names of documents: give JudgedQueries.*, documents="),
        (lambda: QueryBaselines(DATA, (), np.zeros((0, 3))), ValueError, r"\(0, 3\), got \(0, 3\)"),
        (lambda: QueryBaselines(DATA, ("a",), np.zeros(3)), ValueError, r"\(1, 3\), got \(3,\)"),
        (
            lambda: QueryBaselines(DATA, ("a", "a"), np.zeros((2, 3))),
            ValueError,
            "must have different names, got 'a'",
        ),
        (
            lambda: QueryBaselines(DATA, ("x", "y"), np.array([[0, 1, 0], [0.5, -0.5, 0]])),
            DataError,
            "baseline y, query b: nDCG@10 must be from 0 to 1, got -0.5",
        ),
        (lambda: QueryBaselines(DATA, ("x",), np.full((1, 3), np.nan)), DataError, "must be from 0 to 1, got nan"),
        (
            lambda: QueryBaselines.from_document_scores(DATA, {"bm25": LABELS, "old": [1, 2, 3, 4, 5, 6, np.nan]}),
            ValueError,
            "baseline old must be finite, got nan in row 6",
        ),
        (
            lambda: QueryBaselines.from_query_scores(DATA, {"prod": {}}),
            DataError,
            "prod has no score for 2 of 3 queries: a, c$",
        ),
    ],
)
def test_what_cannot_be_data_or_baselines_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
