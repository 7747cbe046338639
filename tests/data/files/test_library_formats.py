"""Files of retrieval libraries: what is refused, where, and why."""

from __future__ import annotations

import json
import sys
from decimal import Decimal

import pytest

from pytest_riskguard.data.collection import read_topics
from pytest_riskguard.data.formats import FORMATS, kinds_of
from pytest_riskguard.data.given_file import GivenFile
from pytest_riskguard.data.input_files import InputFile
from pytest_riskguard.data.runs import read_run
from pytest_riskguard.errors import DataError, QrelsFormatError, RunFormatError, TopicsFormatError, UsageError


def ranked(path, **how):
    run = read_run(GivenFile(path, **how))
    return {topic: sorted(found, key=lambda name: -found[name]) for topic, found in run.by_topic().items()}


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.json", '{"q1": {"d1": 1.0},\n "q2": {"d2": }}', r"a\.json:2: not JSON"),
        ("a.json", "{", r"a\.json:1: not JSON"),
        ("a.json", '{"q1": {"d1": NaN}}', r"NaN is not a number"),
        ("a.json", '{"q1": {"d1": 1, "d1": 2}}', r"'d1' appears twice"),
        ("a.json", '{"q1": {"d1": "1"}}', r"the nearest is ranx, but 'd1' of 'q1' has no number"),
        ("a.json", '{"q1": {"d1": true}}', r"the nearest is ranx, but 'd1' of 'q1' has no number"),
        (
            "a.json",
            '{"qid": {"0": 1}, "docid": {"0": 7}, "score": {"0": 2.5}}',
            r"it is a frame by columns; write it with orient='records'",
        ),
        ("a.json", '{"q1": ["d1"]}', r"expected rankings in a format that .* tried: parquet, .*, trec"),
        (
            "a.jsonl",
            '{"query_id": "1", "doc_id": "a", "score": 1}\n{"query_id": "1", "doc_id"\n',
            r"a\.jsonl:2: expected ",
        ),
        ("a.jsonl", '{"query_id": "1", "doc_id": "a", "score": 1}\n[1]\n', r"a\.jsonl:2: expected a JSON object"),
        (
            "a.jsonl",
            '{"query_id": 1.5, "doc_id": "a", "score": 1}',
            r":1: expected text or a whole number as the topic",
        ),
        (
            "a.jsonl",
            '{"query_id": 1e16, "doc_id": "a", "score": 1}',
            r":1: expected text or a whole number as the topic, found 1e\+16",
        ),
        (
            "a.jsonl",
            '{"query_id": true, "doc_id": "a", "score": 1}',
            r":1: expected text or a whole number as the topic",
        ),
        (
            "a.jsonl",
            '{"query_id": "1", "doc_id": "a", "score": true}',
            r":1: expected a number as the score, found True",
        ),
        (
            "a.jsonl",
            '{"query_id": "1", "docs": "a", "score": 1}',
            r"the nearest is jsonl, but its first object does not fit: it names",
        ),
        ("a.tsv", "q1\td1\t0.7\n", r"the third column of its first line is not a rank but '0.7'; name the columns"),
        ("a.tsv", "q1\td1\t1\thigh\n", r"the fourth column of its first line is not a score but 'high'"),
        ("a.tsv", "q1\td1\t1\nq1\td2\n", r"a\.tsv:2: expected 3 columns as in the first line, found 2"),
        ("a.tsv", "q1\td1\t1\nq1\td2\tx\n", r"a\.tsv:2: expected a number as the rank, found 'x'"),
        ("a.tsv", "q1\td1\t1\nq1\td2\t1\n", r"a\.tsv:2: expected each rank once in topic 'q1', found 1 for both"),
        (
            "a.tsv",
            "q1\td1\t1\nq1\td1\t2\n",
            r"a\.tsv:2: expected each document once per topic, found 'd1' of topic 'q1' also on line 1",
        ),
        ("a.csv", "qid,docno,score\n", r"a\.csv: expected rankings, found none"),
        ("a.parquet", b"PAR1 and no more", r"expected a whole file of Arrow or Parquet"),
        ("a.feather", b"ARROW1\0\0 and no more", r"expected a whole file of Arrow"),
        ("a.feather", b"FEA1 and more", r"expected Feather of version 2, found version 1"),
    ],
)
def test_bad_runs_are_refused_with_their_lines(write, name, content, problem):
    with pytest.raises(DataError, match=problem):
        read_run(write(name, content))


