"""Libraries that search teams use write the files; what is read is what they hold."""

import json
import random
from pathlib import Path

import pytest

from pytest_riskguard.data import runs
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.topics import read_topics

TEXTS = {f"q{number}": f'red shoes; "size {number}", wide' for number in range(8)}
_RNG = random.Random(14)
GRADES = {topic: {f"d{n}": _RNG.choice([0, 1, 2]) for n in range(6)} | {"d0": 1} for topic in TEXTS}
#: Scores that need all bits of a 64-bit number; no two of a topic are equal.
SCORES = {topic: {f"d{n}": _RNG.random() * 30 - 5 for n in _RNG.sample(range(20), 12)} for topic in TEXTS}


def ranking(scores: dict[str, float]) -> list[tuple[str, float]]:
    return sorted(scores.items(), key=lambda pair: -pair[1])


RANKED = {topic: ranking(scores) for topic, scores in SCORES.items()}
JUDGED_ROWS = [(t, d, g) for t, graded in GRADES.items() for d, g in graded.items()]
#: Topic, document, score, rank from 0, query: what PyTerrier calls a frame of results.
RANKED_ROWS = [(t, d, s, rank, TEXTS[t]) for t, hits in RANKED.items() for rank, (d, s) in enumerate(hits)]


def read_run(path: Path | GivenFile) -> dict[str, list[tuple[str, float]]]:
    return {topic: ranking(scores) for topic, scores in runs.read_run(path).by_topic().items()}


@pytest.mark.slow  # importing ranx takes seconds, its measures are compiled
@pytest.mark.parametrize("ending", ["json", "lz4", "parquet", "trec"])
def test_ranx_writes_runs_and_qrels(tmp_path, ending):
    ranx = pytest.importorskip("ranx")
    run, qrels = tmp_path / f"run.{ending}", tmp_path / f"qrels.{ending}"
    ranx.Run.from_dict(SCORES).save(str(run))
    assert read_run(run) == RANKED
    if ending != "lz4":  # ranx writes no qrels so
        ranx.Qrels.from_dict(GRADES).save(str(qrels))
        assert read_qrels(qrels).grades == GRADES


def test_pytrec_eval_writes_what_it_reads(tmp_path):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    pytrec_eval.RelevanceEvaluator(GRADES, {"ndcg"}).evaluate(SCORES)  # it takes exactly these mappings
    run, qrels = tmp_path / "run.json", tmp_path / "qrels.json"
    run.write_text(json.dumps(SCORES))
    qrels.write_text(json.dumps(GRADES, indent=2))
    assert read_run(run) == RANKED
    assert read_qrels(qrels).grades == GRADES


def _frames(pandas):
    results = pandas.DataFrame(RANKED_ROWS, columns=["qid", "docno", "score", "rank", "query"])
    results.insert(1, "docid", range(len(results)))
    qrels = pandas.DataFrame(JUDGED_ROWS, columns=["qid", "docno", "label"])
    topics = pandas.DataFrame(TEXTS.items(), columns=["qid", "query"])
    return results, qrels, topics


PANDAS = {
    "csv": lambda frame, path: frame.to_csv(path),
    "tsv": lambda frame, path: frame.to_csv(path, sep="\t", index=False),
    "parquet": lambda frame, path: frame.to_parquet(path),
    "feather": lambda frame, path: frame.to_feather(path),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True, double_precision=15),
    "json": lambda frame, path: frame.to_json(path, orient="records", double_precision=15),
}


@pytest.mark.parametrize("ending", PANDAS)
def test_pandas_writes_frames_as_pyterrier_has_them(tmp_path, ending):
    pandas = pytest.importorskip("pandas")
    paths = [tmp_path / f"{name}.{ending}" for name in ("results", "qrels", "topics")]
    for frame, path in zip(_frames(pandas), paths, strict=True):
        PANDAS[ending](frame, path)
    for topic, hits in read_run(paths[0]).items():
        assert [document for document, _ in hits] == [document for document, _ in RANKED[topic]]
        scores = [score for _, score in RANKED[topic]]
        # pandas writes 15 digits in JSON
        assert [score for _, score in hits] == pytest.approx(scores, rel=1e-14 if "json" in ending else 0)
    assert read_qrels(paths[1]).grades == GRADES
    assert read_topics(paths[2]).queries == TEXTS
    assert not any(read_topics(paths[2]).tags.values())  # the index of a frame is no tag


POLARS = {
    "csv": lambda frame, path: frame.write_csv(path),
    "parquet": lambda frame, path: frame.write_parquet(path),
    "arrow": lambda frame, path: frame.write_ipc(path),
    "json": lambda frame, path: frame.write_json(path),
}


@pytest.mark.parametrize("ending", POLARS)
def test_polars_writes_frames_as_ir_measures_has_them(tmp_path, ending):
    polars = pytest.importorskip("polars")
    topics, documents, scores, ranks, texts = (list(column) for column in zip(*RANKED_ROWS, strict=True))
    run = polars.DataFrame({"query_id": topics, "doc_id": documents, "score": scores, "rank": ranks, "query": texts})
    run = run.with_columns(polars.col("query_id").cast(polars.Categorical))
    judged = polars.DataFrame(JUDGED_ROWS, schema=["query_id", "doc_id", "relevance"], orient="row")
    judged = judged.with_columns(iteration=polars.lit("0"))
    queries = polars.DataFrame({"query_id": [*TEXTS], "text": [*TEXTS.values()]})
    paths = [tmp_path / f"{name}.{ending}" for name in ("run", "qrels", "topics")]
    for frame, path in zip((run, judged, queries), paths, strict=True):
        POLARS[ending](frame, path)
    assert read_run(paths[0]) == RANKED
    assert read_qrels(paths[1]).grades == GRADES
    assert read_topics(paths[2]).queries == TEXTS


def test_pyterrier_writes_results(tmp_path):
    pandas, pyterrier = pytest.importorskip("pandas"), pytest.importorskip("pyterrier")
    results, _, _ = _frames(pandas)
    for name, how in (("run.res", "trec"), ("run.res.gz", "trec"), ("run.tsv", "minimal")):
        pyterrier.io.write_results(results, str(tmp_path / name), format=how)
    assert read_run(tmp_path / "run.res") == RANKED
    assert read_run(tmp_path / "run.res.gz") == RANKED
    documents = {topic: [document for document, _ in hits] for topic, hits in RANKED.items()}
    minimal = read_run(tmp_path / "run.tsv")
    assert {topic: [document for document, _ in hits] for topic, hits in minimal.items()} == documents


def test_numbers_as_ids_are_read_as_text_even_where_a_frame_made_them_floats(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"qid": [301.0, None], "docno": [7, 8], "label": [1.0, 0.0]})
    frame.iloc[:1].to_parquet(tmp_path / "qrels.parquet")
    assert read_qrels(tmp_path / "qrels.parquet").grades == {"301": {"7": 1}}
    frame.to_parquet(tmp_path / "bad.parquet")
    with pytest.raises(
        Exception, match=r"bad\.parquet:2: expected a topic on one line, without spaces around it, found ''"
    ):
        read_qrels(tmp_path / "bad.parquet")
