"""Several levels and several statistics at once, and the sums over frequencies that they share."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import ndtr, ndtri

from pytest_riskguard.inference import Interval, IntervalBatch, interval, intervals, mean_law
from pytest_riskguard.inference._bootstrap.inversion import (
    MAGNITUDE_ERROR,
    STEP,
    Inversion,
    frequencies,
    magnitudes,
    mean_exponential_less_one,
    weights,
)
from pytest_riskguard.inference._bootstrap.inversion_law import (
    CHECKED_FREQUENCIES,
    SmoothLaw,
    _checked_magnitudes,
    _falls_at_once,
    _frequencies_needed,
    _rounded_if_many,
    smooth_law,
)
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.inference.intervals import FAST, METHODS

LEVELS = (0.8, 0.95, 0.999)
KINDS = {"constant", "enumerated", "lattice", "smooth", "grid"}


def mixed(n: int = 60) -> np.ndarray:
    """Statistics over the same topics whose laws are of every kind."""
    rng = np.random.default_rng(8)
    d = rng.normal(size=n)
    place = np.arange(n) % 20
    columns = {
        "constant": np.full(n, 0.25),
        "few": np.where(place == 0, d, 0.0),
        "lattice": rng.integers(-4, 5, size=n) / 10,
        "fine lattice": np.round(d / 10, 3),
        "smooth": d,
        "heavier": np.where(d < 0, 6 * d, d) ** 3,
        "grid": np.where(place < 4, d, 0.0),
        "sparse": np.where(place < 12, d, 0.0),
    }
    return np.column_stack(list(columns.values()))


def test_the_matrix_holds_every_kind_of_law() -> None:
    assert {mean_law(column).kind for column in mixed().T} == KINDS


def test_each_column_has_the_limits_it_has_alone_to_the_bit() -> None:
    x = mixed()
    together = intervals(x, methods=METHODS, level=LEVELS)
    assert [(batch.method, batch.level) for batch in together] == [
        (method, level) for level in LEVELS for method in METHODS
    ]
    batches = [batch for batch in together if isinstance(batch, IntervalBatch)]
    assert len(batches) == len(together)
    assert all(batch.lower.shape == batch.upper.shape == (x.shape[1],) for batch in batches)
    for place, column in enumerate(x.T):
        for batch in batches:
            alone = interval(column, method=batch.method, level=batch.level)
            assert (alone.lower, alone.upper) == (batch.lower[place], batch.upper[place])


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(2, 30), st.integers(1, 5)),
        elements=st.one_of(st.just(0.0), st.floats(-1, 1), st.integers(-10, 10).map(lambda k: k / 10)),
    )
)
@settings(max_examples=40, deadline=None)
def test_any_columns_have_the_limits_they_have_alone(x: np.ndarray) -> None:
    for batch in intervals(x, level=(0.9, 0.99)):
        for column, lower, upper in zip(x.T, batch.lower, batch.upper, strict=True):
            alone = interval(column, method=batch.method, level=batch.level)
            assert (alone.lower, alone.upper) == (lower, upper)


def test_neither_the_order_of_columns_nor_that_of_topics_moves_a_bit() -> None:
    x, rng = mixed(), np.random.default_rng(0)
    topics, columns = rng.permutation(x.shape[0]), rng.permutation(x.shape[1])
    for batch, shuffled in zip(intervals(x), intervals(x[topics][:, columns]), strict=True):
        assert np.array_equal(batch.lower[columns], shuffled.lower)
        assert np.array_equal(batch.upper[columns], shuffled.upper)


def test_many_columns_are_searched_in_blocks() -> None:
    x = np.random.default_rng(1).normal(size=(40, 800))
    (batch,) = intervals(x, methods=("bca",), level=0.999)
    for j in (0, 1, 399, 798, 799):
        assert np.atleast_1d(batch.upper)[j] == interval(x[:, j], level=0.999).upper


def test_no_columns_have_no_limits() -> None:
    limits = [np.asarray(batch.upper) for batch in intervals(np.zeros((10, 0)))]
    assert [upper.shape for upper in limits] == [(0,)] * len(FAST)


@pytest.mark.parametrize("column", range(mixed().shape[1]))
def test_several_levels_are_the_single_ones_in_turn(column: int) -> None:
    x = mixed()[:, column]
    together = intervals(x, level=LEVELS)
    assert together == tuple(itertools.chain.from_iterable(intervals(x, level=level) for level in LEVELS))
    assert all(isinstance(limits, Interval) for limits in together)


@pytest.mark.parametrize("column", range(mixed().shape[1]))
def test_quantiles_are_those_of_each_probability(column: int) -> None:
    law = mean_law(mixed()[:, column])
    p = np.array([0.0, 1e-15, 0.0005, 0.2, 0.5, 0.77, 0.999, 1.0])
    assert law.quantiles(p).tolist() == [law.quantile(probability) for probability in p]


def many_laws() -> list[SmoothLaw]:
    rng = np.random.default_rng(5)
    columns = [rng.normal(size=n) ** power for n in (30, 50, 250) for power in (1, 2, 3)]
    columns.append(np.append(rng.normal(size=400) * 0.01, [-1.0] * 40))
    columns.append(np.append(np.zeros(150), rng.normal(size=45)))
    return [law for law in map(mean_law, columns) if isinstance(law, SmoothLaw)]


@pytest.mark.parametrize("law", many_laws())
def test_where_the_search_ends_the_cdf_is_the_probability(law: SmoothLaw) -> None:
    p = np.array([1e-6, 0.0005, 0.025, 0.3, 0.5, 0.9, 0.975, 0.9995, 1 - 1e-6])
    z = law.inversion.quantiles(p[None, :], law.start(p)[None, :])
    assert law.inversion.cdf(z)[0] == pytest.approx(p, abs=1e-13)


def test_the_search_finds_its_root_from_the_wrong_end() -> None:
    """Bracketed: steps of Newton's method that lead out of the bracket halve it instead."""
    for law in many_laws():
        p = np.array([[0.0005, 0.5, 0.9995]])
        near = law.inversion.quantiles(p, law.start(p[0])[None, :])
        for start in (-10.0, 10.0):
            far = law.inversion.quantiles(p, np.full(p.shape, start))
            assert far == pytest.approx(near, abs=1e-11)