def test_scores_after_ranks_decide_as_in_trec_and_are_compared_with_them(write):
    assert ranked(write("a.tsv", "q1\td1\t1\t2\nq1\td2\t2\t3.5\nq2\td1\t1\t9\nq2\td2\t2\t8\n"))["q1"] == ["d2", "d1"]
    with pytest.raises(RunFormatError, match=r"upside down"):
        read_run(write("b.tsv", "q1\td1\t1\t1\nq1\td2\t2\t2\nq1\td3\t3\t3\n"))


MTEB = {"mteb_model_meta": {"model_name": "m"}, "de": {"test": {"q": {"d": 1}}}, "en": {"test": {"q": {"e": 2}}}}


def test_one_part_of_several_predictions_is_named(write):
    path = write("predictions.json", json.dumps(MTEB))
    with pytest.raises(RunFormatError, match=r"found 2: 'de/test', 'en/test'; name one, as in .*#de/test"):
        read_run(path)
    with pytest.raises(RunFormatError, match=r"expected one subset and split, found 2: 'de/test', 'en/test'"):
        read_run(GivenFile(path, part="test"))
    with pytest.raises(RunFormatError, match=r"expected a subset and split named 'fr', found 'de/test', 'en/test'"):
        read_run(GivenFile(path, part="fr"))
    assert ranked(path, part="en/test") == ranked(path, part="en") == {"q": ["e"]}


@pytest.mark.parametrize("value", [{"de": {"test": {"q": {"d": "1"}}}}, {"de": {"test": {}}}, {"de": 1}])
def test_other_json_is_no_prediction(write, value):
    with pytest.raises(RunFormatError, match=r"the nearest is mteb, but "):
        read_run(write("predictions.json", json.dumps({"mteb_model_meta": {}, **value})))


def test_predictions_of_sentence_transformers_need_ids_and_numbers(write):
    good = '{"query_id": 1, "query": "red", "results": [{"corpus_id": 7, "score": 0.5}]}'
    path = write("predictions.jsonl", f'{good}\n{{"query_id": "2", "query": "x", "results": []}}\n')
    assert ranked(path) == {"1": ["7"]}  # a query without results is not answered
    for bad, problem in (
        ('{"query_id": null, "results": []}', r":2: expected a key 'query_id', found null"),
        (
            '{"query_id": "2", "results": [{"corpus_id": "a"}]}',
            r":2: results\[0\]: expected a key 'score', found an object",
        ),
        (
            '{"query_id": "2", "results": [{"corpus_id": "a", "score": true}]}',
            r":2: results\[0\].score: expected a number, found True",
        ),
        ('{"query_id": "2", "results": 1}', r":2: results: expected a list, found 1"),
    ):
        with pytest.raises(RunFormatError, match=problem):
            read_run(write("predictions.jsonl", f"{good}\n{bad}\n"))


def test_the_corpus_of_beir_is_no_topics_file(write):
    with pytest.raises(TopicsFormatError, match=r"its objects have titles and texts: they are documents"):
        read_topics(write("corpus.jsonl", '{"_id": "1", "title": "Red", "text": "A red shoe"}\n'))


def test_a_first_line_may_be_long(write):
    results = [{"corpus_id": f"document-{number}", "score": -number} for number in range(5000)]
    line = json.dumps({"query_id": "1", "query": "red", "results": results})
    assert len(line) > 2**17
    other = line.replace('"1"', '"2"', 1)
    assert len(ranked(write("predictions.jsonl", f"{line}\n{other}\n"))["2"]) == 5000


