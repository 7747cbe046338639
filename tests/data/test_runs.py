"""From a reader's columns to a run: what no run can hold, which order counts, the digest, and keys."""

import hashlib
import json
import re
from typing import Any

import numpy as np
import pytest

from pytest_riskguard.data import checks, runs
from pytest_riskguard.data.given_file import GivenFile, InputData, Ties
from pytest_riskguard.data.ids import Ids
from pytest_riskguard.data.memory import run as in_memory
from pytest_riskguard.data.runs import Run, read_run, run_of, run_of_rankings
from pytest_riskguard.errors import DataError, RunFormatError
from tests.data.tables import columns


def data(ties: Ties | None = None) -> InputData:
    given = InputData("run", reason="bad_run")
    given.ties = ties
    return given


def of_rows(rows: str, name: str = "", *, ties=None, **how: Any) -> Run:
    """A run of rows ``topic docid score rank``, of which the first stands on line 11."""
    topics, documents, *numbers = columns(rows, name)
    numbers = [None if all(cell is None for cell in column) else column for column in numbers]
    return run_of(data(ties), topics, documents, *numbers, lines=range(11, 11 + len(topics)), **how)


BAD_ID = "row 12: expected a {} on one line, without spaces around it, found "
TWICE = "expected each document once per topic, found 'a' of topic 't'"
NO_RANK = "row 12: expected a whole number as the rank of 'b', each once in a topic, found another cell"


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ("t a nan, t b 1", "row 11: expected a finite number as the score of 'a' in topic 't', found nothing; "),
        (
            "t a 1, t b 1e300",
            "row 12: expected a finite number as the score of 'b' in topic 't', found 1e+300; the largest",
        ),
        ("t a 1, u a 1, t a 2", f"row 13: {TWICE} also on line 11; keep one of the two"),
        ("s b 1, t a 1, s c 1, t a 2", f"row 14: {TWICE} also on line 12"),
        ("t a - 1, t b - -, t c - 2147483648", NO_RANK),
        (
            "t a - 2, u c - 2, t b - 2",
            "row 13: expected a whole number as the rank of 'b', each once in a topic, found 2 again",
        ),
    ],
)
def test_what_no_run_can_hold_is_refused_with_its_row(rows, problem, monkeypatch):
    for at_once in (2**16, 1):
        monkeypatch.setattr(checks, "ROWS_AT_ONCE", at_once)
        with pytest.raises(DataError, match=re.escape(problem)) as caught:
            of_rows(rows)
        assert caught.value.reason == "bad_run"


def test_ids_stand_on_one_line_without_spaces_around_them():
    for name in ("", " b", "b\n", "b\nc", "b\0", "b\u2028c", "b\x85c", "b\u00a0", "\u3000b"):
        for rows, what in (("t a 1, t {} 1, t c 1", "docid"), ("t a 1, {} a 1, u a 1", "topic")):
            with pytest.raises(DataError, match=re.escape(BAD_ID.format(what) + repr(name))):
                of_rows(rows, name)
    with pytest.raises(
        DataError, match=r"row 12: expected text as the docid, found half of a character in '\\ud800'"
    ):
        of_rows("t a 1, t {} 1", "\ud800")
    with pytest.raises(DataError, match=r"row 12: 'é{20}…': expected at most 2,048 bytes .*, found 2,049"):
        of_rows("t a 1, t {} 1", "é" * 1024 + "x")
    for name in ("é ü", "a b", "a\u00a0b", "日本", "%", "x" * 2048):
        assert of_rows("t a 1, t {} 1", name).by_topic() == {"t": {"a": 1.0, name: 1.0}}
    assert of_rows("{} a 1", " two\nlines" * 300, by_text=True).topics == (" two\nlines" * 300,)


@pytest.mark.parametrize(
    ("rows", "ties", "expected", "is_contradicted"),
    [
        # without ranks, equal scores stand as trec_eval ranks them, by document
        ("t a 1, t c 2, t b 1", None, "c 2, b 1, a 1", False),
        ("t a 1, t b 1", "as_returned", "a 2, b 1", False),
        ("t a 0.3, t b 0.2", "as_returned", "a 0.3, b 0.2", False),
        ("t a 0.1, t b 0.2", "as_returned", "a 2, b 1", True),  # distances
        # ranks are compared with scores, and order equal ones
        ("t a 1 2, t b 1 1", None, "a 1, b 1", False),
        ("t a 1 2, t b 1 1", "as_returned", "b 2, a 1", False),
        ("t a 3 2, t b 1 1, t c 2 3", None, "a 3, b 1, c 2", True),
        ("t a 3 2, t b 1 1, t c 2 3", "as_returned", "b 3, a 2, c 1", True),
        ("t a 1 0, t b 5 0", "as_returned", "a 2, b 1", True),
        # without scores, the order counts whatever is asked for
        ("t a - 2147483647, t b - 3, t c - -1", None, "c 3, b 2, a 1", False),
        ("t b - 2, t a - 1", "docid", "a 2, b 1", False),
    ],
)
def test_which_order_counts(rows, ties, expected, is_contradicted):
    other = re.sub(r"t (\w)", r"\1 \1\1", rows)  # before and after, one document each
    run = of_rows(f"{other}, {rows}, {other.upper()}", ties=ties)
    assert ", ".join(f"{name} {score:g}" for name, score in run.by_topic()["t"].items()) == expected
    assert run.source.contradicted == ("t",) * is_contradicted


