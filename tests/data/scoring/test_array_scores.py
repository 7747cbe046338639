"""Kernels against the providers of ir-measures, topic by topic: equal as floats, not nearly."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.array_scores import array_values, has_kernel, if_judged
from pytest_riskguard.data.given_file import AS_GIVEN, LabelRules
from pytest_riskguard.data.grades import check_labels, labels_for, scaled
from pytest_riskguard.data.judged import JudgedRun
from pytest_riskguard.data.measures import parse_measure
from pytest_riskguard.data.provider_scores import evaluate
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.ranking import Order
from pytest_riskguard.data.runs import read_run
from pytest_riskguard.errors import UsageError
from tests.data.plain_orders import ranked, untied
from tests.data.tables import judged_run

Rows = Mapping[str, Mapping[str, float]]

WITH_KERNELS = [
    *("nDCG@10", "nDCG@20", "nDCG", "nDCG@1", "nDCG@5000", "nDCG(gains={0: 1, 1: 5, 2: 3})@5", "nDCG(gains={1: -2})"),
    *("nDCG(judged_only=True)@3", "nDCG(judged_only=True)", "nDCG(dcg='exp-log2')@20", "nDCG(dcg='exp-log2')"),
    *("DCG", "DCG@5", "DCG(dcg='exp-log2')@10", "AP", "AP@5", "AP(rel=2)", "AP(judged_only=True)", "AP(rel=2)@3"),
    *("RR", "RR@10", "RR@2", "RR(rel=2)", "RR(rel=2)@10", "P@10", "P@1", "P(rel=2)@5", "P(judged_only=True)@5"),
    *("R@100", "R@3", "R(rel=2)@10", "R(judged_only=True)@5", "Rprec", "Rprec(rel=2)", "Rprec(judged_only=True)"),
    *("Success@10", "Success(rel=3)@2", "Success(judged_only=True)@1", "Judged@10", "Judged", "Judged@3"),
    *("Bpref", "Bpref(rel=2)", "Bpref(rel=4)", "RBP(rel=1)", "RBP(rel=2, p=0.5)", "RBP(max_rel=9)@10"),
    *("RBP(p=0.95, max_rel=9)", "ERR(max_rel=9)@20", "ERR(max_rel=9)", "ERR(max_rel=9)@2"),
]
WITHOUT = ["SetF", "IPrec@0.1", "infAP", "NumRet", "SetP", "Compat", "nDCG(gains={1: 2}, judged_only=True)"]
ON_REAL_RUNS = [
    *(
        "nDCG@10",
        "nDCG@20",
        "nDCG",
        "AP",
        "RR",
        "RR@10",
        "P@10",
        "R@100",
        "Judged@10",
        "Bpref",
        "RBP(rel=1)",
        "ERR@20",
    ),
    *("nDCG(dcg='exp-log2')@20", "nDCG(judged_only=True)@10", "DCG@10", "RBP(max_rel=4)@10", "Rprec", "Success@5"),
    *("AP(rel=2)@100", "P(rel=2)@20"),
]


def of_provider(measure: str, chunk: Rows, qrels: Qrels) -> dict[str, float]:
    """What ir-measures computes, with labels as the rules of the judgements say."""
    parsed = parse_measure(measure)
    answered = {topic: dict(chunk[topic]) for topic in qrels.topics if topic in chunk}
    labels = labels_for(parsed, {topic: qrels.grades[topic] for topic in answered}, qrels.rules)
    return evaluate(scaled(parsed, qrels.rules), labels, answered, "a.run")


def of_kernel(measure: str, run: JudgedRun, qrels: Qrels, order: Order | None = None) -> dict[str, float]:
    values = array_values(run, qrels, parse_measure(measure), order)
    assert values.dtype == np.float64
    return dict(zip(run.topics, values.tolist(), strict=True))


def qrels_of(grades: Mapping[str, Mapping[str, float]], rules: LabelRules = AS_GIVEN) -> Qrels:
    return read_qrels(grades, labels=rules)


@pytest.mark.parametrize("measure", WITH_KERNELS)
def test_there_is_a_kernel(measure):
    assert has_kernel(parse_measure(measure))


@pytest.mark.parametrize("measure", WITHOUT)
def test_any_other_measure_is_left_to_its_provider(measure):
    assert not has_kernel(parse_measure(measure))


def test_a_measure_that_cannot_be_computed_has_no_kernel():
    with pytest.raises(UsageError, match="no provider"):
        has_kernel(parse_measure("RBP"))


def _runs(shared):
    for folder, qrels in (("cranfield_runs", "qrels.txt"), ("web2012_runs", "qrels.adhoc.txt.gz")):
        for run in sorted((shared / "data" / folder / "runs").glob("*.run.gz")):
            yield run, shared / "data" / folder / qrels


@pytest.mark.parametrize(
    "every", [pytest.param(5, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.nightly)]
)
def test_real_runs_score_as_with_their_providers(shared, every):
    runs = list(_runs(shared))
    assert len(runs) == 28
    for path, judgements in runs[::every]:
        qrels = read_qrels(judgements)
        run, chunk = judged_run(path, qrels), read_run(path).by_topic()
        for measure in ON_REAL_RUNS:
            assert of_kernel(measure, run, qrels) == of_provider(measure, chunk, qrels), (path.name, measure)


DOCUMENTS = [f"d{number}" for number in range(12)]
GRADES = {
    "whole": st.integers(-2, 4),
    "large": st.integers(0, 9),
    "real": st.sampled_from([-2, -0.5, 0, 0.25, 0.5, 1, 1.5, 2.75, 3]),
}
SCORES = st.sampled_from([3.0, 2.0, 1.0, 1.0 + 1e-12, 0.5, -1.0])


@st.composite
def collections(draw, kind: str) -> tuple[Qrels, Rows]:
    grade = GRADES[kind]
    rules = AS_GIVEN if kind != "real" else LabelRules(relevant_from=draw(st.sampled_from([0.25, 1, 2.75])))
    grades, chunk = {}, {}
    for topic in draw(st.lists(st.sampled_from("stuv"), min_size=1, unique=True)):
        judged = draw(st.dictionaries(st.sampled_from(DOCUMENTS), grade, max_size=10))
        grades[topic] = {draw(st.sampled_from(DOCUMENTS)): 3} | judged
        grades[topic][draw(st.sampled_from(DOCUMENTS))] = 3
        retrieved = draw(st.lists(st.sampled_from(DOCUMENTS), min_size=1, unique=True))
        chunk[topic] = {document: draw(SCORES) for document in retrieved}
    return qrels_of(grades, rules), chunk


def some_measures(draw: st.DrawFn) -> list[str]:
    """Every seventh, from a place that is drawn: all of them would take most of the time of the quick tests."""
    return WITH_KERNELS[draw(st.integers(0, 6)) :: 7]


@pytest.mark.parametrize("kind", GRADES)
@given(data=st.data())
def test_generated_runs_score_as_with_their_providers(kind, data):
    qrels, chunk = data.draw(collections(kind))
    run = judged_run(chunk, qrels, depth=data.draw(st.integers(1, 12)))
    written = {
        topic: untied(ranked(Order.WRITTEN, list(documents), list(documents.values())))
        for topic, documents in chunk.items()
    }
    for measure in some_measures(data.draw):
        parsed = parse_measure(measure)
        check_labels(parsed, qrels)
        assert of_kernel(measure, run, qrels) == of_provider(measure, chunk, qrels), measure
        as_listed = of_provider(measure, written, qrels)
        assert of_kernel(measure, run, qrels, Order.WRITTEN) == as_listed, measure


def test_an_unjudged_document_has_no_gain_even_where_grade_0_has_one():
    chunk = {"t": {"x": 3.0, "a": 2.0}}
    for grade in (1, 1.5):  # trec_eval takes whole grades, riskguard others
        qrels = qrels_of({"t": {"a": grade}})
        measure = "nDCG(gains={0: 1})@1"
        assert of_provider(measure, chunk, qrels) == of_kernel(measure, judged_run(chunk, qrels), qrels) == {"t": 0.0}


def variant_scores(measure: str, chunk: Rows, qrels: Qrels, topic: str, judged: Mapping[str, float]) -> float:
    """What the provider computes if some more documents of a topic have these grades."""
    grades = {**qrels.grades, topic: {**qrels.grades[topic], **judged}}
    return of_provider(measure, {topic: chunk[topic]}, qrels_of(grades, qrels.rules))[topic]


@pytest.mark.parametrize("kind", GRADES)
@given(data=st.data())
def test_documents_judged_besides_score_as_with_their_providers(kind, data):
    qrels, chunk = data.draw(collections(kind))
    run = judged_run(chunk, qrels, depth=12)
    unjudged = np.flatnonzero(run.judgements < 0).tolist()
    names = run.unjudged.strings()
    topics, rows, judged = [], [], []
    for _ in range(data.draw(st.integers(0, 6))):
        place = data.draw(st.integers(0, len(run.topics) - 1))
        free = [row for row in unjudged if run.topic_of_row[row] == place]
        chosen = data.draw(st.lists(st.sampled_from(free), unique=True)) if free else []
        missed = data.draw(st.integers(0, 2))
        topics.append(place)
        rows.append([*chosen, *[-1] * missed])
        documents = [
            *(names[unjudged.index(row)] for row in chosen),
            *(f"missed{number}" for number in range(missed)),
        ]
        judged.append({document: data.draw(GRADES[kind]) for document in documents})
    for measure in some_measures(data.draw):
        values = if_judged(
            run,
            qrels,
            parse_measure(measure),
            np.array(topics, dtype=np.int64),
            np.cumsum([0, *map(len, rows)]),
            np.array(list(itertools.chain(*rows)), dtype=np.int64),
            np.array([grade for documents in judged for grade in documents.values()], dtype=np.float64),
        )
        expected = [
            variant_scores(measure, chunk, qrels, run.topics[place], documents)
            for place, documents in zip(topics, judged, strict=True)
        ]
        assert values.tolist() == expected, measure


#: Relevant documents at ranks where something ends: the cutoff, the first 1,000 ranks, the ranking.
LONG = [(f"d{rank}", 2000.0 - rank) for rank in range(1, 1101)]
RANKS = (1, 2, 9, 10, 11, 20, 21, 99, 100, 101, 999, 1000, 1001, 1002, 1100)


@pytest.mark.slow
@pytest.mark.parametrize("measure", [*WITH_KERNELS, "RBP(rel=1, p=0.9999)", "RBP(rel=1, p=1.0)", "P@2000", "R@1000"])
def test_long_rankings_score_as_with_their_providers(measure):
    grades = {f"d{rank}": 1 + rank % 3 for rank in RANKS} | {f"d{rank}": rank % 2 - 1 for rank in range(30, 60)}
    qrels, chunk = qrels_of({"t": {**grades, "missed": 4}}), {"t": dict(LONG)}
    run = judged_run(chunk, qrels, depth=1)
    assert of_kernel(measure, run, qrels) == of_provider(measure, chunk, qrels)


@pytest.mark.parametrize(
    "measure", ["ERR@3", "ERR(max_rel=7)@3", "RBP(max_rel=3)", "nDCG", "AP", "AP(rel=2)", "Bpref"]
)
def test_labels_and_scale_are_those_of_the_judgements(measure):
    rules = LabelRules(scale=(-1, 2.5), relevant_from=1.5)
    qrels = qrels_of({"t": {"a": -0.5, "b": 2.5, "c": 1, "d": -1, "e": 1.5}}, rules)
    chunk = {"t": {document: 9.0 - place for place, document in enumerate("xabcde")}}
    scores = of_kernel(measure, judged_run(chunk, qrels), qrels)
    assert scores == of_provider(measure, chunk, qrels)
    assert scores["t"] > 0


def variants() -> tuple[JudgedRun, Qrels, dict[str, npt.NDArray[Any]]]:
    """Each unjudged document of three topics alone, some with others that were missed."""
    qrels = qrels_of({topic: {"a": 1, "b": 0, "c": 2} for topic in "stu"})
    chunk = {topic: {document: 9.0 - place for place, document in enumerate("xayb")} for topic in "stu"}
    run = judged_run(chunk, qrels)
    unjudged = np.flatnonzero(run.judgements < 0)
    offsets = np.array([0, 1, 3, 6, 7, 8, 10])
    rows = np.full(10, -1)
    rows[offsets[:-1]] = unjudged
    grades = np.array([2.0, 1.0, 2.0, 0.0, 1.0, 1.0, 2.0, 2.0, 1.0, 2.0])
    arrays = {
        "topics": run.topic_of_row[unjudged].astype(np.int64),
        "offsets": offsets,
        "rows": rows,
        "grades": grades,
    }
    return run, qrels, arrays


@pytest.mark.parametrize("measure", WITH_KERNELS)
def test_variants_in_several_parts_score_as_in_one(measure, monkeypatch):
    run, qrels, arrays = variants()
    in_one = if_judged(run, qrels, parse_measure(measure), **arrays)
    monkeypatch.setattr("pytest_riskguard.data.array_scores._ROWS_AT_ONCE", 3)
    assert if_judged(run, qrels, parse_measure(measure), **arrays).tolist() == in_one.tolist()


@pytest.mark.parametrize("measure", WITH_KERNELS)
def test_variants_with_more_grades_than_a_number_can_tell_apart_score_as_one_by_one(measure):
    run, qrels, arrays = variants()
    of_many, grades = np.zeros(1, dtype=np.int64), np.arange(60) / 16
    documents = [np.append(arrays["rows"][:1], np.full(59, -1)), np.full(60, -1)]
    each = [
        if_judged(run, qrels, parse_measure(measure), of_many, np.array([0, 60]), rows, grades)[0]
        for rows in documents
    ]
    together = if_judged(
        run,
        qrels,
        parse_measure(measure),
        np.zeros(2, dtype=np.int64),
        np.array([0, 60, 120]),
        np.concatenate(documents),
        np.tile(grades, 2),
    )
    assert together.tolist() == each


def test_without_variants_there_are_no_values():
    qrels, none = qrels_of({"t": {"a": 1}}), np.zeros(0, dtype=np.int64)
    run = judged_run({"t": {"a": 1.0}}, qrels)
    assert len(if_judged(run, qrels, parse_measure("AP"), none, np.zeros(1, dtype=np.int64), none, np.zeros(0))) == 0


def test_orders_with_the_same_ranks_are_sorted_once():
    qrels = qrels_of({"t": {"a": 1, "b": 2}})
    run = judged_run({"t": {"b": 1.0, "a": 1.0}}, qrels)
    shared = replace(run, ranks={**run.ranks, Order.DESCENDING: run.ranks[Order.SINGLE_DESCENDING]})
    assert shared.judgements[shared.rows_of_judged(Order.DESCENDING)].tolist() == [1, 0]
    assert shared.judgements[shared.rows_of_judged(Order.ASCENDING)].tolist() == [0, 1]
    assert shared.judgements[shared.rows_of_judged(Order.SINGLE_DESCENDING)].tolist() == [1, 0]
