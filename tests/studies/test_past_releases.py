"""Past releases under several alphas: answers are the gates' own, and the price of an alpha follows from them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from pytest_riskguard import Verdict, check
from pytest_riskguard.data import TopicScores
from pytest_riskguard.studies.replay import AnswerAt, PastRelease, Replay, replay, section

ALPHAS = (0.0, 1.0, 5.0)
STRICT = {"tolerance": 0.0, "on_churn": "fail"}


def scores(values, name, topics=None):
    topics = topics or tuple(f"t{number:03d}" for number in range(len(values)))
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


def said(made: Replay) -> str:
    return " ".join(section([made]).to_text(100).split())


NAMES = tuple(f"t{number:03d}" for number in range(60))


@pytest.mark.slow
@pytest.mark.parametrize(
    "about",
    [
        {},
        {"clusters": {topic: str(place // 2) for place, topic in enumerate(NAMES)}},
    ],
)
def test_each_release_is_judged_against_the_one_before_it_as_a_gate_would(releases, about):
    made = replayed(releases, max_loss=0.3, about=about)
    for release, (before, run) in zip(made.releases, pairwise(releases), strict=True):
        assert (release.name, release.against) == (run.name, before.name)
        for answer in release.answers:
            verdict = risk(run, before, answer.alpha, **about)
            interval = verdict.decisive_interval
            assert interval is not None
            assert (answer.outcome, answer.reason) == (verdict.outcome, verdict.reason)
            assert (answer.lower, answer.upper) == (interval.lower, interval.upper)
            assert answer.urisk == verdict.estimates.urisk
        verdict = risk(run, before, 0.0, **about)
        assert (release.mean, release.mean_difference) == (
            verdict.estimates.candidate_mean,
            verdict.estimates.mean_difference,
        )
        assert release.alpha_star == risk(run, before, **about).estimates.alpha_star
        assert release.collapses == check("no_topic_collapse", run, before, max_loss=0.3).estimates.flip_set
    if not about:
        assert [[answer.reason for answer in release.answers] for release in made.releases] == [
            [None, None, None],
            [None, "churn", "churn"],
            ["loss", "loss", "loss"],
            [None, None, None],
        ]
        assert (made.releases[3].worst_topic, made.releases[3].collapses) == ("t007", ("t007",))


def test_a_stated_baseline_takes_the_place_of_the_release_before(releases):
    made = replayed(releases[1:], baseline=releases[0])
    assert [(r.name, r.against) for r in made.releases] == [(run.name, "first") for run in releases[1:]]
    assert made.releases[3].answers[2].outcome == risk(releases[4], releases[0], 5.0).outcome
    assert "4 releases against first" in said(made)


def test_policies_count_what_they_stop(releases):
    made = replayed(releases, regretted=["churned", "broken"], max_loss=0.3)
    assert [(p.alpha, p.max_loss, p.regretted, p.others) for p in made.policies] == [
        (0.0, None, (), ("lost",)),
        (1.0, None, ("churned",), ("lost",)),
        (5.0, None, ("churned",), ("lost",)),
        (None, 0.3, ("broken",), ()),
    ]
    rows = [line.split() for line in section([made]).to_text(100).splitlines()]
    assert ["lost", "-0.0500", "loss", "loss", "loss", "-", "t000", "-0.0500"] in [row[:8] for row in rows]
    assert ["alpha", "1", "1", "of", "2:", "churned", "1", "of", "2:", "lost"] in rows
    assert ["max_loss", "0.3", "1", "of", "2:", "broken", "0", "of", "2"] in rows


@pytest.mark.slow
def test_the_price_is_what_every_sufficient_alpha_stops_too(releases):
    churned = replayed(releases, regretted=["churned"])
    star = float(churned.releases[1].alpha_star)
    assert (churned.stops_regretted_above, churned.price) == (star, ("lost",))
    assert f"every alpha above {star:.4g} stops all regretted releases (churned), and lost too" in said(churned)
    for alpha, reason in ((star, None), (star * 1.01, "churn")):  # alpha* is known to a thousandth
        assert replayed(releases, alphas=(alpha,)).releases[1].answers[0].reason == reason
    lost = replayed(releases, regretted=["lost"])
    assert (lost.stops_regretted_above, lost.price) == (None, ())
    assert "every alpha stops all regretted releases (lost)" in said(lost)
    both = replayed(releases, regretted=["lost", "churned"])
    assert (both.stops_regretted_above, both.price) == (star, ())
    risen = [releases[0], scores(releases[0].values + 0.1, "risen"), *releases[1:]]
    missed = replayed(risen, regretted=["risen"])
    assert (missed.stops_regretted_above, missed.price) == ("any", ())
    assert "no alpha stops risen" in said(missed)
    assert "--regretted NAME marks a release" in said(replayed(releases))


def test_an_alpha_stops_every_release_that_passes_no_larger_one():
    answers = (AnswerAt(1.0, "pass", None, 0.0, None, None),)
    one = PastRelease("a", "x", True, 0.5, answers=answers, alpha_star=2.0)
    same, later = replace(one, name="b", regretted=False), replace(one, name="c", regretted=False, alpha_star=2.5)
    assert Replay("AP", 0.95, "auto", 0.0, 60, (one, same, later), ()).price == ("b",)


def test_what_has_no_answer_is_neither_stopped_nor_passed(releases):
    other = scores(np.full(60, 0.5), "other", tuple(f"x{number:02d}" for number in range(60)))
    made = replayed([*releases[:2], other], regretted=["other"])
    assert (made.regretted, made.releases[1].answers) == ((), ())
    assert all(policy.regretted == () for policy in made.policies)
    assert "other cannot be compared: " in said(made)
    few = replayed([scores(run.values[:9], run.name) for run in releases], regretted=["lost"])
    answers = {(answer.outcome, answer.lower, answer.upper) for release in few.releases for answer in release.answers}
    assert (answers, few.regretted) == ({("inconclusive", None, None)}, ())
    assert "too few topics: below 10 every gate is inconclusive" in said(few)


def test_the_same_run_again_passes_at_every_alpha():
    run = TopicScores("a", "AP", NAMES[:12], np.full(12, 0.5), digest="sha256:1")
    (release,) = replayed([run, replace(run, name="b")]).releases
    assert (release.alpha_star, release.worst_topic) == ("any", None)
    assert {answer.outcome for answer in release.answers} == {"pass"}


def test_names_cannot_break_lines(releases):
    evil = scores(releases[1].values, "v\n2" + "x" * 100, ("q\x1b[31m" + "1" * 90, *NAMES[1:]))
    text = section([replayed([replace(releases[0], topics=evil.topics), evil])]).to_text(80)
    assert "\x1b" not in text
    assert [line for line in text.splitlines() if line.startswith("  v 2xx")]  # the name is cut, figures are not
