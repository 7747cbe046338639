"""From the columns that a reader found to a run: what no run can hold, which order counts, and the content's digest."""

from __future__ import annotations

import json
import re
from functools import partial

import numpy as np
import pytest

from pytest_riskguard.config.candidate_settings import file_of
from pytest_riskguard.config.load import load_config
from pytest_riskguard.data import runs
from pytest_riskguard.data.given_file import TIES, GivenFile
from pytest_riskguard.data.ids import Ids
from pytest_riskguard.data.memory import InputData
from pytest_riskguard.data.memory_runs import run as in_memory
from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.records import TopicKeys
from pytest_riskguard.data.run_scores import score_run
from pytest_riskguard.data.runs import read_run, run_of, run_of_rankings
from pytest_riskguard.engine.sources import LiveRun, RunFile, ScoreCache, ScoreFile
from pytest_riskguard.errors import DataError, RunFormatError

NAN = float("nan")


def data(ties=None, keys=None) -> InputData:
    given = InputData("run", reason="bad_run")
    given.ties, given.keys = ties, keys
    return given


def of_rows(*rows: tuple, **how) -> runs.Run:
    """A run of rows (topic, document, score, rank), of which the first stands on line 11."""
    topics, documents, scores, ranks = (
        [row[place] if place < len(row) else None for row in rows] for place in range(4)
    )
    columns = (None if all(cell is None for cell in column) else column for column in (scores, ranks))
    given = data(how.pop("ties", None), how.pop("keys", None))
    return run_of(given, topics, documents, *columns, lines=range(11, 11 + len(rows)), **how)


ONE_LINE = "on one line, without spaces around it, found"
FIRST = ("t", "a", 1.0)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        *(
            ([FIRST, ("t", name, 1.0)], f"run, row 12: expected a docid {ONE_LINE} {name!r}")
            for name in ("", " b", "b ", "b\n", "b\nc", "b\0", "b\u2028c", "b\x85c", "b\u00a0", "\u3000b")
        ),
        ([FIRST, ("u\tv ", "a", 1.0)], f"run, row 12: expected a topic {ONE_LINE} 'u\\tv '"),
        ([FIRST, ("t", "\ud800", 1.0)], "row 12: expected text as the docid, found half of a character in '\\ud800'"),
        ([("\ud800", "a", 1.0)], "row 11: expected text as the topic, found half of a character"),
        ([FIRST, ("t", "x" * 2049, 1.0)], "row 12: 'xxxxxxxxxxxxxxxxxxxx…': expected at most 2,048 bytes"),
        (
            [FIRST, ("t", "b", NAN)],
            "row 12: expected a finite number as the score of 'b' in topic 't', found nothing",
        ),
        (
            [("u", "a", 1.0), ("t", "b", -np.inf)],
            "row 12: expected a finite number as the score of 'b' in topic 't', found -inf",
        ),
        (
            [FIRST, ("t", "b", 1e300)],
            "row 12: expected a score of at most 3.4028e+38, the largest number of 32 bits of 'b'",
        ),
        (
            [FIRST, ("u", "a", 1.0), ("t", "a", 2.0)],
            "row 13: expected each document once per topic, found 'a' of topic 't' also on line 11",
        ),
        (
            [("u", "a", 1.0), ("t", "b", 1.0), ("u", "a", 2.0)],
            "row 13: expected each document once per topic, found 'a' of topic 'u' also on line 11",
        ),
        (
            [("t", "a", None, 1), ("t", "b", None, 1.5)],
            "row 12: expected a whole number as the rank of 'b', found another cell",
        ),
        (
            [("t", "a", None, 1), ("t", "b", None, None)],
            "row 12: expected a whole number as the rank of 'b', found another cell",
        ),
        (
            [("t", "a", None, 2), ("u", "c", None, 2), ("t", "b", None, 2)],
            "row 13: expected each rank once in topic 't', found 2 for both 'a' and 'b'",
        ),
    ],
)
def test_what_no_run_can_hold_is_refused_with_its_row(rows, problem, monkeypatch):
    for at_once in (2**16, 1):
        monkeypatch.setattr(runs, "ROWS_AT_ONCE", at_once)
        with pytest.raises(DataError, match=re.escape(problem)) as caught:
            of_rows(*rows)
        assert caught.value.reason == "bad_run"


