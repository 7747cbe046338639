"""Values of measures against ir-measures' own providers and the definitions, topic by topic."""

import random
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.given_file import AS_GIVEN, LabelRules
from pytest_riskguard.data.judged import JudgedRun
from pytest_riskguard.data.measures import has_kernel, parse_measure, provider_of
from pytest_riskguard.data.qrels import Qrels
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.data.runs import Order, order_of
from pytest_riskguard.data.scoring import check_labels, kernel_of, parts_of
from tests.data.plain_orders import ranked
from tests.data.scoring import plain
from tests.data.tables import judged_run
from tests.data.world import falling

WITH_KERNELS = [
    *("nDCG@10", "nDCG@20", "nDCG", "nDCG@1", "nDCG@5000", "nDCG(gains={0: 1, 1: 5, 2: 3})@5", "nDCG(gains={1: -2})"),
    *("nDCG(dcg='exp-log2')@20", "nDCG(dcg='exp-log2')"),
    *("DCG", "DCG@5", "DCG(dcg='exp-log2')@10", "AP", "AP@5", "AP(rel=2)", "AP(rel=2)@3"),
    *("RR", "RR@10", "RR@2", "RR(rel=2)", "RR(rel=2)@10", "P@10", "P@1", "P(rel=2)@5"),
    *("R@100", "R@3", "R(rel=2)@10"),
    *("Rprec", "Rprec(rel=2)", "Success@10", "Success(rel=3)@2"),
    *("Judged@10", "Judged", "Judged@3"),
    *("RBP(max_rel=9)@10", "RBP(p=0.95, max_rel=9)", "RBP(p=0.0, max_rel=9)"),
    *("ERR(max_rel=9)@20", "ERR(max_rel=9)", "ERR(max_rel=9)@2"),
]
WITHOUT = [
    "SetF",
    "SetR",
    "Bpref(rel=2)",
    "RBP(rel=1)",
    "IPrec@0.1",
    "infAP",
    "NumRet",
    "SetP",
    "Compat",
    "nDCG(gains={1: 2}, judged_only=True)",
    "RR(judged_only=True)",
]
Chunk = dict[str, dict[str, float]]


def chunk_of(rows: Mapping[str, Sequence[tuple[str, float]]]) -> Chunk:
    """Rankings with equal scores in the order of the ids, as they are ranked in memory."""
    return {topic: dict(sorted(pairs, key=lambda pair: pair[::-1], reverse=True)) for topic, pairs in rows.items()}


def of_kernel(text: str, run: JudgedRun, qrels: Qrels, order: Order | None = None) -> dict[str, float]:
    measure = parse_measure(text)
    rows = run.judged_rows(order or order_of(str(provider_of(measure).NAME)), qrels)
    values = kernel_of(measure, qrels.rules).scores(rows)[qrels.arrays.places_of(run.topics)]
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
@settings(max_examples=30)
@given(data=st.data())
def test_generated_runs(kind, data):
    qrels, chunk = data.draw(collections(kind))
    run = judged_run(chunk, qrels, depth=data.draw(st.integers(1, 12)))
    written = {t: falling(ranked(Order.WRITTEN, list(d), list(d.values()))) for t, d in chunk.items()}
    for text in some_measures(data.draw):
        check_labels(parse_measure(text), qrels)
        assert of_kernel(text, run, qrels) == close(plain.scores(text, chunk, qrels.grades, qrels.rules)), text
        in_order = plain.scores(text, written, qrels.grades, qrels.rules)
        assert of_kernel(text, run, qrels, Order.WRITTEN) == close(in_order), text


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


@pytest.mark.parametrize("text", [*WITH_KERNELS, "P@2000", "R@1000"])
def test_long_rankings(text):
    grades = {f"d{rank}": 1 + rank % 3 for rank in RANKS} | {f"d{rank}": rank % 2 - 1 for rank in range(30, 60)}
    qrels, chunk = read_qrels({"t": {**grades, "missed": 4}}), chunk_of({"t": LONG})
    assert of_kernel(text, judged_run(chunk, qrels, depth=1), qrels) == close(plain.scores(text, chunk, qrels.grades))


@pytest.mark.parametrize("text", ["ERR@3", "ERR(max_rel=7)@3", "RBP(max_rel=3)", "nDCG", "AP", "AP(rel=2)"])
def test_labels_and_scale_are_those_of_the_judgements(text):
    rules = LabelRules(scale=(-1, 2.5), relevant_from=1.5)
    qrels = read_qrels({"t": {"a": -0.5, "b": 2.5, "c": 1, "d": -1, "e": 1.5}}, labels=rules)
    chunk = chunk_of({"t": [(document, 9.0 - place) for place, document in enumerate("xabcde")]})
    scores = of_kernel(text, judged_run(chunk, qrels), qrels)
    assert scores == close(plain.scores(text, chunk, qrels.grades, rules))
    assert scores["t"] > 0


@pytest.mark.parametrize("text", WITH_KERNELS)
def test_parts_of_a_sum_add_up_to_the_score_but_for_a_factor_of_the_topic(text):
    rng, measure = random.Random(5), parse_measure(text)
    names, parts = [f"d{number}" for number in range(60)], parts_of(measure)
    assert (parts is not None) == bool(re.match(r"(nDCG|DCG|P|R|RBP)\b", text))
    if parts is None:
        return
    for _ in range(10):
        judged = {name: rng.choice([-1, 0, 0, 1, 2, 3]) for name in rng.sample(names, 30)} | {"always": 1}
        scores, sums = [], []
        for ranking in (["always", *rng.sample(names, 40)] for _ in range(2)):
            run = {"t": [(name, -float(place)) for place, name in enumerate(ranking)]}
            ranks = np.array([ranking.index(name) + 1 if name in ranking else 0 for name in judged])
            scores.append(score_run(run, {"t": judged}, [text])[0].values[0])
            sums.append(parts(np.array([*judged.values()], dtype=np.float64), ranks).sum())
        assert sums[0] * scores[1] == pytest.approx(sums[1] * scores[0], rel=0, abs=1e-9)
        assert (sums[0] > 0) == (scores[0] > 0)
