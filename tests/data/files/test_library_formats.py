"""Files of retrieval libraries: what is refused, where, and why."""

import json
import sys

import pytest

from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.runs import read_run
from pytest_riskguard.data.topics import read_topics
from pytest_riskguard.errors import DataError, RunFormatError, TopicsFormatError, UsageError
from tests.data.files.read import ranked


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.json", '{"q1": {"d1": 1.0},\n "q2": {"d2": }}', r"^[^ ]*a\.json:2: not JSON"),
        ("a.json", "{", r"a\.json:1: not JSON"),
        ("a.json", '{"q1": {"d1": NaN}}', r"NaN is not a number"),
        ("a.json", '{"q1": {"d1": 1, "d1": 2}}', r"'d1' appears twice"),
        ("a.json", '{"q1": {"d1": "1"}}', r"the nearest is ranx, but 'd1' of 'q1' has no number"),
        ("a.json", '{"q1": {"d1": true}}', r"the nearest is ranx, but 'd1' of 'q1' has no number"),
        ("a.json", "{}", r"expected rankings in a format that"),
        ("a.json", '{"q1": ["d1"]}', "the nearest is jsonl, but its columns do not fit"),
        (
            "a.tsv",
            "q1\td1\t0.7\n",
            r"its first line is 'q1\\td1\\t0.7', not 3 columns \(qid, pid, rank\), the third a whole number",
        ),
        ("a.tsv", "q1\td1\t1\thigh\n", r"its first line is 'q1\\td1\\t1\\thigh', not 3 columns"),
        ("a.tsv", "q1\t0\t1\nq1\td2\n", r"a\.tsv:2: expected 3 columns \(qid, pid, rank\), found 2"),
        ("a.tsv", "q1\td1\t1\nq1\td2\tx\n", r"a\.tsv:2: expected a number as the rank, found 'x'"),
        (
            "a.tsv",
            "q1\td1\t1\nq1\td2\t1\n",
            r"a\.tsv:2: expected .* the rank of 'd2', each once .*, found 1 again",
        ),
        (
            "a.tsv",
            "q1\td1\t1\nq1\td1\t2\n",
            r"a\.tsv:2: expected each document once per topic, found 'd1' of topic 'q1' also on line 1",
        ),
    ],
)
def test_bad_runs_are_refused_with_their_lines(write, name, content, problem):
    with pytest.raises(DataError, match=problem):
        read_run(write(name, content))


def test_scores_after_ranks_decide_as_in_trec_and_are_compared_with_them(write):
    run = read_run(write("a.tsv", "q1\td1\t1\t2\nq1\td2\t2\t3.5\nq2\td1\t1\t9\nq2\td2\t2\t8\n"))
    assert run.by_topic()["q1"] == {"d1": 2, "d2": 3.5}
    with pytest.raises(RunFormatError, match=r"upside down"):
        read_run(write("b.tsv", "q1\td1\t1\t1\nq1\td2\t2\t2\nq1\td3\t3\t3\n"))


MTEB = {"mteb_model_meta": {"model_name": "m"}} | {part: {"test": {"q": {part: 1}}} for part in "abcde"}


def test_one_part_of_several_predictions_is_named(write):
    path = write("predictions.json", json.dumps(MTEB))
    for part, problem in (
        (None, "expected one subset and split, found 5"),
        ("test", "expected one subset and split named 'test', found 5"),
        ("f", "expected one subset and split named 'f', found 0"),
    ):
        names = "'a/test', 'a', 'b/test', 'b', 'c/test', 'c', 'd/test', 'd'"
        with pytest.raises(RunFormatError, match=f"{problem}; name one as in predictions.json#NAME: {names}$"):
            read_run(GivenFile(path, part=part))
    assert ranked(path, part="e/test") == ranked(path, part="e") == {"q": ["e"]}
    assert len({read_run(GivenFile(path, part=part)).source.digest for part in "abe"}) == 3


@pytest.mark.parametrize(("name", "found"), [("ranx", "'d1' of 'q1' has no number"), ("mteb", "another one")])
def test_a_file_has_the_format_that_is_named(write, name, found):
    with pytest.raises(RunFormatError, match=f"expected the format that was named, found {found}$"):
        read_run(GivenFile(write("a.json", '{"q1": {"d1": "1"}}'), format=name))


def test_predictions_of_sentence_transformers_need_ids_and_numbers(write):
    good = '{"query_id": 1, "query": "red", "results": [{"corpus_id": 7, "score": 0.5}]}'
    path = write("predictions.jsonl", f'{good}\n{{"query_id": "2", "query": "x", "results": []}}\n')
    assert ranked(path) == {"1": ["7"]}  # a query without results is not answered
    assert read_run(path).source.texts == {"1": "red", "2": "x"}
    for bad, problem in (
        ('{"query_id": null, "results": []}', r":2: expected a key 'query_id' with a value"),
        (
            '{"query_id": "2", "results": [{"corpus_id": "a"}]}',
            r":2: results\.0: expected a key 'score' with a value",
        ),
        (
            '{"query_id": "2", "results": [{"corpus_id": "a", "score": true}]}',
            r":2: results\.0\.score: expected a number, found True",
        ),
        ('{"query_id": "2", "results": 1}', r":2: results: expected a list, found 1"),
    ):
        with pytest.raises(RunFormatError, match=problem):
            read_run(write("predictions.jsonl", f"{good}\n{bad}\n"))


def test_the_corpus_of_beir_is_no_topics_file(write):
    with pytest.raises(TopicsFormatError, match=r"its objects have titles and texts: they are documents"):
        read_topics(write("corpus.jsonl", document := '{"_id": "1", "title": "Red", "text": "A red shoe"}'))
    assert read_topics(write("a.jsonl", document.replace("}", ', "query": "red"}'))).queries == {"1": "red"}


def test_a_first_line_may_be_long(write):
    results = [{"corpus_id": f"document-{number}", "score": -number} for number in range(5000)]
    line = json.dumps({"query_id": "1", "query": "red", "results": results})
    assert len(line) > 2**17
    other = line.replace('"1"', '"2"', 1)
    assert len(ranked(write("predictions.jsonl", f"{line}\n{other}\n"))["2"]) == 5000


@pytest.mark.parametrize("module", ["lz4", "cbor2"])
def test_a_missing_package_is_named(write, monkeypatch, module):
    pytest.importorskip("lz4.frame")
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError, match=f"needs {module}: pip install {module}$"):
        read_run(write("run.bin", b"\x04\x22\x4d\x18 and more"))
