"""What both systems returned for a topic, and what each document that moved is worth."""

import math
import random
from dataclasses import replace

import pytest

from pytest_riskguard.data.titles import DocumentTitles
from pytest_riskguard.gates import documents as module
from pytest_riskguard.gates.documents import MAX_WINS, documents
from pytest_riskguard.gates.findings import Documents, TopicDocuments
from tests.gates.runs import Pair


def told(pair: Pair, *responsible: str, titles: DocumentTitles | None = None) -> Documents:
    return documents(pair.rejudged().labels, responsible, titles or DocumentTitles())


def of(pair: Pair, topic: str = "t") -> TopicDocuments:
    return told(pair, topic).topics[0]


def ranks(topic: TopicDocuments) -> list[tuple[str, float | None, int | None, int | None]]:
    return [(row.document, row.grade, row.baseline_rank, row.candidate_rank) for row in topic.documents]


GRADES = {"t1": {"a": 2, "b": 0}, "t2": {"a": 1}}
BASELINE = {"t1": ["a", "b", "c", "d"], "t2": ["b", "a"]}
CANDIDATE = {"t1": ["c", "b", "e", "a"], "t2": ["a", "b"]}


def two(depth: int = 2, **changes) -> Pair:
    return replace(Pair(CANDIDATE, BASELINE, GRADES, measure=f"nDCG@{depth}"), **changes)


def test_documents_of_both_first_ranks_have_both_ranks_and_grades_also_beyond_the_depth():
    assert told(two(), "t1").depth == 2
    found = of(two(), "t1")  # by the better rank, then the baseline's
    assert ranks(found) == [("a", 2, 1, 4), ("c", None, 3, 1), ("b", 0, 2, 2)]
    assert [row.document for row in of(Pair({"t": ["a"]}, {"t": ["b"]}, {"t": {"a": 1, "b": 1}})).documents] == [
        "b",
        "a",
    ]
    assert ("e", None, None, 3) in ranks(of(two(3), "t1"))
    assert {row[3] for row in ranks(of(two(candidate={"t2": ["a"]}), "t1"))} == {None}
    long = {"t": [f"d{number:02}" for number in range(60)]}
    deep = told(Pair(long, long, {"t": {"d00": 1}}, measure="nDCG@50"), "t")
    assert (deep.depth, len(deep.topics[0].documents)) == (20, 20)


def test_the_largest_wins_follow_the_topics_responsible_each_topic_once(monkeypatch):
    def topics(pair: Pair, *responsible: str) -> list[str]:
        return [topic.topic for topic in told(pair, *responsible).topics]

    assert (topics(two(), "t1"), topics(two(), "t2")) == (["t1", "t2"], ["t2"])
    many = {f"t{number:02}": ["x", "a"] for number in range(30)}
    better = {topic: ["a", "x"] if topic < "t20" else ["x", "a"] for topic in many}
    won = Pair(better, many, {topic: {"a": 1} for topic in many}, measure="RR")
    assert topics(won) == sorted(many)[:MAX_WINS]
    before = {"t1": ["x", "a"], "t2": ["x", "y", "z", "a"], "t3": ["x", "y", "a"], "same": ["a"]}
    after, judged = {topic: ["a"] for topic in before}, {topic: {"a": 1} for topic in before}
    assert topics(Pair(after, before, judged, measure="RR")) == ["t2", "t3", "t1"]
    monkeypatch.setattr(module, "MAX_LOSSES", 2)
    assert topics(Pair(before, after, judged, measure="RR"), "t2", "t3", "t1") == ["t2", "t3"]


def test_what_a_document_is_worth_is_its_gain_at_both_ranks():
    pair = Pair(
        candidate={"t": ["x", "b", "y", "z"]},
        baseline={"t": ["a", "b", "x", "c", "d"]},
        grades={"t": {"a": 3, "b": 1, "c": 1, "x": 0}},
    )
    topic = of(pair)
    ideal = 3 + 1 / math.log2(3) + 1 / 2  # grades 3, 1, 1
    assert topic.exact
    assert [(m.document, m.grade, m.baseline_rank, m.candidate_rank) for m in topic.moved] == [
        ("a", 3, 1, None),
        ("c", 1, 4, None),
    ]
    assert [m.effect for m in topic.moved] == pytest.approx([-3 / ideal, -1 / math.log2(5) / ideal], abs=1e-12)


