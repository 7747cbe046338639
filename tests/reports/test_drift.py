"""The table of a chain of accepted runs, and what is said below it."""

import numpy as np
import pytest

from pytest_riskguard.data.scores import TopicScores
from pytest_riskguard.gates.history import Chain
from pytest_riskguard.gates.kinds import NotSignificantlyRisky
from pytest_riskguard.reports import drift


def chain(*runs):
    """Runs with these scores, each named by a letter."""
    topics = tuple(f"t{number:03d}" for number in range(len(runs[0])))
    return [
        TopicScores(name, "AP", topics, np.asarray(values, dtype=float))
        for name, values in zip("abcd", runs, strict=False)
    ]


def explain(runs, *names, alpha=1.0):
    gate = NotSignificantlyRisky(alpha=alpha, tolerance=0.0)
    return drift.explain(Chain(gate, runs), names or [run.name for run in runs])


def flat(*means, topics=20):
    return chain(*(np.full(topics, mean) for mean in means))


def test_each_run_is_a_line_named_by_the_run_or_as_asked_and_safe():
    runs = flat(0.5, 0.75, 0.25)
    heading, columns, *rows, _ = explain(runs).splitlines()
    assert heading == "AP, 20 topics: in total, URisk(alpha=1) and its 95% interval are against a"
    assert columns.split() == ["run", "mean", "change", "in", "all", "URisk", "interval", "losses"]
    assert [row.split() for row in rows] == [
        ["a", "0.5000"],
        ["b", "0.7500", "+0.2500", "+0.2500", "+0.2500", "[+0.2500,", "+0.2500]", "0"],
        ["c", "0.2500", "-0.5000", "-0.2500", "-0.5000", "[-0.5000,", "-0.5000]", "20"],
    ]
    other = explain(runs, "1", "::error::" + "x" * 40, "\x1b[31m" + "y" * 40).splitlines()
    assert [line.split()[0] for line in other[2:4]] == ["1", ":"]
    assert "\x1b" not in "".join(other)
    assert max(map(len, other)) <= 80


@pytest.mark.parametrize(
    ("runs", "alpha", "said"),
    [
        (flat(0.5, 0.4), 1, "significantly risky against a: the mean itself is significantly down"),
        (
            chain(np.full(40, 0.5), 0.5 + np.tile([0.1, -0.1], 20)),
            5,
            "significantly risky against a: only because losses weigh more (churn)",
        ),
        (flat(0.5, 0.1, topics=9), 1, "too few topics: an interval needs at least 10"),
        (flat(0.5, topics=9), 1, "a    0.5000"),
    ],
)
def test_the_last_line_says_what_follows(runs, alpha, said):
    assert explain(runs, alpha=alpha).splitlines()[-1].strip() == said
