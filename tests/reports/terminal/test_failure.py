"""A verdict as text: what is said, and that no data can say anything else."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pytest_riskguard import TopicScores, check
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.reports.shown import Shown
from pytest_riskguard.reports.terminal.failure import explain
from pytest_riskguard.run_context import Screen
from tests.plugin.world import CHURN, GOOD, LOSS, differences


def verdict(ranks: dict[str, int], **options: Any) -> Verdict:
    scores = differences(ranks)
    return check(
        "not_significantly_risky",
        {topic: after for topic, (_, after) in scores.items()},
        {topic: before for topic, (before, _) in scores.items()},
        **options,
    )


def test_the_headline_says_verdict_effect_interval_topics_and_the_worst_one():
    assert re.fullmatch(
        r"significantly risky: URisk\(alpha=1\) = -0\.3233 \[-0\.\d{4}, -0\.\d{4}\] \(30 topics; worst: t07\)",
        Shown(verdict(LOSS)).headline(),
    )
    assert Shown(verdict(GOOD)).headline().startswith("not significantly risky: URisk(alpha=1) = +0.1222 [")
    assert "worst" not in Shown(verdict(GOOD)).headline()


def test_few_topics_are_inconclusive_and_said_to_be_too_few():
    few = check("not_significantly_risky", {"1": 0.5, "2": 0.4}, {"1": 0.5, "2": 0.5})
    text = explain(few)
    assert text.startswith("inconclusive, too few topics: URisk(alpha=1) = -0.1000 (2 topics)")
    assert "too few topics: intervals are not reliable below 10" in text
    assert "would pass without" not in text
    single = check("not_significantly_risky", {"1": 0.5}, {"1": 0.5})
    assert explain(single).startswith("inconclusive, too few topics: URisk(alpha=1) = +0.0000 (1 topic)")


def test_a_gate_that_could_not_have_seen_it_says_what_it_could_see():
    weak = verdict(GOOD, max_mde=1e-4)
    assert weak.reason == "too_weak"
    assert "smallest detectable loss at 80% power" in " ".join(explain(weak).split())


def test_the_alpha_that_still_passes_does_pass():
    text = " ".join(explain(verdict(CHURN, alpha=5)).split())
    (printed,) = re.findall(r"It passes up to alpha ([\d.]+)\. ", text)
    assert verdict(CHURN, alpha=float(printed)).passed
    assert not verdict(CHURN, alpha=float(printed) + 0.02).passed


def test_the_topics_said_to_flip_the_verdict_do():
    failed = verdict(LOSS)
    text = " ".join(explain(failed).split())
    (named,) = re.findall(r"would pass without 9 topics: ([t\d, ]+) \(found greedily", text)
    scores = {topic: pair for topic, pair in differences(LOSS).items() if topic not in named.split(", ")}
    again = check(
        "not_significantly_risky", {t: s[1] for t, s in scores.items()}, {t: s[0] for t, s in scores.items()}
    )
    assert again.passed


def test_the_share_of_the_loss_adds_up():
    text = explain(verdict(LOSS), Screen(None, 120))
    shares = [float(share) for share in re.findall(r"([\d.]+)%(?:  flagged)?$", text, re.MULTILINE)]
    assert len(shares) == 12
    assert sum(shares) == pytest.approx(100, abs=12 * 0.05)


@pytest.mark.parametrize("width", [60, 76, 80, 100, 120, 200])
def test_paragraphs_and_table_keep_to_the_width(width):
    topics = {f"a-long-name-of-a-topic-number-{topic}": pair for topic, pair in differences(LOSS).items()}
    candidate, baseline = (
        TopicScores.from_mapping({topic: pair[side] for topic, pair in topics.items()}, name="x") for side in (1, 0)
    )
    text = explain(check("not_significantly_risky", candidate, baseline), Screen(None, width))
    for line in text.splitlines()[1:]:
        words = line.split()
        assert len(line) <= max(width, 64) or len(words) == 1, line
    assert len(re.findall(r"0\.5000 -> 0\.\d{4} +-0\.\d{4} +\d+\.\d%", text)) == 12


def test_topic_ids_of_any_kind_stay_on_their_line():
    hostile = "x\n::error::y\x1b[31m\u202e[red]z"
    topics = [f"{hostile}{number}" for number in range(12)]
    text = explain(check("not_significantly_risky", dict.fromkeys(topics, 0.1), dict.fromkeys(topics, 0.5)))
    assert "x : :error::y[31m[red]z0" in text
    assert not re.search(r"^(::|##\[)", text, re.MULTILINE)
    assert not {"\x1b", "\u202e"} & set(text)


def flat(text: str) -> str:
    return " ".join(text.split())


def test_the_minus_convention_shows_the_same_figures_with_the_other_sign():
    plus, minus = verdict(LOSS), verdict(LOSS, convention="minus")
    assert minus.estimates == plus.estimates
    assert (minus.outcome, minus.intervals) == (plus.outcome, plus.intervals)
    interval = plus.decisive_interval
    assert interval is not None
    limits = f"[{-interval.upper:+.4f}, {-interval.lower:+.4f}]"
    assert f"URisk-(alpha-hat=2) = +0.3233 {limits}" in Shown(minus).headline()
    text = flat(explain(minus))
    assert f"TRisk- {-plus.estimates.trisk:+.3f}" in text
    assert f"BCa [{-interval.upper:+.4f}, {-interval.lower:+.4f}] (decisive)" in text
    assert "detectable URisk at 80% power: +0." in flat(explain(verdict(GOOD, convention="minus")))


def test_smooth_and_weighted_figures_are_named_so():
    weights = dict.fromkeys(differences(LOSS), 2.0)
    assert "URisk(smooth) = " in Shown(verdict(LOSS, tradeoff="smooth")).headline()
    assert "weighted URisk(alpha=1) = -0.3233 [" in Shown(verdict(LOSS, weights=weights)).headline()
    assert "weighted mean 0.5000 -> " in flat(explain(verdict(LOSS, weights=weights)))


def test_what_the_baseline_itself_loses_is_said_before_the_excess():
    scores = {topic: before for topic, (before, _) in differences(LOSS).items()}
    again = [{topic: score - 0.1 * (i % 2) for i, (topic, score) in enumerate(scores.items())}]
    judged = verdict(LOSS, replicates=again)
    assert Shown(judged).headline().startswith("significantly risky: excess URisk(alpha=1) = -0.2233 [")
    assert (
        "URisk -0.3233, of which -0.1000 is the baseline's own noise (mean URisk of its 1 replicate against it); "
        "the excess -0.2233 is judged"
    ) in flat(explain(judged))


def asked(kind: str, ranks: dict[str, int], **options: Any) -> Verdict:
    scores = differences(ranks)
    return check(kind, {t: s[1] for t, s in scores.items()}, {t: s[0] for t, s in scores.items()}, **options)


def test_what_is_not_shown_says_what_would_show_it():
    text = flat(explain(asked("not_inferior", GOOD, alpha=0, tolerance=0.0)))
    assert text.startswith("non-inferior: URisk(alpha=0) = +0.1361 [")
    text = flat(explain(asked("not_inferior", CHURN, alpha=0, tolerance=0.05)))
    assert text.startswith("not shown to be non-inferior: URisk(alpha=0) = ")
    assert re.search(r"not enough evidence that it is above -0.0500; about \d+ topics like these would", text)
    text = flat(explain(asked("not_inferior", LOSS, tolerance=0.05, convention="minus")))
    assert "the estimate itself is not below +0.0500, so no number of topics would show it" in text


def test_a_collapse_names_the_topics_and_the_limits_that_they_exceed():
    text = explain(asked("no_topic_collapse", LOSS, max_loss=0.42, max_share=0.85, protected=["t02"]))
    first = "2 topics collapsed: worst t07 -0.4500; limits: loss 0.42, 85% of the baseline's score, 1 entry protected"
    assert text.startswith(f"{first} (30 topics)\n")
    assert "topics responsible (2 of 12 topics lost too much):" in text
    rows = [line.split() for line in text.splitlines() if line.startswith("    t")]
    assert [(row[0], row[-2:]) for row in rows[1:]] == [
        ("t07", ["loss,", "share"]),
        ("t02", ["-0.4000", "protected"]),
    ]
    assert "would pass without" not in text
    passed = asked("no_topic_collapse", LOSS)
    assert explain(passed).startswith("no topic collapsed: largest loss t07 -0.4500; limits: loss 0.5 (30 topics)\n")
    assert Shown(asked("no_topic_collapse", {})).headline().startswith("no topic collapsed: no loss; limits")


def test_the_studentized_and_the_basic_interval_are_shown_where_they_decide():
    assert "basic" not in explain(verdict(LOSS))
    assert re.search(r"basic \[[^]]*\] \(decisive\)", flat(explain(verdict(LOSS, method="basic"))))


def test_several_gates_without_correction_are_said_to_be():
    from pytest_riskguard.reports.terminal.failure import uncorrected

    assert uncorrected([verdict(LOSS)]) is None
    assert uncorrected([verdict(LOSS), asked("no_topic_collapse", LOSS)]) is None
    said = uncorrected([verdict(LOSS), verdict(GOOD)])
    assert said is not None
    assert said.startswith("2 risk gates, each at its own level")


def test_a_gate_that_passes_says_up_to_which_alpha_it_would():
    passed = verdict(CHURN, alpha=1)
    assert passed.outcome == "pass"
    text = flat(explain(passed))
    ((alpha, times),) = re.findall(r"passes up to alpha ([\d.]+): losses may count ([\d.]+) times", text)
    assert float(times) == pytest.approx(1 + float(alpha), abs=0.011)
    assert verdict(CHURN, alpha=float(alpha)).passed
    assert not verdict(CHURN, alpha=float(alpha) + 0.02).passed
    assert "it passes at any alpha" in explain(verdict({"t01": 1}))


def test_a_tolerance_is_in_the_headline():
    assert "; bound -0.5000)" in Shown(verdict(LOSS, tolerance=0.5)).headline()
    assert "bound" not in Shown(verdict(LOSS)).headline()
