"""Scores of frames are those of one machine, however queries are divided, and folders of them are read as scores."""

import random
from pathlib import Path
from typing import Any

import narwhals
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_riskguard.data import read_scores, score_frame, write_scores
from pytest_riskguard.data.given_file import LabelRules
from pytest_riskguard.data.memory import run
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.errors import DataError, ScoresFormatError, UsageError

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

#: With a kernel, without one, and with a value that other topics' grades could change if they were looked at.
MEASURES = [
    "nDCG@5",
    "AP(rel=2)",
    "RR",
    "Bpref",
    "RBP(rel=1)",
    "SetF",
    "nDCG(dcg='exp-log2')",
]


def frames(seed: int) -> tuple[Any, Any]:
    """Run with ties of 12 topics and judgements of others; some have no relevant document, some no ranking."""
    generator = random.Random(seed)
    topics = [f"q{number}" for number in generator.sample(range(20), 16)]
    pools = {topic: [f"{topic}-{place}" for place in generator.sample(range(40), 30)] for topic in topics}
    ranked = [(topic, name, generator.randint(0, 9)) for topic in topics[:12] for name in pools[topic][:20]]
    judged = [(topic, name, generator.choice((0, 0, 1, 2))) for topic in topics[2:] for name in pools[topic][10:24]]
    generator.shuffle(ranked)
    return (
        pd.DataFrame(ranked, columns=["query_id", "doc_id", "score"]),
        pd.DataFrame(judged, columns=["query_id", "doc_id", "grade"]),
    )


def as_mapping(*parts: Any) -> dict[tuple[str, str], float]:
    rows = [row for part in parts for row in part.itertuples(index=False)]
    found = {(topic, measure): value for topic, measure, value in rows}
    assert len(found) == len(rows)
    return found


@settings(max_examples=2)
@given(seed=st.integers(0, 10**6), parts=st.integers(1, 16))
def test_scores_of_parts_are_those_of_one_machine_to_the_last_bit(seed, parts):
    rankings, judgements = frames(seed)
    expected = {
        (topic, str(one.measure)): value
        for one in score_run(run(rankings), judgements, MEASURES)
        for topic, value in zip(one.topics, one.values.tolist(), strict=True)
    }
    part_of = {topic: random.Random(f"{seed} {topic}").randrange(parts) for topic in (f"q{n}" for n in range(20))}
    divided = [
        score_frame(
            rankings[rankings.query_id.map(part_of) == part],
            judgements[judgements.query_id.map(part_of) == part],
            MEASURES,
        )
        for part in range(parts)
    ]
    assert as_mapping(*divided) == expected


def test_ranks_stand_for_scores_and_an_order_may_count():
    judgements = pd.DataFrame({"qid": ["a"], "docno": ["y"], "label": [1]})
    rankings = pd.DataFrame({"qid": ["a"] * 2, "docno": ["x", "y"], "rank": [2, 1]})
    passages = rankings.assign(docno=["x", "y#1"])
    assert score_frame(passages, judgements, "RR", labels=LabelRules(separator="#")).value.tolist() == [1.0]
    upside_down = rankings.assign(score=[2.0, 1.0])  # which only a whole run shows
    assert score_frame(upside_down, judgements, "RR").value.tolist() == [0.5]
    tied = pd.DataFrame({"qid": ["a"] * 2, "docno": ["x", "y"], "score": [1.0, 1.0]})
    assert score_frame(tied, judgements, "RR", ties="as_returned").value.tolist() == [0.5]


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_a_frame_comes_back_in_its_library(library):
    module = pytest.importorskip(library)
    rankings, judgements = frames(1)
    convert = module.from_pandas if library == "polars" else module.Table.from_pandas
    found = score_frame(convert(rankings), convert(judgements), ["AP"])
    assert type(found).__module__.startswith(library)
    columns = narwhals.from_native(found).to_dict(as_series=False)
    assert columns == score_frame(rankings, judgements, ["AP"]).to_dict("list")


def test_without_rows_there_are_no_scores_but_the_columns():
    rankings, judgements = frames(1)
    for one, other in ((rankings[:0], judgements[:0]), (rankings, judgements[:0])):
        found = score_frame(one, other, ["AP"])
        assert (list(found.columns), len(found), found.value.dtype) == (["topic", "measure", "value"], 0, "float64")
    assert set(score_frame(rankings[:0], judgements, ["AP"]).value) == {0.0}


