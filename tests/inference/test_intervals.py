"""Laws that every interval obeys, whatever the data."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import ndtri

from pytest_riskguard.inference.intervals import METHODS, interval, upper_p_value
from pytest_riskguard.inference.sample import Sample
from tests.inference.laws import intervals

scores = st.one_of(
    st.just(0.0),
    st.floats(-1, 1),
    st.integers(-10, 10).map(lambda k: k / 10),
    st.sampled_from([1e-300, -1e-300, 5e-324, 1e-12, -3e-12, 1e-9]),
)
vectors = arrays(np.float64, st.one_of(st.sampled_from([2, 3, 10]), st.integers(2, 40)), elements=scores)


def dense(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=n) - 0.1


@given(vectors, st.sampled_from([1e-300, 1e-12, 1.0, 1e6, 1e99]), st.sampled_from([0.5, 0.95, 0.999, 1 - 1e-9]))
@settings(max_examples=25, deadline=None)
def test_no_finite_data_give_nan_or_limits_in_disorder(x, scale, level):
    for limits in intervals(x * scale, level=level):
        assert math.isfinite(limits.lower)
        assert math.isfinite(limits.upper)
        assert limits.lower <= limits.upper
        if limits.method in ("percentile", "bca"):
            slack = 1e-12 * scale
            assert (x * scale).min() - slack <= limits.lower
            assert limits.upper <= (x * scale).max() + slack


@given(vectors, st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None)
def test_the_order_of_topics_moves_no_bit(x, random):
    shuffled = x.copy()
    random.shuffle(shuffled)
    assert intervals(shuffled) == intervals(x)


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        (kind, method)
        for kind in ("dense", "sparse", "few", "lattice", "grid")
        for method in METHODS
        if method != "studentized" or kind in ("sparse", "few")
    ],
)
def test_limits_move_with_shift_and_scale(kind, method):
    rng = np.random.default_rng(4)
    x = {
        "dense": dense(80),
        "sparse": np.append(np.zeros(40), rng.normal(size=3)),
        "few": dense(6),
        "lattice": rng.integers(-4, 5, size=40) / 10,
        "grid": np.append(np.zeros(90), rng.normal(size=9)),
    }[kind]
    own = interval(x, method=method)
    unit = x.std() / math.sqrt(x.size)
    tolerance = 1e-6 * unit
    for shift, scale in ((0.37, 3.7), (-5.0, 0.01)) if method != "studentized" else ((-5.0, 0.01),):
        moved = interval(shift + scale * x, method=method)
        assert (moved.lower - shift) / scale == pytest.approx(own.lower, abs=tolerance)
        assert (moved.upper - shift) / scale == pytest.approx(own.upper, abs=tolerance)


@pytest.mark.parametrize("x", [[0.3, 0.3], [0.0] * 50, [-0.2] * 10, [1e-300, 0.0, -1e-300]])
def test_without_variation_the_interval_is_the_mean(x):
    for limits in intervals(x):
        assert limits.lower == limits.upper == pytest.approx(x[0])
        bounds = limits.upper, limits.upper + 0.01
        assert [upper_p_value(x, method=limits.method, bound=bound) for bound in bounds] == [1.0, 0.0]


def test_a_basic_limit_that_only_rounding_keeps_from_0_is_0():
    assert interval([0.0, -0.1, -0.2, -0.2, 0.1, -0.3, -0.3, 0.1, 0.0], method="basic").upper == 0.0


def test_bca_shifts_the_percentiles_as_the_paper_says():
    x = dense(60) ** 3
    law = Sample.of(x)
    w, centred = ndtri(law.sums.mid), x - x.mean()
    a = (centred**3).sum() / (6 * (centred**2).sum() ** 1.5)
    z = ndtri(0.975)
    expected = law.at_scores([w + (w + z) / (1 - a * (w + z))])[0]
    assert interval(x, method="bca").upper == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("x", "arguments", "message"),
    [
        ([0.1], {}, "x must hold at least 2 topics, got 1"),
        ([0.1, math.nan], {}, "x must be finite .*, got nan"),
        ([[0.1, 0.2]], {}, r"x must have one axis \(topics\), got shape \(1, 2\)"),
        (
            [0.1, 0.2],
            {"method": "normal"},
            "method must be one of student_t, basic, studentized, percentile, bca, got 'normal'",
        ),
        ([0.1, 0.2], {"level": 1.0}, "level must be between 0 and 1, got 1.0"),
    ],
)
def test_errors_say_what_is_wrong(x, arguments, message):
    with pytest.raises(ValueError, match=message):
        interval(x, **arguments)


@pytest.mark.parametrize("seed", range(8))
def test_scores_with_twelve_digits_have_the_limits_of_exact_ones(seed):
    """Scores of topics are fractions: replicates that tie at the sample's mean must tie after rounding too."""
    rng = np.random.default_rng(seed)
    n, changed, alpha = 26, int(rng.integers(4, 9)), float(rng.choice([0, 1, 5]))
    old, new = (np.zeros(n) for _ in range(2))
    for scores in (old, new):
        scores[:changed] = rng.integers(0, 7, changed) / rng.choice([6, 7], changed)

    def scored(digits: int | None) -> np.ndarray:
        d = new - old if digits is None else np.round(new, digits) - np.round(old, digits)
        d[np.abs(d) <= 1e-12] = 0
        return np.where(d < 0, (1 + alpha) * d, d)

    exact, rounded = scored(None), scored(12)
    if np.ptp(exact):
        for method in ("bca", "percentile"):
            found, expected = interval(rounded, method=method), interval(exact, method=method)
            assert (found.lower, found.upper) == pytest.approx((expected.lower, expected.upper), abs=1e-9)
