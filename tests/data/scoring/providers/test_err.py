"""ERR and nDCG with exponential gain: by hand, and as the provider of ir-measures."""

from __future__ import annotations

import math

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.data.providers import (
    GRADED_PROVIDER,
    GradedERR,
    expected_reciprocal_rank,
    exponential_ndcg,
)

nDCG = ir_measures.nDCG(dcg="exp-log2")  # noqa: N816


def test_err_by_hand():
    # R = (2**g - 1) / 16: 3/16, 0, 15/16. ERR = R1 + (1 - R1)(1 - R2) R3 / 3.
    expected = 3 / 16 + (13 / 16) * (15 / 16) / 3
    assert expected_reciprocal_rank([2, 0, 4]) == pytest.approx(expected, abs=1e-15)
    assert expected_reciprocal_rank([2, 0, 4], cutoff=2) == pytest.approx(3 / 16, abs=1e-15)
    assert expected_reciprocal_rank([2, -2, 4]) == expected_reciprocal_rank([2, 0, 4])
    assert expected_reciprocal_rank([]) == 0.0


def test_the_scale_sets_how_likely_a_grade_satisfies():
    assert expected_reciprocal_rank([1], max_grade=1) == 0.5
    assert expected_reciprocal_rank([5], max_grade=5) == 31 / 32
    with pytest.raises(ValueError, match="grade 5 is above the highest grade of the scale, 4"):
        expected_reciprocal_rank([0, 5])


def test_ndcg_by_hand():
    ideal = 7 + 1 / math.log2(3)
    assert exponential_ndcg([1, 3], [0, 3, 1, -2]) == pytest.approx((1 + 7 / math.log2(3)) / ideal, abs=1e-15)
    assert exponential_ndcg([1, 3], [3, 1], cutoff=1) == pytest.approx(1 / 7, abs=1e-15)
    assert exponential_ndcg([0, -1], [0, -1]) == 0.0
    assert exponential_ndcg([1000, 0], [0, 1000]) == 1.0


@given(st.lists(st.integers(-2, 4), max_size=30), st.integers(1, 40))
def test_both_stay_in_range_and_the_ideal_ranking_is_best(grades, cutoff):
    ideal = sorted(grades, reverse=True)
    err, best = (expected_reciprocal_rank(each, cutoff=cutoff) for each in (grades, ideal))
    assert 0 <= err <= best + 1e-12
    assert best < 1
    ndcg = exponential_ndcg(grades, grades, cutoff=cutoff)
    assert 0 <= ndcg <= 1 + 1e-12
    assert exponential_ndcg(ideal, grades, cutoff=cutoff) == pytest.approx(float(max([0, *grades]) > 0))


def values(measure, qrels, run):
    return {metric.query_id: metric.value for metric in GRADED_PROVIDER.iter_calc([measure], qrels, run)}


def test_topic_ids_are_taken_whole():
    # gdeval cuts both to "1" and answers neither.
    qrels = {"us-1": {"a": 4}, "de-1": {"a": 1}, "käse": {"a": 2}}
    run = {topic: {"a": 1.0} for topic in qrels}
    assert values(ir_measures.ERR @ 20, qrels, run) == {"us-1": 15 / 16, "de-1": 1 / 16, "käse": 3 / 16}
    assert values(nDCG @ 20, qrels, run) == dict.fromkeys(qrels, 1.0)


def test_ties_are_broken_by_docid_descending():
    qrels = {"1": {"a": 4, "b": 0, "é": 0}}
    run = {"1": {"a": 1.0, "b": 1.0, "é": 1.0, "z": 0.5}}
    assert values(ir_measures.ERR @ 20, qrels, run)["1"] == 15 / 16 / 3
    assert values(nDCG @ 20, qrels, run)["1"] == pytest.approx(1 / math.log2(4))


def test_scores_rank_before_docids_and_negative_scores_are_scores():
    qrels = {"1": {"a": 4}}
    assert values(ir_measures.ERR @ 1, qrels, {"1": {"z": -2.0, "a": -1.0}})["1"] == 15 / 16
    assert values(ir_measures.ERR @ 1, qrels, {"1": {"z": -1.0, "a": -2.0}})["1"] == 0


def test_unanswered_topics_score_zero_and_unknown_ones_get_no_value():
    assert values(ir_measures.ERR @ 5, {"1": {"a": 1}, "2": {"a": 1}}, {"2": {"a": 1.0}, "3": {"a": 1.0}}) == {
        "1": 0.0,
        "2": 1 / 16,
    }


def test_the_provider_takes_what_gdeval_takes_and_no_more():
    for measure in (ir_measures.ERR @ 20, ir_measures.ERR, GradedERR(max_rel=7) @ 3, nDCG @ 20, nDCG):
        assert GRADED_PROVIDER.supports(measure)
    for measure in (
        ir_measures.nDCG @ 20,
        nDCG(judged_only=True) @ 20,
        nDCG(gains={1: 2}) @ 20,
        ir_measures.AP,
    ):
        assert not GRADED_PROVIDER.supports(measure)


def test_plain_err_is_the_measure_of_ir_measures():
    assert GradedERR(cutoff=20) == ir_measures.ERR @ 20
    assert GradedERR(cutoff=20, max_rel=5) != ir_measures.ERR @ 20