@pytest.mark.parametrize("name", ["é ü", "a b", "a\u00a0b", "\u65e5\u672c", "%", "x" * 2048])
def test_any_other_text_is_an_id(name):
    run = of_rows((name, "a", 1.0), ("t", name, 2.0), ("t", "c", 1.0))
    assert run.by_topic() == {**{name: {"a": 1.0}}, "t": {name: 2.0, "c": 1.0}}
    assert of_rows(("two\nlines ", name, 1.0), by_text=True).topics == ("two\nlines ",)


def test_limits_count_topics_and_the_documents_of_each(set_limit):
    rows = [("t", "a", 1.0), ("t", "b", 2.0), ("u", "a", 1.0)]
    for limit, problem in (
        ("TOPICS", "at most 1 topics, found 2"),
        ("DOCUMENTS", "at most 1 documents in a topic, found 2"),
    ):
        with pytest.MonkeyPatch.context():
            set_limit(limit, 1)
            with pytest.raises(DataError, match=problem):
                of_rows(*rows)
            set_limit(limit, 2)
            assert len(of_rows(*rows).documents) == 3


def test_documents_with_equal_hashes_are_told_apart(monkeypatch):
    rows = [(topic, document, 1.0) for topic in "tu" for document in "abc"]
    monkeypatch.setattr(Ids, "hashes", property(lambda ids: np.zeros(len(ids), dtype=np.uint64)))
    assert of_rows(*rows).topics == ("t", "u")
    with pytest.raises(DataError, match=r"row 17: .*'b' of topic 'u' also on line 15"):
        of_rows(*rows, ("u", "b", 0.0))


#: Rows of one topic, which ties count, and the documents with their scores; the topic is contradicted where so marked.
ORDERS = [
    # without ranks, equal scores stand as trec_eval ranks them, by document
    ([("a", 1.0), ("c", 2.0), ("b", 1.0)], None, {"c": 2.0, "b": 1.0, "a": 1.0}, False),
    ([("a", 1.0), ("b", 1.0)], "as_returned", {"a": 2.0, "b": 1.0}, False),
    ([("a", 1.0), ("b", 1 - 2**-30)], "as_returned", {"a": 2.0, "b": 1.0}, False),  # equal in 32 bits
    ([("a", 0.3), ("b", 0.2)], "as_returned", {"a": 0.3, "b": 0.2}, False),
    ([("a", 0.1), ("b", 0.2)], "as_returned", {"a": 2.0, "b": 1.0}, True),  # distances
    # ranks are compared with scores, and order equal ones
    ([("a", 1.0, 2), ("b", 1.0, 1)], None, {"a": 1.0, "b": 1.0}, False),
    ([("a", 1.0, 2), ("b", 1.0, 1)], "as_returned", {"b": 2.0, "a": 1.0}, False),
    ([("a", 3.0, 2), ("b", 1.0, 1), ("c", 2.0, 3)], None, {"a": 3.0, "b": 1.0, "c": 2.0}, True),
    ([("a", 3.0, 2), ("b", 1.0, 1), ("c", 2.0, 3)], "as_returned", {"b": 3.0, "a": 2.0, "c": 1.0}, True),
    ([("a", 1.0, 0), ("b", 5.0, 0)], "as_returned", {"a": 2.0, "b": 1.0}, True),
    ([("a", 1.0, None), ("b", 5.0, 2)], None, {"a": 1.0, "b": 5.0}, False),
    # without scores, the order counts whatever is asked for
    ([("a", None, 7), ("b", None, 3), ("c", None, -1)], None, {"c": 3.0, "b": 2.0, "a": 1.0}, False),
    ([("b",), ("a",)], "docid", {"b": 2.0, "a": 1.0}, False),
    ([("b", None, 2), ("a", None, 1)], "docid", {"a": 2.0, "b": 1.0}, False),
]


