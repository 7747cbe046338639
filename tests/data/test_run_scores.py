import random
from dataclasses import replace

import ir_measures
import pytest

from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.measures import parse_measure
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.data.runs import read_run
from pytest_riskguard.errors import DataError, ScoringError
from tests.data.scoring import plain

MEASURES = [
    *("AP", "AP@5", "AP(rel=2)", "AP(judged_only=True)", "nDCG", "nDCG@5", "nDCG(gains={1:7,2:9})@5", "RR", "RR@5"),
    *("R@5", "P@5", "P(rel=2)@3", "Rprec", "Bpref", "infAP", "IPrec@0.3", "SetP", "SetRelP", "SetR", "SetF", "SetAP"),
    *("SetF(beta=2.0)", "Success@1", "NumRet", "NumRelRet", "NumQ", "NumRel", "Judged@5", "Compat", "Compat(p=0.8)"),
    "nDCG(judged_only=True)@5",
]


@pytest.fixture
def collection(write):
    """A qrels file and a run of 50 topics, ids of all kinds, many ties, answered in part."""
    rng = random.Random(7)
    topics = [f"{'us-' if number % 3 else 'käse.'}{number}" for number in range(50)]
    judged = [
        f"{topic} 0 d{doc} {3 if doc == 0 else rng.choice([-2, -1, 0, 0, 1, 2, 3])}"
        for topic in topics
        for doc in range(20)
    ]
    rows = [
        f"{topic} Q0 d{doc} {rank} {rng.choice([-1.5, 0, 2e-3, 7])} my.run.v1"
        for topic in topics[5:]
        for rank, doc in enumerate(rng.sample(range(40), 15))
    ]
    return read_qrels(write("qrels.txt", "\n".join(judged))), rows


def whole(measure, qrels, rows):
    """ir-measures asked for the whole run at once."""
    split = [row.split() for row in rows]
    run = [ir_measures.ScoredDoc(fields[0], fields[2], float(fields[4])) for fields in split]
    judged = [
        ir_measures.Qrel(topic, doc, grade) for topic, docs in qrels.grades.items() for doc, grade in docs.items()
    ]
    return {
        metric.query_id: metric.value
        for metric in ir_measures.iter_calc([plain.of_ir_measures(parse_measure(measure))], judged, run)
    }


def test_values_are_those_of_ir_measures_for_each_measure_alone(collection, write, monkeypatch):
    # In one call of ir-measures, nDCG takes over the gains or the judged_only of another measure.
    qrels, rows = collection
    path = write("a.run", "\n".join(rows))
    monkeypatch.setattr("pytest_riskguard.data.checks.ROWS_AT_ONCE", 100)
    together = score_run(path, qrels, MEASURES)
    assert [scores.measure for scores in together] == [str(parse_measure(text)) for text in MEASURES]
    for text, scores in zip(MEASURES, together, strict=True):
        found = dict(zip(scores.topics, scores.values.tolist(), strict=True))
        assert found == pytest.approx(whole(text, qrels, rows), rel=0, abs=1e-12), text
        assert len(set(found.values())) > 1 or text in ("NumQ", "NumRel")


def test_each_kind_of_topic_is_counted_where_it_belongs(write):
    qrels = read_qrels(write("q", "2 0 a 1\n10 0 a 1\n3 0 a 0\n"))
    run = write("my.system.v2.run.gz", "10 Q0 a 1 1 t\n3 Q0 a 1 1 t\n7 Q0 a 1 1 t\n5 Q0 a 1 1 t\n")
    (scores,) = score_run(run, replace(qrels, texts={"10": "zehn"}), ["AP"], queries={"10": "ten"})
    assert scores.topics == ("10", "2")
    assert scores.values.tolist() == [1.0, 0.0]
    assert scores.unanswered == ("2",)
    assert scores.unknown == ("5", "7")
    assert scores.without_relevant == ("3",)
    assert scores.name == "my.system.v2"
    assert score_run(run, qrels, "AP", name="prod")[0].name == "prod"
    assert scores.queries == {"10": "ten"}
    assert scores.from_run
    assert scores.qrels_digest == qrels.digest
    assert scores.digest is not None
    texts = {"2": "two"}
    for given in (None, {"2": "II"}):
        found = score_run(read_run(run).with_source(texts=texts, name="a"), qrels, ["AP"], name="b", queries=given)[0]
        assert (found.queries, found.name) == (given or texts, "b")