def test_columns_of_lists_are_passed_over_and_sizes_limited(tmp_path, monkeypatch, set_limit):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = {"qid": ["q1", "q1"], "docno": [b"a", b"b"], "score": [1.0, 2.0], "vector": [[1.0], [2.0]]}
    path = tmp_path / "run.parquet"
    parquet.write_table(pa.table(rows), path)
    assert ranked(path) == {"q1": ["b", "a"]}
    parquet.write_table(pa.table({**rows, "docno": [b"\xff", b"b"]}), path)
    with pytest.raises(RunFormatError, match=r"expected a whole file of Arrow or Parquet: Invalid UTF8"):
        read_run(path)
    long = pa.table(
        {"qid": ["q"] * 1000, "docno": [str(n) for n in range(1000)], "score": [float(n) for n in range(1000)]}
    )
    parquet.write_table(long, path)
    set_limit("LINES", 999)
    with pytest.raises(RunFormatError, match=r"expected at most 999 lines, found 1,000"):
        read_run(path)
    set_limit("LINES", 12_000_000)
    with pa.OSFile(str(tmp_path / "run.arrow"), "wb") as sink, pa.ipc.new_file(sink, long.schema) as writer:
        writer.write_table(long)
    set_limit("LINES", 998)
    with pytest.raises(RunFormatError, match=r"expected at most 998 lines"):
        read_run(tmp_path / "run.arrow")


def test_decimal_numbers_of_arrow_are_numbers(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = {"qid": ["q1", "q1"], "docno": ["a", "b"], "score": [Decimal("1.50"), Decimal("2.25")]}
    parquet.write_table(pa.table(rows), tmp_path / "run.parquet")
    run = read_run(tmp_path / "run.parquet")
    assert list(run.by_topic()["q1"].items()) == [("b", 2.25), ("a", 1.5)]


def test_an_unpacked_table_is_no_larger_than_a_run_may_be(tmp_path, set_limit):
    """Each of its batches is small enough."""
    pa, feather = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.feather")
    names = [f"{number:0100}" for number in range(1000)]
    path = tmp_path / "run.feather"
    table = pa.table({"qid": ["q"] * 1000, "docno": names, "score": [float(number) for number in range(1000)]})
    feather.write_feather(table, path, compression="zstd", chunksize=100)
    assert path.stat().st_size < 60_000 < table.nbytes
    set_limit("RUN_BYTES", 60000)
    with pytest.raises(RunFormatError, match=r"expected at most 60,000 .*RISKGUARD_LIMITS"):
        read_run(path)


@pytest.mark.parametrize(
    ("content", "module", "extra"),
    [
        (b"PAR1 and more", "pyarrow", "arrow"),
        (b"ARROW1\0\0 and more", "pyarrow", "arrow"),
        (b"\x04\x22\x4d\x18 and more", "ranx", None),
    ],
)
def test_a_missing_package_is_named_with_its_extra(write, monkeypatch, content, module, extra):
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    install = module if extra is None else rf"'pytest-riskguard\[{extra}\]'"
    with pytest.raises(UsageError, match=f"needs {module}: pip install {install}$"):
        read_run(write("run.bin", content))


def test_binary_files_are_no_tables(write):
    for content in (b"PAR1\ta\tb\n", b"\xff\xff\xff\xff 1 2 3 4 5\n"):
        fitting = [
            known.name for known in FORMATS if "rankings" in known.reads and _fits(write("a.run", content), known)
        ]
        assert len(fitting) == 1


def _fits(path, known):
    return known.fits(InputFile(path, error=QrelsFormatError), "rankings") is None


@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_columns_say_what_a_table_of_arrow_holds(tmp_path, name):
    pa, feather = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.feather")
    writer = pytest.importorskip("pyarrow.parquet").write_table if name == "parquet" else feather.write_feather
    qrels, run, topics = (tmp_path / kind for kind in ("qrels", "run", "topics"))
    writer(pa.table({"qid": ["q1"], "docno": ["d1"], "label": [1]}), str(qrels))
    writer(pa.table({"qid": ["q1"], "docno": ["d1"], "rank": [1], "score": [1.0]}), str(run))
    writer(pa.table({"qid": ["q1"], "query": ["red"]}), str(topics))
    for path, kind in ((qrels, "judgements"), (run, "rankings"), (topics, "topics")):
        assert kinds_of(InputFile(path, error=RunFormatError)) == (kind,)
    with pytest.raises(
        RunFormatError, match=rf"the nearest is {name}, but its columns do not fit: it names no column for score"
    ):
        read_run(qrels)
    with pytest.raises(UsageError, match=r"columns: 'points' is not one of document, topic, query, rank, score"):
        read_run(GivenFile(run, columns={"points": "score"}))
