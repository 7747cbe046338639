"""Per-topic scores as other tools write them, read under ir-measures' names, are those that riskguard computes."""

import json
import random
import subprocess
import sys

import numpy as np
import pytest

from pytest_riskguard.data import read_qrels, read_scores
from pytest_riskguard.data.run_scores import score_run

TOPICS = [f"q{number}" for number in range(12)]
MEASURES = ["nDCG@10", "nDCG", "AP", "RR", "P@5", "R@20", "Rprec", "Bpref", "Success@5"]


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    """A run and its qrels, as files and as mappings; grades from 0 to 2, no equal scores."""
    rng, folder = random.Random(14), tmp_path_factory.mktemp("peer")
    qrels = {topic: {f"d{n}": rng.choice([0, 0, 1, 2]) for n in range(30)} | {"d0": 1} for topic in TOPICS}
    run = {topic: {f"d{n}": rng.random() * 30 for n in rng.sample(range(45), 25)} for topic in TOPICS}
    rows = [f"{t} 0 {d} {g}\n" for t, graded in qrels.items() for d, g in graded.items()]
    (folder / "qrels.txt").write_text("".join(rows))
    rows = [f"{t} Q0 {d} 0 {s!r} x\n" for t, scored in run.items() for d, s in scored.items()]
    (folder / "bm25.run").write_text("".join(rows))
    return folder, qrels, run


def ours(folder, measure):
    (scores,) = score_run(folder / "bm25.run", read_qrels(folder / "qrels.txt"), [measure])
    return scores


def check(folder, path, measures, atol):
    read = read_scores(path)
    assert {scores.measure for scores in read} == set(measures)
    for scores in read:
        own = ours(folder, scores.measure)
        assert scores.topics == own.topics
        np.testing.assert_allclose(scores.values, own.values, rtol=0, atol=atol)


@pytest.mark.slow
def test_ir_measures_prints_them(system):
    folder = system[0]
    for format_, places, atol in (("tsv", ["--places", "-1"], 0), ("tsv", [], 5e-5), ("jsonl", [], 0)):
        command = [
            sys.executable,
            "-m",
            "ir_measures",
            "qrels.txt",
            "bm25.run",
            *MEASURES,
            "-q",
            "-o",
            format_,
            *places,
        ]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=True)
        (folder / f"bm25.{format_}").write_bytes(done.stdout)
        check(folder, folder / f"bm25.{format_}", MEASURES, atol)


def test_pytrec_eval_returns_them(system):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    folder, qrels, run = system
    names = {"ndcg_cut.10", "ndcg", "map", "recip_rank", "P.5", "recall.20", "Rprec", "bpref", "success.5"}
    results = pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(run)
    (folder / "pytrec_eval.json").write_text(json.dumps(results))
    check(folder, folder / "pytrec_eval.json", MEASURES, 0)


@pytest.mark.slow  # importing ranx takes seconds, its measures are compiled
@pytest.mark.filterwarnings("ignore")  # numba's, about ranx
@pytest.mark.filterwarnings("ignore:unsafe cast from uint64 to int64")  # of numba, when it compiles ranx
def test_ranx_keeps_them(system):
    ranx = pytest.importorskip("ranx")
    folder, qrels, run = system
    ranked = ranx.Run.from_dict(run)
    names = ["ndcg@10", "map", "map-l2", "mrr", "precision@5"]
    ranx.evaluate(ranx.Qrels.from_dict(qrels), ranked, names, make_comparable=True)
    scores = {name: {topic: float(value) for topic, value in by.items()} for name, by in ranked.scores.items()}
    (folder / "ranx.json").write_text(json.dumps(scores))
    check(folder, folder / "ranx.json", ["nDCG@10", "AP", "AP(rel=2)", "RR", "P@5"], 1e-9)