NEAR = 1 + 2**-30  # the same as 1 in 32 bits


@pytest.mark.parametrize(
    ("ranking", "measure", "rank"),
    [
        ([("a", 1.0), ("b", 1.0)], "RR", 1),  # trec_eval: by docid, descending
        ([("a", 1.0), ("b", 1.0)], "RR@10", 2),  # MS MARCO: ascending
        ([("b", 1.0), ("c", NEAR)], "RR", 2),
        ([("a", NEAR), ("b", 1.0)], "RR", 1),
        ([("a", NEAR), ("b", 1.0)], "RR@10", 2),
        ([("d00", 2.0), *((f"a{n:02}", 1.0) for n in range(99)), ("b", 1.0)], "RR", 2),
    ],
)
def test_equal_scores_go_by_document_as_the_provider_of_the_measure_has_them(ranking, measure, rank):
    (scores,) = score_run({"1": ranking}, read_qrels({"1": {"b": 1}}), [measure])
    assert scores.values[0] == 1 / rank


def test_a_run_without_a_judged_topic_is_incomparable(write):
    qrels = read_qrels(write("q.txt", "1 0 a 1\n2 0 a 0\n"))
    with pytest.raises(
        DataError,
        match=r"a.run: expected topics of q.txt with a relevant document, such as topic 1; "
        "found only topics q0, q1, q2 and 3 more",
    ) as caught:
        score_run(write("a.run", "".join(f"q{number} Q0 a 1 1 t\n" for number in range(6))), qrels, ["AP"])
    assert caught.value.reason == "no_common_topic"
    none: list[dict[str, list[tuple[str, float]]]] = [{}, {"1": []}, {"2": [("a", 1.0)]}]
    for rankings in none:
        with pytest.raises(DataError, match=r"found (none|only topic 2)") as caught:
            score_run(rankings, qrels, ["AP"])
        assert caught.value.reason == "no_common_topic"


def test_an_undefined_value_is_an_error_and_not_a_zero(write):
    qrels = read_qrels(write("q", "1 0 a 1\n2 0 a 1\n"))
    with pytest.raises(ScoringError, match=r"Accuracy from 0 to 1, found nan .*; use another"):
        score_run({"1": [("b", 2.0), ("a", 1.0)], "2": [("b", 2.0)]}, qrels, ["Accuracy"])


TOPICS = [f"{number:02d}" for number in range(20)]
TIED = read_qrels({topic: {f"d{doc}": int(doc == 0) for doc in range(9)} for topic in TOPICS})


@pytest.mark.parametrize("scores", [[1699999999 - i for i in range(9)], [1 - 1e-10 * i for i in range(9)], [1.0] * 9])
def test_scores_equal_in_32_bits_are_scored_in_both_orders(write, scores):
    lines = [f"{topic} Q0 d{rank} {rank} {score!r} t\n" for topic in TOPICS for rank, score in enumerate(scores)]
    for rows in (lines, sorted(lines, key=lambda line: line.split()[3])):  # topics one by one, or rank by rank
        recip, at_2, graded = score_run(write("a.run", "".join(rows)), TIED, ["RR", "P@2", "ERR@20"])
        assert set(recip.values.tolist()) == {1 / 9}  # d0 is last of the ids, as trec_eval ranks them
        assert set(recip.in_written_order().values.tolist()) == {1.0}
        assert (at_2.mean, at_2.as_written) == (0.0, dict.fromkeys(TOPICS, 0.5))
        assert recip.reordered == at_2.reordered == tuple(TOPICS)
        assert bool(graded.reordered) == (scores[0] == scores[-1])  # ERR compares 64 bits
        assert recip.in_written_order().reordered == ()


def test_a_rank_column_that_contradicts_scores_is_told_of_scored_topics_alone(write):
    qrels = read_qrels(write("q.txt", "".join(f"{topic} 0 a 1\n" for topic in "12345")))
    scores = {topic: (1.0, 2.0) if topic in "1w" else (2.0, 1.0) for topic in "12345w"}
    rows = (f"{topic} Q0 a 1 {first} t\n{topic} Q0 b 2 {second} t\n" for topic, (first, second) in scores.items())
    (found,) = score_run(write("a.run", "".join(rows)), qrels, ["AP"])
    assert (found.contradicted, found.unknown) == (("1",), ("w",))
