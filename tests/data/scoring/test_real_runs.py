"""Twenty runs on Cranfield and eight of TREC 2012 Web, against values that other tools computed."""

import csv
import gzip
import itertools
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from numpy.testing import assert_allclose

from pytest_riskguard.data import TopicScores, read_qrels
from pytest_riskguard.data.given_file import LabelRules
from pytest_riskguard.data.measures import parse_measure
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.engine.question import RunFile
from pytest_riskguard.engine.sources import ScoreCache
from tests.data.scoring import plain

WEB_RUNS = [
    f"{model}-{part}" for model in ("ql", "rm") for part in ("cata", "cata-filtered", "catb", "catb-filtered")
]


def table(path: Path) -> dict[str, dict[str, str]]:
    with path.open(newline="") as file:
        return {row["topic"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def cranfield(shared):
    return shared / "data/cranfield_runs"


@pytest.fixture(scope="module")
def web(shared):
    return shared / "data/web2012_runs"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "qrels", "tables", "ending", "atol", "count"),
    [
        # scores_*.csv: pytrec_eval-terrier 0.5.11, ten decimals; the same as trec_eval 10.0-rc3 to its four.
        ("cranfield_runs", "qrels.txt", {"AP": "ap", "nDCG@10": "ndcg10", "RR": "rr"}, "", 5.1e-11, 20),
        # pytrec_eval, eight decimals.
        (
            *("web2012_runs", "qrels.adhoc.txt.gz"),
            *({"AP": "map", "nDCG@20": "ndcg_cut_20", "RR": "recip_rank"}, ".run", 5.1e-9, 8),
        ),
    ],
)
def test_scores_are_those_of_trec_eval(shared, folder, qrels, tables, ending, atol, count):
    data = shared / "data" / folder
    judged = read_qrels(data / qrels)
    expected = {measure: table(data / f"scores_{name}.csv") for measure, name in tables.items()}
    runs = sorted((data / "runs").glob("*.run.gz"))
    assert len(runs) == count
    for run in runs:
        for scores in score_run(run, judged, list(tables)):
            rows = expected[scores.measure]
            assert set(scores.topics) == set(rows)
            column = [float(rows[topic][scores.name + ending]) for topic in scores.topics]
            assert_allclose(scores.values, column, rtol=0, atol=atol)


def test_a_run_that_answers_little_scores_zero_elsewhere(cranfield):
    qrels = read_qrels(cranfield / "qrels.txt")
    (scores,) = score_run(cranfield / "runs/fts5_and.run.gz", qrels, ["nDCG@10"])
    with gzip.open(cranfield / "runs/fts5_and.run.gz", "rt") as file:
        answered = {line.split()[0] for line in file}
    assert set(scores.unanswered) == set(scores.topics) - answered
    assert len(scores.unanswered) == 221
    # means.csv: the mean over all 225 topics.
    with (cranfield / "means.csv").open(newline="") as file:
        mean = next(float(row["nDCG@10"]) for row in csv.DictReader(file) if row["run"] == "fts5_and")
    assert np.mean(scores.values) == pytest.approx(mean, abs=5e-7)


@pytest.mark.parametrize("run", [WEB_RUNS[0], *(pytest.param(run, marks=pytest.mark.slow) for run in WEB_RUNS[1:])])
def test_err_and_ndcg_are_those_of_gdeval(web, run):
    # gdeval.pl 1.3 of NIST, -c -k 20, five decimals: atol is half a fifth place, plus the representation.
    qrels = read_qrels(web / "qrels.adhoc.txt.gz")
    ndcg, err = score_run(web / f"runs/{run}.run.gz", qrels, ["nDCG(dcg='exp-log2')@20", "ERR@20"])
    gdeval = table(web / f"gdeval/{run}.gdeval.csv")
    assert set(err.topics) == set(gdeval) - {"amean"}
    assert_allclose(err.values, [float(gdeval[t]["err@20"]) for t in err.topics], rtol=0, atol=5.0001e-6)
    assert_allclose(ndcg.values, [float(gdeval[t]["ndcg@20"]) for t in ndcg.topics], rtol=0, atol=5.0001e-6)


#: ``ERR@20`` is compared with gdeval's figures.
MEASURES = [
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
        "Rprec",
    ),
    *("Success@5", "AP(rel=2)@100", "P(rel=2)@20", "SetR", "nDCG(judged_only=True)@10"),
]
HALVED = [
    "nDCG@10",
    "nDCG",
    "AP",
    "RR@10",
    "DCG@10",
    "ERR@20",
    "RBP(max_rel=4)@10",
    "nDCG(dcg='exp-log2')@20",
]


def by_topic(scores: TopicScores) -> dict[str, float]:
    return dict(zip(scores.topics, scores.values.tolist(), strict=True))


def interleaved(text: str) -> str:
    """The same rows with those of different topics in turn, each topic's in their order."""
    groups = [list(rows) for _, rows in itertools.groupby(text.splitlines(), key=lambda line: line.split()[0])]
    return "\n".join(line for turn in itertools.zip_longest(*groups) for line in turn if line) + "\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "file", "count"),
    [
        ("web2012_runs", "qrels.adhoc.txt.gz", 8),
        pytest.param("cranfield_runs", "qrels.txt", 20, marks=pytest.mark.nightly),
    ],
)
def test_real_runs_score_as_with_ir_measures_in_every_way(folder, file, count, shared, write):
    qrels = read_qrels(shared / "data" / folder / file)
    judged = [ir_measures.Qrel(t, d, int(g)) for t, grades in qrels.grades.items() for d, g in grades.items()]
    halves = {t: {d: g / 2 if g > 0 else g for d, g in grades.items()} for t, grades in qrels.grades.items()}
    real = read_qrels(halves, labels=LabelRules(relevant_from=0.5))
    paths = sorted((shared / "data" / folder / "runs").glob("*.run.gz"))
    assert len(paths) == count
    for path in paths:
        text = gzip.decompress(path.read_bytes()).decode()
        rows = list(ir_measures.read_trec_run(text))
        scores = {scored.measure: by_topic(scored) for scored in score_run(path, qrels, MEASURES)}
        for measure in MEASURES:
            peers = ir_measures.iter_calc([plain.of_ir_measures(parse_measure(measure))], judged, rows)
            expected = {metric.query_id: metric.value for metric in peers if metric.query_id in scores[measure]}
            assert scores[measure] == pytest.approx(expected, rel=0, abs=1e-12), (path.name, measure)
        plain_text, mixed = write("plain.run", text), write("mixed.run", interleaved(text))
        assert {s.measure: by_topic(s) for s in score_run(mixed, qrels, MEASURES)} == scores
        cache = ScoreCache(qrels=qrels, topics=None, store=None, measures=MEASURES)
        assert {m: by_topic(cache.scored(RunFile(plain_text), m).scores) for m in MEASURES} == scores
        rankings: dict[str, dict[str, float]] = {}
        for row in rows:
            rankings.setdefault(row.query_id, {})[row.doc_id] = row.score
        for scored in score_run(path, real, HALVED):
            answered = {topic: rankings[topic] for topic in scored.topics if topic in rankings}
            expected = plain.scores(str(scored.measure), answered, real.grades, real.rules)
            found = {topic: value for topic, value in by_topic(scored).items() if topic in answered}
            assert found == pytest.approx(expected, rel=0, abs=1e-12), (path.name, scored.measure)
