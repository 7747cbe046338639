"""Unjudged documents of two runs are found; deeper ones than a report shows count where they stand."""

from __future__ import annotations

import numpy as np

from pytest_riskguard.data.judged import RankedRun
from pytest_riskguard.data.measures import parse_measure
from pytest_riskguard.data.qrels import Qrels, read_qrels
from pytest_riskguard.gates.unjudged_documents import unjudged_documents, values_if_judged
from tests.data.tables import falling, judged_run

QRELS = read_qrels({"t": {"b": 0, "e": 1}, "u": {"b": 1}})


def runs(measure: str, *rankings: dict[str, str], qrels: Qrels = QRELS) -> list[RankedRun]:
    return [RankedRun(judged_run(falling(run), qrels), qrels, parse_measure(measure)) for run in rankings]


def found(measure: str, *rankings: dict[str, str], topics: tuple[str, ...] = ("t", "u"), qrels: Qrels = QRELS):
    pair = runs(measure, *rankings, qrels=qrels)
    unjudged = unjudged_documents(topics, *pair)
    ranks = np.stack([run.ranks_of(unjudged.rows[:, side]) for side, run in enumerate(pair)], axis=1)
    names = unjudged.documents.strings()
    columns = (unjudged.topics.tolist(), names, ranks.tolist(), unjudged.favours.tolist())
    return {(topic, name): (*of, side) for topic, name, of, side in zip(*columns, strict=True)}


def test_unjudged_documents_are_those_that_no_row_of_the_qrels_names():
    one, other = {"t": "abcde", "u": "b"}, {"t": "cbfad", "u": "xb"}
    assert found("nDCG@3", one, other) == {
        (0, "a"): (1, 0, 1),
        (0, "c"): (3, 1, -1),
        (0, "f"): (0, 3, -1),
        (1, "x"): (0, 1, -1),
    }
    assert set(found("nDCG@3", one, other, topics=("u",))) == {(1, "x")}
    below = found("AP", {"t": "xyzuvwpqrsb"}, {"t": "bcdefghijklx"}, topics=("t",))
    assert below[0, "x"] == (1, 12, 1)  # where it stands, below the ranks that are searched
    whole = read_qrels({"t": dict.fromkeys("abcdef", 1)})
    assert found("nDCG@3", {"t": one["t"]}, {"t": other["t"]}, topics=("t",), qrels=whole) == {}


def test_where_it_is_relevant_it_also_counts_for_the_run_that_lacks_it():
    def values(run, *variants):
        rows = np.array([row for _, rows in variants for row in rows], dtype=np.int64)[:, None]
        topics, counts = (
            np.array(of, dtype=np.int64) for of in ([t for t, _ in variants], [len(r) for _, r in variants])
        )
        return values_if_judged([run], topics, counts, rows)[:, 0].tolist()

    (run,) = runs("AP", {"t": "axe", "u": "b"})
    assert values(run, (0, [-1]), (0, [0])) == [(1 / 3) / 2, (1 + 2 / 3) / 2]
    assert values(run, (0, [0, 1]), (0, []), (1, [-1])) == [1.0, 1 / 3, 1 / 2]
    assert values(run) == []
    (run,) = runs("AP", {"u": "b"})  # a topic that the run does not answer scores nothing
    assert values(run, (0, [-1]), (1, [-1])) == [0.0, 0.5]