def directly(z: np.ndarray, phi: np.ndarray) -> np.ndarray:
    turned = phi * np.exp(-1j * np.multiply.outer(z, frequencies(phi.size)))
    return 0.5 - np.array([math.fsum(row.imag / weights(phi.size)) for row in turned])


@pytest.mark.parametrize("count", [48, 331, 4096])
def test_sums_over_frequencies_lose_nothing(count: int) -> None:
    rng = np.random.default_rng(count)
    phi = np.exp(-frequencies(count) / 9) * np.exp(1j * rng.normal(size=count))
    z = rng.uniform(-8, 8, size=20)
    inversion = Inversion(phi[None, :])
    expected = np.clip(directly(z, phi), 0.0, 1.0)
    assert inversion.cdf(z[None, :])[0] == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("law", many_laws())
def test_half_way_no_angle_needs_turning(law: SmoothLaw) -> None:
    assert law.mid_cdf(law.centre) == pytest.approx(float(law.inversion.cdf(np.zeros((1, 1)))[0, 0]), abs=1e-15)


@pytest.mark.parametrize("n", [3, 50, 250, 3000])
@pytest.mark.parametrize("count", [48, 700])
def test_products_of_turns_give_the_mean_exponential(n: int, count: int) -> None:
    """n times its error is that of log phi: no more than 1e-12 of phi, far from where F is formed of it."""
    rng = np.random.default_rng(n)
    values = rng.standard_t(4, size=n) / math.sqrt(n)
    weights = np.full(n, 1 / n)
    angles = np.multiply.outer(frequencies(count), values)
    expected = [
        complex(-2 * math.fsum(np.sin(row / 2) ** 2 * weights), math.fsum(np.sin(row) * weights)) for row in angles
    ]
    computed = mean_exponential_less_one(STEP, count, values, weights)
    phi = np.abs(np.exp(n * np.log1p(expected)))
    assert float(np.max(np.abs(computed - expected) * n * phi)) < 1e-12
    assert float(np.max(np.abs(computed - expected))) < 1e-13


