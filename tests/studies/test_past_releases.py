"""Past releases under several alphas: answers are the gates' own, and the price of an alpha follows from them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from pytest_riskguard import Verdict, check
from pytest_riskguard.data import TopicScores
from pytest_riskguard.studies.replay import AnswerAt, PastRelease, Replay, replay

ALPHAS = (0.0, 1.0, 5.0)
STRICT = {"tolerance": 0.0, "on_churn": "fail"}


def scores(values, name):
    topics = tuple(f"t{number:03d}" for number in range(len(values)))
    return TopicScores(name, "AP", topics, np.asarray(values, dtype=float))


@pytest.fixture(scope="module")
def releases():
    """``better`` is a gain, ``churned`` moves topics both ways, ``lost`` loses, ``broken`` loses one topic whole."""
    rng = np.random.default_rng(5)
    first = rng.uniform(0.4, 0.6, 60)
    better = first + 0.03 + 0.01 * rng.standard_normal(60)
    churned = better + np.where(np.arange(60) % 2 == 0, 0.05, -0.045)
    lost = churned - 0.05
    broken = lost.copy()
    broken[7] = 0.0
    named = zip(("first", "better", "churned", "lost", "broken"), (first, better, churned, lost, broken), strict=True)
    return [scores(values, name) for name, values in named]


def risk(run, before, alpha=1.0, **about) -> Verdict:
    return check("not_significantly_risky", run, before, alpha=alpha, **STRICT, **about)  # type: ignore[arg-type]


def replayed(releases, *, about=None, alphas=ALPHAS, **options) -> Replay:
    def judge(kind, pairs, alphas=(1.0,), **asked):
        more = about or {} if kind == "not_significantly_risky" else {}
        return [
            check(kind, *pair, alpha=alpha, **asked, **more)  # type: ignore[misc]
            for pair in pairs
            for alpha in alphas
        ]

    return replay(releases, judge, alphas=alphas, tolerance=0.0, **options)


def test_each_release_is_judged_against_the_one_before_it_as_a_gate_would(releases):
    made = replayed(releases, max_loss=0.3)
    assert [(r.name, r.against) for r in made.releases] == [
        ("better", "first"),
        ("churned", "better"),
        ("lost", "churned"),
        ("broken", "lost"),
    ]
    for release, (before, run) in zip(made.releases, pairwise(releases), strict=True):
        for answer in release.answers:
            verdict = risk(run, before, answer.alpha)
            assert (answer.outcome, answer.reason) == (verdict.outcome, verdict.reason)
            assert (answer.lower, answer.upper) == (verdict.decisive_interval.lower, verdict.decisive_interval.upper)
            assert answer.urisk == verdict.estimates.urisk
        verdict = risk(run, before)
        assert release.alpha_star == verdict.estimates.alpha_star
        assert release.mean_difference == verdict.estimates.mean_difference
        collapse = check("no_topic_collapse", run, before, max_loss=0.3)
        assert release.collapses == collapse.estimates.flip_set
    assert [[answer.reason for answer in release.answers] for release in made.releases] == [
        [None, None, None],
        [None, "churn", "churn"],
        ["loss", "loss", "loss"],
        [None, None, None],
    ]
    assert (made.releases[3].worst_topic, made.releases[3].collapses) == ("t007", ("t007",))


def test_a_stated_baseline_takes_the_place_of_the_release_before(releases):
    made = replayed(releases[1:], baseline=releases[0])
    assert [(r.name, r.against) for r in made.releases] == [
        (name, "first") for name in ("better", "churned", "lost", "broken")
    ]
    verdict = risk(releases[4], releases[0], 5.0)
    assert made.releases[3].answers[2].outcome == verdict.outcome


def test_policies_count_what_they_stop(releases):
    made = replayed(releases, regretted=["churned", "broken"], max_loss=0.3)
    assert [(p.alpha, p.max_loss, p.regretted, p.others) for p in made.policies] == [
        (0.0, None, (), ("lost",)),
        (1.0, None, ("churned",), ("lost",)),
        (5.0, None, ("churned",), ("lost",)),
        (None, 0.3, ("broken",), ()),
    ]


def test_the_price_is_what_every_sufficient_alpha_stops_too(releases):
    churned = replayed(releases, regretted=["churned"])
    star = float(churned.releases[1].alpha_star)
    assert churned.stops_regretted_above == star
    assert churned.price == ("lost",)
    for alpha, reason in ((star, None), (star * 1.01, "churn")):  # alpha* is known to a thousandth
        assert replayed(releases, alphas=(alpha,)).releases[1].answers[0].reason == reason
    lost = replayed(releases, regretted=["lost"])
    assert (lost.stops_regretted_above, lost.price) == (None, ())
    both = replayed(releases, regretted=["lost", "churned"])
    assert (both.stops_regretted_above, both.price) == (star, ())


def test_a_release_that_never_fails_is_missed_by_every_alpha(releases):
    risen = [releases[0], scores(releases[0].values + 0.1, "risen"), *releases[1:]]
    made = replayed(risen, regretted=["risen"])
    assert (made.stops_regretted_above, made.price) == ("any", ())


def test_what_cannot_be_compared_is_neither_stopped_nor_passed(releases):
    other = TopicScores("other", "AP", tuple(f"x{number:02d}" for number in range(60)), np.full(60, 0.5))
    made = replayed([*releases[:2], other], regretted=["other"])
    assert made.releases[1].problem is not None
    assert (made.regretted, made.releases[1].answers) == ((), ())
    assert all(policy.regretted == () for policy in made.policies)


def test_too_few_topics_have_no_answer(releases):
    few = [scores(run.values[:9], run.name) for run in releases]
    made = replayed(few, regretted=["lost"])
    assert {answer.outcome for release in made.releases for answer in release.answers} == {"inconclusive"}
    assert made.regretted == ()
    assert all((answer.lower, answer.upper) == (None, None) for r in made.releases for answer in r.answers)


def test_the_same_run_again_passes_at_every_alpha():
    run = TopicScores("a", "AP", tuple(f"t{n:02d}" for n in range(12)), np.full(12, 0.5), digest="sha256:1")
    made = replayed([run, TopicScores("b", "AP", run.topics, run.values, digest="sha256:1")])
    assert (made.releases[0].alpha_star, made.releases[0].worst_topic) == ("any", None)
    assert {answer.outcome for answer in made.releases[0].answers} == {"pass"}


def test_names_and_numbers_of_runs_are_checked(releases):
    with pytest.raises(ValueError, match="at least two runs, or a baseline"):
        replayed(releases[:1])
    with pytest.raises(ValueError, match="regretted: expected one of better, churned, lost, broken, found 'first'"):
        replayed(releases, regretted=["first"])


def test_an_alpha_stops_every_release_that_passes_no_larger_one():
    answers = (AnswerAt(1.0, "pass", None, 0.0, None, None),)
    one = PastRelease("a", "x", True, 0.5, answers=answers, alpha_star=2.0)
    same, later = replace(one, name="b", regretted=False), replace(one, name="c", regretted=False, alpha_star=2.5)
    assert Replay("AP", 0.95, "auto", 0.0, 60, (one, same, later), ()).price == ("b",)


def test_releases_are_judged_by_clusters_and_strata(releases):
    names = releases[0].topics
    clusters = {topic: str(place // 2) for place, topic in enumerate(names)}
    strata = {topic: "ab"[place >= 40] for place, topic in enumerate(names)}
    for about in ({"clusters": clusters}, {"strata": strata, "shares": {"a": 0.6, "b": 0.4}}):
        made = replayed(releases, about=about)
        for release, (before, run) in zip(made.releases, pairwise(releases), strict=True):
            for answer in release.answers:
                verdict = risk(run, before, answer.alpha, **about)
                assert (answer.outcome, answer.urisk) == (verdict.outcome, verdict.estimates.urisk)
                assert release.mean == verdict.estimates.candidate_mean
                assert release.mean_difference == verdict.estimates.mean_difference
                interval = verdict.decisive_interval
                assert (answer.lower, answer.upper) == (interval.lower, interval.upper)
        assert made.releases[1].answers[0].lower != replayed(releases).releases[1].answers[0].lower