def test_what_cannot_be_scored_is_refused():
    rankings, judgements = frames(1)
    with pytest.raises(UsageError, match="ir-measures knows no measure 'NOPE'"):
        score_frame(rankings, judgements[:0], ["NOPE"])
    with pytest.raises(DataError, match="rankings: expected named columns"):
        score_frame(rankings[["query_id"]], judgements, ["AP"])
    with pytest.raises(DataError, match="expected each document once"):
        score_frame(pd.concat([rankings, rankings]), judgements, ["AP"])
    with pytest.raises(TypeError, match="dict"):
        score_frame({"q": {"d": 1}}, judgements, ["AP"])


@pytest.fixture
def folder(tmp_path):
    """Scores in three parts, as Spark writes them."""
    scored = score_frame(*frames(5), ["AP", "nDCG@5"])
    folder = tmp_path / "scores"
    folder.mkdir()
    topics = sorted(set(scored.topic))
    for number in range(3):
        part = scored[scored.topic.isin(topics[number::3])]
        part.to_parquet(folder / f"part-0000{number}-5f3c-c000.snappy.parquet")
    for note in ("_SUCCESS", "._SUCCESS.crc", ".part-00000-5f3c-c000.snappy.parquet.crc"):
        (folder / note).write_bytes(b"")
    return folder


def test_a_folder_holds_what_one_file_holds(folder, tmp_path):
    whole = pd.concat(map(pd.read_parquet, sorted(folder.glob("part-*"))))
    whole.to_parquet(tmp_path / "whole.parquet")
    tables = []
    for path in (folder, tmp_path / "whole.parquet"):
        scores = read_scores(path, ["nDCG@5", "AP"], name="s")
        write_scores(tmp_path / "table", scores)
        tables.append((tmp_path / "table").read_bytes())
    assert tables[0] == tables[1]
    assert read_scores(folder)[0].name == "scores"


def refused(folder: Path) -> str:
    with pytest.raises(ScoresFormatError) as found:
        read_scores(folder)
    return str(found.value)


def test_a_part_that_is_empty_is_refused(folder):
    second = next(folder.glob("part-00001*"))
    rows = pd.read_parquet(second)
    second.write_bytes(b"")
    assert second.name in refused(folder)
    rows[:0].to_parquet(second)
    assert f"{second.name}: expected per-topic scores, found none" in refused(folder)
    rows.to_parquet(second)
    read_scores(folder)


def test_a_job_that_did_not_end_and_what_is_no_part_are_refused(folder):
    (folder / "_temporary").mkdir()
    assert "of a job that has ended, found '_temporary' in it" in refused(folder)
    (folder / "_temporary").rmdir()
    (folder / "notes.txt").write_text("x")
    assert "of a job that has ended, found 'notes.txt' in it" in refused(folder)
    (folder / "notes.txt").unlink()
    for part in folder.glob("part*"):
        part.unlink()
    assert "expected per-topic scores, found none" in refused(folder)


def test_a_topic_in_two_parts_is_refused(folder):
    third = next(folder.glob("part-00002*"))
    rows = pd.read_parquet(next(folder.glob("part-00001*")))
    pd.concat([pd.read_parquet(third), rows[rows.topic == rows.topic.iloc[0]]]).to_parquet(third)
    assert f"expected each topic once, found AP of topic {rows.topic.iloc[0]!r} twice" in refused(folder)


@pytest.mark.slow
def test_a_folder_is_a_candidate_and_a_baseline(folder, tmp_path, monkeypatch):
    from pytest_riskguard.cli.main import run as command

    monkeypatch.chdir(tmp_path)
    assert command(["baseline", "add", "prod", "scores", "--scores"]) == 0
    (tmp_path / "qrels.txt").write_text("q1 0 d 1\n")
    (tmp_path / "riskguard.yaml").write_text(
        "candidate: {scores: scores}\nmeasures: [AP]\nstore: baselines\ncollection: {qrels: qrels.txt}\n"
        "gates: [{name: a, kind: not_inferior, baseline: prod, tolerance: 0.5, on_inconclusive: warn}]\n"
    )
    assert command(["check"]) == 0
    assert command(["compare", "--scores", "scores", "--baseline", "prod"]) == 0
    next(folder.glob("part-00001*")).unlink()
    assert command(["check"]) == 3