@pytest.mark.parametrize(("rows", "ties", "expected", "is_contradicted"), ORDERS)
def test_which_order_counts(rows, ties, expected, is_contradicted):
    others = [(topic, f"x{place}", 5.0 - place, place) for topic in "su" for place in range(3)]
    if all(len(row) < 2 or row[1] is None for row in rows):
        others = [(topic, document, None, rank) for topic, document, _, rank in others]
    if all(len(row) < 3 for row in rows):
        others = [row[:3] for row in others]
    run = of_rows(*others[:3], *(("t", *row) for row in rows), *others[3:], ties=ties)
    assert list(run.by_topic()["t"].items()) == list(expected.items())
    assert run.source.contradicted == (("t",) if is_contradicted else ())
    is_listed = all(len(row) < 2 or row[1] is None for row in rows)
    assert run.source.ties == ("as_returned" if is_listed else ties or "docid")


def test_an_order_that_users_saw_counts_unless_something_else_is_asked_for():
    rows = [("t", "a", 1.0), ("t", "b", 1.0)]
    assert list(of_rows(*rows, ordered=True).by_topic()["t"]) == ["a", "b"]
    assert list(of_rows(*rows, ordered=True, ties="docid").by_topic()["t"]) == ["b", "a"]


def trec(*topics: str, ranks: str | None = None) -> str:
    """A run whose topics have these digits as scores; ranks go up from 1, or are all the same."""
    return "".join(
        f"t{number:02} Q0 d{place} {ranks or place + 1} {score} x\n"
        for number, scores in enumerate(topics)
        for place, score in enumerate(scores)
    )


@pytest.mark.parametrize(
    ("rows", "contradicted"),
    [
        (trec(*["123"] * 10, *["321"] * 10), 10),
        (trec(*["123"] * 11, *["321"] * 10), None),
        (trec(*["123"] * 11, *["321"] * 10, *["111", "5"] * 9), None),  # these say nothing
        (trec(*["132"] * 20), 20),
        (trec(*["0123"] * 3, ranks="0"), None),  # the score column numbers the lines
        (trec(*["123"] * 10, *["321"] * 10, ranks="x"), 10),
        (trec(*["12"] * 20, ranks="0"), 0),  # two scores may number the lines by chance
        (trec(*["321"] * 9, ranks="0"), 0),
    ],
)
def test_a_run_whose_every_ranking_is_upside_down_is_refused_and_some_are_named(write, rows, contradicted):
    path = write("a.run", f"\n{rows}")
    if contradicted is None:
        with pytest.raises(
            RunFormatError, match=r"a\.run:3: expected scores that fall .* 't00': every ranking is upside"
        ):
            read_run(path)
        assert read_run(GivenFile(path, ties="as_returned")).topics
    else:
        assert read_run(path).source.contradicted == tuple(f"t{number:02}" for number in range(contradicted))


def test_the_first_topic_that_is_upside_down_is_shown_wherever_it_stands(write):
    rows = trec("21", *["123"] * 2)
    with pytest.raises(RunFormatError, match=r"a\.run:4: .* such as 't01'"):
        read_run(write("a.run", rows))
    assert run_of(data(), ["t"] * 3, list("abc"), [1, 2, 3], [1, 2, 3], is_part=True).source.contradicted == ("t",)


CONTENT = {"q2": {"b": 0.1 + 0.2, "a": 1.0}, "q10": {"a": -1e-300, "é": -2.0}}


