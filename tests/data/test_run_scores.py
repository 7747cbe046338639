"""Scores of a run are those of ir-measures on the whole run, in the order of each provider and in that as written."""

from __future__ import annotations

import logging
import random
import re
from collections.abc import Callable
from dataclasses import fields

import ir_measures
import numpy as np
import pytest

from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.measures import parse_measure
from pytest_riskguard.data.memory_runs import as_run, run
from pytest_riskguard.data.run_scores import score_run, scored_run, values_of_run
from pytest_riskguard.data.runs import Run
from pytest_riskguard.data.scores import Repeated
from pytest_riskguard.errors import DataError, MissingFileError, ScoringError, UsageError

MEASURES = [
    *("AP", "AP@5", "AP(rel=2)", "AP(judged_only=True)", "nDCG", "nDCG@5", "nDCG(gains={1:7,2:9})@5", "RR", "RR@5"),
    *(
        "RR(rel=2)",
        "R@5",
        "R(rel=2)@5",
        "P@5",
        "P(rel=2)@3",
        "Rprec",
        "Bpref",
        "infAP",
        "IPrec@0.3",
        "SetP",
        "SetRelP",
    ),
    *("SetR", "SetF", "SetF(beta=2.0)", "SetAP", "Success@1", "NumRet", "NumRelRet", "NumQ", "NumRel", "Judged@5"),
    *("Judged", "Compat", "Compat(p=0.8)", "nDCG(judged_only=True)@5"),
]


@pytest.fixture
def collection(write):
    """Judgements and the lines of a run of 50 topics, ids of all kinds, many ties, answered in part."""
    rng = random.Random(7)
    topics = [f"{'us-' if number % 3 else 'käse.'}{number}" for number in range(50)]
    grades = {t: {f"d{doc}": rng.choice([-2, -1, 0, 0, 1, 2, 3]) if doc else 3 for doc in range(20)} for t in topics}
    rows = [
        f"{topic} Q0 d{doc} {rank} {rng.choice([-1.5, 0, 2e-3, 7])} my.run.v1"
        for topic in topics[5:]
        for rank, doc in enumerate(rng.sample(range(40), 15))
    ]
    return read_qrels(grades), rows