@pytest.mark.parametrize(
    "measure", ["nDCG@10", "nDCG", "nDCG(dcg='exp-log2')@10", "nDCG(gains={2: 9})@10", "P@5", "R(rel=2)@10", "R@5"]
)
def test_effects_add_up_to_the_difference_of_each_topic(measure):
    rng = random.Random(3)
    names, topics = [f"d{number}" for number in range(30)], [f"t{number}" for number in range(8)]
    pair = Pair(
        candidate={topic: rng.sample(names, 20) for topic in topics},
        baseline={topic: rng.sample(names, 20) for topic in topics},
        grades={
            topic: {name: rng.randrange(-1, 4) for name in rng.sample(names, 15)} | {"sure": 2} for topic in topics
        },
        measure=measure,
    )
    scores_of = pair.rejudged().labels.scores_of
    changed = [topic for topic in told(pair, *topics).topics if len(set(scores_of(topic.topic))) > 1]
    assert len(changed) > 4
    for topic in changed:
        assert topic.exact
        candidate, baseline = scores_of(topic.topic)
        difference = candidate - baseline
        assert math.fsum(m.effect for m in topic.documents) == pytest.approx(difference, abs=1e-9)
        assert [m.effect for m in topic.moved] == sorted(m.effect for m in topic.moved)


def test_a_sum_that_does_not_give_the_scores_is_not_claimed():
    labels = Pair({"t": ["x", "a"]}, {"t": ["a", "x", "b"]}, {"t": {"a": 1, "b": 1}}).rejudged().labels
    labels.scores = labels.scores[0], replace(labels.scores[1], values=labels.scores[1].values / 2)
    assert not documents(labels, ["t"], DocumentTitles()).topics[0].exact


def test_of_many_documents_those_with_the_largest_effects_are_kept(monkeypatch):
    names = [f"d{number:02}" for number in range(20, 0, -1)]
    pair = Pair({"t": names}, {"t": ["x", *names]}, {"t": dict.fromkeys(names, 1)}, measure="nDCG")
    assert (len(of(pair).moved), of(pair).exact) == (20, True)
    monkeypatch.setattr(module, "MAX_MOVED", 2)
    assert ([m.document for m in of(pair).moved], of(pair).exact) == (["d19", "d20"], False)
    turned = replace(pair, candidate=pair.baseline, baseline=pair.candidate)
    assert [m.document for m in of(turned).moved] == ["d20", "d19"]
    ten = of(replace(pair, measure="AP"))  # moved back are those with the highest ranks
    assert {m.document for m in ten.moved} <= {*names[:10]}


@pytest.mark.parametrize(
    ("measure", "candidate", "baseline", "exact", "moved"),
    [
        ("nDCG@10", ["x"], ["a"], True, {"a": -0.6131471927654584}),
        ("nDCG@10", ["a"], ["x"], True, {"a": 0.6131471927654584}),
        ("AP@2", ["x", "a"], ["x", "y", "a"], False, {"a": 0.25}),  # the last rank that the measure looks at
        ("AP@2", ["x", "y", "a"], ["x", "y", "z", "a"], False, {}),  # ranks below it do not count
        ("P@5", ["x", "y"], ["b", "a"], True, {"b": -0.2, "a": -0.2}),  # of equal effects the better rank first
        ("P@5", ["x", "a"], ["a", "x"], True, {}),  # a move without an effect
        ("P@5", ["x"], ["y"], False, {}),  # nothing relevant was retrieved
        ("RR", ["x", "a", "z", "b"], ["x", "b", "a"], False, {"a": 1 / 6}),
        ("RR", ["x", "a"], ["a", "x"], False, {"a": -0.5}),
        ("AP@5", ["x", "b"], ["x", "a"], False, {"a": -1 / 3, "b": 0.25}),
        ("Judged@5", ["v", "a"], ["a", "v"], False, {}),  # one of two, wherever it stands
        ("Judged@5", ["x"], ["x", "v", "a"], False, {"a": 1 / 3}),  # a ranking as long as that rank
    ],
)
def test_which_documents_have_an_effect_and_in_which_order(measure, candidate, baseline, exact, moved):
    grades = {"a": 1, "b": 1, "x": 0, "y": 0}
    topic = of(Pair({"t": candidate}, {"t": baseline}, {"t": grades}, measure=measure))
    assert topic.exact is exact
    assert [row.document for row in topic.moved] == [*moved]
    assert [row.effect for row in topic.moved] == pytest.approx([*moved.values()])


def test_titles_and_addresses_are_those_of_the_documents_shown_and_the_file_is_read_once(tmp_path):
    file = tmp_path / "documents.jsonl"
    strange = 'a/b c"<é'
    file.write_text(
        '{"id": "a", "title": "T a", "url": "https://own/"}\n'
        + "".join(f'{{"id": "{name}", "title": "T {name}"}}\n' for name in "bcdef")
    )
    titles = DocumentTitles(file, "https://host/{id}?v=1")
    named = told(two(), "t2", titles=titles)
    assert named.titles == {"a": "T a", "b": "T b"}
    assert named.urls == {"a": "https://own/", "b": "https://host/b?v=1"}
    file.unlink()
    assert told(two(), "t1", titles=titles).titles == {"a": "T a", "b": "T b", "c": "T c"}
    odd = Pair({"t": [strange]}, {"t": [strange]}, {"t": {strange: 1}})
    assert told(odd, "t", titles=DocumentTitles(address="https://host/{id}")).urls == {
        strange: "https://host/a%2Fb%20c%22%3C%C3%A9",
    }
