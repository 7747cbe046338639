"""Folders in place of files: a collection of BEIR, and a run with a file for each response."""

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.runs import read_run
from pytest_riskguard.data.topics import read_topics
from pytest_riskguard.errors import QrelsFormatError, RunFormatError
from tests.data.engine_shapes import SHAPES

QUERIES = {"q1": "cancel order", "q2": "reset password"}


def write_beir(home: Path, *splits: str) -> Path:
    (home / "qrels").mkdir(parents=True)
    for grade, split in enumerate(splits, 1):
        rows = "".join(f"{topic}\td{topic}\t{grade}\n" for topic in QUERIES)
        (home / "qrels" / f"{split}.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")
    every = {**QUERIES, "q9": "a query of the training split"}
    rows = "".join(json.dumps({"_id": topic, "text": text, "metadata": {}}) + "\n" for topic, text in every.items())
    (home / "queries.jsonl").write_text(rows)
    (home / "corpus.jsonl").write_text("{ this would be refused")
    return home


@pytest.mark.parametrize("below", ["scifact", "scifact/qrels"])
def test_a_beir_folder_gives_the_test_judgements_with_query_texts(tmp_path, below):
    write_beir(tmp_path / "scifact", "dev", "test", "train")
    qrels = read_qrels(tmp_path / below)
    assert qrels.grades == {"q1": {"dq1": 2}, "q2": {"dq2": 2}}
    assert (qrels.texts.items() >= QUERIES.items(), qrels.path_name) == (True, "scifact/qrels/test.tsv")


def test_the_only_split_is_taken_and_a_beir_folder_is_read_as_topics_too(tmp_path):
    write_beir(tmp_path, "dev")
    assert read_qrels(tmp_path).path_name.endswith("qrels/dev.tsv")
    assert read_topics(tmp_path).queries["q2"] == "reset password"


@pytest.mark.parametrize(
    ("write", "problem"),
    [
        (
            lambda home: write_beir(home, "dev", "train"),
            r"found dev\.tsv, train\.tsv; name the file",
        ),
        (lambda home: write_beir(home), r"expected qrels/test\.tsv, found no file"),
        (lambda home: home.joinpath("x.tsv").touch(), r"as BEIR has, found another folder"),
    ],
)
def test_a_folder_without_one_collection_is_refused_with_what_was_found(tmp_path, write, problem):
    write(tmp_path)
    with pytest.raises(QrelsFormatError, match=problem):
        read_qrels(tmp_path)


def write_responses(folder: Path, contents: dict[str, Any]) -> Path:
    folder.mkdir()
    for name, content in contents.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("engine", SHAPES)
@pytest.mark.parametrize("names", [list(QUERIES), ["cancel order", "reset  password"]])
def test_a_response_is_about_the_query_that_its_file_is_named_by(tmp_path, engine, names):
    hits = [[("a", 3.5), ("b", 2.25)], [("c", 1.5)]]
    answers = map(SHAPES[engine], QUERIES.values(), hits)
    folder = write_responses(tmp_path / "r", {f"{name}.json": one for name, one in zip(names, answers, strict=True)})
    (folder / ".notes").touch()
    run = read_run(folder, QUERIES)
    assert {topic: [*found] for topic, found in run.by_topic().items()} == {"q1": ["a", "b"], "q2": ["c"]}


ES = SHAPES["elasticsearch"]("", [("a", 1.0)])
FAILED = {"error": {"type": "index_not_found_exception", "reason": "no such index"}, "status": 404}


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        (
            "q2.json",
            FAILED,
            r"q2\.json: query 'q2': Elasticsearch: .* keys 'error', 'status': index_not_found_exc.*no such index",
        ),
        (
            "q0.json",
            FAILED,
            r"q0\.json: query 'q0': Elasticsearch: .*index_not_found_exception: no such",
        ),
        ("q2.json", {"took": 1, "items": []}, r"q2\.json: .* found an object with the keys 'took', 'items'"),
        ("q2.json", "<html>", r"q2\.json:1: not JSON"),
        ("q2.json", "", r"q2\.json:1: not JSON"),
        ("q2.json", [ES, ES], r"q2\.json: expected one response, found 2"),
        ("readme.md", "", r"readme\.md: expected a folder of responses alone, .* QUERY\.json"),
    ],
)
def test_the_file_at_fault_is_named_with_what_it_holds(tmp_path, name, content, problem):
    with pytest.raises(RunFormatError, match=problem):
        read_run(write_responses(tmp_path / "r", {"q1.json": ES, name: content}))


def test_a_folder_without_a_response_is_refused(tmp_path):
    with pytest.raises(RunFormatError, match="expected answers of a search engine, found none"):
        read_run(tmp_path)
