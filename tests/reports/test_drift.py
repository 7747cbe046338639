"""The table of a chain of accepted runs, and what is said below it."""

import numpy as np

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.gates.history import Chain
from pytest_riskguard.gates.kinds import NotSignificantlyRisky
from pytest_riskguard.reports import drift


def scores(values, name):
    topics = tuple(f"t{number:03d}" for number in range(len(values)))
    return TopicScores(name, "AP", topics, np.asarray(values, dtype=float))


def explain(chain, *names, alpha=1.0):
    gate = NotSignificantlyRisky(alpha=alpha, tolerance=0.0)
    return drift.explain(Chain(gate, chain), names or [run.name for run in chain])


def test_each_run_is_a_line_named_by_the_run_or_as_asked():
    chain = [scores(np.full(20, value), name) for value, name in ((0.5, "a"), (0.75, "b"), (0.25, "c"))]
    heading, columns, *rows, _ = explain(chain).splitlines()
    assert heading == "AP, 20 topics: in total, URisk(alpha=1) and its 95% interval are against a"
    assert columns.split() == ["run", "mean", "change", "in", "all", "URisk", "interval", "losses"]
    assert [row.split() for row in rows] == [
        ["a", "0.5000"],
        ["b", "0.7500", "+0.2500", "+0.2500", "+0.2500", "[+0.2500,", "+0.2500]", "0"],
        ["c", "0.2500", "-0.5000", "-0.2500", "-0.5000", "[-0.5000,", "-0.5000]", "20"],
    ]
    other = explain(chain, "1", "2", "now").splitlines()
    assert [line.split()[0] for line in other[2:5]] == ["1", "2", "now"]


def test_a_fall_at_once_is_no_slow_slide():
    chain = [scores(np.full(20, 0.5), "a"), scores(np.full(20, 0.4), "b")]
    assert explain(chain).splitlines()[-1] == (
        "  significantly risky against a: the mean itself is significantly down"
    )


def test_churn_is_told_from_a_fall_of_the_mean():
    values = 0.5 + np.tile([0.1, -0.1], 20)
    chain = [scores(np.full(40, 0.5), "a"), scores(values, "b")]
    assert "only because losses weigh more (churn)" in explain(chain, alpha=5.0)


def test_an_oldest_run_that_is_beaten_is_no_yardstick():
    chain = [scores(np.full(20, value), name) for value, name in ((0.5, "a"), (0.4, "b"), (0.6, "c"), (0.7, "d"))]
    assert explain(chain).splitlines()[-1] == (
        "  a is no longer a yardstick: every run since c is significantly better"
    )


def test_too_few_topics_have_no_interval_and_say_so():
    *_, row, note = explain([scores([0.5] * 9, "a"), scores([0.1] * 9, "b")]).splitlines()
    assert row.split() == ["b", "0.1000", "-0.4000", "-0.4000", "-0.8000", "-", "9"]
    assert note == "  too few topics: an interval needs at least 10"


def test_a_chain_of_one_is_one_line():
    assert len(explain([scores([0.5] * 9, "a")]).splitlines()) == 3


def test_names_are_made_safe_and_lines_fit():
    names = ["::error::" + "x" * 40, "\x1b[31m" + "y" * 40]
    text = explain([scores(np.full(30, 0.5), "a"), scores(np.full(30, 0.4), "b")], *names)
    assert "\x1b" not in text
    assert "::error" not in text
    assert max(map(len, text.splitlines()[1:])) <= 80
