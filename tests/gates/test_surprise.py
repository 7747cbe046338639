"""``no_surprise``: what of the rankings may change, and what may not."""

import pytest

from pytest_riskguard.assertions import assert_no_surprise, check
from pytest_riskguard.errors import RiskyError
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports import words

TOPICS = [f"q{n:02d}" for n in range(20)]
PROD = {topic: {f"{topic}-d{rank}": 30.0 - rank for rank in range(30)} for topic in TOPICS}
ALL_OFF = {"max_empty": None, "max_shorter": None, "max_changed_first": None, "min_overlap": 0.0}


def changed(number, change):
    """A candidate in which the rankings of so many queries change."""
    return PROD | {topic: change(PROD[topic]) for topic in TOPICS[:number]}


def swapped(ranked):
    """Other order, with the same first result."""
    first, *rest = ranked
    return dict(zip((first, *reversed(rest[:9]), *rest[9:]), ranked.values(), strict=True))


def first_swapped(ranked):
    first, second, *rest = ranked
    return dict(zip((second, first, *rest), ranked.values(), strict=True))


def cut(ranked):
    return dict([*ranked.items()][:3])


def other(ranked):
    first, *rest = ranked
    return dict(zip((first, *(f"x{d}" for d in rest)), ranked.values(), strict=True))


def without(number):
    return {topic: PROD[topic] for topic in TOPICS[number:]}


@pytest.mark.parametrize(
    ("candidate", "said"),
    [
        (without(1), "1 of 20 queries found nothing any more; none may"),
        (changed(20, cut), "20 of 20 queries found fewer results; at most 1 may"),
        (changed(5, first_swapped), "5 of 20 queries got another first result; at most 4 may"),
        (changed(3, other), "3 of 20 queries kept less than 0.5 of the top 10; at most 2 may"),
    ],
)
def test_each_surprise_fails_by_default(candidate, said):
    with pytest.raises(RiskyError) as raised:
        assert_no_surprise(candidate, PROD)
    assert words.line(raised.value.verdict).startswith(said)
    assert raised.value.verdict.reason == "surprise"


@pytest.mark.parametrize("candidate", [PROD, changed(20, swapped), changed(4, first_swapped), changed(2, other)])
def test_another_order_and_a_few_other_results_pass(candidate):
    assert assert_no_surprise(candidate, PROD).passed


@pytest.mark.parametrize(
    ("candidate", "limit"),
    [
        (without(3), {"max_empty": 3}),
        (without(2), {"max_empty": 2}),
        (without(3), {"max_empty": 0.15}),
        (changed(20, cut), {"max_shorter": 20}),
        (changed(20, first_swapped), {"max_changed_first": 20}),
        (changed(6, other), {"min_overlap": 0.5, "allowed": 6}),
        (changed(20, other), {"min_overlap": 0.1}),
    ],
)
def test_a_limit_is_a_share_or_a_number_and_no_limit_is_none(candidate, limit):
    assert_no_surprise(candidate, PROD, **{**ALL_OFF, "max_empty": 20} | limit)
    (name, most), *others = limit.items()
    tighter = {"allowed": 5} if others else {name: most - 1 if most >= 1 else most - 0.05}
    if name == "min_overlap" and not others:
        tighter = {name: 0.11}
    with pytest.raises(RiskyError):
        assert_no_surprise(candidate, PROD, **{**ALL_OFF} | limit | tighter)


def test_the_topics_responsible_are_named_with_what_they_exceed_and_both_rankings():
    candidate = changed(6, other)
    del candidate["q19"]
    verdict = check("no_surprise", candidate, PROD)
    exceeds = {topic.topic: topic.exceeds for topic in verdict.responsible_topics}
    assert exceeds == {"q19": ("max_empty", "min_overlap")} | dict.fromkeys(TOPICS[:6], ("min_overlap",))
    assert next(iter(exceeds)) == "q19"
    assert verdict.responsible_topics[0].contribution == -1 / 20
    assert verdict.estimates.surprises == {"max_empty": 1, "max_shorter": 0, "max_changed_first": 0, "min_overlap": 7}
    ranked = {topic.topic: topic for topic in verdict.documents.topics}["q00"].documents
    assert [(one.document, one.baseline_rank, one.candidate_rank) for one in ranked[:3]] == [
        ("q00-d0", 1, 1),
        ("q00-d1", 2, None),
        ("xq00-d1", None, 2),
    ]


def test_a_verdict_is_the_same_after_its_report_is_read():
    for candidate in (PROD, without(2)):
        verdict = check("no_surprise", candidate, PROD)
        read = Verdict.from_dict(verdict.to_dict())
        assert read.to_dict() == verdict.to_dict()
        assert words.line(read) == words.line(verdict)


@pytest.mark.parametrize(
    ("candidate", "baseline", "said"),
    [
        (PROD, PROD | {topic: dict(list(PROD[topic].items())[:1]) for topic in TOPICS[:1]}, "No surprise"),
        (PROD, {topic: dict(list(PROD[topic].items())[:5]) for topic in TOPICS}, "Look before you ship"),
        (without(1), PROD, "Look before you ship"),
    ],
)
def test_an_answer_about_change_says_nothing_of_harm(candidate, baseline, said):
    assert words.advice([check("no_surprise", candidate, baseline)])[1] == said


def test_the_same_run_is_identical():
    assert words.line(check("no_surprise", dict(PROD), PROD)) == "identical to baseline"


def test_a_baseline_that_left_queries_out_is_not_compared():
    verdict = check("no_surprise", PROD, without(6))
    assert (verdict.outcome, verdict.reason) == ("incomparable", "bad_baseline")
    assert "baseline did not answer 6 of 20 queries that candidate answered (q00, q01," in verdict.problem
    assert check("no_surprise", PROD, without(5)).passed
    three, two = ({topic: PROD[topic] for topic in TOPICS[:number]} for number in (3, 2))
    assert check("no_surprise", three, two).passed


def test_runs_of_other_queries_are_not_compared():
    verdict = check("no_surprise", {f"x{topic}": ranked for topic, ranked in PROD.items()}, PROD)
    assert (verdict.outcome, verdict.reason) == ("incomparable", "no_common_topic")
    assert verdict.problem == (
        "baseline (topics: q00 and 19 more) and candidate (topics: xq00 and 19 more) have no topic in common"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (ALL_OFF, "no_surprise needs one of"),
        ({"alpha": 2}, "alpha has no meaning for no_surprise"),
        ({"max_empty": 1.5}, "max_empty: expected a share of the queries"),
    ],
)
def test_a_question_without_an_answer_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        check("no_surprise", PROD, PROD, **options)


def test_scores_have_no_rankings():
    with pytest.raises(ValueError, match="expected rankings"):
        check("no_surprise", {"q": 0.5}, {"q": 0.4})
