"""What one reading keeps of a run, compared with a slow builder."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.data import judgement_arrays as arrays
from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.given_file import LabelRules
from pytest_riskguard.data.ids import Ids
from pytest_riskguard.data.judged_runs import JudgedRun
from pytest_riskguard.data.order import Order
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.rankings import rankings_as_run
from pytest_riskguard.data.row_blocks import Chunk, Documents, RowBlock
from pytest_riskguard.data.run_reading import RunReader
from pytest_riskguard.data.run_scores import score_run, scored_run
from tests.data.scoring import slow_judged_runs

DOCUMENTS = [f"d{number}" for number in range(30)]


def qrels_of(grades: Mapping[str, Mapping[str, float]], **rules) -> Qrels:
    return read_qrels({topic: dict(row) for topic, row in grades.items()}, labels=LabelRules(**rules))


def assert_same(one: JudgedRun, other: JudgedRun) -> None:
    """That two readings kept the same."""
    for name in ("digest", "qrels_digest", "depth", "topics", "judged", "unknown", "contradicted"):
        assert getattr(one, name) == getattr(other, name), name
    for name in ("retrieved", "offsets", "judgements"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert one.unjudged.strings() == other.unjudged.strings()
    for order in Order:
        np.testing.assert_array_equal(one.ranks[order], other.ranks[order], err_msg=order.name)
        assert one.ranks[order].dtype == np.int32


@st.composite
def chunks(draw: st.DrawFn, topics: range) -> Chunk:
    """Topics with ties, some rank columns that number nothing, and documents that are judged or not."""
    with_ranks = draw(st.booleans())
    chunk: Chunk = {}
    for topic in draw(st.permutations(topics)):
        names = draw(st.lists(st.sampled_from(DOCUMENTS), min_size=1, max_size=25, unique=True))
        scores = draw(st.lists(st.integers(0, 6).map(float), min_size=len(names), max_size=len(names)))
        if draw(st.booleans()):
            scores.sort(reverse=True)
        documents = chunk[f"t{topic}"] = Documents(zip(names, scores, strict=True))
        if with_ranks:
            same = draw(st.booleans())
            documents.ranks = [b"%d" % (0 if same else rank) for rank in range(1, len(names) + 1)]
    return chunk


GRADES = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 3), min_size=1, max_size=12)


@given(chunks(range(8)), st.lists(GRADES, min_size=6, max_size=6), st.integers(10, 12), st.data())
def test_what_is_kept_is_what_a_slow_builder_keeps(chunk, grades, depth, data):
    """However topics are divided into blocks; topics 6 and 7 are not judged."""
    qrels = qrels_of({f"t{topic}": row | {"d0": 1} for topic, row in enumerate(grades)})
    expected = slow_judged_runs.judged_run([chunk], qrels, depth=depth, digest="sha256:1")
    reader = RunReader(qrels, [], depth=depth, source="run")
    topics = list(chunk)
    cuts = sorted(data.draw(st.sets(st.integers(1, len(topics) - 1))))
    blocks = [
        RowBlock.of({topic: chunk[topic] for topic in topics[start:stop]})
        for start, stop in zip([0, *cuts], [*cuts, len(topics)], strict=True)
    ]
    assert_same(reader.read(blocks).named("sha256:1", None).run, expected)


@pytest.mark.parametrize("weakened", [lambda hashes: hashes * 0, lambda hashes: hashes % 3 << np.uint64(60)])
def test_documents_with_the_same_hash_are_told_apart(monkeypatch, weakened):
    rng = random.Random(1)
    grades = {f"t{topic}": dict.fromkeys(rng.sample(DOCUMENTS, 10), 1) for topic in range(9)}
    qrels = qrels_of(grades)
    run = {topic: Documents((name, float(-rank)) for rank, name in enumerate(DOCUMENTS)) for topic in grades}
    expected = slow_judged_runs.judged_run([run], qrels)
    monkeypatch.setattr(Ids, "hashes", property(lambda ids: weakened(ids.lengths.astype(np.uint64))))
    monkeypatch.setattr(arrays, "_TOPIC", np.uint64(0))
    read = RunReader(qrels, [], depth=slow_judged_runs.DEPTH, source="run").read([RowBlock.of(run)])
    assert_same(read.named("sha256:0", None).run, expected)


def test_passages_are_kept_as_documents():
    qrels = qrels_of({"1": {"a": 1, "b#2": 0}}, separator="#")
    run = {"1": Documents({"c#1": 9.0, "a#2": 8.0, "a#1": 7.0, "b#1": 7.0, "c#2": 1.0})}
    expected = slow_judged_runs.judged_run([run], qrels)
    read = RunReader(qrels, [], depth=slow_judged_runs.DEPTH, source="run").read([RowBlock.of(run)])
    assert_same(read.named("sha256:0", None).run, expected)
    assert read.run.retrieved.tolist() == [3]


@pytest.fixture
def collection(write):
    """A file of judgements, and the rows of a run by topic, with ties."""
    rng = random.Random(5)
    judged = [f"t{topic} 0 d{doc} {doc % 4}" for topic in range(40) for doc in range(12)]
    rows = {
        f"t{topic}": [f"t{topic} Q0 d{doc} 0 {rng.randrange(5)} x\n" for doc in rng.sample(range(40), 30)]
        for topic in range(5, 44)
    }
    return read_qrels(write("judgements.txt", "\n".join(judged))), rows


MEASURES = ["nDCG@10", "AP", "SetF", "RR@5", "infAP"]


def test_scores_do_not_depend_on_how_many_ranks_are_kept(collection, write):
    qrels, rows = collection
    path = write("a.run", "".join(map("".join, rows.values())))
    assert scored_run(path, qrels, MEASURES).run.depth == 100
    assert scored_run(path, qrels, ["P@300"]).run.depth == 300
    for one, other in zip(score_run(path, qrels, MEASURES), scored_run(path, qrels, MEASURES).scores, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
        for field in fields(one):
            if field.name != "values":
                assert getattr(one, field.name) == getattr(other, field.name), field.name


def test_rankings_in_memory_keep_the_same(collection, write):
    qrels, rows = collection
    split = [row.split() for topic in rows.values() for row in topic]
    rankings: dict[str, list[tuple[str, float]]] = {}
    for topic, _, document, _, score, _ in split:
        rankings.setdefault(topic, []).append((document, float(score)))
    run = rankings_as_run(rankings)
    found = scored_run(run, qrels, MEASURES).run
    assert_same(found, slow_judged_runs.judged_run(run, qrels, depth=found.depth))