def test_the_look_gives_the_size_of_the_characteristic_function() -> None:
    rng = np.random.default_rng(3)
    for n in (1, 2, 50, 250):
        for spread in (1e-4, 0.03, 0.7, 40.0):
            turns, shares = rng.normal(size=n) * spread, rng.dirichlet(np.ones(n))
            for count in (CHECKED_FREQUENCIES // 4 + 1, CHECKED_FREQUENCIES):
                order = np.arange(count)
                expected = np.abs(np.exp(2j * math.pi * np.multiply.outer(order, turns)) @ shares)
                seen = magnitudes(turns, shares, count)
                assert float(np.max(np.abs(seen - expected))) < MAGNITUDE_ERROR


@given(st.integers(30, 120), st.floats(0.0, 0.8), st.integers(0, 10**6), st.sampled_from([None, 1, 2]))
@settings(max_examples=60, deadline=None)
def test_where_a_glance_says_that_phi_falls_at_once_it_does(
    n: int, zeros: float, seed: int, decimals: int | None
) -> None:
    """At eight times as many frequencies as the glance has, computed one by one."""
    rng = np.random.default_rng(seed)
    x = np.where(rng.random(n) < zeros, 0.0, rng.normal(size=n))
    if decimals is not None:
        x[3:] = np.round(x[3:], decimals)
    sample = Sample.of(x)
    if sample.constant or not _falls_at_once(sample):
        return
    frequencies = STEP * np.arange(46, 4097, 0.5)
    turned = np.abs(np.exp(1j * np.multiply.outer(frequencies, sample.offsets / sample.total)) @ sample.distinct[1])
    assert float(np.max((turned / n) ** n)) < 6e-14


def test_a_glance_is_enough_for_most_and_no_rise_escapes_it() -> None:
    rng = np.random.default_rng(2)
    for n in (60, 250, 1000):
        assert _falls_at_once(Sample.of(rng.normal(size=n)))
    strange = np.concatenate([rng.integers(-5, 6, size=46) / 10, rng.normal(size=4)])
    assert not _falls_at_once(Sample.of(strange))
    sparse = np.append(np.zeros(200), rng.normal(size=25))
    assert not _falls_at_once(Sample.of(sparse))


def test_glance_and_look_agree_where_phi_falls_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(6).normal(size=80)
    glanced = smooth_law(Sample.of(x))
    monkeypatch.setattr("pytest_riskguard.inference._bootstrap.inversion_law._falls_at_once", lambda _: False)
    looked = smooth_law(Sample.of(x))
    assert glanced is not None
    assert looked is not None
    assert (glanced.frequencies, glanced.left_out) == (looked.frequencies, looked.left_out)
    assert glanced.quantile(0.975) == looked.quantile(0.975)


def test_a_few_large_values_among_many_are_turned_one_by_one() -> None:
    rng = np.random.default_rng(9)
    values = np.append(rng.normal(size=12_000) * 1e-3, rng.normal(size=40))
    weights = np.full(values.size, 1 / values.size)
    angles = np.multiply.outer(frequencies(48), values)
    expected = np.sum((-2 * np.sin(angles / 2) ** 2 + 1j * np.sin(angles)) * weights, axis=1)
    assert mean_exponential_less_one(STEP, 48, values, weights) == pytest.approx(expected, abs=1e-16)


def test_a_long_vector_has_the_law_of_its_moments() -> None:
    """Many values are rounded before the look, and phi comes from their moments."""
    x = np.random.default_rng(7).normal(size=40_000)
    law = mean_law(x)
    assert isinstance(law, SmoothLaw)
    standard = (x - x.mean()) / x.std()
    t = frequencies(6)
    cumulants = -(t**2) / 2 - 1j * t**3 * np.mean(standard**3) / (6 * math.sqrt(x.size))
    fourth = (np.mean(standard**4) - 3) / x.size
    assert np.log(law.phi[:6]) == pytest.approx(cumulants + t**4 * fourth / 24, abs=1e-7)


def test_the_inverted_normal_law_is_normal() -> None:
    """Three laws at once: standard, narrower, and wider and moved; F, its quantiles, and some of the laws alone."""
    t, scales, shifts = frequencies(128), np.array([1.0, 0.6, 1.2]), np.array([0.0, 0.3, -0.7])
    phi = np.exp(-np.multiply.outer(scales**2, t**2) / 2 + 1j * np.multiply.outer(shifts, t))
    inversion = Inversion(phi)
    z = np.array([[-2.0, 0.0, 1.5, 3.0]] * 3)
    assert inversion.cdf(z) == pytest.approx(ndtr((z - shifts[:, None]) / scales[:, None]), abs=1e-13)
    p = np.array([[0.001, 0.3, 0.5, 0.9999]] * 3)
    expected = shifts[:, None] + scales[:, None] * ndtri(p)
    roots = inversion.quantiles(p, np.zeros(p.shape))
    assert roots == pytest.approx(expected, abs=1e-9)
    some = np.array([False, True, True])
    assert np.array_equal(inversion.only(some).quantiles(p[some], np.zeros((2, 4))), roots[some])
    alone = [Inversion(row[None, :]) for row in phi]
    assert np.array_equal(Inversion.together(alone).cdf(z), inversion.cdf(z))
    assert Inversion.together(alone[:1]) is alone[0]
    assert alone[1].cdf_at_zero() == pytest.approx(ndtr(-0.5), abs=1e-14)


@pytest.mark.parametrize("rows", [1, 2, 5, 7])
def test_laws_are_searched_a_few_at_a_time_with_the_same_results(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    t = frequencies(64)
    inversion = Inversion(np.exp(-np.multiply.outer(np.linspace(0.6, 1.4, 7) ** 2, t**2) / 2))
    p = np.multiply.outer(np.linspace(0.5, 1.0, 7), [0.02, 0.5, 0.9])
    together = inversion.quantiles(p, np.zeros(p.shape))
    assert together == pytest.approx(np.linspace(0.6, 1.4, 7)[:, None] * ndtri(p), abs=1e-9)
    monkeypatch.setattr("pytest_riskguard.inference._bootstrap.inversion.SEARCHED_BLOCK", rows * 64 * 3)
    assert np.array_equal(inversion.quantiles(p, np.zeros(p.shape)), together)


def test_the_first_frequencies_are_half_integers() -> None:
    assert frequencies(3) == pytest.approx([math.pi / 24, math.pi / 8, 5 * math.pi / 24], rel=1e-15)
    assert weights(3) == pytest.approx([math.pi / 2, 3 * math.pi / 2, 5 * math.pi / 2], rel=1e-15)


SMOOTH = {
    "normal": np.random.default_rng(60).normal(size=60),
    "heavier": np.random.default_rng(60).normal(size=60) ** 3 * np.where(np.arange(60) % 2, 4, 1),
    "half of the topics": np.append(np.zeros(60), np.random.default_rng(40).normal(size=40)),
    "a third": np.append(np.zeros(150), np.random.default_rng(40).normal(size=45)),
}


def all_magnitudes(sample: Sample) -> np.ndarray:
    angles = np.multiply.outer(STEP * np.arange(CHECKED_FREQUENCIES), sample.offsets / sample.total)
    return np.abs(np.exp(1j * angles) @ (sample.distinct[1] / sample.n)) ** sample.n


@pytest.mark.parametrize("name", SMOOTH)
def test_as_many_frequencies_are_needed_as_leave_out_next_to_nothing(name: str) -> None:
    sample = Sample.of(SMOOTH[name])
    phi = all_magnitudes(sample)
    needed, left_out = _frequencies_needed(sample)
    parts = phi / (math.pi * np.maximum(np.arange(phi.size), 1))
    # half-integer frequencies lie between those checked, so one is left out that the last one counted stands for
    assert float(np.sum(parts[needed:])) <= left_out
    assert needed == 48 or float(np.sum(parts[needed - 2 :])) > left_out / 2
    law = smooth_law(sample)
    assert law is not None
    assert (law.frequencies, law.left_out) == (needed, left_out)
    assert law.resolution == max(2.3e-6, left_out / 0.00178)
    y = (sample.x - sample.mean) / sample.total
    for k in (0, 5, 47):
        expected = complex(np.mean(np.exp(1j * STEP * (k + 0.5) * y)) ** sample.n)
        assert law.phi[k] == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("name", SMOOTH)
def test_magnitudes_are_checked_up_to_the_last_that_is_not_negligible(name: str) -> None:
    sample = Sample.of(SMOOTH[name])
    expected = all_magnitudes(sample)
    checked = _checked_magnitudes(sample)
    assert np.all(checked <= 1)
    assert np.all(checked[:30] >= expected[:30] * (1 - 1e-12))
    assert checked == pytest.approx(expected[: checked.size], rel=1e-4 * sample.n, abs=1e-15)
    assert np.all(expected[checked.size :] < 1e-34)


@pytest.mark.parametrize("far_out", [1000.0, 1500.0, 1800.0])
def test_where_phi_decays_late_the_frequencies_beyond_those_checked_count_as_well(far_out: float) -> None:
    """Small changes beside one that is far out: what is left out is bounded part by part, from the last one on."""
    sample = Sample.of(np.append(np.random.default_rng(1).normal(size=100), -far_out))
    phi = all_magnitudes(sample)
    # beyond those checked |phi| is as in their last half (root mean square), and phases are as good as random
    late = phi[CHECKED_FREQUENCIES // 2 :]
    beyond = 4 / math.pi * math.sqrt(float(np.mean(late**2)) / CHECKED_FREQUENCIES)
    bounds = [math.fsum(phi[k:] / (math.pi * np.arange(k + 1, phi.size + 1))) + beyond for k in range(0, phi.size, 8)]
    needed, left_out = _frequencies_needed(sample)
    assert left_out == 1e-7
    above = np.flatnonzero(np.array(bounds) > left_out)
    # every eighth bound was computed
    assert 8 * above[-1] < needed <= 8 * above[-1] + 10


def test_the_glance_is_a_bound_between_every_fourth_frequency() -> None:
    """|phi|^2 of one draw lies at most (half of the distance)^2/n above the larger of two neighbours."""
    rng, seen = np.random.default_rng(12), set()
    orders = STEP * np.arange(44, CHECKED_FREQUENCIES, 4)
    for n in (*range(26, 66), 150, 151):
        sample = Sample.of(rng.normal(size=n) if n < 150 else np.append(np.zeros(n - 50), rng.normal(size=50)))
        of_one_draw = np.abs(np.exp(1j * np.multiply.outer(orders, sample.x / sample.total)).mean(axis=1))
        bound = n / 2 * math.log((float(of_one_draw.max()) + MAGNITUDE_ERROR) ** 2 + (2 * STEP) ** 2 / n)
        if abs(bound - math.log(2e-14)) > 1e-3:
            assert _falls_at_once(sample) is (bound < math.log(2e-14))
            seen.add(bound < math.log(2e-14))
    assert seen == {True, False}


def test_rounding_many_values_hides_a_little_of_phi_which_is_made_up_for() -> None:
    sample = Sample.of(np.random.default_rng(0).normal(size=9000))
    positions, shares = _rounded_if_many(sample)
    order = np.arange(41)
    of_one_draw = np.abs(np.exp(2j * np.pi * np.multiply.outer(order, positions)) @ shares)
    hidden = 9000 * (math.pi * order / 2**16) ** 2 / 6
    expected = np.minimum(of_one_draw**9000 * np.exp(hidden), 1.0)
    assert _checked_magnitudes(sample)[:41] == pytest.approx(expected, rel=5e-4)


def test_more_values_than_8192_are_rounded_to_65536_points_of_the_circle() -> None:
    sample = Sample.of(np.random.default_rng(0).normal(size=9000))
    positions, shares = _rounded_if_many(sample)
    assert positions.size < sample.offsets.size
    assert np.sum(shares) == pytest.approx(1)
    assert np.all(positions * 2**16 == np.rint(positions * 2**16))
    turns = sample.offsets / (24 * sample.total) % 1.0
    for order in (1, 3):
        exact, rounded = (
            np.sum(w * np.exp(2j * np.pi * order * u)) for u, w in ((turns, 1 / 9000), (positions, shares))
        )
        assert abs(exact - rounded) < 1e-5
    few = Sample.of(np.arange(5.0) ** 2)
    positions, shares = _rounded_if_many(few)
    assert positions == pytest.approx(np.array([0, 1, 4, 9, 16]) / (24 * few.total))
    assert shares.tolist() == [0.2] * 5


def test_a_smooth_law_ends_where_the_scores_and_the_circle_do() -> None:
    sample = Sample.of(SMOOTH["normal"])
    law = smooth_law(sample)
    assert law is not None
    assert (law.cdf(law.centre - 12.1 * sample.scale), law.cdf(law.centre + 12.1 * sample.scale)) == (0, 1)
    assert (law.cdf(law.centre - 30 * sample.scale), law.cdf(law.centre + 30 * sample.scale)) == (0, 1)
    assert SmoothLaw(sample, law.phi, left_out=1e-6).resolution == 1e-6 / 0.00178
    assert law.cdf(law.centre + 2 * sample.scale) == pytest.approx(
        float(law.inversion.cdf(np.array([[2.0]]))[0, 0]), abs=1e-12
    )
    assert law.values(np.array([-1e3, 1.0, 1e3])).tolist() == [
        sample.x[0],
        pytest.approx(sample.mean + sample.scale),
        sample.x[-1],
    ]
    assert law.near(np.array([-9.0, 0.5, 9.0])) == pytest.approx([1e-7, ndtr(0.5), 1 - 1e-7], rel=1e-9)
    edges = [SmoothLaw(sample, law.phi, left_out=left_out).edge for left_out in (1e-13, 1e-12, 1e-11, 1e-10, 1e-7)]
    assert edges == pytest.approx([1e-7, 1e-6, 1e-5, 1e-4, 1e-4])
    assert law.start(np.array([0.0, 0.5, 1.0])) == pytest.approx(sample.normal_corrected(np.array([-8.0, 0.0, 8.0])))
