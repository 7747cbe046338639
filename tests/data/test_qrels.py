"""From the columns that a reader found to judgements: which topics are scored, several judges, rules, passages."""

import re

import numpy as np
import pytest

from pytest_riskguard.data.given_file import GivenFile, InputData, LabelRules
from pytest_riskguard.data.ids import Ids
from pytest_riskguard.data.named_columns import Table, judgements_of
from pytest_riskguard.data.qrels import judgement_rows, read_qrels
from pytest_riskguard.errors import DataError
from tests.data.tables import columns


def test_topics_are_those_with_a_relevant_document_sorted_as_text(write):
    qrels = read_qrels(write("q.txt", "10 0 a 1\n9 0 a 2.0\n9 0 b -1\n2 0 a 0\n10 0 é 0.5\n1 0 a -1e3\n9 0 c 1e3\n"))
    assert (qrels.path_name, qrels.topics, qrels.without_relevant) == ("q.txt", ("10", "9"), ("1", "2"))
    assert qrels.grades == {
        "10": {"a": 1, "é": 0.5},
        "9": {"a": 2, "b": -1, "c": 1000},
        "2": {"a": 0},
        "1": {"a": -1000},
    }
    assert [type(grade) for grade in qrels.grades["9"].values()] == [int, int, int]
    assert ("3" in qrels.grades, "2" in qrels.grades, len(qrels.grades)) == (False, True, 4)
    with pytest.raises(KeyError):
        qrels.grades["3"]
    arrays = qrels.arrays
    assert arrays.highest.tolist() == [1, 1000]
    assert arrays.places_of(["9", "10"]).tolist() == [1, 0]
    assert arrays.names()[1:3] == [("10", "é"), ("9", "a")]
    some = judgement_rows(arrays, np.array([1, 0]), np.array([0, 3, 5]), Ids.of([*"cé", "a", *"bé"]))
    assert some.tolist() == [4, -1, 2, -1, 1]


def of_rows(rows: str, judges: str = "", name: str = "", *, rules=None, queries=None, by_text=False):
    """Judgements of rows ``topic docid grade``, the first on line 11, and maybe who gave each, a letter."""
    given = InputData("judged", reason="bad_qrels")
    given.labels, given.queries = rules or given.labels, queries
    topics, documents, grades = columns(rows, name)
    cells = {"query" if by_text else "topic": topics, "document": documents, "grade": grades}
    if judges:
        cells["judge"] = list(judges)
    every = list(cells.values())
    return judgements_of(Table(given, cells, every.__getitem__, range(11, 11 + len(topics))))


TWICE = "expected each document once per topic, found 'a' of topic 't'"


@pytest.mark.parametrize(
    ("rows", "judges", "rules", "problem"),
    [
        ("t a 1, t {} 1", "", {}, "row 12: expected a docid on one line, without spaces around it, found ''"),
        (
            "t b -, t a 1000, t b 1000.5, t c -2000",
            "",
            {},
            "row 13: expected a number from -1000 to 1000 as the grade, found 1000.5",
        ),
        (
            "t a -, t a 1, u a 1, t a 2",
            "",
            {},
            f"row 14: {TWICE} also on line 12; keep one of the two",
        ),
        ("t a 1, t a 1, t a 1", "xyx", {}, f"row 13: {TWICE} twice"),
        ("t a 1, t a 1", "xx", {}, f"row 12: {TWICE} also on line 11; keep one of the two"),
        ("t a 0, u a -1", "", {}, "judged: expected at least one relevant document (grade above 0), found none"),
        ("t a 2", "", {"relevant_from": 2.5}, "(grade 2.5 or more (relevant_from)), found none"),
        (
            "t a 3, t c 0, t b 4",
            "",
            {"scale": (0, 3)},
            "expected grades from 0 to 3 (scale), found 4 (topic 't', document 'b')",
        ),
        (
            "t c-1 1, u c-2 1",
            "",
            {"separator": "-"},
            "expected passages of several documents (separator '-'), found 2 ids, all of the document 'c'",
        ),
    ],
)
def test_what_judgements_cannot_hold_is_refused_with_its_row(rows, judges, rules, problem):
    with pytest.raises(DataError, match=re.escape(problem)) as caught:
        of_rows(rows, judges, rules=LabelRules(**rules))
    assert caught.value.reason == "bad_qrels"


def test_several_judges_are_put_together_by_the_median():
    qrels = of_rows("t a 3, u a 1, t b 0, t a 0, t a 1, u a 2, t c -", "xxyyzzx")
    assert qrels.grades == {"t": {"a": 1, "b": 0}, "u": {"a": 1.5}}
    assert of_rows("t a 1, t b 1", "xy").grades == {"t": {"a": 1, "b": 1}}


def test_judgements_are_keyed_by_their_texts():
    qrels = of_rows("shoes a 1, {} b 1, shoes c 0, hats x -", "", " two\nlines", queries={"q": "shoes"}, by_text=True)
    assert (qrels.grades["q"], len(qrels.topics)) == ({"a": 1, "c": 0}, 2)
    assert {*qrels.texts.values()} == {"shoes", "two\nlines"}
    with pytest.raises(DataError, match=r"found the query 'a' is the text of 4 topics \('1', '2', '3'\)$"):
        of_rows("a d 1", by_text=True, queries=dict.fromkeys("1234", "a"))


def test_rules_change_which_topics_are_scored_and_the_digest(write):
    path = write("qrels.txt", "q 0 a#1 1\nq 0 a#2 3\nq 0 b 0\nq 0 b#9 -1\nq 0 c#1 -1\np 0 a#1 1\n")
    plain = read_qrels(path)
    from_three = read_qrels(GivenFile(path, labels=LabelRules(relevant_from=3)))
    passages = read_qrels(path, labels=LabelRules(separator="#"))
    assert (plain.topics, from_three.topics, passages.topics) == (("p", "q"), ("q",), ("p", "q"))
    assert passages.grades == {"q": {"a": 3, "b": 0, "c": -1}, "p": {"a": 1}}
    assert len({plain.digest, from_three.digest, passages.digest}) == 3
    assert read_qrels({"q": {"a#1": 1}}, labels=LabelRules(separator="#")).grades == {"q": {"a": 1}}
