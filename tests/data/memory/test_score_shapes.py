"""Per-topic scores in memory: as libraries compute them, under ir-measures' names."""

from typing import Any

import ir_measures
import pytest
from ir_measures import RR, Qrel, ScoredDoc, nDCG

from pytest_riskguard import check
from pytest_riskguard.data import TopicScores, read_scores, write_scores
from pytest_riskguard.errors import DataError

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

LONG = {"qid": ["1", "2"] * 2, "measure": ["map", "map", "recip_rank", "recip_rank"], "value": [0.1, 0.2, 0.5, 1.0]}
EXPECTED = {"AP": [0.1, 0.2], "RR": [0.5, 1.0]}


def values(scores: tuple[TopicScores, ...]) -> dict[str | None, list[float]]:
    return {column.measure: column.values.tolist() for column in scores}


@pytest.mark.parametrize(
    "data",
    [
        {"1": {"map": 0.1, "recip_rank": 0.5}, "2": {"map": 0.2, "recip_rank": 1.0}},
        {"map": {"1": 0.1, "2": 0.2}, "mrr": {"1": 0.5, "2": 1.0}},
        pd.DataFrame(LONG),
        pl.DataFrame(LONG | {"name": ["bm25"] * 4}),
        pd.concat(
            [pd.DataFrame(LONG), pd.DataFrame({"qid": ["all", "amean", "mean"], "measure": "map", "value": 0.15})]
        ),
        pl.DataFrame({"topic": ["1", "2"], "AP": [0.1, 0.2], "RR": [0.5, 1.0], "query": ["a", "c"]}),
        pd.DataFrame(EXPECTED, index=["1", "2"]).rename_axis("topic"),
        [{"query_id": t, "measure": m, "value": v} for t, m, v in zip(*LONG.values(), strict=True)],
    ],
)
def test_scores_are_read_under_the_names_of_ir_measures(data, tmp_path):
    scores = read_scores(data)
    assert values(scores) == EXPECTED
    assert {column.topics for column in scores} == {("1", "2")}
    write_scores(tmp_path / "scores.tsv", scores)
    assert {column.digest for column in read_scores(tmp_path / "scores.tsv")} == {scores[0].digest}


@pytest.mark.slow  # ranx compiles its measures
@pytest.mark.filterwarnings("ignore:unsafe cast from uint64 to int64")  # of numba, when it compiles ranx
def test_metrics_of_ir_measures_and_an_evaluated_run_of_ranx():
    ranx = pytest.importorskip("ranx")
    grades, system = {"1": {"a": 1}, "2": {"b": 1}}, {"1": {"a": 1.0, "b": 0.5}, "2": {"a": 1.0, "b": 0.5}}
    judged = [Qrel(topic, document, grade) for topic, graded in grades.items() for document, grade in graded.items()]
    docs = [
        ScoredDoc(topic, document, score) for topic, ranking in system.items() for document, score in ranking.items()
    ]
    metrics = ir_measures.iter_calc([RR, nDCG @ 10], judged, docs)
    computed = values(read_scores(metrics))
    assert computed["RR"] == [1.0, 0.5]
    evaluated = ranx.Run(system, name="mine")
    ranx.evaluate(ranx.Qrels(grades), evaluated, ["mrr", "ndcg@10"])
    from_ranx = values(read_scores(evaluated))
    assert from_ranx.keys() == computed.keys()
    assert all(from_ranx[measure] == pytest.approx(computed[measure]) for measure in computed)
    with pytest.raises(DataError, match="scores: expected per-topic scores, found none"):
        read_scores(ranx.Run(system))


def test_of_several_systems_one_is_chosen_by_name():
    data = pd.DataFrame(LONG | {"name": ["old", "old", "new", "new"], "measure": ["map"] * 4})
    new = read_scores(data, name="new")
    assert (values(new), new[0].name) == ({"AP": [0.5, 1.0]}, "new")
    wide = pl.DataFrame(
        {"name": ["old", "new"] * 2, "qid": ["1", "1", "2", "2"], "AP": [0.1, 0.5, 0.2, 1.0], "RR": [0.5] * 4}
    )
    assert values(read_scores(wide, ["AP"], name="new")) == {"AP": [0.5, 1.0]}
    with pytest.raises(DataError, match="expected the scores of one system, found those of old, new: say whose with"):
        read_scores(data)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (
            pd.DataFrame(LONG | {"value": [0.1, 0.2, 0.5, pd.NA]}),
            "scores, row 4: expected RR from 0 to 1, found nan",
        ),
        (
            pd.DataFrame(LONG | {"qid": ["1", "1", "1", "2"]}),
            "scores, row 2: expected each topic once, found AP of topic '1' twice",
        ),
        (pd.DataFrame({"AP": [0.1]}), "scores: expected a column 'topic', found the columns 'AP'"),
        ({"1": {"map": "x"}}, "scores, 'map' of topic '1': expected a number as the value, found 'x'"),
        ({"1": 0.5}, "scores: expected a mapping measure -> value for topic '1', found 0.5 (float)"),
        ({}, "scores: expected per-topic scores, found none"),
    ],
)
def test_bad_scores(data, problem):
    with pytest.raises(DataError) as raised:
        read_scores(data)
    assert problem in str(raised.value)
    assert raised.value.reason == "bad_scores"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            pl.Series([0.5, 0.4]),
            "candidate: expected an index of topics, found another one; give a mapping",
        ),
        (pd.DataFrame(LONG).groupby(["qid", "measure"]).value.mean(), "an index of topics, found another one"),
        (pd.Series([0.5, 0.4]), "candidate: expected an index of topics, found row numbers; "),
    ],
)
def test_series_without_topics_are_refused(data: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        check("not_significantly_risky", data, {"1": 0.5})


@pytest.mark.parametrize(
    ("series", "problem"),
    [
        (
            pd.Series([0.5, 0.4], index=["1", "1"]),
            "candidate, topic '1': expected each topic once, found value of topic '1' twice",
        ),
        (
            pd.Series([0.5, None], index=["1", "2"]),
            "candidate, topic '2': expected value from",
        ),
    ],
)
def test_bad_series_are_incomparable(series, problem):
    verdict = check("not_significantly_risky", series, {"1": 0.5, "2": 0.5})
    assert verdict.outcome == "incomparable"
    assert problem in str(verdict.problem)


def test_row_numbers_begin_at_zero_and_other_numbers_or_named_ones_are_topics():
    scores = pd.Series([0.5, 0.4, 0.3])
    others = (pd.RangeIndex(1, 4), pd.RangeIndex(0, 6, 2))
    for series in (scores.rename_axis("topic"), *map(scores.set_axis, others)):
        assert check("not_significantly_risky", series, dict(series.items())).topics.ties == 3