def test_the_same_content_has_the_same_digest_in_every_format_and_order(write):
    rows = [(topic, document, score) for topic, of_topic in CONTENT.items() for document, score in of_topic.items()]
    csv = "".join(f"{topic},{document},{score!r}\n" for topic, document, score in rows)
    lines = "".join(f"{json.dumps({'qid': t, 'docno': d, 'score': s})}\n" for t, d, s in rows[::-1])
    made = [
        in_memory(CONTENT),
        in_memory({topic: list(CONTENT[topic].items())[::-1] for topic in reversed(CONTENT)}),
        of_rows(*rows[::-1]),
        run_of(
            data(),
            Ids.of([row[0] for row in rows]),
            Ids.of([row[1] for row in rows]),
            np.array([row[2] for row in rows]),
        ),
        read_run(write("a.csv", f"qid,docno,score\n{csv}")),
        read_run(write("a.jsonl.gz", lines)),
        read_run(write("a.json", json.dumps(CONTENT))),
    ]
    assert len({run.source.digest for run in made}) == 1
    assert [run.by_topic() for run in made] == [CONTENT] * len(made)
    others = [
        {**CONTENT, "q2": {"b": 0.3, "a": 1.0}},
        {**CONTENT, "q2": {"b": 0.1 + 0.2, "c": 1.0}},
        {**CONTENT, "q3": CONTENT["q10"]},
        {"q2": {"b": 0.1 + 0.2}, "q10": {"a": 1.0}},
        {"q2": {"a": 1.0, "b": 0.1 + 0.2}, "q1": CONTENT["q10"]},
    ]
    assert len({*(in_memory(other).source.digest for other in others), made[0].source.digest}) == len(others) + 1


def ranking(topic: str | None, *documents: str, scores=None, ranks=None, line=None) -> tuple:
    return topic, documents, scores, ranks, line


def test_rankings_are_rows_in_groups():
    run = run_of_rankings(
        data(), [ranking("u", "a", "b", scores=[1, 2]), ranking("t", "a", scores=[1]), ranking("v")]
    )
    assert run.by_topic() == {"t": {"a": 1.0}, "u": {"b": 2.0, "a": 1.0}}
    listed = run_of_rankings(data(), [ranking("t", "a", "b", ranks=[2, 1]), ranking("u", "c", ranks=[1])])
    assert list(listed.by_topic()["t"]) == ["b", "a"]
    for rankings, problem in (
        (
            [ranking("t", "a", line=1), ranking("u", "b", line=2), ranking("t", line=3)],
            "row 3: expected each topic once, found 't' again",
        ),
        (
            [ranking("t", "a", "b", "a", line=4)],
            "row 4: expected each document once per topic, found 'a' of topic 't' twice",
        ),
        ([ranking("t", "a", "a")], "run: expected each document once per topic, found 'a' of topic 't' twice"),
    ):
        with pytest.raises(DataError, match=problem):
            run_of_rankings(data(), rankings)


KEYS = TopicKeys({"q2": "red shoes", "q10": "boots", "q7": "hats"})


def test_rankings_are_keyed_by_their_texts():
    rows = [
        ("red  shoes", "a", 1.0),
        ("boots", "a", 3.0, 1),
        ("boots", "b", 9.0, 2),
        ("boots", "c", 5.0, 3),
        ("new", "x", 1.0),
    ]
    by_text = of_rows(*rows, by_text=True)
    assert (by_text.topics, by_text.source.by_text) == (("boots", "new", "red  shoes"), True)
    for run in (of_rows(*rows, by_text=True, keys=KEYS), runs.keyed(data(), by_text, KEYS)):
        assert run.by_topic() == {"new": {"x": 1.0}, "q10": {"a": 3.0, "b": 9.0, "c": 5.0}, "q2": {"a": 1.0}}
        assert run.source.contradicted == ("q10",)
        assert run.source.texts == {"q2": "red  shoes", "q10": "boots", "new": "new"}
        assert runs.keyed(data(), run, TopicKeys({"q3": "q2"})) is run
    with pytest.raises(DataError, match="expected queries that name one topic each; the query 'a' is the text of 2"):
        of_rows(("a", "d", 1.0), by_text=True, keys=TopicKeys({"1": "a", "2": "a"}))
    with pytest.raises(DataError, match="expected each topic once, found 'q2' again"):
        of_rows(("red shoes", "d", 1.0), ("red  shoes", "d", 1.0), by_text=True, keys=KEYS)


