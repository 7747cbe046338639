"""What is kept of a run beside its judgements, compared with each topic alone in plain Python; ranks by measure."""

import random
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.data import checks, ids
from pytest_riskguard.data.given_file import AS_GIVEN, GivenFile, LabelRules
from pytest_riskguard.data.ids import Ids, topic_of_rows
from pytest_riskguard.data.judged import JudgedRun, RankedRun, depth_for, depth_of, kept_depth, rank_order
from pytest_riskguard.data.measures import parse_measure
from pytest_riskguard.data.qrels import Qrels, read_qrels
from pytest_riskguard.data.run_scores import score_run, scored_run
from pytest_riskguard.data.runs import Order
from pytest_riskguard.data.scores import Judged
from tests.data.plain_orders import Ranks, ranked
from tests.data.tables import in_lines, judged_run

Documents = Mapping[str, float]
PASSAGES = LabelRules(separator="#")


def best_passages(documents: Documents, ranks: Ranks, rules: LabelRules) -> tuple[Documents, Ranks]:
    """Each document with the score and the rank of its best passage, where that stands."""
    names = list(documents) if rules.separator else []
    if not names:
        return documents, ranks
    best: dict[str, int] = {}
    for passage in ranked(Order.WRITTEN, names, list(documents.values()), ranks):
        best.setdefault(rules.document(passage), names.index(passage))
    rows = sorted(best.items(), key=lambda pair: pair[1])
    found = {document: documents[names[row]] for document, row in rows}
    return found, None if ranks is None else [ranks[row] for _, row in rows]


def check(
    run: JudgedRun, rows: Mapping[str, Documents], ranks: Mapping[str, Sequence[int | None]], given: Qrels
) -> None:
    """That a judged run holds the judged documents of each topic, and the first of each order, with their ranks."""
    topics = {topic: best_passages(documents, ranks.get(topic), given.rules) for topic, documents in rows.items()}
    assert run.topics == tuple(sorted(topics.keys() & set(given.topics)))
    assert run.retrieved.tolist() == [len(topics[topic][0]) for topic in run.topics]
    expected, judged = [], []
    for topic in run.topics:
        documents, column = topics[topic]
        orders = [ranked(order, list(documents), list(documents.values()), column) for order in Order]
        grades, first = given.grades[topic], {name for ranking in orders for name in ranking[: run.depth]}
        kept = [name for name in orders[0] if name in grades or name in first]
        expected += [(topic, name, *(of.index(name) + 1 for of in orders)) for name in kept]
        judged += [(topic, name, orders[0].index(name) + 1) for name in kept if name in grades]
    ids = run.documents.strings()
    of_topic = [run.topics[place] for place in topic_of_rows(run.offsets).tolist()]
    assert [*zip(of_topic, ids, *(run.ranks[order].tolist() for order in Order), strict=True)] == expected
    found = [given.arrays.names()[row] for row in run.judgements.tolist() if row >= 0]
    assert found == [(topic, name) for topic, name, _ in judged]
    tens = [min(number, 10) for number in run.retrieved.tolist()]
    share = sum(rank <= 10 for *_, rank in judged) / max(sum(tens), 1)
    assert run.judged == Judged(len(run.topics), len({topic for topic, *_ in judged}), share)
    assert {column.dtype for column in run.ranks.values()} == {np.dtype(np.int32)}


NAMES = [f"d{number}" for number in range(24)]
#: Equal scores, some in 32 bits only.
SCORES = st.integers(0, 6).map(float) | st.sampled_from([1 + 2**-30, 1 - 2**-30, -1e-40, 1e30])
GRADES = st.dictionaries(st.sampled_from(NAMES), st.integers(-1, 3), min_size=1, max_size=12)


