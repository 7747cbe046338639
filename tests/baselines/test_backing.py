"""What a stored baseline says of itself is compared with its run, and with its own name."""

import shutil

import pytest

from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.errors import BaselineError


def test_lowered_scores_with_a_digest_that_agrees_change_nothing(store, add, qrels, lie):
    add()
    true = store.scores("prod", "AP", qrels=qrels).scores.values
    lie(store.root / "prod", "t5", 0.001)
    stored = store.scores("prod", "AP", qrels=qrels)
    assert stored.rescored
    assert list(stored.scores.values) == list(true)


def test_stored_scores_come_with_the_order_and_the_judged_share_of_their_run(store, add, collection, qrels):
    rows = [line.split() for line in collection.run.read_text().splitlines()]
    collection.run.write_text("".join(f"{' '.join(row[:4])} 1699999999 {row[5]}\n" for row in rows))
    add()
    (of_run,) = score_run(collection.run, qrels, ["nDCG@10"])
    assert of_run.as_written
    for _ in range(2):
        stored = store.scores("prod", "nDCG@10", qrels=qrels).scores
        assert (dict(stored.as_written), stored.judged) == (dict(of_run.as_written), of_run.judged)


def test_stored_scores_name_the_topics_whose_scores_rise_with_the_rank(store, add, collection, qrels):
    rows = [line.split() for line in collection.run.read_text().splitlines()]
    first, second = (row for row in rows if row[0] == "t3" and row[3] in ("1", "2"))
    first[4], second[4] = second[4], first[4]
    collection.run.write_text("".join(f"{' '.join(row)}\n" for row in rows))
    add()
    for _ in range(2):
        assert store.scores("prod", "nDCG@10", qrels=qrels).scores.contradicted == ("t3",)


def test_different_rounding_is_no_change(store, add, qrels, lie):
    add()
    value = dict(zip(qrels.topics, store.scores("prod", "AP", qrels=qrels).scores.values, strict=True))["t5"]
    lie(store.root / "prod", "t5", float(value + 1e-12))
    assert not store.scores("prod", "AP", qrels=qrels).rescored


def test_scores_without_their_run_cannot_be_checked(store, add, qrels):
    add(keep_run=False)
    assert not store.scores("prod", "AP", qrels=qrels).backed


@pytest.mark.parametrize("how", ["renamed", "copied"])
def test_a_baseline_under_another_name_is_refused(store, add, collection, qrels, how):
    add("weak", collection.other_run())
    add("prod")
    shutil.rmtree(store.root / "prod")
    (shutil.move if how == "renamed" else shutil.copytree)(store.root / "weak", store.root / "prod")
    with pytest.raises(
        BaselineError, match=r"prod: manifest\.json belongs to a baseline named 'weak'.*renamed"
    ) as caught:
        store.scores("prod", "AP", qrels=qrels)
    assert caught.value.reason == "bad_baseline"
    assert store.verify("prod") == [caught.value.problem]
