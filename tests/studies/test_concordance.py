"""Tests of ranks: what they find, and what they mean."""

import numpy as np
import pytest

from pytest_riskguard.studies.rank_tests import changing_pairs, durbin_test, friedman_test, ranks


def test_friedman_by_hand_with_a_tie():
    # places 1 2 3 and 1.5 1.5 3, within 1e-12; rank sums 2.5, 3.5, 6 of mean 4: spread 6.5; places spread 2 + 1.5
    result = friedman_test([[3, 0.3], [2, 0.1 + 0.2], [1, 0.1]])
    assert result is not None
    assert result.statistic == pytest.approx(2 * 6.5 / 3.5, rel=1e-12)
    assert result.p_value == pytest.approx(np.exp(-6.5 / 3.5), rel=1e-12)  # chi-squared with 2 degrees of freedom
    assert result.concordance == pytest.approx(6.5 / 3.5 / 2, rel=1e-12)  # 4 at most


def one_order(n: int) -> np.ndarray:
    """The system with the smaller number is better under every baseline."""
    return np.repeat(-np.arange(n, dtype=float)[:, None], n, axis=1)


def test_when_all_baselines_give_one_order_w_is_1():
    for n in (3, 4, 9):
        for test in (friedman_test, durbin_test):
            result = test(one_order(n))
            assert result is not None
            assert result.concordance == pytest.approx(1)
            assert result.p_value < (0.3 if n == 3 else 0.1)  # of three systems' orders there are few
    assert changing_pairs(ranks(one_order(9))) == 0


def test_durbin_by_hand():
    # places 2 1 . / 1 . 2 / . 2 1 by column: each system is once first and once second
    cyclic = np.array([[0, 1, 2], [2, 0, 1], [1, 2, 0]], dtype=float)
    result = durbin_test(cyclic)
    assert result is not None
    assert (result.statistic, result.p_value, result.concordance) == (0, 1, 0)
    # rank sums 2, 3, 4 of mean 3: (3 - 1) * 2 / (3 * 0.5) with 2 degrees of freedom, p = exp(-4/3)
    ordered = durbin_test(one_order(3))
    assert ordered is not None
    assert ordered.statistic == pytest.approx(8 / 3)
    assert ordered.p_value == pytest.approx(np.exp(-4 / 3))


@pytest.mark.slow
def test_durbin_holds_its_level_where_no_system_is_better():
    rng = np.random.default_rng(11)
    p_values = []
    for _ in range(2000):
        result = durbin_test(rng.random((8, 8)))
        assert result is not None
        p_values.append(result.p_value)
    # 5 % of 2,000, give or take four standard errors of 0.49 points
    assert 0.03 < np.mean(np.array(p_values) < 0.05) < 0.07


def test_with_each_baselines_own_zero_baselines_look_less_of_one_mind():
    values = one_order(8) - 10  # everyone at a risk, whoever the baseline
    np.fill_diagonal(values, 0)
    without, with_zeros = durbin_test(values), friedman_test(values)
    assert without is not None
    assert with_zeros is not None
    assert without.concordance == pytest.approx(1)
    assert with_zeros.concordance < 0.7


def test_there_is_no_test_where_there_is_nothing_to_rank():
    assert friedman_test(np.ones((4, 4))) is None
    assert durbin_test(np.ones((4, 4))) is None


def test_pairs_that_change_places_are_counted_once():
    values = one_order(4)
    values[:, 3] = [0, 1, 0.5, 9]  # under the last baseline 1 > 2 > 0: pairs (0, 1) and (0, 2) turn
    assert changing_pairs(ranks(values)) == 2
    values[:, 3] = [1, 1, 1, 9]  # ties turn nothing
    assert changing_pairs(ranks(values)) == 0
