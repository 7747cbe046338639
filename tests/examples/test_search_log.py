"""The generated search log: the same for a seed, with the properties that its description promises."""

from __future__ import annotations

import numpy as np
import pytest

from examples.ltr.search_log import KINDS, NOTHING_RELEVANT, SearchLog, make_log
from pytest_riskguard.ltr.queries import JudgedQueries

#: Each starts processes of its own.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def log():
    return make_log(600, seed=3)


def mean_ndcg(log: SearchLog, column: str, kind: str) -> float:
    chosen = log.take([place for place, found in enumerate(log.kinds) if found == kind])
    return float(JudgedQueries(chosen.labels, chosen.group).ndcg(chosen.column(column)).mean())


def test_some_queries_have_no_relevant_document_and_some_have_one(log):
    relevant = np.add.reduceat(log.labels > 0, np.concatenate(([0], np.cumsum(log.group)[:-1])))
    assert abs(np.mean(relevant == 0) - NOTHING_RELEVANT) < 0.02  # 2 standard deviations: 0.014
    assert np.mean(relevant == 1) > 0.05


def test_clicks_tell_more_than_text_in_the_head_and_less_in_the_tail(log):
    assert mean_ndcg(log, "log_clicks", "head") > mean_ndcg(log, "bm25", "head") + 0.05
    assert mean_ndcg(log, "log_clicks", "tail") < mean_ndcg(log, "bm25", "tail") - 0.2
    assert min(mean_ndcg(log, "bm25", kind) for kind in KINDS) > 2 * mean_ndcg(log, "noise_1", "head")


def test_the_hand_tuned_formula_is_better_than_bm25(log):
    queries = JudgedQueries(log.labels, log.group)
    assert queries.ndcg(log.hand_tuned()).mean() > queries.ndcg(log.column("bm25")).mean() + 0.03


def test_parts_of_a_split_share_no_query_and_the_tail_is_rare_except_in_the_test(log):
    parts = log.split(0)
    names = [query for part in parts for query in part.queries]
    assert len(set(names)) == len(names) <= len(log.queries)
    tail = [np.mean([kind == "tail" for kind in part.kinds]) for part in parts]
    assert max(tail[:3]) < tail[3] / 2
    assert parts.train.labels.size == parts.train.group.sum() == len(parts.train.features)
    again = log.split(0)
    assert all(left.queries == right.queries for left, right in zip(parts, again, strict=True))
    assert log.split(1).test.queries != parts.test.queries