def test_rankings_are_keyed_by_their_order():
    rankings = [ranking(None, "a"), ranking(None), ranking(None, "c", "b")]
    for run in (
        run_of_rankings(data(keys=KEYS), rankings),
        runs.keyed(data(), run_of_rankings(data(), rankings), KEYS),
    ):
        assert {topic: list(found) for topic, found in run.by_topic().items()} == {"q2": ["a"], "q7": ["c", "b"]}
    many = run_of_rankings(
        data(keys=TopicKeys({f"t{n:02}": str(n) for n in range(12)})), [ranking(None, f"d{n}") for n in range(12)]
    )
    assert many.by_topic() == {f"t{n:02}": {f"d{n}": 1.0} for n in range(12)}
    with pytest.raises(
        DataError, match="as many rankings as the topics file has topics; found 2 rankings without the ids"
    ):
        run_of_rankings(data(keys=KEYS), rankings[:2])


def test_a_run_shows_itself_in_one_line_and_knows_its_source():
    run = in_memory(CONTENT, name="prod", metadata={"index": "v7"})
    assert repr(run) == "Run(name='prod', 2 topics, 4 documents)"
    assert (run.name, run.metadata, run.source.latency) == ("prod", {"index": "v7"}, None)
    assert run.with_source(seconds=(0.1, 0.2)).source.latency is not None


#: b is written first, and c ranked first by trec_eval.
TIED = "1 Q0 b 2 5.0 x\n1 Q0 a 1 5.0 x\n1 Q0 c 3 5.0 x\n"


def test_the_order_decides_the_score_and_is_known_once_something_is_read(write, tmp_path):
    write(
        "riskguard.yaml",
        "collection: {qrels: qrels}\nstore: baselines\nmeasures: [RR]\n"
        "candidate: {run: tied.run, ties: as_returned}\n"
        "gates:\n  - {name: no-risk, kind: not_significantly_risky, baseline: prod}\n",
    )
    given = file_of(load_config(tmp_path / "riskguard.yaml").candidate)
    assert given is not None
    assert given.ties == "as_returned"
    path = write("tied.run", TIED)
    cache = ScoreCache(qrels=write("qrels", "1 0 a 1\n1 0 b 0\n"), topics=None, store=None, measures=["RR"])
    returned = {ties: in_memory({"1": {"a": 1.0, "b": 1.0, "c": 1.0}}, ties=ties) for ties in TIES}
    files = {"docid": RunFile(path), "as_returned": RunFile(path, given=GivenFile(path, ties=given.ties))}
    for ties, score in (("docid", 1 / 3), ("as_returned", 1.0)):
        for source in (LiveRun(partial(returned.__getitem__, ties)), files[ties]):
            assert cache.ties(source) is None
            assert cache.scored(source, "RR").scores.values.tolist() == [pytest.approx(score)]
            assert cache.ties(source) == ties
    assert cache.ties(ScoreFile(path)) is None


def test_a_live_search_that_contradicts_its_scores_is_ranked_as_returned_and_warned_of():
    rows = {f"{number:02}": {"d0": 0.1, "d5": 0.2} for number in range(20)} | {"00": {"d0": 0.3, "d5": 0.2}}
    (scored,) = score_run(
        in_memory(rows, ties="as_returned"), read_qrels({t: {"d0": 1, "d5": 0} for t in rows}), ["RR"]
    )
    assert (scored.mean, scored.contradicted, scored.as_written) == (1.0, tuple(sorted(rows)[1:]), {})
