"""Systems in memory are judged as their files are, whichever library holds them."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard import assert_georisk_not_worse, assert_not_significantly_risky, check, run, score_run
from pytest_riskguard.data import read_qrels, write_run
from pytest_riskguard.data.memory import as_run
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.engine.judging import Engine
from pytest_riskguard.engine.question import Question, RunFile
from pytest_riskguard.errors import RiskyError, UsageError
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Verdict
from tests.data.memory.shapes import GRADES, JUDGEMENTS, RUNS, answers
from tests.data.world import columns, write_qrels
from tests.plugin.world import GOOD, LOSS, QUERIES, TOPICS

GATE = "not_significantly_risky"
BASELINE, WORSE, BETTER = answers({}), answers(LOSS), answers(GOOD)


def as_bytes(verdict: Verdict) -> bytes:
    """A verdict without its digests: those of files in TREC's format are of their text."""
    return json.dumps({**verdict.to_dict(), "gate": "gate", "inputs": None}, indent=1).encode()


@pytest.fixture(scope="module")
def trec(tmp_path_factory):
    """The folder with the data set in TREC's formats."""
    folder = tmp_path_factory.mktemp("trec")
    for name, system in {"baseline": BASELINE, "worse": WORSE, "better": BETTER}.items():
        write_run(folder / f"{name}.run", as_run(system))
    (folder / "qrels.txt").write_bytes(write_qrels(GRADES))
    return folder


def from_files(folder: Path, candidate: str, *, measure: str = "nDCG@10", queries: Any = None) -> Verdict:
    """The verdict on files; their systems have the names that data in memory have."""
    topics = None if queries is None else Topics(queries)
    engine = Engine(qrels=folder / "qrels.txt", topics=topics, measures=[measure])
    tested, baseline = RunFile(folder / f"{candidate}.run", "candidate"), RunFile(folder / "baseline.run", "baseline")
    return engine.verdict(Question(gate_of("gate", GATE), tested, baseline, measure))


def shapes(names: Iterable[str]) -> list[Any]:
    """The names of all shapes; what ranx compiles takes seconds."""
    return [pytest.param(name, marks=pytest.mark.slow) if name == "ranx" else name for name in names]


@pytest.mark.parametrize("shape", shapes(RUNS))
@pytest.mark.parametrize(("candidate", "name"), [(WORSE, "worse"), (BETTER, "better")], ids=["worse", "better"])
def test_a_run_of_every_shape_has_the_verdict_of_its_file(trec, shape, candidate, name):
    make = RUNS[shape]
    verdict = check(GATE, make(candidate), make(BASELINE), qrels=trec / "qrels.txt", measure="nDCG@10")
    # the frames of PyTerrier are the only ones with query texts
    expected = from_files(trec, name, queries=QUERIES if shape == "PyTerrier" else None)
    assert verdict.outcome == ("fail" if name == "worse" else "pass")
    assert as_bytes(verdict) == as_bytes(expected)


@pytest.mark.parametrize("shape", shapes(JUDGEMENTS))
def test_judgements_of_every_shape_are_those_of_their_file(trec, shape):
    given, file = read_qrels(JUDGEMENTS[shape](GRADES)), read_qrels(trec / "qrels.txt")
    assert (given.grades, given.topics) == (file.grades, file.topics)
    assert given.digest == read_qrels(GRADES).digest
    assert all(type(grade) is int for grades in given.grades.values() for grade in grades.values())
    verdict = check(GATE, WORSE, BASELINE, qrels=JUDGEMENTS[shape](GRADES), measure="AP")
    assert as_bytes(verdict) == as_bytes(from_files(trec, "worse", measure="AP"))


