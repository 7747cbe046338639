"""The card of a verdict: advice, line and paragraph for every kind of verdict, to the letter."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.cells import cell_len

from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.findings import Power
from pytest_riskguard.gates.judge import judge
from pytest_riskguard.gates.kinds import gate_of
from pytest_riskguard.gates.verdict import Commands, Inputs, Verdict, VerdictWarning, incomparable
from pytest_riskguard.reports.card import card
from pytest_riskguard.reports.wording import worded
from pytest_riskguard.text import clean
from tests.gates.conftest import judge_pool, pair, topic_scores
from tests.gates.test_groups import tagged
from tests.reports.cases import CASES, explained
from tests.verdicts import altered

#: 30 of 120 queries are codes: 8 fall far, 60 others rise a little.
CODES = np.concatenate([np.full(8, -0.6), np.full(22, 0.0), np.full(60, 0.1), np.zeros(30)])
KINDS = tagged(120, kind=["code"] * 30 + ["prose"] * 90)
SPREAD = np.tile([-0.3, 0.32, 0.0], 20)
#: Ten of 100 queries, all of them codes, are ruined; 70 gain.
TEN = np.concatenate([np.full(10, -0.5), np.full(70, 0.12), np.zeros(20)])
TEN_CODES = tagged(100, kind=["code"] * 10 + ["prose"] * 90)


def asked(differences: np.ndarray, topics: Any = None, level: float = 0.65, **options: Any) -> Verdict:
    return worded(judge(gate_of("g", **options), *pair(differences, level=level), topics=topics))


def pooled(shift: float, **options: Any) -> Verdict:
    rng = np.random.default_rng(3)
    base = rng.uniform(0.3, 0.7, 60)
    systems = [topic_scores(name, base + rng.normal(0, 0.05, 60)) for name in ("prod", "bm25")]
    candidate = topic_scores("candidate", base + rng.normal(shift, 0.05, 60))
    return worded(judge_pool(gate_of("g", kind="georisk_not_worse", **options), candidate, systems))


def refused(reason: str) -> Verdict:
    where = Path("runs/new.run")
    error = DataError("expected 6 columns, found 5", where=where, line=3, reason=reason)
    return incomparable(gate_of("g"), error, measure="AP", candidate="candidate", baselines=("prod",))


def identical() -> Verdict:
    digests = Inputs(candidate="sha256:1", baselines={"baseline": "sha256:1"})
    return worded(replace(asked(np.zeros(30)), inputs=digests))


def one_topic() -> np.ndarray:
    return np.concatenate([[-0.6], np.tile([-0.02, 0.02], 10), np.zeros(9)])


#: Verdict, advice, line, paragraph.
CARDS: dict[str, tuple[Callable[[], Verdict], str, str, str]] = {
    "group": (
        lambda: asked(CODES, KINDS, alpha=5, on_churn="fail"),
        "Don't ship",
        "kind=code queries got worse; 8 of 30 lost, the mean rose 0.65 -> 0.66",
        (
            "8 of 30 kind=code queries got worse, and no others. The mean rose (0.65 -> 0.66) because 60 "
            "other queries improved. The mean itself is not significantly down, but counting losses 6 times "
            "the loss is beyond chance and the tolerated 0.005; on_churn: warn would let it pass. A change "
            "like this that leaves the mean alone would fail in about 97% of cases."
        ),
    ),
    "no group": (
        lambda: asked(SPREAD, alpha=5, on_churn="fail"),
        "Don't ship",
        "losses counted 6 times outweigh gains; 20 of 60 queries lost, 20 gained",
        (
            "20 of 60 queries got worse. The mean rose (0.650 -> 0.657) because 20 other queries improved. "
            "The mean itself is not significantly down, but counting losses 6 times the loss is beyond "
            "chance and the tolerated 0.005; on_churn: warn would let it pass. A change like this that "
            "leaves the mean alone would fail in about 99% of cases."
        ),
    ),
    "one topic": (
        lambda: asked(one_topic(), alpha=20, method="percentile", on_churn="fail"),
        "Don't ship",
        "t00000 got much worse; 0.65 -> 0.05, 75% of the loss, 11 of 30 queries lost",
        (
            "11 of 30 queries got worse; t00000 alone makes up 75% of the loss. The mean fell (0.65 -> "
            "0.63), although 10 queries improved. The mean itself is not significantly down, but counting "
            "losses 21 times the loss is beyond chance and the tolerated 0.005; on_churn: warn would let it "
            "pass. A change like this that leaves the mean alone would fail in about 50% of cases."
        ),
    ),
    "loss": (
        lambda: asked(np.linspace(-0.3, 0.05, 40)),
        "Don't ship",
        "the mean fell 0.65 -> 0.53; 34 of 40 queries lost, 6 gained, 0.005 tolerated",
        (
            "34 of 40 queries got worse. The mean fell significantly (0.65 -> 0.53), although 6 queries "
            "improved. Counting losses twice, the loss is significantly more than the tolerated 0.005. With "
            "losses counted once and nothing tolerated, it fails as well."
        ),
    ),
    "loss beyond the tolerance": (
        lambda: asked(np.linspace(-0.3, 0.05, 40), tolerance=0.05),
        "Don't ship",
        "the mean fell 0.65 -> 0.53; 34 of 40 queries lost, 6 gained, 0.05 tolerated",
        (
            "34 of 40 queries got worse. The mean fell significantly (0.65 -> 0.53), although 6 queries "
            "improved. Counting losses twice, the loss is significantly more than the tolerated 0.05. With "
            "losses counted once and nothing tolerated, it fails as well."
        ),
    ),
    "churn allowed": (
        lambda: asked(CODES, KINDS, alpha=5, on_churn="warn"),
        "Ship with care",
        "kind=code queries got worse; 8 of 30 lost, the mean rose 0.65 -> 0.66",
        (
            "8 of 30 kind=code queries got worse, and no others. The mean rose (0.65 -> 0.66) because 60 "
            "other queries improved. The mean itself is not significantly down, but counting losses 6 times "
            "the loss is beyond chance and the tolerated 0.005; on_churn: fail would stop it. On their own, "
            "the queries of kind=code are significantly risky."
        ),
    ),
    "collapse of one": (
        lambda: asked(one_topic(), kind="no_topic_collapse"),
        "Don't ship",
        "t00000 lost 0.60; 0.65 -> 0.05, none may lose more than 0.50",
        (
            "1 of 30 queries lost more than 0.50: t00000 by 0.60. The mean fell (0.65 -> 0.63), although 10 "
            "queries improved."
        ),
    ),
    "collapse of several": (
        lambda: asked(CODES, KINDS, kind="no_topic_collapse"),
        "Don't ship",
        "8 of 120 queries lost more than 0.50; none may, all 8 are kind=code",
        (
            "8 of 120 queries lost more than 0.50: t00000 by 0.60, t00001 by 0.60, t00002 by 0.60 and 5 "
            "others. All 8 are kind=code. The mean rose (0.65 -> 0.66) because 60 other queries improved."
        ),
    ),
    "no collapse": (
        lambda: asked(one_topic(), kind="no_topic_collapse", max_loss=0.64),
        "Ship",
        "no query lost more than 0.64; the largest loss is 0.60",
        (
            "None of 30 queries lost more than 0.64; the largest of 11 losses is t00000 by 0.60. The mean "
            "fell (0.65 -> 0.63); 10 queries improved."
        ),
    ),
    "tail beyond what is allowed": (
        lambda: asked(TEN, TEN_CODES, kind="no_topic_collapse", max_loss=0.3, allowed=0.05),
        "Don't ship",
        "10 of 100 queries lost more than 0.30; at most 5 may, all 10 are kind=code",
        (
            "10 of 100 queries lost more than 0.30: t00000 by 0.50, t00001 by 0.50, t00002 by 0.50 and 7 "
            "others. At most 5 may. All 10 are kind=code. The mean rose (0.65 -> 0.68) because 70 other "
            "queries improved."
        ),
    ),
    "tail within what is allowed": (
        lambda: asked(TEN, TEN_CODES, kind="no_topic_collapse", max_loss=0.3, allowed=10),
        "Ship",
        "10 of 100 queries lost more than 0.30; 10 may, all 10 are kind=code",
        (
            "10 of 100 queries lost more than 0.30: t00000 by 0.50, t00001 by 0.50, t00002 by 0.50 and 7 "
            "others. 10 may. All 10 are kind=code. The mean rose (0.65 -> 0.68); 70 queries improved."
        ),
    ),
    "lost altogether": (
        lambda: asked(np.concatenate([np.full(4, -0.65), np.zeros(96)]), kind="no_topic_collapse"),
        "Don't ship",
        "4 of 100 queries lost everything; none may lose more than 0.50",
        (
            "4 of 100 queries lost more than 0.50: t00000 by 0.65, t00001 by 0.65, t00002 by 0.65 and 1 "
            "other. The mean fell (0.65 -> 0.62)."
        ),
    ),
    "everything a little down": (
        lambda: asked(np.linspace(-0.08, 0.004, 100)),
        "Don't ship",
        "nearly every query lost a little; the mean fell 0.65 -> 0.61, 0.005 tolerated",
        (
            "95 of 100 queries got worse. The mean fell significantly (0.65 -> 0.61), although 5 queries "
            "improved. Counting losses twice, the loss is significantly more than the tolerated 0.005. With "
            "losses counted once and nothing tolerated, it fails as well."
        ),
    ),
    "too few changes": (
        lambda: asked(np.concatenate([np.full(3, -0.3), [0.02], np.zeros(96)]), alpha=5),
        "Ship with care",
        "too few changes to show a lower mean; 3 of 100 queries lost, 1 gained",
        (
            "3 of 100 queries got worse; t00000 alone makes up 33% of the loss. The mean fell (0.65 -> "
            "0.64), although 1 query improved. Too few changes to show a lower mean: the mean itself is not "
            "significantly down, but counting losses 6 times the loss is beyond chance and the tolerated "
            "0.005; on_churn: fail would stop it. Only 4 queries changed: too few for one interval to "
            "decide."
        ),
    ),
    "six of a hundred": (
        lambda: asked(np.concatenate([np.full(6, -0.5), np.zeros(94)]), level=1.0),
        "Don't ship",
        "the mean fell 1.00 -> 0.97; 6 of 100 queries lost, none gained, 0.005 tolerated",
        (
            "6 of 100 queries got worse. The mean fell significantly (1.00 -> 0.97). Counting losses twice, "
            "the loss is significantly more than the tolerated 0.005. With losses counted once and nothing "
            "tolerated, it fails as well."
        ),
    ),
    "not inferior not shown": (
        lambda: asked(SPREAD, kind="not_inferior", alpha=0, tolerance=0.05),
        "Don't ship",
        "not shown to be good enough; a loss of 0.06 cannot be excluded, 0.05 is allowed",
        (
            "20 of 60 queries got worse. The mean rose (0.650 -> 0.657) because 20 other queries improved. The "
            "mean difference is not shown to be above -0.05: it may be as low as -0.06. About 162 queries like "
            "these would show it."
        ),
    ),
    "not inferior shown": (
        lambda: asked(SPREAD, kind="not_inferior", alpha=0, tolerance=0.2),
        "Ship",
        "shown to be good enough; the loss is at most 0.06, 0.2 may be lost",
        (
            "20 of 60 queries got worse. The mean rose (0.650 -> 0.657); 20 queries improved. The mean difference"
            " is shown to be above -0.20: it is at least -0.06."
        ),
    ),
    "GeoRisk worse": (
        lambda: pooled(-0.1),
        "Don't ship",
        "riskier than prod; 51 of 60 queries lost, 9 gained, the mean fell 0.50 -> 0.40",
        (
            "51 of 60 queries got worse. The mean is below that of prod (0.50 -> 0.40). By GeoRisk the "
            "candidate is 0.05 riskier than prod, significantly. With losses counted no more than wins, it "
            "fails as well."
        ),
    ),
    "GeoRisk weak pass": (
        lambda: pooled(-0.018),
        "Ship with care",
        "not shown to be riskier than prod; 38 of 60 queries lost, 22 gained",
        (
            "38 of 60 queries got worse. The mean is below that of prod (0.50 -> 0.48). By GeoRisk the candidate "
            "is 0.008 riskier than prod, not significantly. This pass is weak: the difference of GeoRisk "
            "is -0.008."
        ),
    ),
    "too few": (
        lambda: asked(np.full(5, -0.1)),
        "No verdict",
        "5 judged queries are too few; at least 10 are needed",
        ("All 5 queries got worse. The mean fell (0.65 -> 0.55). 5 queries are too few; at least 10 are needed."),
    ),
    "too weak": (
        lambda: asked(SPREAD, alpha=0, max_mde=0.001),
        "No verdict",
        "too weak to judge; losses below 0.10 go unseen, and max_mde is 0.001",
        (
            "20 of 60 queries got worse. The mean rose (0.650 -> 0.657) because 20 other queries improved. "
            "No significant risk was found, but the smallest detectable loss of the mean at 80% power is "
            "0.10, more than max_mde allows."
        ),
    ),
    "bad run": (
        lambda: refused("bad_run"),
        "No verdict",
        "cannot be compared: new.run:3: expected 6 columns, found 5",
        "Nothing was compared: new.run:3: expected 6 columns, found 5.",
    ),
    "no common topic": (
        lambda: refused("no_common_topic"),
        "No verdict",
        "cannot be compared: new.run:3: expected 6 columns, found 5",
        "Nothing was compared: new.run:3: expected 6 columns, found 5.",
    ),
    "pass": (
        lambda: asked(np.tile([-0.05, 0.058, 0.0], 40), alpha=0),
        "Ship",
        "no sign of harm; 40 of 120 queries lost, 40 gained, the mean stayed at 0.65",
        "40 of 120 queries got worse. The mean rose (0.650 -> 0.653); 40 queries improved.",
    ),
    "weak pass": (
        lambda: asked(np.tile([-0.1, 0.065, 0.02], 40), alpha=0, tolerance=0),
        "Ship with care",
        "the mean fell 0.650 -> 0.645, as much as chance may explain; 80 gained",
        (
            "40 of 120 queries got worse. The mean fell (0.650 -> 0.645); 80 queries improved. This pass is "
            "weak: URisk is -0.005."
        ),
    ),
    "little power": (
        lambda: asked(np.tile([-0.6, 0.62, 0.1], 5), alpha=0),
        "Ship with care",
        "no harm shown, but a loss of 0.37 may go unseen; 5 of 15 queries lost, 10 gained",
        (
            "5 of 15 queries got worse. The mean rose (0.65 -> 0.69); 10 queries improved. A loss of up to 0.37"
            " in the mean may go unseen: the gate has little power."
        ),
    ),
    "better": (
        lambda: asked(np.tile([-0.05, 0.2, 0.1], 20)),
        "Ship",
        "the mean rose 0.65 -> 0.73, more than chance explains; 40 of 60 queries gained",
        "20 of 60 queries got worse. The mean rose significantly (0.65 -> 0.73); 40 queries improved.",
    ),
    "identical": (
        identical,
        "Ship",
        "identical to baseline",
        "The candidate is identical to the baseline baseline: no ranking changed.",
    ),
    "nothing changed": (
        lambda: asked(np.zeros(30)),
        "Ship",
        "nothing changed; 30 queries score as before",
        "No score changed.",
    ),
    "slice": (
        lambda: worded(altered(asked(SPREAD, alpha=5, on_churn="fail"), slice="kind=code")),
        "Don't ship",
        "kind=code queries got worse; 20 of 60 queries lost, 20 gained",
        (
            "20 of 60 kind=code queries got worse. The mean rose (0.650 -> 0.657) because 20 other queries "
            "improved. The mean itself is not significantly down, but counting losses 6 times the loss is "
            "beyond chance and the tolerated 0.005; on_churn: warn would let it pass. A change like this "
            "that leaves the mean alone would fail in about 99% of cases."
        ),
    ),
    "family": (
        CASES["family"],
        "Don't ship",
        "the mean fell 0.50 -> 0.34; 12 of 30 queries lost, none gained, 0.005 tolerated",
        (
            "12 of 30 queries got worse. The mean fell significantly (0.50 -> 0.34). Counting losses twice, "
            "the loss is significantly more than the tolerated 0.005. With losses counted once and nothing "
            "tolerated, it fails as well."
        ),
    ),
    "smooth": (
        lambda: asked(np.tile([-0.6, 0.25, 0.36, 0.0], 15), tradeoff="smooth", on_churn="fail"),
        "Don't ship",
        "larger losses outweigh gains; 15 of 60 queries lost, 30 gained",
        (
            "15 of 60 queries got worse. The mean rose (0.650 -> 0.652) because 30 other queries improved. "
            "The mean itself is not significantly down, but counting larger losses more the loss is beyond "
            "chance; on_churn: warn would let it pass."
        ),
    ),
    "weighted": (
        lambda: asked(
            np.linspace(-0.3, 0.05, 40),
            replace(tagged(40), weighting=[1.0 + i % 2 for i in range(40)]),
            weighted=True,
        ),
        "Don't ship",
        "the weighted mean fell 0.65 -> 0.53; 34 of 40 queries lost, 6 gained",
        (
            "34 of 40 queries got worse. The weighted mean fell significantly (0.65 -> 0.53), although 6 "
            "queries improved. Counting losses twice, the loss is significantly more than the tolerated "
            "0.005. With losses counted once and nothing tolerated, it fails as well."
        ),
    ),
}


@pytest.mark.parametrize("kind", CARDS)
def test_a_card_says(kind):
    make, advice, first_line, paragraph = CARDS[kind]
    shown = card(make())
    assert (shown.advice, shown.line, shown.paragraph) == (advice, first_line, paragraph)


@pytest.mark.parametrize("kind", CARDS)
def test_the_card_and_the_report_have_one_voice(kind):
    verdict = CARDS[kind][0]()
    if verdict.explanation is not None:
        assert card(verdict).paragraph == verdict.explanation.summary


@pytest.mark.parametrize("kind", CARDS)
def test_figures_are_those_of_the_report_rounded(kind):
    verdict = CARDS[kind][0]()
    shown, interval = card(verdict), verdict.decisive_interval
    said = [float(number) for number in re.findall(r"[-+]\d+\.\d+", shown.estimate)]
    risk = verdict.estimates.georisk_difference if verdict.asked.is_pool else verdict.estimates.urisk
    if not said or risk is None:
        return
    limits = [] if interval is None else [interval.lower, interval.upper]
    assert said == pytest.approx([risk, *limits], abs=0.00501)
    assert all(f"{number:+.3f}"[:5] in shown.why or f"{number:+.2f}" in shown.why for number in said[:1])
    if limits and shown.why:
        between = re.search(r" interval ([-+][\d.]+) to ([-+][\d.]+), ", shown.why)
        assert between is not None
        assert [float(limit) for limit in between.groups()] == said[1:]


@pytest.mark.parametrize(
    ("kind", "tone"),
    [
        ("group", "stop"),
        ("bad run", "stop"),
        ("too few", "stop"),
        ("churn allowed", "caution"),
        ("weak pass", "caution"),
        ("GeoRisk weak pass", "caution"),
        ("little power", "caution"),
        ("pass", "go"),
        ("better", "go"),
        ("identical", "go"),
    ],
)
def test_the_tone_says_what_happens_to_the_build(kind, tone):
    assert card(CARDS[kind][0]()).tone == tone


def test_what_only_warns_does_not_stop():
    warned = card(asked(np.full(5, -0.1), on_inconclusive="warn"))
    assert (warned.tone, warned.advice) == ("caution", "No verdict")


def test_how_often_a_harmless_change_fails_is_said_where_it_is_known():
    verdict = CARDS["group"][0]()
    power = Power(verdict.power.minimum_detectable_effect, churn_failure_rate=0.618)
    said = card(worded(altered(verdict, power=power))).paragraph
    assert said.endswith(" A change like this that leaves the mean alone would fail in about 62% of cases.")
    assert " of cases" not in card(altered(verdict, power=Power())).paragraph


def test_a_figure_has_as_many_decimals_as_it_takes_not_to_mislead():
    assert card(asked(CODES / 200, KINDS, alpha=5, tolerance=0)).estimate.startswith("URisk -0.0009 [-0.00")


@pytest.mark.parametrize("kind", CARDS)
@pytest.mark.parametrize(
    "name", ["x" * 300, "検索" * 90, "a very long name " * 30, "x\n::error::y\x1b[31m\u202e[red]z" * 9]
)
def test_a_line_keeps_to_80_columns_whatever_names_are_given(kind, name):
    verdict = CARDS[kind][0]()
    topics = tuple(replace(topic, topic=name + topic.topic) for topic in verdict.responsible_topics)
    explanation = verdict.explanation
    if explanation is not None:
        groups = tuple(
            replace(group, tag=name, value=name, topics=tuple(name + topic for topic in group.topics))
            for group in explanation.groups
        )
        explanation = replace(explanation, groups=groups)
    long = altered(
        verdict,
        responsible_topics=topics,
        explanation=explanation,
        slice=verdict.slice and f"lang={clean(name)}",
        baselines=(name, *verdict.baselines[1:]),
    )
    if verdict.pool is not None:
        long = altered(long, pool=replace(verdict.pool, decided_by=name))
    if verdict.identical_to:
        long = altered(long, inputs=Inputs(candidate="sha256:1", baselines={name: "sha256:1"}))
    shown = card(worded(long), reproduce="pytest")
    assert cell_len(shown.line) <= 80
    assert shown.line.isprintable()
    assert shown.paragraph.isprintable()
    assert len(shown.paragraph) < 900
    assert all(step.command.isprintable() and step.text.isprintable() for step in shown.steps)


def test_the_worst_topics_are_those_that_explain_the_outcome_most_harmful_first():
    failed = CARDS["group"][0]()
    assert [topic.topic for topic in card(failed).worst] == [f"t{i:05d}" for i in range(8)]
    collapsed = card(CASES["collapse"]())
    assert [topic.topic for topic in collapsed.worst] == ["t07", "t02"]


def test_the_line_of_a_slice_names_the_slice_whatever_group_stands_out_in_it():
    whole = asked(CODES, KINDS, alpha=5, on_churn="fail")
    assert card(whole).line.startswith("kind=code queries got worse; ")
    assert card(altered(whole, slice="lang=en")).line.startswith("lang=en queries got worse; ")


def test_a_tag_that_most_topics_have_is_no_explanation_of_the_losses():
    losses = np.concatenate([np.full(10, -0.6), [-0.6], np.zeros(49)])
    common = tagged(60, kind=["code"] * 10 + ["prose"] + ["code"] * 38 + ["prose"] * 11)
    rare = tagged(60, kind=["code"] * 10 + ["prose"] * 50)
    assert "kind=code" not in card(asked(losses, common)).line  # 91% of the loss, 80% of the topics
    assert card(asked(losses, rare)).line.startswith("kind=code queries got worse; ")


def test_slices_come_riskiest_first_and_those_too_small_to_test_last():
    parts = [(part.value, part.risky) for part in card(explained()).slices]
    assert parts == [("code", True), ("words", False), ("one word", None)]


def test_a_command_is_a_step_only_where_it_runs():
    typed = Commands(judge_next="riskguard judge-next --gate no-risk")
    here = card(replace(explained(), commands=typed), reproduce="pytest x", report="out.html", here=True)
    assert [step.command for step in here.steps] == ["pytest x", "", "riskguard judge-next --gate no-risk"]
    assert here.steps[1].text == "Report: out.html"
    assert here.steps[2].text == "14 top-10 documents are unjudged; list those to judge first"
    words = "14 top-10 documents are unjudged; judge-next lists those to judge first"
    for elsewhere in (card(replace(explained(), commands=typed)), card(explained(), here=True)):
        assert [(step.text, step.command) for step in elsewhere.steps] == [(words, "")]
    assert card(altered(explained(), outcome="pass"), reproduce="pytest x").steps[0].command != "pytest x"


def test_good_news_is_a_step_and_nothing_to_care_about():
    better = card(CARDS["better"][0]())
    assert better.tone == "go"
    assert (better.steps[-1].text, better.steps[-1].command) == (
        "Once it is released, it can become the baseline",
        "",
    )
    assert VerdictWarning("significantly_better").code in [warning.code for warning in CARDS["better"][0]().warnings]
