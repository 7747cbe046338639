"""Whether a baseline is an odd yardstick for a candidate."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_riskguard.studies.pool_statistics import YardstickFit, correlations, fit_from_correlations

RNG = np.random.default_rng(2)
BASELINE = RNG.random(100)


def like(share: float, rng: np.random.Generator = RNG) -> np.ndarray:
    """Scores that follow the baseline's, the closer to 1 the share the more."""
    return share * BASELINE + (1 - share) * rng.random(BASELINE.size)


def yardstick_fit(candidate: np.ndarray, baseline: np.ndarray, others: np.ndarray) -> YardstickFit:
    """The fit of the candidate to the baseline, by the correlations of a pool."""
    row = correlations(np.vstack([baseline, candidate, others]))[0]
    return fit_from_correlations(float(row[1]), row[2:], topics=baseline.size)


POOL = np.array([like(0.7) for _ in range(6)])


def test_a_candidate_that_goes_its_own_way_is_found():
    stranger = yardstick_fit(like(0.1), BASELINE, POOL)
    assert stranger.odd
    assert stranger.others == 6
    assert stranger.correlation is not None
    assert stranger.lowest is not None
    assert stranger.median is not None
    assert stranger.correlation < stranger.lowest < stranger.median
    assert stranger.distance == pytest.approx(math.atanh(stranger.median) - math.atanh(stranger.correlation))
    assert not yardstick_fit(like(0.7), BASELINE, POOL).odd
    assert not yardstick_fit(BASELINE, BASELINE, POOL).odd


def test_the_candidates_level_does_not_matter():
    low = yardstick_fit(0.1 * like(0.7) - 3, BASELINE, POOL)
    assert not low.odd


def test_in_a_pool_of_its_kind_no_candidate_is_odd():
    odd = 0
    rng = np.random.default_rng(3)
    for _ in range(500):
        pool = np.array([like(0.5, rng) for _ in range(5)])
        odd += yardstick_fit(like(0.5, rng), BASELINE, pool).odd
    assert odd <= 5  # 1 %


def test_two_others_do_not_say_what_is_usual():
    others = np.array([0.9, 0.9, 0.9, 0.9])
    assert fit_from_correlations(0.1, others[:3], topics=50).odd
    assert not fit_from_correlations(0.1, others[:2], topics=50).odd
    assert not fit_from_correlations(0.1, np.array([0.9, 0.9, np.nan]), topics=50).odd
    empty = fit_from_correlations(0.1, np.array([]), topics=50)
    assert (empty.others, empty.median, empty.odd) == (0, None, False)


@pytest.mark.parametrize(("topics", "needed"), [(35, 0.5), (1000, 0.5), (34, 2 * math.sqrt(2 / 31)), (11, 1.0)])
def test_with_few_topics_it_takes_more(topics, needed):
    others = np.full(5, 0.8)
    fit = fit_from_correlations(0.1, others, topics=topics)
    assert fit.needed == pytest.approx(needed)
    edge = math.tanh(math.atanh(0.8) - needed)
    assert fit_from_correlations(edge - 1e-6, others, topics=topics).odd
    assert not fit_from_correlations(edge + 1e-6, others, topics=topics).odd


def test_three_topics_say_nothing():
    fit = fit_from_correlations(-1.0, np.full(5, 0.9), topics=3)
    assert (fit.odd, fit.needed, fit.correlation) == (False, None, -1.0)


def test_copies_of_the_baseline_make_nobody_odd():
    copies = np.ones(8)
    assert not fit_from_correlations(0.87, copies, topics=1000).odd
    assert fit_from_correlations(0.86, copies, topics=1000).odd
    assert not fit_from_correlations(1.0, copies, topics=1000).odd


def test_a_candidate_that_has_company_is_not_odd():
    others = np.array([0.1, 0.1, *[0.9] * 17])
    assert not fit_from_correlations(0.1, others, topics=100).odd  # two of 19 correlate as little
    assert fit_from_correlations(0.1, others[1:], topics=100).odd  # one of 18
    assert not fit_from_correlations(0.1, others[1:9], topics=100).odd  # one of 8


def test_what_does_not_vary_has_no_correlation():
    fit = yardstick_fit(np.full(100, 0.5), BASELINE, POOL)
    assert (fit.correlation, fit.odd, fit.others) == (None, False, 6)
    fit = yardstick_fit(BASELINE, np.full(100, 0.5), POOL)
    assert (fit.correlation, fit.odd, fit.others, fit.median) == (None, False, 0, None)
