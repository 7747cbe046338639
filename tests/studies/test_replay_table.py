"""The tables of past releases and policies, and what is said below them."""

from __future__ import annotations

from pytest_riskguard.studies.replay import AnswerAt, PastRelease, Policy, Replay, section


def release(name, star, *, regretted=False, collapses=(), **more):
    answers = tuple(
        AnswerAt(
            alpha, *(("pass", None) if star == "any" or alpha <= (star or -1) else ("fail", reason)), -0.01, -1, 1
        )
        for alpha, reason in ((0.0, "loss"), (1.0, "churn" if star else "loss"))
    )
    given = {"alpha_star": star, "worst_topic": "q1", "worst_difference": -0.4, "mean_difference": -0.01} | more
    return PastRelease(name, "before", regretted, 0.5, answers=answers, collapses=collapses, **given)


def made(*releases, topics=100) -> Replay:
    policies = tuple(
        Policy(
            alpha,
            limit,
            *(
                tuple(
                    r.name
                    for r in releases
                    if r.regretted == regretted
                    and (r.collapses if limit else any(a.alpha == alpha and a.outcome == "fail" for a in r.answers))
                )
                for regretted in (True, False)
            ),
        )
        for alpha, limit in ((0.0, None), (1.0, None), (None, 0.5))
    )
    return Replay("AP", 0.95, "auto", 0.0, topics, releases, policies)


def explain(replays: list[Replay], width: int) -> str:
    return section(replays).to_text(width)


def said(replay: Replay) -> str:
    return " ".join(explain([replay], width=100).split())


def test_each_release_is_a_line_and_so_is_each_policy():
    text = explain([made(release("v2", 0.5, regretted=True), release("v3", None))], width=100)
    rows = [line.split() for line in text.splitlines()]
    assert ["v2", "!", "-0.0100", "pass", "churn", "0.5", "q1", "-0.4000"] in rows
    assert ["v3", "-0.0100", "loss", "loss", "-", "q1", "-0.4000"] in rows
    assert ["alpha", "0", "0", "of", "1", "1", "of", "1:", "v3"] in rows
    assert ["alpha", "1", "1", "of", "1:", "v2", "1", "of", "1:", "v3"] in rows
    assert ["max_loss", "0.5", "0", "of", "1", "0", "of", "1"] in rows


def test_the_conclusion_names_the_alpha_and_its_price():
    regretted = release("v2", 0.5, regretted=True)
    assert "every alpha above 0.5 stops all regretted releases (v2), and v3 too" in said(
        made(regretted, release("v3", 0.25))
    )
    assert "above 0.5 stops all regretted releases (v2); up to 2.5 it stops no other" in said(
        made(regretted, release("v3", 2.5))
    )
    assert "above 0.5 stops all regretted releases (v2) and no other" in said(made(regretted, release("v3", "any")))
    assert "every alpha stops all regretted releases (v2), and v3 too" in said(
        made(release("v2", None, regretted=True), release("v3", None))
    )


def test_releases_that_no_alpha_stops_may_be_stopped_by_a_single_topic():
    assert "no alpha stops v2; no_topic_collapse with max_loss 0.5 stops v2" in said(
        made(release("v2", "any", regretted=True, collapses=("q1",)))
    )
    text = said(made(release("v2", "any", regretted=True)))
    assert "no alpha stops v2" in text
    assert "with max_loss 0.5 stops" not in text


def test_without_regrets_it_says_how_to_mark_one():
    text = said(made(release("v2", 0.5)))
    assert "--regretted NAME marks a release" in text
    assert "stops of the regretted" not in text


def test_what_cannot_be_judged_is_said():
    assert "too few topics: below 10 every gate is inconclusive" in said(made(release("v2", 0.5), topics=9))
    broken = PastRelease("v2", "v1", True, 0.5, problem="topics differ")
    text = said(made(broken))
    assert "v2 cannot be compared: topics differ" in text
    assert "all regretted" not in text


def test_lines_fit_and_names_cannot_break_them():
    evil = release("v\n2" + "x" * 100, 0.5, worst_topic="q\x1b[31m" + "1" * 90)
    text = explain([made(evil, release("v3", 0.25))], width=80)
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80
