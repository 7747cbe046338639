"""What a loss costs against a win."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.risk import trisk, urisk
from pytest_riskguard.risk.tradeoff import SMOOTH, linear, smooth, tradeoff

#: R. Benham, A. Moffat, J. S. Culpepper, "On the pluses and minuses of risk", AIRS 2019, section 4: the ends and the
#: origin of the linear function at alpha-hat = 2, and the fences of the paper's boxplot.
FIVE_POINTS = ((-1.0, -2.0), (-0.241, -0.05), (0.0, 0.0), (0.292, 0.05), (1.0, 1.0))


def test_the_smooth_coefficients_are_the_cubic_regression_through_the_five_points():
    d, score = np.array(FIVE_POINTS).T
    *coefficients, intercept = np.linalg.lstsq(np.vander(d, 4), score, rcond=None)[0]
    assert tuple(float(round(c, 5)) for c in coefficients) == SMOOTH
    assert intercept == pytest.approx(0.01725, abs=5e-6)  # what the paper drops, so that 0 stays 0


def test_the_smooth_function_is_strictly_increasing():
    # The derivative is a parabola that opens upwards and has no root: the discriminant is below 0.
    cubic, square, plain = SMOOTH
    a, b, c = 3 * cubic, 2 * square, plain
    assert a > 0
    assert b**2 - 4 * a * c == pytest.approx(-0.856, abs=5e-4)  # the paper prints -0.005
    assert np.all(np.diff(smooth(np.linspace(-1, 1, 2001))) > 0)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20))
def test_the_smooth_function_is_the_polynomial_as_printed(d):
    by_hand = [1.38426 * v**3 - 0.51659 * v**2 + 0.11578 * v for v in d]
    assert smooth(d) == pytest.approx(by_hand, abs=1e-15)


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
