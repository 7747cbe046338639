"""Values of measures against ir-measures' own providers and the definitions, topic by topic."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.given_file import AS_GIVEN, LabelRules
from pytest_riskguard.data.judged import JudgedRun, RankedRun
from pytest_riskguard.data.measures import has_kernel, parse_measure, provider_of
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.ranking import Order, order_of
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.data.scoring import check_labels, kernel_of, kernel_values, parts_of
from pytest_riskguard.data.unjudged import values_if_judged
from tests.data.plain_orders import ranked, untied
from tests.data.scoring import plain
from tests.data.tables import judged_run

WITH_KERNELS = [
    *("nDCG@10", "nDCG@20", "nDCG", "nDCG@1", "nDCG@5000", "nDCG(gains={0: 1, 1: 5, 2: 3})@5", "nDCG(gains={1: -2})"),
    *("nDCG(judged_only=True)@3", "nDCG(judged_only=True)", "nDCG(dcg='exp-log2')@20", "nDCG(dcg='exp-log2')"),
    *("DCG", "DCG@5", "DCG(dcg='exp-log2')@10", "AP", "AP@5", "AP(rel=2)", "AP(judged_only=True)", "AP(rel=2)@3"),
    *("RR", "RR@10", "RR@2", "RR(rel=2)", "RR(rel=2)@10", "P@10", "P@1", "P(rel=2)@5", "P(judged_only=True)@5"),
    *("R@100", "R@3", "R(rel=2)@10", "R(judged_only=True)@5", "SetR", "SetR(rel=2)", "RR(judged_only=True)"),
    *("Rprec", "Rprec(rel=2)", "Rprec(judged_only=True)", "Success@10", "Success(rel=3)@2"),
    *("Success(judged_only=True)@1", "Judged@10", "Judged", "Judged@3", "Bpref", "Bpref(rel=2)", "Bpref(rel=4)"),
    *("RBP(rel=1)", "RBP(rel=2, p=0.5)", "RBP(max_rel=9)@10", "RBP(p=0.95, max_rel=9)", "RBP(p=0.0, rel=1)"),
    *("ERR(max_rel=9)@20", "ERR(max_rel=9)", "ERR(max_rel=9)@2"),
]
WITHOUT = ["SetF", "IPrec@0.1", "infAP", "NumRet", "SetP", "Compat", "nDCG(gains={1: 2}, judged_only=True)"]
Chunk = dict[str, dict[str, float]]


def chunk_of(rows: Mapping[str, Sequence[tuple[str, float]]]) -> Chunk:
    """Rankings with equal scores in the order of the ids, as they are ranked in memory."""
    return {topic: dict(sorted(pairs, key=lambda pair: pair[::-1], reverse=True)) for topic, pairs in rows.items()}


def of_kernel(text: str, run: JudgedRun, qrels: Qrels, order: Order | None = None) -> dict[str, float]:
    measure = parse_measure(text)
    values = kernel_values(run, qrels, measure, order or order_of(str(provider_of(measure).NAME)))
    assert values.dtype == np.float64
    return dict(zip(run.topics, values.tolist(), strict=True))


def close(values: Mapping[str, float]) -> object:
    return pytest.approx(dict(values), rel=0, abs=1e-12)


def test_every_other_measure_is_left_to_ir_measures():
    assert all(has_kernel(parse_measure(text)) for text in WITH_KERNELS)
    assert not any(has_kernel(parse_measure(text)) for text in WITHOUT)


DOCUMENTS = [f"d{number}" for number in range(12)]
GRADES = {
    "whole": st.integers(-2, 4),
    "large": st.integers(0, 9),
    "real": st.sampled_from([-2, -0.5, 0, 0.25, 0.5, 1, 1.5, 2.75, 3]),
}
SCORES = st.sampled_from([3.0, 2.0, 1.0, 1.0 + 1e-12, 0.5, -1.0])


@st.composite
def collections(draw: st.DrawFn, kind: str) -> tuple[Qrels, Chunk]:
    """Up to four topics with ties, each with a relevant document."""
    rules = AS_GIVEN if kind != "real" else LabelRules(relevant_from=draw(st.sampled_from([0.25, 1, 2.75])))
    grades, chunk = {}, {}
    for topic in draw(st.lists(st.sampled_from("stuv"), min_size=1, unique=True)):
        judged = draw(st.dictionaries(st.sampled_from(DOCUMENTS), GRADES[kind], max_size=10))
        grades[topic] = judged | {draw(st.sampled_from(DOCUMENTS)): 3}
        retrieved = draw(st.lists(st.sampled_from(DOCUMENTS), min_size=1, unique=True))
        chunk[topic] = [(document, draw(SCORES)) for document in retrieved]
    return read_qrels(grades, labels=rules), chunk_of(chunk)


def some_measures(draw: st.DrawFn) -> list[str]:
    """Every seventh, from a place that is drawn: all of them would take most of the time of the quick tests."""
    return WITH_KERNELS[draw(st.integers(0, 6)) :: 7]


@pytest.mark.parametrize("kind", GRADES)
@given(data=st.data())
def test_generated_runs(kind, data):
    qrels, chunk = data.draw(collections(kind))
    run = judged_run(chunk, qrels, depth=data.draw(st.integers(1, 12)))
    written = {t: untied(ranked(Order.WRITTEN, list(d), list(d.values()))) for t, d in chunk.items()}
    for text in some_measures(data.draw):
        check_labels(parse_measure(text), qrels)
        assert of_kernel(text, run, qrels) == close(plain.scores(text, chunk, qrels.grades, qrels.rules)), text
        in_order = plain.scores(text, written, qrels.grades, qrels.rules)
        assert of_kernel(text, run, qrels, Order.WRITTEN) == close(in_order), text


@pytest.mark.parametrize("kind", GRADES)
@given(data=st.data())
def test_documents_judged_besides(kind, data):
    qrels, chunk = data.draw(collections(kind))
    run = judged_run(chunk, qrels, depth=12)
    unjudged = dict(zip(np.flatnonzero(run.judgements < 0).tolist(), run.unjudged.strings(), strict=True))
    variants: list[tuple[int, list[int], dict[str, float]]] = []
    for _ in range(data.draw(st.integers(0, 6))):
        place = data.draw(st.integers(0, len(run.topics) - 1))
        free = [row for row in unjudged if run.topic_of_row[row] == place]
        rows = data.draw(st.lists(st.sampled_from(free), unique=True)) if free else []
        names = [unjudged[row] for row in rows]
        missed = [f"missed{number}" for number in range(data.draw(st.integers(0, 2)))]
        grades = {name: data.draw(GRADES[kind]) for name in names + missed}
        variants.append((place, rows + [-1] * len(missed), grades))
    topics = np.array([qrels.topics.index(run.topics[place]) for place, _, _ in variants], dtype=np.int64)
    counts = np.array([len(rows) for _, rows, _ in variants], dtype=np.int64)
    all_rows = np.array([row for _, rows, _ in variants for row in rows], dtype=np.int64)
    new_grades = np.array([grade for _, _, judged in variants for grade in judged.values()], dtype=np.float64)
    for text in some_measures(data.draw):
        ranked = RankedRun(run, qrels, parse_measure(text))
        expected = [
            plain.scores(text, {t: chunk[t]}, {t: {**qrels.grades[t], **judged}}, qrels.rules)[t]
            for t, judged in ((run.topics[place], judged) for place, _, judged in variants)
        ]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("pytest_riskguard.data.unjudged.ROWS_AT_ONCE", data.draw(st.sampled_from([3, 1000])))
            values = values_if_judged([ranked], topics, counts, all_rows[:, None], new_grades)[:, 0]
        assert values.tolist() == pytest.approx(expected, rel=0, abs=1e-12), text


@pytest.mark.parametrize("above", [-1, 10])
def test_the_order_as_written_leaves_scores_on_their_side_of_0(write, above):
    run = write("a.run", "".join(f"1 Q0 {name} {rank} {above - rank // 2} x\n" for rank, name in enumerate("acb", 1)))
    for text in ("Compat", "SetF", "AP"):  # for Compat a document that is not retrieved has the score 0
        (scores,) = score_run(run, read_qrels({"1": {"a": 1, "missed": 1}}), [text])
        assert not scores.reordered, text
    (scores,) = score_run(run, read_qrels({"1": {"b": 1}}), ["Compat"])
    assert scores.reordered == ("1",)


#: Relevant documents at ranks where something ends: the cutoff, the first 1,000 ranks, the ranking.
LONG = [(f"d{rank}", 2000.0 - rank) for rank in range(1, 1101)]
RANKS = (1, 2, 9, 10, 11, 20, 21, 99, 100, 101, 999, 1000, 1001, 1002, 1100)


@pytest.mark.parametrize("text", [*WITH_KERNELS, "RBP(rel=1, p=0.9999)", "RBP(rel=1, p=1.0)", "P@2000", "R@1000"])
def test_long_rankings(text):
    grades = {f"d{rank}": 1 + rank % 3 for rank in RANKS} | {f"d{rank}": rank % 2 - 1 for rank in range(30, 60)}
    qrels, chunk = read_qrels({"t": {**grades, "missed": 4}}), chunk_of({"t": LONG})
    assert of_kernel(text, judged_run(chunk, qrels, depth=1), qrels) == close(plain.scores(text, chunk, qrels.grades))


@pytest.mark.parametrize("text", ["ERR@3", "ERR(max_rel=7)@3", "RBP(max_rel=3)", "nDCG", "AP", "AP(rel=2)", "Bpref"])
def test_labels_and_scale_are_those_of_the_judgements(text):
    rules = LabelRules(scale=(-1, 2.5), relevant_from=1.5)
    qrels = read_qrels({"t": {"a": -0.5, "b": 2.5, "c": 1, "d": -1, "e": 1.5}}, labels=rules)
    chunk = chunk_of({"t": [(document, 9.0 - place) for place, document in enumerate("xabcde")]})
    scores = of_kernel(text, judged_run(chunk, qrels), qrels)
    assert scores == close(plain.scores(text, chunk, qrels.grades, rules))
    assert scores["t"] > 0


def test_an_unjudged_document_has_no_gain_even_where_grade_0_has_one():
    chunk = chunk_of({"t": [("x", 3.0), ("a", 2.0)]})
    for grade in (1, 1.5):  # trec_eval takes whole grades, riskguard others
        qrels = read_qrels({"t": {"a": grade}})
        text = "nDCG(gains={0: 1})@1"
        assert plain.scores(text, chunk, qrels.grades) == {"t": 0.0}
        assert of_kernel(text, judged_run(chunk, qrels), qrels) == {"t": 0.0}


def rankings_and_grades() -> tuple[dict[str, list[str]], dict[str, dict[str, int]]]:
    """Of 30 topics; some judged documents are not retrieved, one ranking is short."""
    rng, rankings, grades = random.Random(5), {}, {}
    for topic in (f"t{number}" for number in range(30)):
        documents = ["always", *(f"d{number}" for number in rng.sample(range(200), 60))]
        grades[topic] = {name: rng.choice([-1, 0, 0, 1, 2, 3]) for name in documents[21:]} | {"always": 1}
        rankings[topic] = documents[: 4 if topic == "t3" else 40]
    return rankings, grades


@pytest.mark.parametrize("text", WITH_KERNELS)
def test_rankings_that_no_run_holds_score_what_a_run_would(text):
    rankings, grades = rankings_and_grades()
    qrels, measure = read_qrels(grades), parse_measure(text)
    parts, sums, scores = parts_of(measure), [], []
    assert (parts is not None) == bool(re.match(r"(nDCG|DCG|P|R|SetR|RBP)\b(?!.*judged_only)", text))
    for turn in (1, -1):
        turned = {topic: documents[::turn] for topic, documents in rankings.items()}
        ranks = {topic: {name: rank for rank, name in enumerate(names, 1)} for topic, names in turned.items()}
        rows = plain.judged_rows(
            [
                (list(grades[t].values()), [ranks[t].get(name, 0) for name in grades[t]], len(ranks[t]))
                for t in qrels.topics
            ]
        )
        (expected,) = score_run({t: [(d, 99.0 - r) for d, r in of.items()] for t, of in ranks.items()}, qrels, [text])
        values = kernel_of(measure, AS_GIVEN).scores(rows)
        np.testing.assert_allclose(values, expected.values, rtol=0, atol=1e-12)
        if parts is not None:  # they add up to the score but for a factor of the topic
            sums.append(rows.sums(parts(rows.value, rows.rank)))
            scores.append(values)
    if sums:
        np.testing.assert_allclose(sums[0] * scores[1], sums[1] * scores[0], rtol=0, atol=1e-9)
        assert ((sums[0] > 0) == (scores[0] > 0)).all()


def test_a_ranking_without_documents_scores_as_an_unanswered_topic_does():
    rows = plain.judged_rows([([1.0], [0], 0), ([1.0], [0], 3), ([1.0], [1], 3)])
    for text, expected in (("nDCG@10", [0.0, 1.0]), ("Judged", [0.0, 1 / 3])):
        assert kernel_of(parse_measure(text), AS_GIVEN).scores(rows).tolist() == [0.0, *expected]
        assert kernel_of(parse_measure(text), AS_GIVEN).scores(plain.judged_rows([])).shape == (0,)
