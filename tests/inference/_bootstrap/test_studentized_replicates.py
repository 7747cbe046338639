"""How replicates of the studentized mean are drawn and weighted, step by step; the whole is in test_studentized."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pytest_riskguard.inference._bootstrap import studentized_replicates
from pytest_riskguard.inference._bootstrap.replicates import words
from pytest_riskguard.inference._bootstrap.sample import Sample
from pytest_riskguard.inference._bootstrap.studentized_replicates import (
    _Bulk,
    _divergence,
    _log_norm,
    _singles,
    _slope,
    _Tilt,
    _tilt,
    _Urn,
    replicated_law,
)

Y, PLAIN = np.array([-1.5, -0.5, 0.25, 2.0]), np.array([0.2, 0.3, 0.4, 0.1])


def test_the_norm_is_the_logarithm_of_the_mean_exponential():
    expected = 0.2 * math.exp(-1.05) + 0.3 * math.exp(-0.35) + 0.4 * math.exp(0.175) + 0.1 * math.exp(1.4)
    assert _log_norm(0.7, Y, PLAIN) == pytest.approx(math.log(expected), rel=1e-14)
    assert _log_norm(1e4, Y, PLAIN) == pytest.approx(2e4 + math.log(0.1), rel=1e-14)


@pytest.mark.parametrize("slope", [0.0, 0.4, -1.3])
def test_the_divergence_is_that_of_kullback_and_leibler(slope):
    chances = PLAIN * np.exp(slope * Y)
    chances /= chances.sum()
    assert _divergence(slope, Y, PLAIN) == pytest.approx(math.fsum(chances * np.log(chances / PLAIN)), abs=1e-14)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("goal", [0.001, 0.1, 0.5, 1.2])
def test_the_slope_has_the_divergence_asked_for(sign, goal):
    slope = _slope(Y, PLAIN, sign, goal)
    assert slope * sign > 0
    assert _divergence(slope, Y, PLAIN) == pytest.approx(goal, rel=1e-9)


@pytest.mark.parametrize("goal", [2.5e-6, 0.02, 0.3, 1.5, 1.6])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_slope_is_the_one_that_bisection_alone_finds(sign, goal):
    rng = np.random.default_rng(3)
    for _ in range(20):
        y, plain = rng.standard_t(2, size=12), rng.dirichlet(np.ones(12))
        low, high = 0.0, 1.0
        while _divergence(sign * high, y, plain) < goal and high < 2.0**20:
            high *= 2
        for _ in range(studentized_replicates.BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if _divergence(sign * middle, y, plain) < goal else (low, middle)
        assert _slope(y, plain, sign, goal) == sign * low


def test_where_no_slope_diverges_so_far_it_is_a_large_one():
    # all weight on the lowest score diverges by log 5, on the highest by log 10
    assert _slope(Y, PLAIN, -1.0, 1.7) == pytest.approx(-(2.0**20), rel=1e-9)
    assert _slope(Y, PLAIN, 1.0, 2.4) == pytest.approx(2.0**20, rel=1e-9)


@pytest.mark.parametrize(("centre", "n"), [(2.0, 40), (-2.0, 40), (3.3, 40), (-3.3, 300)])
def test_a_tilt_is_a_saddlepoint(centre, n):
    """Chances in proportion to exp(slope (y - bend y^2)), bend = u/(2 m), n times whose divergence is z^2/2."""
    slope, bend = _tilt(Y, PLAIN, centre, n)
    chances = PLAIN * np.exp(slope * (Y - bend * Y**2))
    chances /= chances.sum()
    assert math.copysign(1.0, slope) == math.copysign(1.0, centre)
    assert n * math.fsum(chances * np.log(chances / PLAIN)) == pytest.approx(centre**2 / 2, rel=1e-8)
    assert bend == pytest.approx(math.fsum(chances * Y) / (2 * math.fsum(chances * Y**2)), rel=2e-3)
    assert _tilt(Y, PLAIN, 0.0, n) == (0.0, 0.0)


def test_how_much_likelier_a_replicate_is_with_a_tilt_is_the_product_over_its_draws():
    slope, bend = 0.4, 0.15
    tilt = _Tilt(slope, bend, _log_norm(slope, Y - bend * Y**2, PLAIN))
    chances = tilt.chances(Y, PLAIN)
    assert chances.sum() == pytest.approx(1.0, rel=1e-14)
    assert chances[3] / chances[0] == pytest.approx(0.5 * math.exp(0.4 * (3.5 - 0.15 * 1.75)), rel=1e-14)
    drawn = np.array([0, 3, 3, 1, 2])
    expected = math.fsum(np.log(chances / PLAIN)[drawn])
    ratio = tilt.log_ratio(np.array([Y[drawn].sum()]), np.array([np.sum(Y[drawn] ** 2)]), 5)
    assert ratio == pytest.approx([expected], rel=1e-13)


def standardised(x: list[float]) -> tuple[Sample, np.ndarray, np.ndarray]:
    sample = Sample.of(x)
    values, counts = sample.distinct
    return sample, (values - sample.mean) / sample.deviation, counts / sample.n


@pytest.mark.parametrize(
    ("x", "chances", "drawn"),
    [
        ([0.0, 0.0, 1.0, 3.0, -2.0], [0.25, 0.375, 0.25, 0.125], [0, 1, 2, 3]),
        ([0.5, 1.0, 3.0, -2.0], [0.5, 0.125, 0.125, 0.25], [0, 1, 2, 3]),
        # a score with more than 3/4 of the chances is what a replicate has where it has no other
        ([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 3.0], [0.8, 0.15, 0.05], [1, 2]),
    ],
)
def test_topics_are_drawn_by_the_words_of_the_chunk(x, chances, drawn):
    sample, y, _ = standardised(x)
    urn, rows = _Urn(sample, y, np.array(chances)), 40
    share = sum(chances[k] for k in drawn)
    assert urn.expected_draws == pytest.approx(sample.n * share)
    if len(drawn) < y.size:
        means, _, _ = urn.replicates(4096, chunk=3)
        assert float(np.mean(means)) == pytest.approx(np.sum(chances * y), abs=5 / math.sqrt(4096 * sample.n))
    else:
        means, squares, variances = urn.replicates(rows, chunk=3)
        slots = words(3, 100).view("<u2")[: rows * sample.n].reshape(rows, sample.n).astype(float)
        values = y[np.searchsorted(np.cumsum(chances) * 2**16, slots, side="right")]
        assert means == pytest.approx(values.mean(axis=1), abs=1e-13)
        assert squares == pytest.approx((values**2).mean(axis=1), abs=1e-12)
        assert variances == pytest.approx(values.var(axis=1), abs=1e-12)


def test_many_scores_share_four_times_as_many_slots():
    sample, y, plain = standardised(np.random.default_rng(3).normal(size=601).tolist())
    means, _, variances = _Urn(sample, y, plain).replicates(5, chunk=2)
    slots = (words(2, 1503).view("<u4")[: 5 * 601] >> 14).reshape(5, 601)
    values = y[np.searchsorted(np.rint(np.cumsum(plain) * 2**18), slots, side="right")]
    assert means == pytest.approx(values.mean(axis=1), abs=1e-13)
    assert variances == pytest.approx(values.var(axis=1), abs=1e-12)


def test_where_one_score_is_not_drawn_the_others_are_as_often_as_binomial_numbers_say():
    sample, y, plain = standardised([0.0] * 12 + [1.0, 3.0])
    urn, n, rows = _Urn(sample, y, plain), 14, 20_000
    means, squares, variances = urn.replicates(rows, chunk=1)
    # of one draw, over replicates: mean 0, mean square 1, variance 1 - 1/n
    assert float(np.mean(means)) == pytest.approx(0, abs=5 / math.sqrt(rows * n))
    assert float(np.var(means)) == pytest.approx(1 / n, rel=0.05)
    assert float(np.mean(squares)) == pytest.approx(1, abs=5 * math.sqrt(float(plain @ y**4) / (rows * n)))
    assert float(np.mean(variances)) == pytest.approx(1 - 1 / n, rel=0.05)
    # a replicate of nothing but the score that is not drawn does not vary
    assert float(np.mean(variances == 0)) == pytest.approx((12 / 14) ** n, abs=5 * math.sqrt(0.1 / rows))
    assert means[variances == 0] == pytest.approx(y[0], abs=1e-12)


def test_which_scores_are_drawn_one_by_one(monkeypatch):
    distances, counts = np.array([-3.0, 0.0, 1.0, -1.5]), np.array([1.0, 5.0, 2.0, 2.0])
    assert _singles(distances, counts, 1, np.array([0.1, 0.75, 0.1, 0.05])).tolist() == [True] * 4
    assert _singles(distances, counts, 1, np.array([0.1, 0.76, 0.1, 0.04])).tolist() == [True, False, True, True]
    plain = counts / 10
    monkeypatch.setattr(studentized_replicates, "MAX_TOPICS", 5)
    assert _singles(distances, counts, 1, plain).tolist() == [True] * 4
    # with more changed topics than that, as many of those furthest out as the second number allows, at least one
    monkeypatch.setattr(studentized_replicates, "MAX_TOPICS", 4)
    for most, expected in ((0, [0]), (1, [0]), (2, [0]), (3, [0, 3]), (4, [0, 3]), (5, [0, 2, 3])):
        monkeypatch.setattr(studentized_replicates, "MAX_SINGLE", most)
        assert np.flatnonzero(_singles(distances, counts, 1, plain)).tolist() == expected


def test_scores_drawn_together_have_the_moments_of_their_sums():
    distances, chances = np.array([-1.0, 0.5, 2.0]), np.array([0.2, 0.2, 0.1])
    shares = chances / 0.5
    mean, square = float(shares @ distances), float(shares @ distances**2)
    covariance = np.cov(np.stack([distances, distances**2]), aweights=shares, bias=True)
    factor = np.linalg.cholesky(covariance)
    draws, normal = np.array([0, 1, 9]), np.array([[0.3, 0.2, -1.1], [2.0, 0.1, 0.7]])
    sums, squares = _Bulk(distances, chances).sums(draws, normal)
    moved = np.sqrt(draws) * (factor @ normal)
    assert sums == pytest.approx(draws * mean + moved[0], rel=1e-12)
    # a sum of squares is at least the square of the sum over the number of draws
    assert squares == pytest.approx(np.maximum(draws * square + moved[1], sums**2 / np.maximum(draws, 1)), rel=1e-12)
    alike = _Bulk(np.array([0.5, 0.5]), np.array([0.3, 0.1])).sums(draws, normal)
    assert alike[0] == pytest.approx(draws * 0.5, rel=1e-12)
    assert alike[1] == pytest.approx(draws * 0.25, rel=1e-12)


SHAPES = {
    "sparse": lambda z: np.append(np.zeros(80), z[:12]),
    "far out": lambda z: np.append(z, -30.0),
    "long": lambda z: np.append(np.tile(z, 3) + np.arange(120) * 1e-3, [-50.0, 40.0]),
}


@pytest.mark.parametrize(
    ("name", "quantiles", "heights"),
    [
        (
            "sparse",
            [-2.836184307, -1.91527714194, 0.0146803582272, 1.98753345714, 33.6856187547],
            [2.12879840757e-08, 0.0172559878925, 0.317350458726, 0.832889366849, 0.99903611389],
        ),
        (
            "far out",
            [-2.07205626163, -1.33382837052, 0.0955119524784, 6.13253322754, 8.40719185405],
            [0.0, 0.000755284063059, 0.24431180931, 0.638989517423, 0.660384169406],
        ),
        (
            "long",
            [-2.24285489328, -1.58855949784, 0.0870453962899, 2.03358206392, 3.73176973691],
            [0.0, 0.0031174664082, 0.327838019492, 0.729046605643, 0.997723621216],
        ),
    ],
)
def test_draws_and_weights_are_those_they_always_were(name, quantiles, heights, monkeypatch):
    """The same for everybody, and from version to version: any other draw, weight or tilt moves these digits."""
    monkeypatch.setattr(studentized_replicates, "MAX_ROWS", 48)
    if name == "long":
        monkeypatch.setattr(studentized_replicates, "MAX_TOPICS", 100)
        monkeypatch.setattr(studentized_replicates, "MAX_SINGLE", 20)
    law = replicated_law(Sample.of(SHAPES[name](np.random.default_rng(4).normal(size=40))))
    assert [law.quantile(p) for p in (0.0005, 0.025, 0.5, 0.975, 0.9995)] == pytest.approx(quantiles, rel=1e-7)
    assert [law.cdf(t) for t in (-4.0, -2.0, -0.5, 1.0, 3.0)] == pytest.approx(heights, rel=1e-7, abs=1e-11)