def answers(rows: list[str]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for topic, _, document, _, score, _ in map(str.split, rows):
        found.setdefault(topic, {})[document] = float(score)
    return found


def test_values_are_those_of_ir_measures_for_each_measure_alone(collection, write, monkeypatch):
    """In one call of ir-measures, nDCG takes over the gains or the judged_only of another measure."""
    monkeypatch.setattr("pytest_riskguard.data.runs.ROWS_AT_ONCE", 100)
    qrels, rows = collection
    scored = [ir_measures.ScoredDoc(t, d, s) for t, found in answers(rows).items() for d, s in found.items()]
    judged = [ir_measures.Qrel(t, d, g) for t, found in qrels.grades.items() for d, g in found.items()]
    found = score_run(write("a.run", "\n".join(rows)), qrels, MEASURES)
    rows_of = list(values_of_run(as_run(answers(rows)), qrels, MEASURES))
    for text, scores in zip(MEASURES, found, strict=True):
        measure = parse_measure(text)
        assert scores.measure == str(measure)
        whole = {metric.query_id: metric.value for metric in ir_measures.iter_calc([measure], judged, scored)}
        assert dict(zip(scores.topics, scores.values.tolist(), strict=True)) == pytest.approx(
            whole, rel=0, abs=1e-12
        ), text
        assert {topic: value for topic, name, value in rows_of if name == scores.measure} == whole
        assert len(set(scores.values.tolist())) > 1 or text in ("NumQ", "NumRel")


def test_no_way_in_changes_a_value_and_neither_does_the_depth(collection, write):
    qrels, rows = collection
    measures = ["AP", "nDCG@5", "RR@5", "ERR@5", "Judged@5", "SetF", "infAP"]
    path = write("a.run", "\n".join(rows))
    expected = score_run(path, qrels, measures)
    shuffled = random.Random(3).sample(rows, len(rows))
    files = [write("b.run", "\n".join(shuffled)), write("c.run.gz", "\r\n".join(rows))]
    for one in (*files, answers(rows)):
        for scores, other in zip(expected, score_run(one, qrels, measures), strict=True):
            np.testing.assert_array_equal(scores.values, other.values)
            assert (scores.topics, scores.unanswered) == (other.topics, other.unanswered)
    assert (scored_run(path, qrels, measures).run.depth, scored_run(path, qrels, ["P@300"]).run.depth) == (100, 300)
    for scores, other in zip(expected, scored_run(path, qrels, measures, depth=40).scores, strict=True):
        np.testing.assert_array_equal(scores.values, other.values)
        names = [field.name for field in fields(scores) if field.name != "values"]
        assert [getattr(scores, name) for name in names] == [getattr(other, name) for name in names]


def test_each_kind_of_topic_is_counted_where_it_belongs(write):
    qrels = read_qrels(write("q", "2 0 a 1\n10 0 a 1\n3 0 a 0\n"))
    path = write("my.system.v2.run.gz", "10 Q0 a 1 1 t\n3 Q0 a 1 1 t\n7 Q0 a 1 1 t\n5 Q0 a 1 1 t\n")
    (scores,) = score_run(path, qrels, "AP", queries={"10": "ten"})
    assert (scores.topics, scores.values.tolist(), scores.measure) == (("10", "2"), [1.0, 0.0], "AP")
    assert (scores.unanswered, scores.unknown, scores.without_relevant) == (("2",), ("5", "7"), ("3",))
    assert (scores.name, score_run(path, qrels, ["AP"], name="prod")[0].name) == ("my.system.v2", "prod")
    assert (scores.queries, scores.from_run, scores.qrels_digest) == ({"10": "ten"}, True, qrels.digest)
    live = as_run({"10": {"a": 1.0}})
    (scores,) = score_run(live, qrels, ["AP"])
    assert (scores.digest, scores.name) == (live.source.digest, "candidate")
    assert score_run(live, qrels, ["AP"], name="live")[0].name == "live"


def test_a_run_without_a_judged_topic_is_incomparable(write):
    qrels = read_qrels(write("q.txt", "1 0 a 1\n2 0 a 0\n"))
    problem = "a.run: expected topics of q.txt with a relevant document, such as topic 1; found only topics q1, q2"
    none: list[dict[str, dict[str, float]]] = [{}, {"1": {}}, {"2": {"a": 1.0}}]
    path = write("a.run", "q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\n")
    for rankings, found in ((path, problem), *((rankings, "found none") for rankings in none)):
        with pytest.raises(DataError, match=re.escape(found)) as caught:
            score_run(rankings, qrels, ["AP"])
        assert caught.value.reason == "no_common_topic"


def test_a_grade_above_the_scale_names_the_measure_to_write(write):
    qrels = read_qrels(write("q.txt", "1 0 a 5\n2 0 a 1\n"))
    problem = "q.txt: ERR@20 expects grades of at most 4, found 5 (topic '1', document 'a'); write ERR(max_rel=5)@20"
    with pytest.raises(DataError, match=re.escape(problem)) as caught:
        score_run({"2": [("a", 1.0)]}, qrels, ["ERR@20"])
    assert caught.value.reason == "bad_qrels"
    for measure, value in (("ERR(max_rel=5)@20", 31 / 32), ("nDCG(dcg='exp-log2')@20", 1.0)):
        assert score_run({"1": [("a", 1.0)]}, qrels, [measure])[0].values.tolist() == [value, 0.0]


def test_measures_are_checked_before_the_run_is_read(tmp_path):
    qrels = read_qrels({"1": {"a": 1}})
    with pytest.raises(UsageError, match="did you mean 'nDCG@10'"):
        score_run(tmp_path / "none.run", qrels, ["AP", "ndcg@10"])
    with pytest.raises(MissingFileError):
        score_run(tmp_path / "none.run", qrels, ["AP"])


class Provider(ir_measures.providers.Provider):
    """Answers as it is told to."""

    NAME = "told"

    def __init__(self, answer: Callable[[], list[ir_measures.Metric]]) -> None:
        super().__init__()
        self.answer = answer

    def supports(self, measure):
        return True

    def iter_calc(self, run):  # type: ignore[override]
        return self.answer()

    def evaluator(self, measures, qrels):
        return self


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ([("1", 0.5)], "gave no value of SetF for topic 2"),
        ([("1", 0.5), ("2", 0.5), ("3", 0.5)], "ir-measures unexpectedly gave a value of SetF for topic '3'"),
        ([("1", 0.5), ("2", 0.5), ("1", 0.5)], "gave a second value of SetF for topic '1'"),
        ([("1", 0.5), ("2", 1.5)], "expected SetF of topic '2' in [0.0, 1.0], found 1.5"),
        ([("1", 0.5), ("2", float("nan"))], "expected SetF of topic '2' in [0.0, 1.0], found nan"),
        ([("1", -0.1), ("2", 0.5)], "expected SetF of topic '1' in [0.0, 1.0], found -0.1"),
        (ZeroDivisionError("by zero"), "could not compute SetF (ZeroDivisionError: by zero)"),
    ],
)
def test_every_value_must_belong_to_a_topic_that_was_asked_for(monkeypatch, values, problem):
    def answer() -> list[ir_measures.Metric]:
        if isinstance(values, Exception):
            raise values
        return [ir_measures.Metric(topic, ir_measures.SetF, value) for topic, value in values]

    monkeypatch.setattr("pytest_riskguard.data.scoring.provider_of", lambda _: Provider(answer))
    with pytest.raises(ScoringError, match=re.escape(problem)) as caught:
        score_run({"1": {"a": 1.0}, "2": {"a": 1.0}}, read_qrels({"1": {"a": 1}, "2": {"a": 1}}), ["SetF"])
    assert caught.value.reason == "bad_scores"


