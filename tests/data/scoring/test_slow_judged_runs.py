"""The slow builder of judged runs, on an example that can be read."""

from __future__ import annotations

from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.order import Order
from tests.data.scoring.slow_judged_runs import chunk_of, judged_run


def test_judged_documents_and_the_first_ranks_of_any_order_are_kept(write):
    qrels = read_qrels(write("qrels.txt", "t 0 c 1\nt 0 z 0\nu 0 a 1\nv 0 a 0\n"))
    scored = [("d", 2.0), ("b", 2.0), ("a", 1.0), ("c", 0.5)]
    run = judged_run([chunk_of({"t": scored, "v": [("a", 1.0)], "w": [("a", 1.0)]}, ranks=True)], qrels, depth=1)
    assert run.topics == ("t",)
    assert run.unknown == ("w",)
    assert run.retrieved.tolist() == [4]
    assert run.unjudged.strings() == ["d", "b"]  # a is below every first rank
    assert run.judgements.tolist() == [-1, -1, 0]
    assert run.ranks[Order.WRITTEN].tolist() == [1, 2, 4]
    assert run.ranks[Order.ASCENDING].tolist() == [2, 1, 4]
    assert run.ranks[Order.SINGLE_DESCENDING].tolist() == [1, 2, 4]
    assert (run.judged.answered, run.judged.topics, run.judged.share) == (1, 1, 0.25)
