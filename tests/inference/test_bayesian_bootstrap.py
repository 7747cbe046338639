"""The Bayesian bootstrap against closed forms, laws and simulation."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainc

from pytest_riskguard.inference import bayesian_bootstrap

SCORES = st.lists(st.integers(-20, 20), min_size=1, max_size=12).map(lambda values: np.array(values) / 20)


def divided_differences(excesses: np.ndarray) -> float:
    """P(sum(E_i a_i) < 0) for distinct a_i, in fractions: partial fractions of prod 1/(1 - s a_i)."""
    a = [Fraction(float(value)) for value in excesses if value != 0]
    terms = (math.prod(x / (x - other) for other in a if other != x) for x in a if x < 0)
    return float(sum(terms, Fraction(0)))


@pytest.mark.parametrize("n", [2, 3, 5, 10, 30, 60])
@pytest.mark.parametrize("shift", [-2.0, -0.3, 0.0, 0.1, 1.0])
@pytest.mark.parametrize("law", ["normal", "cauchy", "tiny"])
def test_distinct_scores_have_a_closed_form(n: int, shift: float, law: str) -> None:
    rng = np.random.default_rng([n, int(10 * shift) % 97])
    scores = {
        "normal": rng.normal(size=n),
        "cauchy": rng.standard_cauchy(n),
        "tiny": rng.choice([-1, 1], size=n) * 10.0 ** rng.uniform(-9, 0, size=n),
    }[law] + shift
    assert bayesian_bootstrap(scores) == pytest.approx(divided_differences(scores), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize(("low", "high"), [(1, 1), (1, 9), (40, 2), (250, 30), (1000, 1), (1, 1000), (700, 700)])
@pytest.mark.parametrize("size", [0.001, 0.1, 0.8, 1.0, 3.0, 1000.0])
def test_two_values_are_a_beta_law(low: int, high: int, size: float) -> None:
    scores = np.array([-size] * low + [1.0] * high + [0.0] * 7)  # what did not change plays no part
    # the weight of the low values is Beta(low, high): size * w > 1 - w
    expected = betainc(high, low, size / (1 + size))
    assert bayesian_bootstrap(scores) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    ("scores", "below"),
    [
        (np.random.default_rng(1).normal(0.1, 1, size=40), 0.0),
        (np.round(np.random.default_rng(2).normal(0, 0.1, size=60), 1), -0.01),
        (np.append(np.random.default_rng(3).uniform(0, 0.1, size=100), [-1.0, -3.0, -0.4]), 0.0),
        (np.append(np.random.default_rng(4).uniform(0, 0.1, size=60), [-1.0, -3.0, 4.0]), 0.0),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_what_a_million_draws_say(scores: np.ndarray, below: float, *, weighted: bool) -> None:
    rng = np.random.default_rng(5)
    weights = rng.uniform(0.1, 3, size=scores.size) if weighted else np.ones(scores.size)
    hits = 0
    for _ in range(20):
        dirichlet = rng.exponential(size=(50_000, scores.size)) * weights
        hits += int(np.count_nonzero(dirichlet @ scores < below * dirichlet.sum(axis=1)))
    p = bayesian_bootstrap(scores, below=below, weights=weights if weighted else None)
    assert 0.01 < p < 0.99
    assert hits / 1e6 == pytest.approx(p, abs=4.5 * math.sqrt(p * (1 - p) / 1e6))


def test_many_scores_follow_the_normal_law() -> None:
    scores = np.random.default_rng(6).normal(size=200_000)
    scores = (scores - scores.mean()) / scores.std()
    for z in (-2.0, 0.5, 1.5):  # the law's skewness is the sample's over sqrt(n), here about 1e-5
        expected = 0.5 * math.erfc(-z / math.sqrt(2))
        assert bayesian_bootstrap(scores, below=z / math.sqrt(scores.size)) == pytest.approx(expected, abs=1e-4)


@given(SCORES)
def test_certainty_comes_only_from_scores_on_one_side(scores: np.ndarray) -> None:
    p = bayesian_bootstrap(scores)
    if not np.any(scores < 0):
        assert p == 0.0
    elif not np.any(scores > 0):
        assert p == 1.0
    else:
        assert 0 < p < 1
        assert bayesian_bootstrap(-scores) == pytest.approx(1 - p, rel=1e-9)


@given(SCORES, st.floats(0.01, 100))
def test_neither_unit_nor_order_nor_weights_all_alike_matter(scores: np.ndarray, unit: float) -> None:
    p = bayesian_bootstrap(scores, below=-0.03)
    order = np.random.default_rng(0).permutation(scores.size)
    assert bayesian_bootstrap(scores[order], below=-0.03) == p
    assert bayesian_bootstrap(scores, below=-0.03, weights=np.full(scores.size, unit)) == p
    assert bayesian_bootstrap(scores * unit, below=-0.03 * unit) == pytest.approx(p, rel=1e-9)


@given(SCORES)
def test_a_higher_bound_is_more_probably_missed(scores: np.ndarray) -> None:
    p = [bayesian_bootstrap(scores, below=below) for below in (-0.5, -0.11, -0.1, 0.0, 0.3)]
    assert all(low <= high + 1e-12 for low, high in itertools.pairwise(p))


def test_a_topic_without_weight_has_no_say() -> None:
    assert bayesian_bootstrap([0.1, 0.2, -0.5], weights=[1, 2, 0]) == 0.0
    assert bayesian_bootstrap([0.1, 0.2, -0.5, 0.3], weights=[1, 2, 1, 0]) == bayesian_bootstrap(
        [0.1, 0.2, -0.5], weights=[2, 4, 2]
    )


def test_scores_of_any_size_are_taken() -> None:
    assert bayesian_bootstrap([1e99, -1e99]) == pytest.approx(0.5)
    assert bayesian_bootstrap([1.0, -1e-300, 1e-300, 0.0]) == 0.0
    assert bayesian_bootstrap([1.0, -1e-90]) == pytest.approx(1e-90)
    assert bayesian_bootstrap([1e-90, -1.0]) == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scores": []}, "scores must hold at least 1 topic"),
        ({"scores": [[1.0]]}, "scores must have one axis"),
        ({"scores": [math.nan]}, "scores must be finite"),
        ({"scores": [1.0], "below": math.inf}, "below must be finite, got inf"),
        ({"scores": [1.0], "weights": [1.0, 2.0]}, r"weights must have the shape of scores \(1,\), got \(2,\)"),
        ({"scores": [1.0, 2.0], "weights": [1.0, -2.0]}, "weights must be at least 0, and one of them above 0"),
        ({"scores": [1.0, 2.0], "weights": [0.0, 0.0]}, "weights must be at least 0, and one of them above 0"),
    ],
)
def test_what_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bayesian_bootstrap(**arguments)  # type: ignore[arg-type]