@pytest.mark.parametrize(
    ("candidate", "ties"),
    [
        (WORSE, "docid"),
        ({topic: list(documents) for topic, documents in WORSE.items()}, "as_returned"),
        (run(WORSE, ties="as_returned"), "as_returned"),
    ],
)
def test_the_verdict_says_which_order_counted(candidate, ties):
    verdict = check(GATE, candidate, BASELINE, qrels=GRADES, measure="AP")
    assert verdict.origins.candidate.ties == ties


def test_an_assertion_scores_rankings_and_names_what_lost(trec):
    with pytest.raises(RiskyError, match=r"(?s)t07 .*query numb") as raised:
        assert_not_significantly_risky(
            RUNS["PyTerrier"](WORSE), run(BASELINE, name="prod"), qrels=GRADES, measure="RR", alpha=1
        )
    verdict = raised.value.verdict
    assert (verdict.candidate, verdict.baselines, verdict.measure) == ("candidate", ("prod",), "RR")


def test_a_pool_takes_runs_by_name_and_by_their_own_names():
    systems = {"prod": BASELINE, "old": answers({"t01": 5})}
    verdict = assert_georisk_not_worse(BETTER, systems, qrels=GRADES, measure="RR", reference="prod")
    assert verdict.baselines == ("prod", "old")
    named = [run(system, name=name) for name, system in systems.items()]
    again = assert_georisk_not_worse(BETTER, named, qrels=GRADES, measure="RR", reference="prod")
    assert as_bytes(again) == as_bytes(verdict)
    unnamed = [run(system) for system in systems.values()]
    numbered = assert_georisk_not_worse(BETTER, unnamed, qrels=GRADES, measure="RR")
    assert numbered.baselines == ("baseline 1", "baseline 2")


def test_replicates_and_weights_may_come_with_rankings():
    weights = dict.fromkeys(TOPICS, 2.0)
    verdict = check(GATE, BETTER, BASELINE, qrels=GRADES, measure="RR", weights=weights)
    assert verdict.asked.weighted
    replicates = [answers({"t01": 3}), answers({"t03": 1})]
    noisy = check(GATE, WORSE, BASELINE, qrels=GRADES, measure="RR", replicates=replicates)
    assert (noisy.outcome, noisy.replicates) == ("fail", 2)


def test_of_several_columns_of_scores_the_measure_asked_for_is_judged():
    pl = pytest.importorskip("polars")
    after = pl.DataFrame({"qid": TOPICS, "nDCG@10": [0.5] * 30, "AP": [0.1] * 30})
    before = pl.DataFrame({"qid": TOPICS, "nDCG@10": [0.5] * 30, "AP": [0.4] * 30})
    assert check(GATE, after, before, measure="nDCG@10").outcome == "pass"
    verdict = check(GATE, after, before, measure="AP")
    assert (verdict.outcome, verdict.measure) == ("fail", "AP")
    assert verdict.inputs is not None
    unasked = check(GATE, after, before)
    assert (unasked.outcome, unasked.reason) == ("incomparable", "bad_scores")
    assert unasked.problem == "candidate: found scores of several measures (nDCG@10, AP): say which with `measure=`"


def test_a_measure_gives_plain_scores_their_range():
    before = dict.fromkeys(TOPICS, 0.5)
    assert check(GATE, before, before, measure="AP").measure == "AP"
    for name, measure in (("value", None), (" Score", None), ("clicks", "clicks")):
        assert check(GATE, [{"qid": topic, name: 0.5} for topic in TOPICS], before).measure == measure
    beyond = check(GATE, before | {"t01": 1.5}, before, measure="AP")
    assert (beyond.outcome, beyond.reason) == ("incomparable", "bad_scores")
    assert "expected AP from 0 to 1, found 1.5 (topic 't01')" in str(beyond.problem)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, TypeError, "candidate: found rankings, .*: add qrels= and measure="),
        ({"qrels": GRADES}, TypeError, r"add measure=\Z"),
        ({"measure": "AP"}, TypeError, r"add qrels=\Z"),
        ({"qrels": GRADES, "measure": "nDCG@ten"}, UsageError, "nDCG@ten"),
        ({"qrels": 7, "measure": "AP"}, TypeError, "judgements: expected a mapping by topic, a frame"),
    ],
)
def test_what_rankings_need_is_asked_for(options, error, message):
    with pytest.raises(error, match=message):
        check(GATE, WORSE, BASELINE, **options)


