"""The minus convention: what is shown, never what is decided."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.risk import trisk
from pytest_riskguard.risk.tradeoff import linear
from pytest_riskguard.risk.urisk import alpha_hat, minus, minus_limits

values = st.floats(-1e6, 1e6)


@given(values)
def test_the_sign_is_reversed_and_zero_has_none(value: float) -> None:
    assert minus(value) == -value
    assert minus(minus(value)) == value
    assert value != 0 or math.copysign(1, minus(value)) == 1


@given(values, values)
def test_limits_change_places(one: float, other: float) -> None:
    lower, upper = sorted((one, other))
    assert minus_limits(lower, upper) == (-upper, -lower)
    assert minus_limits(lower, upper)[0] <= minus_limits(lower, upper)[1]


def test_alpha_hat_is_the_whole_weight_of_a_loss() -> None:
    assert [alpha_hat(alpha) for alpha in (0, 1, 5, 10)] == [1, 2, 6, 11]
    with pytest.raises(ValueError, match="alpha must be finite and at least 0, got -1"):
        alpha_hat(-1)


def test_urisk_minus_is_equation_5() -> None:
    d, alpha = [0.2, -0.1, 0.0, -0.3], 4.0
    wins, losses = 0.2, 0.4
    result = trisk(d, alpha=alpha)
    assert minus(result.estimate) == pytest.approx(-(1 / 4) * (wins - alpha_hat(alpha) * losses))
    # Eq. 6: the standard error has no sign, so TRisk- is TRisk with its sign reversed
    turned = -linear(d, alpha=alpha)
    assert minus(result.statistic or math.nan) == pytest.approx(turned.mean() / (turned.std(ddof=1) / 2))