def test_an_undefined_value_is_an_error_and_not_a_zero_and_loggers_are_left_as_they_were():
    qrels = read_qrels({"1": {"a": 1}, "2": {"a": 1}})
    with pytest.raises(ScoringError, match="no value of Accuracy for topic 2"):
        score_run({"1": [("b", 2.0), ("a", 1.0)], "2": [("b", 2.0)]}, qrels, ["Accuracy"])
    assert not logging.getLogger("ir_measures.cwl_eval").disabled


TOPICS = [f"{number:02d}" for number in range(20)]
TIED = read_qrels({topic: {f"d{doc}": int(doc == 0) for doc in range(9)} for topic in TOPICS})


def of_every_topic(*rows: str) -> str:
    """Documents with ranks and scores."""
    return "".join(f"{topic} Q0 {row} t\n" for topic in TOPICS for row in rows)


@pytest.mark.parametrize("scores", [[1699999999 - i for i in range(9)], [1 - 1e-10 * i for i in range(9)], [1.0] * 9])
def test_scores_equal_in_32_bits_are_scored_in_both_orders(write, scores):
    lines = of_every_topic(*(f"d{place} {place} {score!r}" for place, score in enumerate(scores))).splitlines(True)
    for rows in (lines, sorted(lines, key=lambda line: line.split()[3])):  # topics one by one, or rank by rank
        recip, at_2, graded = score_run(write("a.run", "".join(rows)), TIED, ["RR", "P@2", "ERR@20"])
        assert set(recip.values.tolist()) == {1 / 9}  # d0 is last of the ids, as trec_eval ranks them
        assert set(recip.in_written_order().values.tolist()) == {1.0}
        assert (at_2.mean, at_2.as_written) == (0.0, dict.fromkeys(TOPICS, 0.5))
        assert recip.reordered == at_2.reordered == tuple(TOPICS)
        assert bool(graded.reordered) == (scores[0] == scores[-1])  # ERR compares 64 bits
        assert recip.in_written_order().reordered == ()


def test_each_provider_breaks_ties_in_its_own_way():
    near = 1 + 2**-30  # the same as 1 in 32 bits
    rows = {"1": {"a": 1.0, "b": 1.0}, "2": {"a": near, "b": 1.0}, "3": {"a": near, "b": 1.0}}
    plain, cut = score_run(rows, {"1": {"b": 1}, "2": {"a": 1}, "3": {"b": 1}}, ["RR", "RR@10"])
    assert (plain.values.tolist(), cut.values.tolist()) == ([1.0, 0.5, 1.0], [0.5, 1.0, 0.5])


