"""Past releases under several alphas: answers are the gates' own, and the price of an alpha follows from them."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_riskguard import check
from pytest_riskguard.baselines.store import Store
from pytest_riskguard.data import TopicScores
from pytest_riskguard.studies.replay import AnswerAt, PastRelease, Replay, replay, section
from tests.plugin import world
from tests.snapshots import golden

STRICT: dict[str, Any] = {"tolerance": 0.0, "on_churn": "fail"}
NAMES = tuple(f"t{number:03d}" for number in range(60))


def scores(values, name, topics=NAMES):
    return TopicScores(name, "AP", tuple(topics[: len(values)]), np.asarray(values, dtype=float))


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


def replayed(releases, *, alphas=(0.0, 1.0, 5.0), **options) -> Replay:
    def judge(kind, pairs, alphas=(1.0,), **asked):
        return [check(kind, *pair, alpha=alpha, **asked) for pair in pairs for alpha in alphas]

    return replay(releases, judge, alphas=alphas, tolerance=0.0, **options)


@pytest.fixture(scope="module")
def made(releases):
    return replayed(releases, regretted=["churned"])


def said(made: Replay) -> str:
    return " ".join(section([made]).to_text(100).split())


def test_each_release_is_judged_against_the_one_before_it_as_a_gate_would(releases, made):
    for release, (before, run) in zip(made.releases, pairwise(releases), strict=True):
        assert (release.name, release.against) == (run.name, before.name)
        for answer in release.answers:
            verdict = check("not_significantly_risky", run, before, alpha=answer.alpha, **STRICT)
            assert (answer.outcome, answer.reason) == (verdict.outcome, verdict.reason)
            assert release.mean_difference == verdict.estimates.mean_difference
            assert release.alpha_star == verdict.estimates.alpha_star
    assert [[answer.reason for answer in release.answers] for release in made.releases] == [
        [None, None, None],
        [None, "churn", "churn"],
        ["loss", "loss", "loss"],
        [None, None, None],
    ]
    assert (made.releases[3].worst_topic, made.releases[3].worst_difference) == ("t007", pytest.approx(-0.5, abs=0.2))
    golden(Path(__file__).parent / "golden" / "replay.txt", section([made]).to_text(100) + "\n")


def test_a_stated_baseline_takes_the_place_of_the_release_before(releases):
    assert "4 releases against first" in said(replayed(releases[1:], baseline=releases[0]))


def test_the_price_is_what_every_sufficient_alpha_stops_too(releases, made):
    star = float(made.releases[1].alpha_star)
    assert (made.stops_regretted_above, made.price) == (star, ("lost",))
    lost = replace(made, releases=tuple(replace(one, regretted=one.name == "lost") for one in made.releases))
    assert (lost.stops_regretted_above, lost.price) == (None, ())
    assert "every alpha stops all regretted releases (lost)" in said(lost)
    both = tuple(replace(one, regretted=one.name in ("better", "churned")) for one in made.releases)
    missed = replace(made, releases=both)
    assert (missed.stops_regretted_above, missed.price) == ("any", ())
    assert "no alpha stops better release" in said(missed)
    assert "1 release against first; level 95%, method auto, tolerance 0 --regretted NAME marks" in said(
        replayed(releases[:2])
    )


@pytest.mark.slow
def test_an_alpha_below_alpha_star_passes_and_one_above_stops(releases, made):
    star = float(made.releases[1].alpha_star)
    for alpha, reason in ((star, None), (star * 1.01, "churn")):  # alpha* is known to a thousandth
        assert replayed(releases, alphas=(alpha,)).releases[1].answers[0].reason == reason


def test_an_alpha_stops_every_release_that_passes_no_larger_one():
    one = PastRelease("a", "x", True, answers=(AnswerAt(1.0, "pass", None),), alpha_star=2.0)
    same, later = replace(one, name="b", regretted=False), replace(one, name="c", regretted=False, alpha_star=2.5)
    sooner = replace(one, alpha_star=1.0)
    assert Replay("AP", 0.95, "auto", 0.0, 60, (1.0,), (one, sooner, same, later)).price == ("b",)
    never = replace(one, alpha_star=None)
    assert Replay("AP", 0.95, "auto", 0.0, 60, (1.0,), (never, replace(never, regretted=False))).price == ("a",)


def test_what_has_no_answer_is_neither_stopped_nor_passed(releases):
    other = scores(np.full(60, 0.5), "v\n2\x1b[31m", tuple(f"x{number:02d}" for number in range(60)))
    made = replayed([*releases[:2], other], regretted=[other.name])
    assert (made.regretted, made.releases[1].answers) == ((), ())
    assert "v 2[31m cannot be compared: " in said(made)
    assert "regretted releases" not in said(made)
    few = replayed([scores(run.values[:9], run.name) for run in releases[:2]], regretted=["better"])
    assert ({answer.outcome for answer in few.releases[0].answers}, few.regretted) == ({"inconclusive"}, ())
    assert "too few topics: below 10 every gate is inconclusive" in said(few)
    assert "too few topics" not in said(replayed([scores(run.values[:10], run.name) for run in releases[:2]]))
    run = scores(np.full(12, 0.5), "a")
    (again,) = replayed([replace(run, digest="sha256:1"), replace(run, name="b", digest="sha256:1")]).releases
    assert (again.alpha_star, again.worst_topic) == ("any", None)


# ---- the command


def test_answers_are_those_of_compare(command):
    asked = "--baseline prod --measure AP --alpha 0 --alpha 5 --set tolerance=0 -o -"
    _, made = json.loads(command(f"replay churn.run loss.run --measure P@5 {asked}").out)["replays"]
    for release in made["releases"]:
        line = f"compare {release['name']}.run {asked} --gate not_significantly_risky --set on_churn=fail"
        verdicts = command(line).verdicts
        answers = [(a["outcome"], a["reason"]) for a in release["answers"]]
        assert answers == [(verdict["outcome"], verdict["reason"]) for verdict in verdicts]
        assert release["alpha_star"] == verdicts[1]["estimates"]["alpha_star"]
        assert release["against"] == "prod"


def test_a_stored_baseline_stands_for_all_runs_that_it_held(command, folder):
    collection = {"qrels": folder / "qrels.txt", "topics": folder / "topics.tsv", "measures": ["AP"]}
    for name in ("good", "loss"):
        Store(folder / "baselines").update("prod", folder / f"{name}.run", **collection)
    asked = "--measure AP --alpha 1 -o -"
    made = json.loads(command(f"replay prod --regretted prod {asked}").out)["replays"][0]
    assert [(r["name"], r["against"]) for r in made["releases"]] == [("0002", "0001"), ("prod", "0002")]
    assert made["releases"][1]["answers"][0]["reason"] == "loss"
    made = json.loads(command(f"replay prod churn.run {asked}").out)["replays"][0]
    assert [(r["name"], r["against"]) for r in made["releases"]] == [("churn", "prod")]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("./good.run --measure AP", "one run has no release before it"),
        ("good.run loss.run --measure AP --regretted good", "expected one of loss, found 'good'"),
        ("good.run --measure AP --baseline prod --baseline loss.run", "judged against one baseline"),
        ("./prod.run good.run --measure AP --set tolerance=5", "could never fail"),
    ],
)
def test_what_cannot_be_asked_is_a_usage_error(refused, line, words):
    refused(f"replay {line}", words)


def test_runs_that_cannot_be_compared_end_with_a_status(command, folder):
    asked = "./prod.run good.run --measure AP --set tolerance=1.5 --alpha 2"
    ended = command(f"replay {asked}")  # no loss of these runs could exceed it
    assert (ended.status, command(f"compare {asked}").status) == (3, 3)
    assert "choose a smaller tolerance" in " ".join(ended.out.split())
    for name, topics in (("a", world.TOPICS), ("b", world.TOPICS[:20]), ("c", world.TOPICS[:20])):
        (folder / f"{name}.csv").write_text("topic,AP\n" + "".join(f"{topic},0.5\n" for topic in topics))
    ended = command("replay a.csv b.csv c.csv --scores")
    assert ended.status == 3
    assert "b cannot be compared" in ended.out
    assert "1 release cannot be compared" in ended.err
