"""Measures against one baseline: identities, degenerate inputs, errors."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pytest_riskguard import risk
from pytest_riskguard.risk.urisk import Counts, RiskTest, standardised, varies

differences = arrays(
    np.float64, st.integers(2, 60), elements=st.one_of(st.just(0.0), st.integers(-1000, 1000).map(lambda k: k / 1000))
)
alphas = st.floats(0, 100)


@given(differences, alphas)
def test_urisk_is_gain_less_alpha_times_risk_hence_affine_in_alpha(d, alpha):
    expected = d.mean() - alpha * np.maximum(0, -d).mean()
    assert risk.urisk(d, alpha=alpha) == pytest.approx(expected, abs=1e-12)


def test_the_divisor_is_n_less_one():
    assert risk.trisk([1.0, 3.0], alpha=0).statistic == pytest.approx(2.0)
    assert risk.trisk([0.2], alpha=0) == RiskTest(0.2, None, None, None)


@pytest.mark.parametrize(
    ("d", "p_value"),
    [
        ([1.0, 3.0], lambda t: 1 - 2 / math.pi * math.atan(t)),  # one degree of freedom: Cauchy's law
        ([-0.3, 0.1, -0.25], lambda t: 1 - t / math.sqrt(2 + t**2)),  # two: a closed form as well
    ],
)
def test_the_p_value_is_two_sided_with_a_degree_of_freedom_less_than_topics(d, p_value):
    result = risk.trisk(d, alpha=0.5)
    assert result.p_value == pytest.approx(p_value(abs(result.statistic)), rel=1e-12)


@pytest.mark.parametrize("d", [[0.0] * 5, [0.1] * 5, [-0.1] * 5, [0.1, 0.1 + 1e-16]])
def test_without_variation_there_is_no_statistic(d):
    result = risk.trisk(d, alpha=0)
    assert (result.standard_error, result.statistic, result.p_value) == (0.0, None, None)
    assert result.estimate == pytest.approx(d[0])
    assert not standardised(d).any()


def test_a_topics_part_is_in_standard_deviations():
    x = np.array([0.4, -0.2, 0.1, -0.5, 0.0])
    assert standardised(x) == pytest.approx(x / x.std(ddof=1))


@given(differences, st.randoms(use_true_random=False), alphas)
def test_the_order_of_topics_moves_no_bit(d, random, alpha):
    shuffled = d.copy()
    random.shuffle(shuffled)
    assert risk.trisk(shuffled, alpha=alpha) == risk.trisk(d, alpha=alpha)


def test_counts_wins_losses_and_ties():
    baseline = np.array([0.5, 0.5, 0.5, 0.5, 0.5, 0.0])
    candidate = np.array([0.6, 0.5, 0.4, 0.39, 0.5 - 1e-8, 0.0])
    # 1e-8 is a change that nobody counts
    assert risk.counts(candidate, baseline) == Counts(1, 2, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: risk.urisk([], alpha=1), "at least 1 topics, got 0"),
        (lambda: risk.urisk([[0.1]], alpha=1), r"one axis \(topics\), got shape \(1, 1\)"),
        (lambda: risk.urisk([0.1, math.nan], alpha=1), "must be finite .*, got nan"),
        (lambda: risk.urisk([1e200], alpha=0), r"at most 1e\+100 in size, got 1e\+200"),
        (lambda: risk.urisk([-1e99], alpha=1e300), r"weighted by 1 \+ alpha must be finite"),
        (lambda: risk.urisk([0.1], alpha=-1), "alpha must be finite and at least 0, got -1"),
        (lambda: risk.counts([0.1], [0.1, 0.2]), r"differ in shape: \(1,\) and \(2,\)"),
    ],
)
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_difference_of_exactly_a_millionth_is_a_tie():
    assert risk.counts([1e-6, 0.0], [0.0, 1e-6]) == Counts(0, 0, 2)


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([0.0, 0.5e-12], False),
        ([0.0, 1.5e-12], True),
        ([0.0, 1.0, 1.0 + 1.5e-12], True),
        ([4.0, 4.0 + 3e-12], False),
        ([-4.0, -4.0 - 5e-12], True),
    ],
)
def test_scores_vary_by_more_than_the_rounding_of_their_size(x, expected):
    assert varies(np.array(x)) is expected
