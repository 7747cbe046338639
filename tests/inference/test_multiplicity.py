"""P-values of many tests at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_riskguard.inference import benjamini_hochberg, effective_levels, holm

METHODS = {"holm": holm, "benjamini_hochberg": benjamini_hochberg}
# near the thresholds as well as anywhere, with ties
p_lists = st.lists(
    st.one_of(st.floats(0, 1), st.integers(0, 20).map(lambda k: k / 400), st.sampled_from([0.05, 0.05 / 3, 0.0])),
    min_size=1,
    max_size=12,
)


def test_holm_by_hand() -> None:
    # ranks: .005 x 4 = .02, .01 x 3 = .03, .03 x 2 = .06, .04 x 1 = .04, which may not be below .06
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.6]).tolist() == pytest.approx([1.0, 1.0])
    assert holm([0.02]).tolist() == [0.02]


def test_benjamini_hochberg_by_hand() -> None:
    # .005 x 4/1 = .02, .01 x 4/2 = .02, .03 x 4/3 = .04, .04 x 4/4 = .04
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert benjamini_hochberg([0.9, 0.02]).tolist() == pytest.approx([0.9, 0.04])


@given(p_lists)
def test_benjamini_hochberg_rejects_up_to_the_last_p_value_below_its_line(p: list[float]) -> None:
    # the procedure as Benjamini and Hochberg describe it, at several levels
    for a in (0.01, 0.05, 0.3):
        ordered = sorted(p)
        below = [rank for rank, value in enumerate(ordered, start=1) if value * (len(p) / rank) <= a]
        rejected = {i for i, value in enumerate(p) if below and value <= ordered[below[-1] - 1]}
        assert rejected == set(np.flatnonzero(benjamini_hochberg(p) <= a).tolist())


@given(p_lists)
def test_holm_rejects_step_by_step(p: list[float]) -> None:
    # the procedure as Holm describes it, at several levels
    for a in (0.01, 0.05, 0.3):
        rejected = set()
        for step, index in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
            if p[index] * (len(p) - step) > a:
                break
            rejected.add(index)
        assert rejected == set(np.flatnonzero(holm(p) <= a).tolist())


@pytest.mark.parametrize("adjust", METHODS.values())
@given(p_lists, st.randoms())
def test_order_is_irrelevant_and_adjusted_values_keep_it(adjust, p, random) -> None:
    adjusted = adjust(p)
    assert np.all(adjusted >= np.array(p))
    assert np.all(adjusted <= 1)
    order = list(range(len(p)))
    random.shuffle(order)
    assert adjust([p[i] for i in order]).tolist() == adjusted[order].tolist()
    for i, first in enumerate(p):
        for j, second in enumerate(p):
            if first == second:
                assert adjusted[i] == adjusted[j]
            if first < second:
                assert adjusted[i] <= adjusted[j]


@given(p_lists)
def test_holm_is_the_stricter(p: list[float]) -> None:
    assert np.all(benjamini_hochberg(p) <= holm(p) * (1 + 1e-15))


@pytest.mark.parametrize("correction", METHODS)
@settings(max_examples=300)
@given(p=p_lists, level=st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999]))
@example(p=[0.05 / 3, 0.05, 0.9], level=0.95)
@example(p=[0.1 / 3] * 3, level=0.9)
def test_thresholds_decide_as_the_adjusted_values_do(correction: str, p: list[float], level: float) -> None:
    thresholds = effective_levels(p, level=level, correction=correction)
    adjusted = METHODS[correction](p)
    assert (np.array(p) <= thresholds).tolist() == (adjusted <= 1 - level).tolist()
    # a last digit may give way, nothing more
    assert np.all(thresholds >= (1 - level) / len(p) * (1 - 1e-15))
    assert np.all(thresholds <= (1 - level) * (1 + 1e-15))
    backwards = effective_levels(p[::-1], level=level, correction=correction)
    assert backwards.tolist() == thresholds[::-1].tolist()


def test_thresholds_by_hand() -> None:
    p = [0.01, 0.04, 0.03, 0.005]
    # two rejected at 4 and 3; the others meet the threshold of the first that is not: 0.05/2
    assert effective_levels(p).tolist() == pytest.approx([0.05 / 3, 0.025, 0.025, 0.0125])
    assert effective_levels(p, correction="benjamini_hochberg").tolist() == pytest.approx([0.05] * 4)
    none = [0.3, 0.2, 0.9]
    assert effective_levels(none).tolist() == pytest.approx([0.05 / 3] * 3)
    assert effective_levels(none, correction="benjamini_hochberg").tolist() == pytest.approx([0.05 / 3] * 3)
    assert effective_levels([0.001, 0.001, 0.9]).tolist() == pytest.approx([0.05 / 3, 0.05 / 3, 0.05])
    assert effective_levels([0.0, 0.0]).tolist() == pytest.approx([0.025, 0.025])
    # a p-value at the threshold is rejected, so the other one is asked for half as much no more
    assert effective_levels([0.25, 0.5], level=0.5).tolist() == [0.25, 0.5]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: holm([]), "^expected at least one p-value, got none$"),
        (lambda: holm([0.1, None]), "p-values must be numbers from 0 to 1, got None at position 1"),
        (lambda: benjamini_hochberg([float("nan")]), "got nan at position 0"),
        (lambda: holm([0.1, 1.1]), r"got 1.1 at position 1"),
        (lambda: holm([-0.1]), r"got -0.1 at position 0"),
        (lambda: holm([[0.1]]), r"one axis \(tests\), got shape \(1, 1\)"),
        (lambda: effective_levels([0.1], level=1), "level must be between 0 and 1, got 1"),
        (lambda: effective_levels([0.1], correction="magic"), "correction must be one of holm, benjamini_hochberg"),
    ],
)
def test_errors_say_what_is_wrong(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