def test_judgements_are_refused_where_nothing_is_scored():
    scores = dict.fromkeys(TOPICS, 0.5)
    with pytest.raises(ValueError, match="qrels have no meaning for per-topic scores"):
        check(GATE, scores, scores, qrels=GRADES, measure="AP")


@pytest.mark.parametrize(
    ("bad", "reason", "problem"),
    [
        ({**WORSE, "t01": {"good": float("nan")}}, "bad_run", "expected a finite number as the score of 'good'"),
        ({**WORSE, "t01": [("good", 1), ("good", 2)]}, "bad_run", "expected each document once"),
        ({**WORSE, "t01": {"go\nod": 1.0}}, "bad_run", "expected a docid on one line"),
        ({"other": {"good": 1.0}}, "no_common_topic", "found only topic other"),
        ({"t01": []}, "no_common_topic", "found none"),
        (
            {topic: {f"x-{d}": s for d, s in documents.items()} for topic, documents in WORSE.items()},
            "ids_do_not_match",
            "x-",
        ),
    ],
)
def test_bad_rankings_are_incomparable(bad, reason, problem):
    for candidate, baseline in ((bad, BASELINE), (BASELINE, bad)):
        verdict = check(GATE, candidate, baseline, qrels=GRADES, measure="AP")
        assert (verdict.outcome, verdict.reason) == ("incomparable", reason)
        assert problem in str(verdict.problem)


def test_no_library_is_loaded_for_plain_mappings():
    code = """
import sys
from pytest_riskguard import check, score_run
grades = {f"q{n}": {"a": 1} for n in range(12)}
run = {topic: {"a": 1.0, "b": 0.5} for topic in grades}
assert check("not_significantly_risky", run, {t: ["b", "a"] for t in run}, qrels=grades, measure="RR").passed
heavy = {"pandas", "polars", "pyarrow", "ranx", "numba", "narwhals", "pyterrier"}
print(sorted(heavy & {name.partition(".")[0] for name in sys.modules}))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


def test_data_that_know_queries_by_their_texts_find_the_topics():
    pl = pytest.importorskip("polars")
    data = columns(WORSE, "qid", "docid", "score")
    frame = pl.DataFrame({**data, "query": [QUERIES[topic].upper() for topic in data.pop("qid")]}).drop("qid")
    texts = {topic: text.upper() for topic, text in QUERIES.items()}
    (scores,) = score_run(frame, GRADES, ["RR"], queries=texts)
    assert scores.values.tolist() == score_run(WORSE, GRADES, ["RR"])[0].values.tolist()
    grades = columns(GRADES, "qid", "docid", "rating")
    judged = pl.DataFrame({**grades, "query": [texts[topic] for topic in grades["qid"]]})
    (by_text,) = score_run(frame, judged.drop("qid"), ["RR"])
    assert sorted(by_text.values) == sorted(scores.values)
    assert by_text.queries["QUERY NUMBER 07"] == "QUERY NUMBER 07"
    for given, query in ((judged, "QUERY NUMBER 07"), (GRADES, "query number 07")):  # only there is it the run's
        verdict = check(GATE, RUNS["PyTerrier"](WORSE), BASELINE, qrels=given, measure="RR")
        assert verdict.responsible_topics[0].query == query


def test_a_path_is_no_system_and_the_error_says_what_reads_it():
    with pytest.raises(
        TypeError, match=r"candidate: expected scores .*; found 'a.run' \(str\); `score_run` reads run files"
    ):
        check(GATE, "a.run", BASELINE, qrels=GRADES, measure="RR")
