"""What a loss costs against a win."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.risk import trisk, urisk
from pytest_riskguard.risk.tradeoff import SMOOTH, SmoothTradeoff, fitted_tradeoff, linear, smooth, tradeoff

#: R. Benham, A. Moffat, J. S. Culpepper, "On the pluses and minuses of risk", AIRS 2019, section 4.
PRINTED = (1.38426, -0.51659, 0.11578)


def test_a_fit_to_the_fences_of_the_paper_has_its_coefficients():
    fitted = fitted_tradeoff(-0.241, 0.292, alpha=1)
    assert tuple(round(c, 5) for c in fitted.coefficients) == SMOOTH.coefficients == PRINTED


@given(st.floats(-0.9, -0.1), st.floats(0.1, 0.9), st.floats(0, 20))
def test_a_fit_is_the_least_squares_cubic_through_five_points_less_its_intercept(lower, upper, alpha):
    d, score = np.array([-1, lower, 0, upper, 1]), [-1 - alpha, -0.05, 0, 0.05, 1]
    *coefficients, _ = np.linalg.lstsq(np.vander(d, 4), score, rcond=None)[0]
    assert fitted_tradeoff(lower, upper, alpha=alpha).coefficients == pytest.approx(coefficients, abs=1e-8)


@pytest.mark.parametrize(
    ("lower", "upper", "alpha", "message"),
    [
        (-1, 0.3, 1, "-1 < lower_fence < 0 < upper_fence < 1, got -1 and 0.3"),
        (0, 0.3, 1, "got 0 and 0.3"),
        (-0.2, 0.0, 1, "got -0.2 and 0.0"),
        (-0.2, 1, 1, "got -0.2 and 1"),
        (math.nan, 0.3, 1, "got nan and 0.3"),
        (-0.2, 0.3, -1, "alpha must be finite and at least 0, got -1"),
    ],
)
def test_what_cannot_be_fitted_is_refused(lower, upper, alpha, message):
    with pytest.raises(ValueError, match=message):
        fitted_tradeoff(lower, upper, alpha=alpha)


@pytest.mark.parametrize(
    ("coefficients", "is_increasing"),
    [
        (PRINTED, True),
        (fitted_tradeoff(-0.1, 0.1, alpha=2).coefficients, True),
        (fitted_tradeoff(-0.241, 0.292, alpha=5).coefficients, False),
        (fitted_tradeoff(-0.6, 0.6, alpha=1).coefficients, False),
        ((1.0,), True),
        ((-1.0,), False),
        ((0.0,), False),
        ((1.0, 0.0, 0.0), True),  # flat at 0 alone
        ((0.5, 1.0), True),  # flat at -1 alone
        ((0.5001, 1.0), False),
        ((-0.5001, 1.0), False),
        ((-0.3, 0.0, 1.0), True),  # falls beyond 1
        ((1 / 3, -2.0, 3.5), True),  # derivative (d - 2)^2 - 1/2
        # derivative 3 (d - 1/2)^2, and below 0 between the points of any grid
        ((1.0, -1.5, 0.75), True),
        ((1.0, -1.5, 0.75 - 1e-12), False),
        ((0.2, 0.0, -1 / 6, 0.0, 1 / 16 + 1e-6), True),  # derivative (d^2 - 1/4)^2 and more
        ((0.2, 0.0, -1 / 6, 0.0, 1 / 16 - 1e-6), False),
        ((math.nan,), False),
    ],
)
def test_a_trade_off_that_falls_anywhere_is_told_from_one_that_does_not(coefficients, is_increasing):
    assert SmoothTradeoff(coefficients).is_increasing is is_increasing


def test_a_trade_off_is_its_polynomial_in_every_shape():
    d = np.array([[-1.0, 0.5], [0.0, 2.0]])
    np.testing.assert_allclose(SmoothTradeoff((3.0, 0.0, -1.0, 2.0))(d), 3 * d**4 - d**2 + 2 * d)
    assert SMOOTH(0.5) == pytest.approx(smooth([0.5])[0])


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20))
def test_the_smooth_function_is_the_polynomial_as_printed_by_horners_scheme(d):
    assert smooth(d).tolist() == [((1.38426 * v - 0.51659) * v + 0.11578) * v for v in d]


@pytest.mark.parametrize("beyond", [math.nextafter(1, 2), math.nextafter(-1, -2), 12.5])
def test_differences_that_the_cubic_was_not_fitted_for_are_refused(beyond):
    with pytest.raises(ValueError, match=rf"from -1 to 1 for the smooth trade-off, got {beyond!r}"):
        smooth([0.1, beyond])


def test_the_kind_is_chosen_in_one_place():
    d = [0.3, -0.7, 0.0]
    assert tradeoff(d, kind="linear", alpha=4).tolist() == linear(d, alpha=4).tolist()
    assert tradeoff(d, alpha=4).tolist() == linear(d, alpha=4).tolist()
    assert tradeoff(d, kind="smooth", alpha=1).tolist() == smooth(d).tolist()


@pytest.mark.parametrize("measure", [urisk, trisk])
@pytest.mark.parametrize(
    ("kind", "alpha", "message"),
    [
        ("smooth", 5.0, "smooth trade-off was fitted for alpha 1 and has no other: expected alpha 1, got 5.0"),
        ("smooth", 0, "expected alpha 1, got 0"),
        ("smooth", math.nan, "alpha must be finite and at least 0, got nan"),
        ("cubic", 1, "tradeoff must be one of linear, smooth, got 'cubic'"),
    ],
)
def test_what_cannot_be_computed_is_refused(measure, kind, alpha, message):
    with pytest.raises(ValueError, match=message):
        measure([0.1, -0.1], alpha=alpha, tradeoff=kind)
