"""A gate over a pool: which systems are compared, with which levels and bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_riskguard.data.topics import Topics
from pytest_riskguard.errors import DataError
from pytest_riskguard.gates.pool import PoolComparison
from pytest_riskguard.inference.families import effective_levels, holm
from pytest_riskguard.risk import georisk
from tests.gates.conftest import pooled, topic_scores
from tests.strict import gate_of

X = np.random.default_rng(9).uniform(0.2, 0.8, (5, 12))


def compared(x: np.ndarray, *, names: str = "xabcd", topics: Topics | None = None, **options: Any) -> PoolComparison:
    candidate, *baselines = (topic_scores(name, values) for name, values in zip(names, x, strict=False))
    gate = gate_of("g", kind="georisk_not_worse", **options)
    return pooled(gate, candidate, *baselines, topics=topics)


def changed(row: int, column: int, value: float) -> np.ndarray:
    x = X.copy()
    x[row, column] = value
    return x


#: The first system has most of all scores, and the first topic has a score of every system: 10 x 3/12 is expected.
LOPSIDED = np.array([[1.0] * 10] + [[1.0] + [0.0] * 9] * 2)


@pytest.mark.parametrize(
    ("x", "tradeoff", "message"),
    [
        (
            changed(2, 7, -0.25),
            "linear",
            "b: the score of topic 't00007' is -0.25, expected scores that are not negative for GeoRisk",
        ),
        (
            changed(1, 3, 1.5),
            "smooth",
            "a: the score of topic 't00003' is 1.5, expected scores from 0 to 1, and within 1 of what the pool leads "
            "to expect (tradeoff: smooth) for GeoRisk",
        ),
        (
            LOPSIDED,
            "smooth",
            "x: the score of topic 't00000' is 1, expected scores from 0 to 1, and within 1 of what the pool leads "
            "to expect (tradeoff: smooth) for GeoRisk",
        ),
    ],
)
def test_scores_that_georisk_is_not_defined_for_are_named(x, tradeoff, message):
    with pytest.raises(DataError) as refused:
        compared(x, tradeoff=tradeoff)
    assert str(refused.value) == message
    assert refused.value.reason == "bad_scores"


def test_the_largest_georisk_is_by_the_gates_trade_off_at_its_own_alpha_only():
    linear, smooth = compared(X, alpha=3.0), compared(X, tradeoff="smooth")
    at_0 = georisk(X, alpha=0.0).max()
    assert linear.largest == (georisk(X, alpha=3.0).max(), at_0)
    assert smooth.largest == (georisk(X, alpha=smooth.gate.alpha, kind="smooth").max(), at_0)


def test_the_references_are_those_that_the_gate_names():
    assert [(r.name, r.row) for r in compared(X).references] == [("a", 1)]
    (third,) = compared(X, reference="c").references
    assert (third.name, third.row, third.scores.values.tolist()) == ("c", 3, X[3].tolist())
    every = compared(X, reference="any").references
    assert [(r.name, r.row) for r in every] == [("a", 1), ("b", 2), ("c", 3), ("d", 4)]
    assert [r.scores.values.tolist() for r in every] == X[1:].tolist()
    named = compared(X, names="xabcd".replace("b", "M"), reference="M").references
    assert [(r.name, r.row) for r in named] == [("M", 2)]
    with pytest.raises(ValueError) as refused:  # noqa: PT011 (the whole message is compared below)
        compared(X, reference="z")
    assert str(refused.value) == "reference: 'z' is not a baseline of this gate; expected a, b, c, d, any or median"


@pytest.mark.parametrize("count", [5, 4])
def test_the_median_is_the_baseline_or_the_two_in_the_middle(count):
    x = X[:count]
    comparison = compared(x, alpha=2.0, reference="median")
    (reference,) = comparison.references
    order = 1 + np.argsort(georisk(x, alpha=2.0)[1:])
    rows = [order[1], order[2]] if count == 5 else [order[1]]
    assert (reference.name, reference.row) == ("median", "median")
    assert reference.scores.name == " and ".join("xabcd"[row] for row in rows)
    assert reference.scores.values == pytest.approx(x[rows].mean(axis=0), abs=1e-15)
    assert reference.scores.topics == comparison.topics


@pytest.mark.parametrize(
    ("reference", "on_churn", "tradeoff"),
    [
        (None, "warn", "linear"),
        ("median", "fail", "smooth"),
        pytest.param("any", "warn", "linear", marks=pytest.mark.slow),
    ],
)
def test_a_pool_without_some_topics_is_the_same_question(reference, on_churn, tradeoff):
    options: dict[str, Any] = {"level": 0.99, "reference": reference, "on_churn": on_churn, "tradeoff": tradeoff}
    comparison = compared(X, **options)
    for places in ([0, 5], [3]):
        passes, limit = comparison.without(np.array(places))
        left = compared(np.delete(X, places, axis=1), **options)
        assert (limit(), passes) == (left.deciding.upper, left.ruling.lets_through)


def test_the_plain_question_is_that_of_the_mean_score_alone():
    plain, asked = compared(X, alpha=3.0, tolerance=0.1).ruling.plain, compared(X, alpha=0.0).ruling
    assert [one.p_value for one in plain.against] == [one.p_value for one in asked.against]


@pytest.mark.parametrize("reference", [None, "any"])
def test_each_reference_has_the_level_that_holm_leaves_it(reference):
    comparison = compared(X[:3], alpha=1.0, level=0.6, tolerance=0.01, method="percentile", reference=reference)
    rulings = comparison.ruling.against
    p_values = [ruling.p_value for ruling in rulings]
    assert [ruling.adjusted_p_value for ruling in rulings] == holm(p_values).tolist()
    left = effective_levels(p_values, level=0.6) if reference else [0.4]
    assert [ruling.level for ruling in rulings] == pytest.approx([1 - alpha for alpha in left], abs=1e-15)
    largest = georisk(X[:3], alpha=1.0).max()
    assert {ruling.bound for ruling in rulings} == {-0.01 - 1e-12 * largest}
    for place, ruling in enumerate(rulings):
        values = georisk(X[:3], alpha=1.0)
        assert ruling.difference.estimate == pytest.approx(values[0] - values[1 + place], abs=1e-15)
        by = {m: ruling.difference.p_value(method=m, bound=ruling.bound) for m in ("percentile", "student_t")}
        assert ruling.p_value == max(by.values())
