"""What is said of a verdict: the answer in a line, what follows it, why, and what to do next."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_riskguard import check
from pytest_riskguard.errors import BaselineError, DataError, Remedy
from pytest_riskguard.gates import verdict as verdicts
from pytest_riskguard.gates.findings import Documents, Power, RankedDocument, TopicDocuments
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Commands, Inputs, Verdict
from pytest_riskguard.gates.warning_codes import REASONS
from pytest_riskguard.reports import numbers, words
from pytest_riskguard.reports.card import Card
from pytest_riskguard.reports.ci.github import annotation
from pytest_riskguard.reports.comparisons import Report
from pytest_riskguard.reports.markdown import render
from pytest_riskguard.reports.numbers import from_to
from pytest_riskguard.reports.terminal import explain
from pytest_riskguard.reports.warning_sentences import worded
from pytest_riskguard.run_context import Screen
from pytest_riskguard.text import clean, columns
from tests.gates.conftest import judge_pool, pair, topic_scores
from tests.gates.test_slice_comparisons import tagged
from tests.reports.cases import CASES, explained
from tests.snapshots import golden
from tests.verdicts import altered

#: 30 of 120 queries are codes: 8 fall far, 60 others rise a little.
CODES = np.concatenate([np.full(8, -0.6), np.full(22, 0.0), np.full(60, 0.1), np.zeros(30)])
KINDS = tagged(120, kind=["code"] * 30 + ["prose"] * 90)
SPREAD = np.tile([-0.3, 0.32, 0.0], 20)
#: Ten of 100 queries, all of them codes, are ruined; 70 gain.
TEN = np.concatenate([np.full(10, -0.5), np.full(70, 0.12), np.zeros(20)])
TEN_CODES = tagged(100, kind=["code"] * 10 + ["prose"] * 90)
ONE_TOPIC = np.concatenate([[-0.6], np.tile([-0.02, 0.02], 10), np.zeros(9)])
ONE_LOSS = np.concatenate([[-0.4], np.zeros(29)])
#: Three large wins stand in the way of equivalence.
WON = np.concatenate([[0.4, 0.3, 0.3], np.zeros(17), [-0.3], np.full(20, 0.001)])
WEIGHTED = replace(tagged(40), weights={f"t{i:05d}": 1.0 + i % 2 for i in range(40)})


def asked(differences: Any, topics: Any = None, level: float = 0.65, noise: Any = (), **options: Any) -> Verdict:
    candidate, baseline = pair(np.asarray(differences), level=level)
    replicates = [topic_scores(f"r{place}", baseline.values + each) for place, each in enumerate(noise)]
    return worded(judge(gate_of("g", **options), candidate, baseline, topics=topics, replicates=replicates))


def pooled(shift: float, **options: Any) -> Verdict:
    rng = np.random.default_rng(3)
    base = rng.uniform(0.3, 0.7, 60)
    systems = [topic_scores(name, base + rng.normal(0, 0.05, 60)) for name in ("prod", "bm25")]
    candidate = topic_scores("candidate", base + rng.normal(shift, 0.05, 60))
    return worded(judge_pool(gate_of("g", kind="georisk_not_worse", **options), candidate, systems))


def refused(reason: str, problem: str = "new.run:3: expected 6 columns, found 5") -> Verdict:
    error = DataError(problem, reason=reason)
    return verdicts.refused(Verdict(gate_of("g"), "incomparable", None, "AP", "candidate", ("prod",)), error)


def identical() -> Verdict:
    return worded(
        replace(asked(np.zeros(30)), inputs=Inputs(candidate="sha256:1", baselines={"baseline": "sha256:1"}))
    )


def noisy(shift: float) -> Verdict:
    rng = np.random.default_rng(2)
    changes, noise = rng.normal(0, 0.1, 40), rng.normal(0, 0.02, (3, 40))
    noise -= noise.mean(axis=1, keepdims=True)
    return asked(changes - changes.mean() + shift, noise=noise, alpha=0)


VERDICTS: dict[str, Callable[[], Verdict]] = {
    "group": lambda: asked(CODES, KINDS, alpha=5, on_churn="fail"),
    "group, churn allowed": lambda: asked(CODES, KINDS, alpha=5, on_churn="warn"),
    "no group": lambda: asked(SPREAD, alpha=5, on_churn="fail"),
    "most of the loss": lambda: asked(ONE_TOPIC, alpha=20, method="percentile", on_churn="fail"),
    "loss": lambda: asked(np.linspace(-0.3, 0.05, 40)),
    "loss, weighted": lambda: asked(np.linspace(-0.3, 0.05, 40), WEIGHTED, weighted=True),
    "loss, six of a hundred": lambda: asked(np.concatenate([np.full(6, -0.5), np.zeros(94)]), level=1.0),
    "loss, beyond noise": lambda: noisy(-0.2),
    "too few changes": lambda: asked(np.concatenate([np.full(3, -0.3), np.zeros(97)]), alpha=5),
    "smooth": lambda: asked(np.tile([-0.6, 0.25, 0.36, 0.0], 15), tradeoff="smooth", on_churn="fail"),
    "drift": lambda: asked(np.linspace(-0.3, 0.05, 40), kind="no_drift", tolerance=0.02),
    "drift, weighed": lambda: asked(SPREAD - 0.1, kind="no_drift", alpha=1),
    "collapse of one": lambda: asked(ONE_TOPIC, kind="no_topic_collapse"),
    "collapse of a group": lambda: asked(CODES, KINDS, kind="no_topic_collapse"),
    "no collapse": lambda: asked(ONE_TOPIC, kind="no_topic_collapse", max_loss=0.64),
    "tail": lambda: asked(TEN, TEN_CODES, kind="no_topic_collapse", max_loss=0.3, allowed=0.05),
    "tail within what is allowed": lambda: asked(TEN, TEN_CODES, kind="no_topic_collapse", max_loss=0.3, allowed=10),
    "not inferior not shown": lambda: asked(SPREAD, kind="not_inferior", alpha=0, tolerance=0.05),
    "not inferior shown": lambda: asked(SPREAD, kind="not_inferior", alpha=0, tolerance=0.2),
    "equivalent not shown": lambda: asked(WON, kind="equivalent", tolerance=0.056),
    "equivalent shown": lambda: asked(WON, kind="equivalent", tolerance=0.1),
    "GeoRisk worse": lambda: pooled(-0.1),
    "GeoRisk weak pass": lambda: pooled(-0.018),
    "GeoRisk tolerated": lambda: pooled(-0.05, tolerance=0.05),
    "GeoRisk pass": lambda: pooled(0.01),
    "too few": lambda: asked(np.full(5, -0.1)),
    "too weak": lambda: asked(SPREAD, alpha=0, max_mde=0.001),
    "bad run": lambda: refused("bad_run"),
    "pass": lambda: asked(np.tile([-0.05, 0.066, 0.0], 40), level=0.6461, alpha=0),
    "pass, tolerated": lambda: asked(np.tile([-0.03, -0.05], 20), alpha=0, tolerance=0.1),
    "pass, weighted losses": lambda: asked(SPREAD, on_churn="fail"),
    "pass, weak": lambda: asked(np.tile([-0.1, 0.065, 0.02], 40), alpha=0, tolerance=0),
    "pass, little power": lambda: asked(np.tile([-0.6, 0.62, 0.1], 5), alpha=0),
    "pass, noise": lambda: noisy(-0.02),
    "pass, one loss that cannot fail": lambda: asked(ONE_LOSS),
    "better": lambda: asked(np.tile([-0.05, 0.2, 0.1], 20)),
    "nothing changed": lambda: asked(np.zeros(30)),
    "identical": identical,
}


VERDICTS = {name: cache(make) for name, make in VERDICTS.items()}


def test_what_is_said_of_each_kind_of_verdict():
    """Advice, line, figures, paragraph, statistics: as somebody read them."""
    said = []
    for name, make in VERDICTS.items():
        verdict = make()
        parts = [f"{words.own_advice(verdict)}: {words.line(verdict)}", words.estimate(verdict)]
        said.append("\n  ".join([f"[{name}]", *parts, words.paragraph(verdict), words.why(verdict)]))
        if verdict.outcome != "incomparable":
            assert verdict.summary == f"{words.line(verdict)}. {words.paragraph(verdict)}"
    golden(Path(__file__).parent / "golden" / "words.txt", "\n".join(said) + "\n")


def test_figures_are_those_of_the_report_rounded():
    for make in VERDICTS.values():
        verdict = make()
        interval, risk = verdict.decisive_interval, Card(verdict).risk
        said = [float(number) for number in re.findall(r"[-+]\d+\.\d+", words.estimate(verdict))]
        if said and risk is not None:
            limits = [] if interval is None else [interval.lower, interval.upper]
            assert said == pytest.approx([risk, *limits], abs=0.00501)
            between = re.search(r"([-+][\d.]+), .* interval ([-+][\d.]+) to ([-+][\d.]+), ", words.why(verdict))
            assert between is None or [float(limit) for limit in between.groups()] == said


TONES: dict[str, list[str]] = {
    "stop": ["group", "bad run", "too few"],
    "caution": [
        *("group, churn allowed", "pass, weak", "pass, one loss that cannot fail", "GeoRisk weak pass"),
        "pass, little power",
    ],
    "go": ["pass", "pass, tolerated", "better", "identical"],
}


@pytest.mark.parametrize("tone", TONES)
def test_the_tone_says_what_happens_to_the_build(tone):
    assert {Card(VERDICTS[kind]()).tone for kind in TONES[tone]} == {tone}


@pytest.mark.parametrize(
    ("p_value", "risk", "detected", "tone"),
    [
        (0.5, -0.01, 0.01, "caution"),
        (0.51, -0.01, 0.01, "go"),
        (0.5, 0.0, 0.01, "go"),
        (0.5, 0.0, 0.1625, "go"),  # a quarter of the mean
        (0.5, 0.0, 0.163, "caution"),
        (0.51, -0.005, None, "go"),  # cannot fail, and within what is tolerated
        (0.51, -0.006, None, "caution"),
    ],
)
def test_a_pass_is_weak_from_where_a_risk_is_likelier_or_a_large_loss_goes_unseen(p_value, risk, detected, tone):
    passed = VERDICTS["pass"]()
    estimates = replace(passed.estimates, decision_p_value=p_value, urisk=risk, baseline_mean=0.65)
    power = replace(passed.power, minimum_detectable_effect=detected)
    assert Card(altered(passed, estimates=estimates, power=power)).tone == tone
    for on_churn in ("warn", "fail"):  # what losses that count twice detect of URisk is half of that of the mean
        double = replace(power, minimum_detectable_effect=0.2)
        both = altered(passed, alpha=1.0, on_churn=on_churn, power=double)
        assert Card(both).unseen_loss == (0.2 if on_churn == "warn" else None)


def test_what_a_verdict_on_very_many_topics_does_not_name_is_counted():
    verdict = CASES["loss"]()
    left_out = {"responsible_topics": 9, "flip_set": 5, "missing_in_candidate": 7}
    counts = replace(verdict.topics, losses=21, ties=9, missing_in_candidate=("t30",), left_out=left_out)
    text = " ".join(explain(altered(verdict, topics=counts), Screen(80, verbose=True)).split())
    assert "returned nothing for 8 queries" in text
    assert "would pass without 14 topics: t07, t01, t02, t03, t04, t05, t06, t08, t09 and 5 more" in text
    counted = altered(verdict, topics=counts)
    assert "  worst 5 of 21, prod -> candidate:" in explain(counted)
    assert "The worst 6 of 21, " in render(Report([counted]))
    tail = VERDICTS["tail"]()
    counts = replace(tail.topics, left_out={"responsible_topics": 5})
    collapsed = altered(tail, topics=counts, estimates=replace(tail.estimates, collapsed=15))
    assert words.line(collapsed).startswith("10 of 15 queries that lost more than 0.30 are kind=code")
    assert annotation(counted).lines[2].endswith("query number 04 (0.50 -> 0.10) and 16 more")


@pytest.mark.parametrize("kind", VERDICTS)
@pytest.mark.parametrize("name", ["検索" * 90, "x\n::error::y\x1b[31m\u202e[red]z" * 9])
def test_a_line_keeps_to_80_columns_whatever_names_are_given(kind, name):
    verdict = VERDICTS[kind]()
    topics = tuple(replace(topic, topic=name + topic.topic) for topic in verdict.responsible_topics)
    slices = tuple(
        replace(part, tag=name, value=name, responsible=tuple(name + topic for topic in part.responsible))
        for part in verdict.slices
    )
    long = altered(
        verdict,
        responsible_topics=topics,
        slices=slices,
        slice=verdict.slice and f"lang={clean(name)}",
        baselines=(name, *verdict.baselines[1:]),
    )
    if verdict.identical_to:
        long = altered(long, inputs=Inputs(candidate="sha256:1", baselines={name: "sha256:1"}))
    long = worded(long)
    assert columns(words.line(long)) <= 80
    assert words.line(long).isprintable()
    assert words.paragraph(long).isprintable()
    assert len(words.paragraph(long)) < 900


# ---- who, and where


def moved(topic: int, before: int | None, after: int | None, effect: float = -0.6) -> TopicDocuments:
    return TopicDocuments(f"t{topic:05d}", True, (RankedDocument("d", 1, before, after, effect),))


@pytest.mark.parametrize(
    ("documents", "unanswered", "said"),
    [
        (
            [moved(i, 1, None) for i in range(4)],
            0,
            "All 4 queries examined lost the best document: look at query parsing, filters and the index",
        ),
        ([moved(0, 1, None)], 0, "The one query examined lost the best document: "),
        (
            [moved(0, 1, 40), moved(1, 2, 5)],
            0,
            "In both queries examined the best document ranks lower: look",
        ),
        (
            [moved(3, 1, None), *(moved(i, 2, 5) for i in (0, 2, 4, 5, 6, 7))],
            2,
            "Of 8 queries examined, 2 found nothing, 1 lost the best document, in 5 the best document ranks lower: "
            "look at how such queries are parsed first.",
        ),
        ([moved(50, 1, None), moved(0, 2, 1, 0.1), moved(1, None, 3)], 0, None),  # did not lose, rose, is new
        ([], 0, None),
    ],
)
def test_what_became_of_the_queries_says_where_to_look(documents, unanswered, said):
    verdict = replace(VERDICTS["collapse of a group"](), documents=Documents(10, tuple(documents)))
    counts = replace(verdict.topics, missing_in_candidate=tuple(f"t{i:05d}" for i in range(unanswered)))
    paragraph = words.paragraph(altered(verdict, topics=counts))
    assert paragraph.startswith(said or "8 of 120 queries lost, 60 gained; ")
    passed = words.paragraph(altered(verdict, outcome="pass", topics=counts))
    assert (passed.startswith("8 of"), "returned nothing" in passed) == (True, unanswered > 0)


def test_the_line_of_a_slice_names_the_slice_whatever_group_stands_out_in_it():
    whole = VERDICTS["group"]()
    assert words.line(whole).startswith("kind=code queries got worse; ")
    assert words.line(altered(whole, slice="lang=en")).startswith("lang=en queries got worse; ")


@pytest.mark.parametrize(
    ("inside", "outside", "codes", "said"),
    [
        (5, 1, 5, "5 of 6 queries that lost more than 0.50 are kind=code"),
        (2, 4, 2, "2 of 6 queries that lost more than 0.50 are kind=code"),
        (2, 5, 2, "7 of 60 queries lost"),  # of the loss less than a third
        (2, 2, 17, "2 of 4 queries that lost more than 0.50 are kind=code"),
        (2, 2, 18, "4 of 60 queries lost"),  # no more than 20 % above chance
        (1, 1, 2, "2 of 60 queries lost"),
    ],
)
def test_a_group_has_two_members_a_third_of_the_loss_and_more_than_chance_gives(inside, outside, codes, said):
    lost = np.full(60, 0.0)
    lost[[*range(inside), *range(codes, codes + outside)]] = -0.6
    kinds = ["code"] * codes + ["prose"] * (60 - codes)
    later = ["a"] * (inside - 1) + ["b"] * (61 - inside)  # a smaller part of it, if any
    topics = tagged(60, kind=kinds, later=later)
    assert words.line(asked(lost, topics, kind="no_topic_collapse")).startswith(said)


def test_one_topic_is_the_headline_if_it_has_half_of_the_loss():
    verdict = VERDICTS["no group"]()
    first, *others = verdict.responsible_topics
    for share, said in ((0.5, "query t00000 got worse"), (0.499, "losses counted 6 times outweigh gains")):
        topics = (replace(first, share=share), *others)
        assert words.line(altered(verdict, responsible_topics=topics)).startswith(said)


def test_wins_that_stand_in_the_way_are_listed_as_the_largest():
    shown = explain(VERDICTS["equivalent not shown"]()).splitlines()
    assert shown[3:5] == ["  largest 5 of 23, baseline -> candidate:", "    t00000  0.65 -> 1.05"]


def test_slices_come_riskiest_first_and_those_too_small_to_test_last():
    worse = replace(Card(explained()).slices[0], value="sql", urisk=-3.0)
    both = altered(explained(), slices=(*explained().slices, worse))
    parts = [(part.value, part.risky) for part in Card(both).slices]
    assert parts == [("sql", True), ("code", True), ("words", False), ("one word", None)]
    assert "By themselves, intent=code are significantly risky." in words.paragraph(
        altered(explained(), outcome="pass")
    )


def test_a_failure_without_a_change_that_counts_lists_what_changed():
    assert len(Card(asked(np.full(30, -1e-7), tolerance=0.0)).worst) == 30


def test_a_limit_on_the_bound_itself_cannot_be_excluded():
    verdict = VERDICTS["not inferior not shown"]()
    on_bound = altered(verdict, intervals=tuple(replace(one, lower=-0.05 + 1e-13) for one in verdict.intervals))
    assert words.line(on_bound).endswith("; a loss of 0.05 cannot be excluded, 0.05 is allowed")
    passed = VERDICTS["pass, tolerated"]()
    as_much = altered(passed, estimates=replace(passed.estimates, mean_difference=-0.1))
    assert ", not shown to be more than the tolerated 0.1; " in words.line(as_much)


def test_what_a_gate_asks_for_says_how_many_topics_may_collapse():
    asks = [words.required(VERDICTS[kind]()) for kind in ("collapse of one", "tail", "equivalent shown")]
    assert asks == ["no topic collapses", "at most 5 topics collapse", "equivalent"]
    pool = VERDICTS["GeoRisk pass"]()
    equal = altered(pool, estimates=replace(pool.estimates, georisk_difference=0.0))
    assert words.line(equal).startswith("no riskier than prod; ")


def test_the_largest_loss_is_named_whichever_topic_comes_first():
    verdict = VERDICTS["no collapse"]()
    turned = altered(verdict, responsible_topics=verdict.responsible_topics[::-1])
    assert words.line(turned) == "no query lost more than 0.64; the largest loss is 0.60"


def test_the_topic_on_which_a_failure_hangs_is_named():
    verdict = VERDICTS["loss"]()
    alone, two = (
        altered(verdict, estimates=replace(verdict.estimates, flip_set=flips)) for flips in (("t1",), ("t1", "t2"))
    )
    assert words.paragraph(alone).endswith("Without t1 it would pass.")
    assert "Without" not in words.paragraph(two)
    assert "without 2 topics: t1, t2 (found greedily" in explain(two, Screen(200, verbose=True))


# ---- figures


@pytest.mark.parametrize(("limit", "printed"), [(0.3, "0.30"), (0.125, "0.125")])
def test_a_limit_is_the_one_that_was_given(limit, printed):
    verdict = asked([-0.45, *([-0.44] * 2), *ONE_LOSS[3:]], kind="no_topic_collapse", max_loss=limit)
    assert f"lost more than {printed}; none may" in words.line(verdict)


def test_figures_have_another_form_from_their_limits_on():
    assert [numbers.plain(value) for value in (1e9, 999_999_999.0)] == ["1.0e+09", "999999999.0000"]
    assert [numbers.signed(value) for value in (0.00005, -0.00004, -0.0)] == ["+0.0001", "-4.0e-05", "+0.0000"]
    assert [numbers.size(value) for value in (1e9, 0.00005, 0.00004, -0.5)] == [
        "1.0e+09",
        "0.0001",
        "4.0e-05",
        "0.50",
    ]
    assert [numbers.share(part) for part in (1.0, 0.996, 0.004, 0.0)] == ["100%", "over 99%", "under 1%", "0%"]
    assert [numbers.floored(star) for star in (0.99999, 1.999, 1e9, 2e9)] == [
        "0.999",
        "1.99",
        "1000000000.00",
        "2e+09",
    ]
    assert [numbers.probability(value) for value in (1e-4, 0.00009)] == ["0.0001", "< 0.0001"]
    assert [numbers.decimals([value]) for value in (0.0051, 0.0049, 1e-5)] == [2, 3, 4]


def test_a_figure_has_as_many_decimals_as_it_takes_not_to_mislead():
    assert words.estimate(asked(CODES / 200, KINDS, alpha=5, tolerance=0)).startswith("URisk -0.0009 [-0.00")


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (0.58, 0.65, "0.58 -> 0.65"),
        (0.5356, 0.5352, "0.5356 -> 0.5352"),
        (0.5446, 0.5456, "0.545 -> 0.546"),
        (0.5, 0.5, "0.50 -> 0.50"),
        (0.5, 0.5 - 1e-9, "0.5000 -> 0.5000"),
    ],
)
def test_rounding_hardly_changes_how_far_a_score_moved(before, after, text):
    assert from_to(before, after) == text


@pytest.mark.parametrize(("rate", "said"), [(0.618, "62%"), (0.9999, "over 99%"), (0.0001, "under 1%"), (0.0, "0%")])
def test_how_often_a_harmless_change_fails_is_said_where_it_is_known(rate, said):
    verdict = altered(VERDICTS["no group"](), power=Power(churn_failure_rate=rate))
    assert words.paragraph(verdict).endswith(
        f" A change like this that leaves the mean alone would fail in {said} of cases."
    )
    assert " of cases" not in words.paragraph(altered(verdict, power=Power()))


# ---- what to do


def test_a_remedy_comes_first_and_none_is_made_up():
    for reason, remedy in words._REMEDIES.items():
        assert next(words.steps(refused(reason), reproduce="pytest")).text == remedy
        assert reason in REASONS
    assert [*words.steps(refused("a reason of a later version")), *words.steps(CASES["loss"]())] == []


def test_what_an_error_says_to_do_is_the_only_step_about_it():
    error = BaselineError("no baseline 'prod'", remedy=Remedy("store it with {}", "add prod RUN"))
    verdict = verdicts.refused(Verdict(gate_of("g"), "incomparable", None, "AP", "new", ("prod",)), error)
    assert [step.text for step in words.steps(verdict)] == ["store it with `riskguard baseline add prod RUN`"]
    assert next(words.steps(verdict, commands=Commands(remedy="as typed"))).text == "as typed"
    assert (verdict.problem, words.line(verdict, after_word=True)) == ("no baseline 'prod'",) * 2
    assert error.remedy is not None
    typed = error.remedy.here(lambda name: ["--config", "a b.yaml"] if name == "add" else [])
    assert str(typed) == "store it with `riskguard baseline add prod RUN --config 'a b.yaml'`"
    assert str(error) == f"{verdict.problem}; {verdict.remedy}"


def test_a_command_is_a_step_only_where_it_runs():
    typed = Commands(judge_next="riskguard judge-next --gate no-risk", verify="riskguard baseline verify")
    here = [*words.steps(explained(), reproduce="pytest x", report="out.html", commands=typed)]
    assert [(step.text, step.command) for step in here] == [
        ("14 top-10 documents are unjudged; judge-next lists those to judge first", typed.judge_next),
        ("Reproduce", "pytest x"),
        ("Report: out.html", ""),
    ]
    (elsewhere,) = words.steps(explained())
    assert elsewhere.text == "14 top-10 documents are unjudged; judge-next lists those to judge first"
    assert elsewhere.command == ""
    assert [*words.steps(altered(VERDICTS["pass"](), outcome="pass"), reproduce="pytest x")] == []
    assert next(words.steps(refused("bad_baseline"), commands=typed)).command == typed.verify
    assert next(words.steps(refused("bad_baseline"))).command == ""


def test_a_protected_query_that_lost_is_said_first():
    baseline = {f"q{i}": 0.5 for i in range(60)}
    candidate = baseline | {"q1": -0.1, "q2": 0.3}
    verdict = check("no_topic_collapse", candidate, baseline, max_loss=0.5, allowed=3, protected=["q1", "q2"])
    assert words.line(verdict).startswith("2 protected queries lost; none may")
