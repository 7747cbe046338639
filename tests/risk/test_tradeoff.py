"""What a loss costs against a win."""

from __future__ import annotations

import numpy as np

from pytest_riskguard.risk import linear


def test_losses_are_weighted_and_wins_are_not() -> None:
    assert linear([0.2, -0.1, 0.0], alpha=4).tolist() == [0.2, -0.5, 0.0]


def test_at_alpha_zero_nothing_changes() -> None:
    d = np.array([0.3, -0.7, 0.0])
    assert np.array_equal(linear(d, alpha=0), d)
