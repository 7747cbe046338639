"""Two systems on one list of topics, and the errors if that is impossible."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_riskguard.data.memory import topic_scores
from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.alignment import align, on_one_list, refuse_other_order
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of

STRICT, LENIENT = gate_of("g"), gate_of("g", missing="zero")


def system(name: str, values: dict[str, float], **more: Any) -> TopicScores:
    return replace(topic_scores(values, name), **more)


def values_of(scores: TopicScores) -> dict[str, float]:
    return dict(zip(scores.topics, scores.values.tolist(), strict=True))


A = system("a", {"1": 0.5, "2": 0.25})
B = system("b", {"2": 0.75, "1": 1.0})


def test_a_topic_of_one_side_scores_0_on_the_other_and_is_named():
    longer = system("longer", {"1": 0.5, "3": 0.25, "0": 1.0})
    aligned = align(LENIENT, longer, replace(B, unanswered=("1",)), system("r", {"1": 0.5, "3": 0.75}))
    assert values_of(aligned.candidate) == {"0": 1.0, "1": 0.5, "2": 0.0, "3": 0.25}
    assert values_of(aligned.baseline) == {"0": 0.0, "1": 1.0, "2": 0.75, "3": 0.0}
    assert aligned.missing[0] == ("2",)
    assert aligned.missing[1] == ("0", "1", "3")
    assert [values_of(other) for other in aligned.replicates] == [{"0": 0.0, "1": 0.5, "2": 0.0, "3": 0.75}]


def test_three_systems_are_put_on_the_topics_of_all():
    systems, missing = on_one_list(LENIENT, (A, B, system("c", {"2": 0.5, "4": 0.25})))
    assert [one.topics for one in systems] == [("1", "2", "4")] * 3
    assert missing == (("4",), ("4",), ("1",))
    assert values_of(systems[2]) == {"1": 0.0, "2": 0.5, "4": 0.25}


def test_topics_that_replicate_and_baseline_both_left_out_are_no_noise():
    partial = [replace(scores, unanswered=("2",)) for scores in (B, A)]
    aligned = align(STRICT, A, *partial)
    assert aligned.missing[1] == ("2",)


def test_tags_and_weights_come_from_the_topics_file():
    topics = Topics({}, tags={"1": {"kind": "brand"}}, weights={"2": 3.0, "1": 0.5})
    weighted = align(gate_of("g", weighted=True), A, B, topics=topics)
    assert weighted.weights is not None
    assert weighted.weights.tolist() == [0.5, 3.0]
    assert weighted.about.tags == topics.tags
    assert align(STRICT, A, B, topics=topics).weights is None


SCORE_BOTH = "score both on the same topics, or let missing topics score 0 (missing: zero)"


@pytest.mark.parametrize(
    ("gate", "candidate", "replicates", "topics", "reason", "message"),
    [
        (
            STRICT,
            system("x", {"1": 0.5, "2": 0.5, "5": 0.1, "6": 0.1}),
            [],
            None,
            "topics_differ",
            f"the topics differ: b lacks 2 topics: 5, 6; {SCORE_BOTH}",
        ),
        (
            STRICT,
            system("x", {"1": 0.5, "5": 0.1}),
            [],
            None,
            "topics_differ",
            f"the topics differ: x lacks 1 topic: 2; b lacks 1 topic: 5; {SCORE_BOTH}",
        ),
        (
            LENIENT,
            A,
            [system("b/1", {"1": 0.5, "7": 0.5})],
            None,
            "topics_differ",
            f"the topics differ: b lacks 1 topic: 7; {SCORE_BOTH}",
        ),
        (
            LENIENT,
            system("x", {"7": 0.5}),
            [],
            None,
            "no_common_topic",
            "x (topics: 7) and b (topics: 1 and 1 more) have no topic in common",
        ),
        (
            STRICT,
            replace(A, qrels_digest="sha256:1"),
            [],
            None,
            "inputs_changed",
            "a and b were scored with different qrels; score both with the same file",
        ),
        (
            STRICT,
            A,
            [replace(A, name="b/1", unanswered=("1", "2"))],
            None,
            "bad_baseline",
            "b/1, a replicate of b, did not answer 2 topics that b answered: 1, 2; expected a whole run, because "
            "missing topics would count as noise of the baseline; store it again, or let missing topics score 0 "
            "(missing: zero)",
        ),
        (
            gate_of("g", weighted=True),
            A,
            [],
            Topics({}, weights={"9": 1.0}, path_name="t.tsv"),
            "missing_input",
            "t.tsv: no weight for 2 topics: 1, 2; give every judged topic a weight, or count all topics the same "
            "(weighted: false)",
        ),
        (
            gate_of("g", weighted=True),
            A,
            [],
            Topics({}, weights={"1": 1.0}),
            "missing_input",
            "the weights: no weight for 1 topic: 2; give every judged topic a weight, or count all topics the same "
            "(weighted: false)",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_with_the_reason(gate, candidate, replicates, topics, reason, message):
    baseline = replace(B, qrels_digest="sha256:2")
    with pytest.raises(DataError) as refused:
        align(gate, candidate, baseline, *replicates, topics=topics)
    assert (refused.value.reason, str(refused.value)) == (reason, message)


@pytest.mark.parametrize("topics", [None, Topics({})])
def test_a_weighted_gate_needs_weights(topics):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the message is compared in full
        align(gate_of("g", weighted=True), A, B, topics=topics)
    assert str(refused.value) == ("weighted: there are no weights; give a topics file with a column named weight")


def tied(name: str, values: dict[str, float], as_written: dict[str, float]) -> TopicScores:
    return system(name, values, measure="AP", as_written=as_written)


#: Five topics; in the order as written, three or two of a tied run score differently.
FIVE = dict.fromkeys("12345", 0.5)
THREE, TWO = dict.fromkeys("124", 0.25), dict.fromkeys("12", 0.25)


def lower_is_worse(systems: Sequence[TopicScores]) -> str:
    candidate, *others = systems
    return "fail" if candidate.mean < max(other.mean for other in others) else "pass"


EQUAL = (
    "{} has equal scores (trec_eval compares 32 bits), which are ranked by document id; in {} that is not the order "
    "as written: mean AP {} as scored, {} as written"
)
ONE_OF_TWO = (
    "The gate's answer is pass as scored and fail as written; give each rank its own score, different even in 32 bits"
)


@pytest.mark.parametrize(
    ("gate", "candidate", "others", "changes"),
    [
        (
            STRICT,
            tied("a", FIVE, THREE),
            [system("b", FIVE), tied("c", FIVE, dict.fromkeys("2345", 0.75))],
            EQUAL.format("a", "3 topics", "0.5000", "0.3500")
            + "; "
            + EQUAL.format("c", "4 topics", "0.5000", "0.7000"),
        ),
        (
            gate_of("g", "no_topic_collapse"),
            tied("a", FIVE, {"1": 0.0}),
            [system("b", FIVE)],
            EQUAL.format("a", "1 topic", "0.5000", "0.4000"),
        ),
    ],
)
def test_an_order_of_equal_scores_that_decides_is_refused(gate, candidate, others, changes):
    with pytest.raises(DataError) as refused:
        refuse_other_order(gate, (candidate, *others), "pass", lower_is_worse)
    refuse_other_order(STRICT, (tied("a", FIVE, TWO), *others[:1]), "pass", lower_is_worse)  # it changes too little
    assert refused.value.reason == "order_as_written"
    assert str(refused.value) == f"the order of equal scores decides: {changes}. {ONE_OF_TWO}"


@pytest.mark.parametrize(("ours", "theirs"), [(0.9, 0.3), (0.3, 0.9)])
def test_without_a_range_an_unanswered_topic_counts_as_the_best_score_of_either_side(ours, theirs):
    numbers = [f"{number:02}" for number in range(1, 40)]
    candidate = system("new", {"00": 0.2, **dict.fromkeys(numbers, ours)})
    baseline = system("old", {"00": 0.0, **dict.fromkeys(numbers, theirs)}, unanswered=("00",))
    found = [
        judge(gate_of("g", "no_topic_collapse", max_loss=most), candidate, baseline) for most in (0.5, 0.69, 0.71)
    ]
    at_half = "bad_baseline" if ours > theirs else "collapse"
    assert [verdict.reason for verdict in found] == [at_half, "bad_baseline", None]