def test_random_runs_score_as_written_what_untied_scores_would(write):
    rng = random.Random(3)
    lines, untied = [], []
    for topic in TOPICS:
        ids = [f"d{i}" for i in rng.sample(range(12), 9)]
        scores = sorted((rng.choice([1.0, 1.0 + 1e-9, 0.5, 2.0]) for _ in ids), reverse=True)
        rows = [f"{topic} Q0 {docid} {rank} " for rank, docid in enumerate(ids, 1)]
        untied += [f"{row}{20 - rank} t" for rank, row in enumerate(rows)]
        lines += rng.sample([f"{row}{score!r} t" for row, score in zip(rows, scores, strict=True)], 9)
    measures = ["nDCG@3", "AP", "RR@5", "ERR@5", "Bpref", "Judged@2", "infAP"]
    tied, plain = (score_run(write("a.run", "\n".join(rows)), TIED, measures) for rows in (lines, untied))
    for scored, expected in zip(tied, plain, strict=True):
        np.testing.assert_allclose(scored.in_written_order().values, expected.values, atol=1e-12)
    assert any(scored.as_written for scored in tied)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "judgements", "warned"),
    [
        ("cranfield_runs", "qrels.txt", {"ties_bm25s_int"}),  # scores of bm25s_atire cut to whole numbers
        ("web2012_runs", "qrels.adhoc.txt.gz", set()),
    ],
)
def test_real_runs_are_rarely_warned_of(shared, folder, judgements, warned):
    qrels = read_qrels(shared / "data" / folder / judgements)
    for path in sorted((shared / "data" / folder / "runs").glob("*.run.gz")):
        scored = score_run(path, qrels, ["nDCG@10", "AP", "P@10"])
        assert scored[0].contradicted == ()
        assert any(scores.is_reordered for scores in scored) == (scored[0].name in warned), path.name


def twice(first: Run, again: Run) -> Run:
    """A live run that was asked again about all its topics."""
    return first.with_source(again=again, asked_again=first.topics)


@pytest.mark.parametrize(("measure", "differing"), [("R@20", ("1",)), ("R@5", ())])
def test_answers_that_differ_only_where_a_measure_looks_deeper_are_different(measure, differing):
    first = {topic: {f"d{place:02d}": 1.0 for place in range(30)} for topic in "12"}
    second = {**first, "1": {docid: 1.0 for docid in first["1"] if docid != "d15"}}  # beyond the first ten
    pair = twice(*(run(answered, ties="as_returned") for answered in (first, second)))
    repeated = score_run(pair, {topic: {"d11": 1, "d15": 1} for topic in "12"}, [measure])[0].repeated
    assert repeated is not None
    assert repeated.differing == differing


@pytest.mark.parametrize(
    ("asked", "changed", "is_refused"), [(10, 2, False), (10, 3, True), (2, 1, False), (2, 2, True), (1, 1, True)]
)
def test_two_topics_of_many_are_no_change_of_all_answers(asked, changed, is_refused):
    topics = [str(number) for number in range(asked)]
    first = {topic: {"good": 2.0, "bad": 1.0} for topic in topics}
    second = first | {topic: {"bad": 2.0, "good": 1.0} for topic in topics[:changed]}
    pair, qrels = twice(as_run(first), as_run(second)), read_qrels({topic: {"good": 1} for topic in topics})
    if is_refused:
        with pytest.raises(DataError, match="asked twice, it answered") as caught:
            score_run(pair, qrels, ["Success@1"])
        assert caught.value.reason == "bad_run"
    else:
        assert score_run(pair, qrels, ["Success@1"])[0].repeated.differing == tuple(topics[:changed])


def test_the_change_of_repeated_answers_is_an_average_over_the_topics_asked_twice():
    repeated = Repeated(("a", "b", "c", "d"), ("a", "b"), (0.5, 0.2, 1.0, 0.3), (0.3, 0.4, 1.0, 0.3))
    assert repeated.change == pytest.approx(0.1)
    assert repeated.means == pytest.approx((0.5, 0.5))