def test_an_order_that_users_saw_counts_unless_something_else_is_asked_for():
    assert list(of_rows("t a 1, t b 1", ordered=True).by_topic()["t"]) == ["a", "b"]
    docid = of_rows("t a 1, t b 1", ordered=True, ties="docid")
    assert (list(docid.by_topic()["t"]), docid.source.ties) == (["b", "a"], "docid")
    assert of_rows("t a -, t b -", ties="docid").source.ties == "as_returned"


@pytest.mark.parametrize(
    ("topics", "ranks", "contradicted"),
    [
        (["123"] * 10 + ["321"] * 10, None, 10),
        (["123"] * 11 + ["321"] * 10, None, None),
        (["123"] * 11 + ["321"] * 10 + ["111", "5"] * 9, None, None),  # these say nothing
        (["0123"] * 3, "0", None),  # the score column numbers the lines
        (["12"] * 20, "0", 0),  # two scores may number the lines by chance
        (["21"] + ["123"] * 2, None, None),
        (["123", "213"], None, 2),  # one that rises and falls is not upside down
    ],
)
def test_a_run_whose_every_ranking_is_upside_down_is_refused_and_some_are_named(write, topics, ranks, contradicted):
    pairs = [(number, place, score) for number, scores in enumerate(topics) for place, score in enumerate(scores, 1)]
    path = write("a.run", "".join(f"t{n:02} Q0 d{place} {ranks or place} {score} x\n" for n, place, score in pairs))
    if contradicted is not None:
        assert read_run(path).source.contradicted == tuple(f"t{number:02}" for number in range(contradicted))
        return
    first, line = ("t01", 4) if topics[0] == "21" else ("t00", 2)
    with pytest.raises(
        RunFormatError, match=rf"a\.run:{line}: expected scores that fall .* '{first}': every ranking is"
    ):
        read_run(path)
    assert read_run(GivenFile(path, ties="as_returned")).topics


CONTENT = {"q2": {"b": 0.1 + 0.2, "a": 1.0}, "q10": {"a": -1e-300, "é": -2.0}}


def test_the_digest_is_that_of_the_file_or_of_the_content_whatever_the_order_of_rows(write):
    rows = [(topic, document, score) for topic, of_topic in CONTENT.items() for document, score in of_topic.items()]
    topics, documents, scores = zip(*rows, strict=True)
    made = [
        in_memory({topic: list(CONTENT[topic].items())[::-1] for topic in reversed(CONTENT)}),
        run_of(data(), Ids.of(topics), Ids.of(documents), np.array(scores)),
        read_run(write("a.json.gz", json.dumps(CONTENT))),
    ]
    assert [run.by_topic() for run in made] == [CONTENT] * len(made)
    first, second, file = (run.source.digest for run in made)
    assert first == second
    assert file == f"sha256:{hashlib.sha256(json.dumps(CONTENT).encode()).hexdigest()}"
    others: list[dict[str, dict[str, float]]] = [
        {**CONTENT, "q2": {"b": 0.3, "a": 1.0}},
        {**CONTENT, "q2": {"b": 0.1 + 0.2, "c": 1.0}},
        {"q2": {"a": 1.0, "b": 0.1 + 0.2}, "q1": CONTENT["q10"]},
        {"t": {"ab": 1.0, "c": 0.5}},
        {"t": {"a": 1.0, "bc": 0.5}},
        {"t": {"a": 1.0}, "u": {"bc": 0.5}},
    ]
    assert len({in_memory(other).source.digest for other in [CONTENT, *others]}) == 7


def test_rankings_are_rows_in_groups():
    listed = [("u", "ab", [1, 2], 1), ("t", "a", [1], 2), ("v", "ba", None, 3)]
    of_topic = {"t": {"a": 1.0}, "u": {"b": 2.0, "a": 1.0}, "v": {"b": 2.0, "a": 1.0}}
    assert run_of_rankings(data(), listed).by_topic() == of_topic
    with pytest.raises(DataError, match="row 4: expected each topic once, found 'v' again"):
        run_of_rankings(data(), [*listed, ("v", "", None, 4)])
    for line, where in ((4, "run, row 4"), (None, "run")):
        with pytest.raises(DataError, match=f"{where}: {TWICE} twice"):
            run_of_rankings(data(), [("t", "aba", None, line)])


KEYS = {"q2": "cafe\u0301  shoes", "q10": "boots", "q7": "New"}


def test_rankings_are_keyed_by_their_texts():
    rows, expected = "{} a 1 1, boots a 3 1, boots b 9 2, boots c 5 3, new x 1 1, new y 2 2", {"new", "q10", "q2"}
    for name in ("caf\u00e9 shoes", " cafe\u0301 shoes\n"):
        by_text = of_rows(rows, name, by_text=True)
        assert (set(by_text.topics), by_text.source.by_text) == ({"boots", "new", name}, True)
        run = runs.keyed(data(), by_text, KEYS)
        assert run.topics == tuple(sorted(expected))
        assert (run.by_topic()["q2"], run.by_topic()["q10"]) == ({"a": 1.0}, {"a": 3.0, "b": 9.0, "c": 5.0})
        assert run.source.contradicted == ("new", "q10")
        assert run.source.texts == {"q2": name, "q10": "boots", "new": "new"}
        assert runs.keyed(data(), run, {"q3": "q2"}) is run
    with pytest.raises(DataError, match=r"beside each row; found the query 'a' is the text of 2"):
        runs.keyed(data(), of_rows("a d 1", by_text=True), {"1": "a", "2": "a"})
    with pytest.raises(DataError, match="expected each topic once, found 'q10' again"):
        runs.keyed(data(), of_rows("boots d 1, {} d 1", "boots ", by_text=True), KEYS)
