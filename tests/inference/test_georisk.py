"""Intervals, p-values and ranks of a pool, against the definition, plain loops and each other."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import norm
from scipy.stats import t as student

from pytest_riskguard.inference.georisk import georisk_difference, replicates_for
from pytest_riskguard.inference.georisk_replicates import draw_counts
from tests.inference.direct_georisk import georisk, replicate

METHODS = ("student_t", "percentile", "bca")

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.995)


def pool(seed: int, shape: tuple[int, int] = (5, 30), *, shift: float = 0.0) -> np.ndarray:
    """Beta scores around each topic's own difficulty; the first system's are shifted."""
    rng = np.random.default_rng(seed)
    m = rng.beta(1.2, 2, shape[1])
    scores = rng.beta(10 * m, 10 * (1 - m), shape)
    scores[0] = np.clip(scores[0] + shift, 0, 1)
    return scores


def compared(scores, *, candidate=0, reference=1, alpha=1, replicates=1000):
    return georisk_difference(scores, candidate=candidate, reference=reference, alpha=alpha, replicates=replicates)


@pytest.mark.parametrize("alpha", [0.0, 5.0])
def test_intervals_are_those_of_the_formulas(alpha):
    """Everything that is said of one pool, by loops over the definition."""
    scores, draws = pool(1), 613
    counts = draw_counts(30, chunk=0)[:, :draws]

    def against(x: np.ndarray) -> float:
        georisks = georisk(x, alpha=alpha)
        return float(georisks[2] - georisks[0])

    estimate = against(scores)
    replicates = np.sort([against(replicate(scores, counts[:, r])) for r in range(draws)])
    jackknife = np.array([against(np.delete(scores, j, axis=1)) for j in range(30)])
    difference = compared(scores, candidate=2, reference=0, alpha=alpha, replicates=draws)
    assert difference.estimate == pytest.approx(estimate, abs=1e-12)
    influence = jackknife.mean() - jackknife
    error = math.sqrt(29 / 30 * np.sum(influence**2))
    acceleration = np.sum(influence**3) / (6 * np.sum(influence**2) ** 1.5)  # ADCS 2019, Eq. 6
    bias = norm.ppf(np.mean(replicates < estimate))
    assert difference.standard_error == pytest.approx(error, rel=1e-8)
    assert difference.acceleration == pytest.approx(acceleration, abs=1e-8)
    assert difference.bias == pytest.approx(bias, abs=1e-12)
    for level in (0.8, 0.95):
        z = norm.ppf([(1 - level) / 2, (1 + level) / 2])
        half = student.ppf((1 + level) / 2, 29) * error
        corrected = norm.cdf(bias + (bias + z) / (1 - acceleration * (bias + z)))  # ADCS 2019, Eq. 7
        expected = {
            "student_t": (estimate - half, estimate + half),
            "percentile": np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf"),
            "bca": np.quantile(replicates, corrected, method="inverted_cdf"),
        }
        for method in METHODS:
            interval = difference.interval(method=method, level=level)
            assert (interval.method, interval.level) == (method, level)
            assert_allclose((interval.lower, interval.upper), expected[method], rtol=0, atol=1e-9)


@given(
    seed=st.integers(0, 10_000),
    shift=st.sampled_from([-0.1, -0.04, -0.02, 0.0, 0.05]),
    decimals=st.sampled_from([1, 5]),
    zeros=st.sampled_from([0.0, 0.7]),
    method=st.sampled_from(METHODS),
    bound=st.sampled_from([0.0, -0.01, -0.03]),
    level=st.one_of(st.sampled_from(LEVELS), st.floats(0.01, 0.998)),
)
@settings(max_examples=40, deadline=None)
def test_an_upper_limit_is_below_the_bound_exactly_where_p_is_small_enough(
    seed, shift, decimals, zeros, method, bound, level
):
    scores = np.round(pool(seed, (4, 12), shift=shift), decimals)
    scores *= np.random.default_rng(seed).random(scores.shape) >= zeros
    difference = compared(scores)
    p = difference.p_value(method=method, bound=bound)
    assert 0 <= p <= 1
    asked = (*LEVELS, level) if difference.constant else (*LEVELS, level, 1 - p, 1 - np.nextafter(p, 0))
    for each in asked:
        if 0 < each < 1 and (difference.constant or method == "student_t" or 1 - each >= 2 / 1000):
            interval = difference.interval(method=method, level=each)
            assert interval.lower <= interval.upper
            assert (interval.upper < bound) == (p <= 1 - each), (p, each)


def test_draws_show_no_p_value_below_two_over_their_number():
    difference = compared(pool(3, shift=-0.9))
    assert difference.interval(level=0.99).upper < 0
    assert difference.p_value() == pytest.approx(2 / 1000, rel=1e-12)
    assert difference.p_value() >= 2 / 1000


@pytest.mark.parametrize(
    ("level", "tests", "topics", "count"),
    [
        (0.95, 1, 50, 40_000),
        (0.95, 4, 50, 160_000),
        (0.8, 1, 50, 20_000),
        (0.999, 1, 50, 200_000),
        (0.95, 1, 10**6, 858),
        (1 - 1 / 256, 1, 10**6, 2048),
    ],
)
def test_as_many_replicates_are_drawn_as_the_level_needs_and_the_pool_allows(level, tests, topics, count):
    assert replicates_for(level=level, n_systems=5, n_topics=topics, n_tests=tests) == count


def test_more_replicates_than_memory_holds_are_refused():
    with pytest.raises(ValueError, match=r"level 0\.999999 with 8 tests needs 64000000 replicates, more than memory"):
        replicates_for(level=1 - 1e-6, n_systems=5, n_topics=50, n_tests=8)


def test_the_jackknife_leaves_out_whole_clusters():
    scores, clusters = pool(7), np.arange(30) % 8
    found = georisk_difference(scores, candidate=0, reference=1, alpha=1, replicates=9, clusters=clusters)
    rests = [georisk(scores[:, clusters != cluster], alpha=1) for cluster in range(8)]
    assert_allclose(found.left_out, [rest[0] - rest[1] for rest in rests], atol=1e-12)


def test_twins_differ_by_nothing():
    scores = pool(4)
    scores[1] = scores[0]
    for alpha in (0, 1, 10):
        difference = compared(scores, alpha=alpha)
        assert difference.estimate == 0.0
        for method in METHODS:
            interval = difference.interval(method=method, level=0.9999)
            assert (interval.lower, interval.upper) == (0.0, 0.0)
            assert difference.p_value(method=method) == 1.0
            assert difference.p_value(method=method, bound=0.01) == 0.0


@given(kind=st.sampled_from(["zeros", "one topic", "one score", "one system", "alike", "two topics"]))
@settings(deadline=None)
def test_no_pool_gives_anything_but_numbers(kind):
    scores = np.zeros((3, 12))
    if kind == "one topic":
        scores[:, 4] = [0.1, 0.2, 0.3]
    elif kind == "one score":
        scores[0, 4] = 1.0
    elif kind == "one system":
        scores[1] = 0.5
    elif kind == "alike":
        scores[:] = np.linspace(0.1, 0.9, 12)
    elif kind == "two topics":
        scores = np.array([[0.1, 0.9], [0.2, 0.2], [0.0, 1.0]])
    for alpha in (0, 5):
        difference = compared(scores, alpha=alpha, replicates=500)
        assert math.isfinite(difference.standard_error)
        assert math.isfinite(difference.acceleration)
        for method in METHODS:
            interval = difference.interval(method=method)
            assert math.isfinite(interval.lower)
            assert math.isfinite(interval.upper)
            assert 0 <= difference.p_value(method=method) <= 1


def test_the_order_of_systems_does_not_matter():
    scores = pool(5, (6, 25))
    first = compared(scores, reference=3)
    second = compared(scores[[4, 0, 5, 2, 1, 3]], candidate=1, reference=5)
    for method in METHODS:
        assert first.interval(method=method).upper == second.interval(method=method).upper
        assert first.p_value(method=method) == second.p_value(method=method)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.fixture(scope="module")
def cranfield(shared):
    """Names of the 20 Cranfield runs, their nDCG@10, and GeoRisk computed apart from this project."""
    topics = rows(shared / "data/cranfield_runs/scores_ndcg10.csv")
    names = [name for name in topics[0] if name != "topic"]
    scores = np.array([[float(topic[name]) for topic in topics] for name in names])
    return names, scores, {of["system"]: of for of in rows(shared / "data/cranfield_runs/zrisk_georisk_ndcg10.csv")}


@pytest.mark.parametrize(
    ("candidate", "alpha", "significant"),
    [
        ("partial_longquery_trunc", 1, {"student_t", "percentile", "bca"}),
        ("bm25s_atire", 1, {"bca"}),  # five topics differ: there Student-t must agree, and does not
        ("improved_rrf", 5, set()),
        ("improved_rrf", 10, {"student_t", "percentile", "bca"}),
    ],
)
def test_cranfield_runs_against_bm25_in_the_pool_of_all(cranfield, candidate, alpha, significant):
    names, scores, published = cranfield
    row, bm25 = names.index(candidate), names.index("bm25s_lucene")
    difference = compared(scores, candidate=row, reference=bm25, alpha=alpha, replicates=8_000)
    in_pool = [float(published[names[place]][f"georisk_a{alpha}"]) for place in (row, bm25)]  # six decimals
    assert difference.estimate == pytest.approx(in_pool[0] - in_pool[1], abs=1.2e-6)
    assert {method for method in METHODS if difference.interval(method=method).upper < -1e-12} == significant
    assert {method for method in METHODS if difference.p_value(method=method, bound=-1e-12) <= 0.05} == significant
    if (candidate, alpha) == ("improved_rrf", 10):
        assert difference.interval(method="percentile").upper == pytest.approx(-0.009, abs=5e-4)
        assert in_pool[0] < in_pool[1]
        assert scores[row].mean() > scores[bm25].mean()
