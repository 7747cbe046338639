"""Both rankings of a topic side by side, kept once for all verdicts on the same runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_riskguard.data.titles import DocumentTitles
from pytest_riskguard.gates.findings import RankedDocument
from pytest_riskguard.gates.rankings import MAX_WINS, Rankings, collected, restored, side_by_side, titled
from tests.gates.runs import Pair
from tests.verdicts import altered

GRADES = {"t1": {"a": 2, "b": 0}, "t2": {"a": 1}}
BASELINE = {"t1": ["a", "b", "c", "d"], "t2": ["b", "a"]}
CANDIDATE = {"t1": ["c", "b", "e", "a"], "t2": ["a", "b"]}


def pair(depth: int = 2, **changes) -> Pair:
    return replace(Pair(CANDIDATE, BASELINE, GRADES, measure=f"nDCG@{depth}"), **changes)


def test_documents_of_both_first_ranks_have_both_ranks_and_grades_also_beyond_the_depth():
    rankings = side_by_side(pair().rejudged().labels, ["t1"])
    assert (rankings.depth, rankings.measure, rankings.verdicts) == (2, "nDCG@2", ())
    assert rankings.topics["t1"] == (  # by the better rank, then the baseline's
        RankedDocument("a", 2, 1, 4),
        RankedDocument("c", None, 3, 1),
        RankedDocument("b", 0, 2, 2),
    )


def test_a_document_that_a_run_does_not_have_has_no_rank_there():
    rankings = side_by_side(pair(3).rejudged().labels, ["t1"])
    ranks = {row.document: row.baseline_rank for row in rankings.topics["t1"]}
    assert ranks["e"] is None
    unanswered = side_by_side(pair(candidate={"t2": ["a"]}).rejudged().labels, ["t1"]).topics["t1"]
    assert [row.candidate_rank for row in unanswered] == [None, None]


def test_the_largest_wins_follow_the_topics_responsible_each_topic_once():
    assert [*side_by_side(pair().rejudged().labels, ["t1"]).topics] == ["t1", "t2"]
    assert [*side_by_side(pair().rejudged().labels, ["t2"]).topics] == ["t2"]
    many = {f"t{number:02}": ["x", "a"] for number in range(30)}
    better = {topic: ["a", "x"] if topic < "t20" else ["x", "a"] for topic in many}
    wins = side_by_side(Pair(better, many, {topic: {"a": 1} for topic in many}, measure="RR").rejudged().labels, [])
    assert [*wins.topics] == sorted(many)[:MAX_WINS]


def test_the_largest_win_comes_first():
    before = {"t1": ["x", "a"], "t2": ["x", "y", "z", "a"], "t3": ["x", "y", "a"], "same": ["a"]}
    after = {topic: ["a"] for topic in before}
    wins = side_by_side(
        Pair(after, before, {topic: {"a": 1} for topic in before}, measure="RR").rejudged().labels, []
    )
    assert [*wins.topics] == ["t2", "t3", "t1"]


def judged(rankings: Rankings | None, **changes):
    verdict = altered(pair().verdict(), candidate="c", baselines=("b",), measure="nDCG@2", **changes)
    return replace(verdict, rankings=rankings)


RANKINGS = replace(side_by_side(pair().rejudged().labels, ["t1"]), candidate="c", baseline="b")


def test_verdicts_on_the_same_runs_share_one_entry_which_reading_gives_each_of_them():
    other = replace(RANKINGS, topics={"t2": RANKINGS.topics["t2"]}, titles={"a": "A"})
    foreign = replace(RANKINGS, baseline="other")
    verdicts = [judged(RANKINGS), judged(None), judged(other), replace(judged(foreign), baselines=("other",))]
    entries = collected(verdicts)
    assert [(entry.baseline, entry.verdicts) for entry in entries] == [("b", (0, 2)), ("other", (3,))]
    assert [*entries[0].topics] == ["t1", "t2"]
    assert entries[0].titles == {"a": "A"}
    again = restored(verdicts, entries)
    assert [verdict.rankings for verdict in again] == [entries[0], None, entries[0], entries[1]]
    assert collected(again) == entries
    assert again == verdicts  # they are no part of the answer


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"verdicts": (2,)}, r"rankings\[0\].verdicts: expected places below 1, found 2"),
        ({"verdicts": (0, 0)}, r"verdicts\[0\] has other rankings already"),
    ],
)
def test_an_entry_about_other_verdicts_is_refused(changes, problem):
    with pytest.raises(ValueError, match=problem):
        restored([judged(None)], [replace(RANKINGS, **changes)])


def test_an_address_is_the_documents_own_or_made_of_its_id(tmp_path):
    file = tmp_path / "documents.jsonl"
    file.write_text('{"id": "a", "url": "https://own/"}\n')
    strange = RankedDocument('a/b c"<é', None, 1, 2), RankedDocument("\ud800", None, 2, 1)
    rankings = replace(RANKINGS, topics={"t": (RankedDocument("a", 2, 3, 3), *strange)})
    assert titled(rankings, pair().rejudged().labels, DocumentTitles(file, "https://host/{id}?v=1")).urls == {
        "a": "https://own/",
        'a/b c"<é': "https://host/a%2Fb%20c%22%3C%C3%A9?v=1",
        "\ud800": "https://host/%3F?v=1",
    }
    assert titled(rankings, pair().rejudged().labels, DocumentTitles(file)).urls == {"a": "https://own/"}


def test_titles_are_those_of_the_documents_shown_and_the_file_is_read_once(tmp_path):
    file = tmp_path / "documents.jsonl"
    file.write_text("".join(f'{{"id": "{name}", "title": "T {name}"}}\n' for name in "abcdef"))
    titles = DocumentTitles(file, "https://host/{id}")
    rejudged = pair().rejudged().labels
    named = titled(replace(RANKINGS, topics={"t2": RANKINGS.topics["t2"]}), rejudged, titles)
    assert named.titles == {"a": "T a", "b": "T b"}
    assert named.urls == {"a": "https://host/a", "b": "https://host/b"}
    file.unlink()
    assert titled(RANKINGS, rejudged, titles).titles == {"a": "T a", "b": "T b", "c": "T c"}
