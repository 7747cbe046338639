"""Each topic left out: the shared sums give what the direct call gives."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_riskguard.inference.intervals import interval, leave_one_out_upper
from tests.inference.made_up_scores import made_up

METHODS = ["student_t", "basic", "percentile", "bca"]


def directly(x: np.ndarray, method: str, level: float) -> np.ndarray:
    return np.array([interval(np.delete(x, i), method=method, level=level).upper for i in range(x.size)])


@pytest.mark.parametrize("level", [0.999, 0.999999])
@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("seed", [1, 4, 7, 10, 22])
def test_limits_far_in_the_tail_are_those_of_the_direct_call(seed, method, level):
    x = made_up(seed)
    indices = np.arange(0, x.size, max(1, x.size // 8))
    expected = [interval(np.delete(x, i), method=method, level=level).upper for i in indices]
    left_out = leave_one_out_upper(x, method=method, level=level, indices=indices)
    assert left_out == pytest.approx(np.array(expected), rel=0, abs=1e-6 * float(np.std(x)))


ROUNDED = {"hundredths": 2, "thousandths": 3, "fine": 5}


def smooth_data(n: int, shape: str) -> np.ndarray:
    rng = np.random.default_rng(n)
    x = rng.normal(size=n)
    if shape == "outliers":
        x[:2] = -9.0, 7.5
    if shape == "zeros":
        x[rng.random(n) < 0.5] = 0.0
    if shape in ROUNDED:
        x = np.round(x / 10, ROUNDED[shape])
    return np.where(x < 0, 2 * x, x)


@pytest.mark.parametrize("level", [0.95, 0.999])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("n", "shape"),
    [
        (25, "plain"),
        (50, "outliers"),
        (50, "hundredths"),
        (50, "thousandths"),
        (225, "zeros"),
        (225, "fine"),
        (400, "plain"),
    ],
)
def test_it_equals_the_direct_call(n, shape, method, level):
    x = smooth_data(n, shape)
    some = np.unique(np.concatenate([[0, 1], np.argsort(x)[:10], np.argsort(x)[-5:], np.arange(0, n, 23)]))
    expected = np.array([interval(np.delete(x, i), method=method, level=level).upper for i in some])
    limits = leave_one_out_upper(x, method=method, level=level, indices=some)
    assert limits == pytest.approx(expected, abs=1e-6 * x.std() / np.sqrt(n))


@pytest.mark.parametrize(("n", "times"), [(25, 20), (50, 40), (120, 60)])
def test_one_topic_alone_that_carries_the_variation(n, times):
    x = np.random.default_rng(0).normal(size=n) * 0.05
    x[0] = -0.05 * times
    expected = interval(np.delete(x, 0), method="bca", level=0.95).upper
    assert leave_one_out_upper(x, method="bca", level=0.95, indices=[0]) == pytest.approx([expected], abs=1e-12)


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("kind", ["sparse", "few", "lattice", "two values", "nearly lattice", "huge outlier"])
def test_elsewhere_it_is_the_direct_call(kind, method):
    rng = np.random.default_rng(3)
    x = {
        "sparse": np.append(np.zeros(40), rng.normal(size=6)),
        "few": rng.normal(size=6),
        "lattice": rng.integers(-5, 6, size=40) / 10,
        "two values": np.append(np.zeros(12), -1.0),
        "nearly lattice": np.append(np.round(rng.uniform(-0.5, 0.5, size=60), 2), np.pi / 10),
        "huge outlier": np.append(rng.normal(size=30) * 1e-6, -1.0),
    }[kind]
    limits = leave_one_out_upper(x, method=method, level=0.95)
    if kind == "nearly lattice":
        # the whole is on a grid, but the rest is known exactly
        assert limits[-1] == interval(x[:-1], method=method).upper
    else:
        assert np.array_equal(limits, directly(x, method, 0.95))


@pytest.mark.parametrize(
    ("x", "arguments", "message"),
    [
        ([0.1, 0.2], {"method": "bca", "level": 0.95}, "at least 3 topics, got 2"),
        ([0.1, 0.2, 0.3], {"method": "normal", "level": 0.95}, "method must be one of .*got 'normal'"),
        ([0.1, 0.2, 0.3], {"method": "student_t", "level": 1.0}, "level must be between 0 and 1, got 1.0"),
        ([0.1, 0.2, 0.3], {"method": "bca", "level": 0.0}, "level must be between 0 and 1, got 0.0"),
    ],
)
def test_errors_say_what_is_wrong(x, arguments, message):
    with pytest.raises(ValueError, match=message):
        leave_one_out_upper(x, **arguments)
