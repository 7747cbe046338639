"""Rankings of passages become rankings of documents."""

from __future__ import annotations

import pytest

from pytest_riskguard.data import read_qrels
from pytest_riskguard.data.given_file import GivenFile, LabelRules
from pytest_riskguard.data.measures import parse_measure
from pytest_riskguard.data.ranked_runs import RankedRun
from pytest_riskguard.data.row_blocks import Documents, by_document
from pytest_riskguard.data.run_scores import score_run, scored_run
from pytest_riskguard.errors import QrelsFormatError

RULES = LabelRules(separator="#")


def folded(documents: Documents, rules: LabelRules = RULES) -> Documents:
    return by_document({"q": documents}, rules)["q"]


def test_a_document_has_the_score_and_the_rank_of_its_best_passage():
    passages = Documents({"a#2": 3.0, "b#1": 5.0, "a#1": 4.0, "c": 1.0, "#x": 0.5})
    passages.ranks = [b"3", b"1", b"2", b"4", b"5"]
    best = folded(passages)
    assert list(best.items()) == [("b", 5.0), ("a", 4.0), ("c", 1.0), ("#x", 0.5)]
    assert best.ranks == [b"1", b"2", b"4", b"5"]
    assert folded(Documents({"a#1#2": 1.0})) == {"a#1": 1.0}


def test_of_equal_scores_the_better_rank_is_the_best_passage():
    passages = Documents({"a#2": 1.0, "a#1": 1.0})
    passages.ranks = [b"7", b"2"]
    assert folded(passages).ranks == [b"2"]


def test_without_a_separator_nothing_changes():
    passages = Documents({"a#1": 1.0, "a#2": 0.5})
    assert folded(passages, LabelRules()) is passages


def test_a_separator_that_makes_all_ids_one_document_is_refused(write):
    path = write("five.txt", "".join(f"q{n} 0 doc-{n} 1\n" for n in range(5)))
    with pytest.raises(QrelsFormatError, match="found 5 ids, all of the document 'doc'"):
        read_qrels(path, labels=LabelRules(separator="-"))
    assert read_qrels(path, labels=LabelRules(separator="#")).topics
    assert read_qrels(write("one.txt", "q 0 a#1 1\n"), labels=RULES).topics == ("q",)


def test_judged_passages_give_their_document_the_highest_grade(write):
    text = "q 0 a#1 1\nq 0 a#2 3\nq 0 b 0\nq 0 b#9 -1\n"
    qrels = read_qrels(GivenFile(write("qrels.txt", text), labels=RULES))
    assert qrels.grades == {"q": {"a": 3, "b": 0}}


def test_scores_and_rankings_are_of_documents(write):
    qrels = read_qrels(GivenFile(write("qrels.txt", "q 0 a 1\nq 0 b 2\n"), labels=RULES))
    path = write("a.run", "q Q0 a#1 1 9 t\nq Q0 a#2 2 8 t\nq Q0 b#1 3 7 t\n")
    (scores,) = score_run(path, qrels, ["P@2"])
    assert scores.values.tolist() == [1.0]
    ranked = RankedRun(scored_run(path, qrels, ["P@2"]).run, qrels, parse_measure("P@2"))
    assert ranked.ranks("q") == {"a": 1, "b": 2}
    (live,) = score_run({"q": [("a#1", 9.0), ("a#2", 8.0), ("b#1", 7.0)]}, qrels, ["P@2"])
    assert live.values.tolist() == [1.0]