@given(st.lists(GRADES, min_size=6, max_size=6), st.data())
def test_what_is_kept_is_what_is_kept_of_each_topic_alone(grades, data):
    """However topics are divided into parts; topics 6 and 7 are not judged, and only topic 5 surely is scored."""
    grades[5]["d0"] = 1
    rules = data.draw(st.sampled_from([AS_GIVEN, PASSAGES]))
    given = read_qrels({f"t{topic}": row for topic, row in enumerate(grades)}, labels=rules)
    rows, ranks = {}, {}
    for topic in data.draw(st.lists(st.integers(0, 7), min_size=1, unique=True)):
        names = data.draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=24, unique=True))
        names = [f"d{name[1:-1]}#{name[-1]}" if rules.separator and len(name) > 2 else name for name in names]
        scores = data.draw(st.lists(SCORES, min_size=len(names), max_size=len(names)))
        if data.draw(st.booleans()):
            scores.sort(reverse=True)
        rows[f"t{topic}"] = dict(zip(names, scores, strict=True))
        column = (
            st.permutations(range(len(names)))
            | st.just([0] * len(names))
            | st.just([None] * len(names))
            | st.just(range(1, len(names) + 1))
        )
        ranks[f"t{topic}"] = list(data.draw(column))
    ranks = data.draw(st.sampled_from([ranks, {}]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "ROWS_AT_ONCE", data.draw(st.sampled_from([1, 30, 2**16])))
        run = judged_run(in_lines(rows, ranks or None), given, depth=data.draw(st.integers(1, 12)))
    check(run, rows, ranks, given)


@pytest.mark.parametrize("weakened", [lambda hashes: hashes * 0, lambda hashes: hashes % 3 << np.uint64(60)])
def test_documents_with_the_same_hash_are_told_apart(monkeypatch, weakened):
    rng = random.Random(1)
    given = read_qrels({f"t{topic}": dict.fromkeys(rng.sample(NAMES, 10), 1) for topic in range(9)})
    rows = {topic: {name: float(-rank) for rank, name in enumerate(NAMES)} for topic in given.topics}
    monkeypatch.setattr(Ids, "hashes", property(lambda ids: weakened(ids.lengths.astype(np.uint64))))
    monkeypatch.setattr(ids, "_TOPIC", np.uint64(0))
    check(judged_run(in_lines(rows), given), rows, {}, given)


@pytest.mark.parametrize(
    ("measure", "order"),
    [
        ("AP", Order.SINGLE_DESCENDING),
        *((measure, Order.ASCENDING) for measure in ("RR@10", "Judged@10", "Compat")),
        ("ERR", Order.DESCENDING),
        ("RBP(rel=1)", Order.WRITTEN),
    ],
)
def test_documents_are_ranked_as_the_provider_of_the_measure_ranks_them(measure, order):
    assert rank_order(parse_measure(measure)) is order


@pytest.mark.parametrize(
    ("measure", "topics", "searched", "kept"),
    [
        ("AP", 2500, 10, 100),
        ("AP", 5000, 10, 50),
        ("P@5", 30_000, 5, 10),
        ("nDCG@50", 1000, 50, 100),
        ("nDCG(judged_only=True)@50", 1000, 10, 100),
        ("nDCG@50", 30_000, 50, 50),
        ("nDCG@200", 1000, 100, 200),
        ("nDCG@200", 5000, 100, 100),
        ("nDCG@200", 400_000, 100, 50),
    ],
)
def test_as_many_ranks_are_searched_and_kept_as_the_measure_sees_and_many_topics_allow(
    measure, topics, searched, kept
):
    one, qrels = parse_measure(measure), cast(Qrels, SimpleNamespace(topics=range(topics)))
    assert (depth_of(one), kept_depth(one, qrels)) == (searched, kept)
    assert depth_for([one, parse_measure("P@1")], qrels) == kept


def test_passages_are_judged_and_ranked_as_documents(write):
    tied, column = {"q": {"a#1": 1.0, "b#1": 1.0, "a#2": 1.0, "c": 1.0}}, {"q": [4, 3, 2, 1]}
    given = read_qrels({"q": {"a": 1, "x": 0}}, labels=PASSAGES)
    check(judged_run(in_lines(tied, column), given), tied, column, given)
    given = read_qrels(GivenFile(write("q.txt", "q 0 a#1 1\nq 0 a#2 3\nq 0 b 2\n"), labels=PASSAGES))
    path = write(
        "a.run", "q Q0 c#x#1 1 9 t\nq Q0 a#2 2 8 t\nq Q0 a#1 3 7 t\nq Q0 #b 4 7 t\nq Q0 b#1 5 7 t\nq Q0 c 6 1 t\n"
    )
    (scores,) = score_run(path, given, ["nDCG@3"])
    ranked = RankedRun(scored_run(path, given, ["nDCG@3"], depth=12).run, given, parse_measure("nDCG@3"))
    assert ranked.run.depth == 12
    assert ranked.ranks("q") == {"c#x": 1, "a": 2, "b": 3, "#b": 4, "c": 5}
    assert ranked.grades("q") == {"a": 3, "b": 2}
    assert scores.values.tolist() == [pytest.approx((3 / np.log2(3) + 2 / 2) / (3 + 2 / np.log2(3)))]


def test_a_measure_sees_judged_documents_at_any_rank_and_others_as_deep_as_is_kept():
    given = read_qrels({"t": {"z": 1, "b": 0, "y": 0}, "u": {"b": 1}, "v": {"a": 1}})
    tied = {name: -float(min(rank, 7)) for rank, name in enumerate("cabdefghijkl")}  # trec_eval has l k j i h
    rows = {"s": {"a": 1.0}, "t": {**tied, "z": -9.0}, "v": {"x": 2.0, "a": 1.0}}
    run = RankedRun(judged_run(in_lines(rows), given, depth=10), given, parse_measure("AP"))
    assert run.ranks("u") == {}
    assert run.ranks("t") == {**{name: rank for rank, name in enumerate("cabdefglkj", 1)}, "z": 13}
    assert (run.first(1), run.first(2)) == ({"c", "x"}, {"c", "x", "a"})
    judged = run.run.judged_rows(run.order, given)
    assert (judged.retrieved.tolist(), judged.rank.tolist()) == ([13, 0, 2], [13, 3, 0, 0, 2])
    found, topics = run.unjudged()
    assert (topics.tolist(), run.run.documents.at(found).strings()) == ([0] * 9 + [2], [*"cadefgjklx"])
    assert run.ranks_of(np.array([1, -1])).tolist() == [2, 0]
    found, _ = RankedRun(run.run, given, parse_measure("nDCG@3")).unjudged()
    assert run.run.documents.at(found).strings() == [*"cax"]
