"""Shares of hundreds of looks, and limits that hold however often one looks: proofs by simulation of 4,000 years."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.inference.many_looks import (
    always_valid_e_value,
    always_valid_upper_limit,
    share_left,
    share_of_next_look,
)
from pytest_riskguard.risk.tradeoff import linear

YEARS = 4_000
#: One-sided, as of a gate at level 0.95.
ERROR = 0.025


def test_shares_fall_and_sum_to_1():
    shares = np.array([share_of_next_look(k, looks=20) for k in range(1000)])
    assert np.all(np.diff(shares) <= 0)
    assert np.sum(shares) == pytest.approx(1, abs=1e-12)
    assert shares[0] == shares[19] == 1 / 40
    assert shares[20] == 1 / 80
    assert share_of_next_look(0, looks=1) == 0.5
    assert share_of_next_look(5_000_000, looks=1) == 0.0  # never negative, and no error
    for k, looks in ((-1, 20), (0, 0)):
        with pytest.raises(ValueError, match="expected k from 0 and looks from 1"):
            share_of_next_look(k, looks=looks)


@given(st.lists(st.sampled_from([1, 2, 10, 1000]), max_size=60))
def test_however_the_expected_number_changes_all_shares_together_stay_below_1(sequence):
    passed: Counter[int] = Counter()
    spent = []
    for looks in sequence:
        others = {other: k for other, k in passed.items() if other != looks}
        spent.append(share_of_next_look(passed[looks], looks=looks, others=others))
        for other in passed:  # one more look anywhere else leaves less, which the proof needs
            more = {**others, other: others.get(other, 0) + 1} if other != looks else others
            assert share_of_next_look(passed[looks] + (other == looks), looks=looks, others=more) <= spent[-1]
        passed[looks] += 1
        assert share_left(passed) == pytest.approx(1 - math.fsum(spent), abs=1e-12)
    assert math.fsum(spent) <= 1


def years_with_a_false_alarm(p_values, true, *, looks, at_once=1):
    """The share of years with a rejection among the true hypotheses; shapes (years, looks) and (looks,).

    So many looks are taken ``at_once``, each without knowing of the others.
    """
    g = np.array([share_of_next_look(k, looks=looks) for k in range(p_values.shape[1] + 1)])
    k = np.zeros(p_values.shape[0], dtype=int)
    alarm = np.zeros(p_values.shape[0], dtype=bool)
    for first in range(0, p_values.shape[1], at_once):
        together = slice(first, first + at_once)
        rejects = p_values[:, together] <= ERROR * g[k][:, None]
        alarm |= np.any(rejects & true[together], axis=1)
        k += np.count_nonzero(~rejects, axis=1)
    return float(np.mean(alarm))


def least_favourable(rng, *, looks, number):
    """Uniform p-values of which at most one falls below its fixed level: the union bound is then an equality."""
    g = np.array([share_of_next_look(k, looks=looks) for k in range(number)])
    edges = np.concatenate([[0], np.cumsum(ERROR * g)])
    u = rng.random((YEARS, 1))
    return (u - edges[:-1]) % 1.0  # look t rejects exactly where u lies in its own part


@pytest.mark.parametrize("harmful", [0.0, 0.1, 0.5])
@pytest.mark.parametrize(
    "dependence",
    ["independent", "equal", pytest.param("one collection", marks=pytest.mark.slow), "least favourable"],
)
def test_false_alarms_of_a_year_stay_within_the_budget(dependence, harmful):
    """300 looks, some of them harmful and always caught, so that their shares pass on, in every year."""
    rng, number, looks = np.random.default_rng([7, int(10 * harmful)]), 300, 100
    true = rng.random(number) >= harmful
    match dependence:
        case "independent":
            p = rng.random((YEARS, number))
        case "equal":
            p = np.repeat(rng.random((YEARS, 1)), number, axis=1)
        case "one collection":  # every candidate meets the same 60 topics of one stored run
            baseline = rng.standard_normal((YEARS, 60))
            p = np.empty((YEARS, number), dtype=np.float32)
            from scipy.stats import t as student_t

            for look in range(number):
                own = rng.standard_normal((YEARS, 60)) - baseline
                p[:, look] = student_t.cdf(np.mean(own, axis=1) / np.std(own, axis=1, ddof=1) * math.sqrt(60), 59)
        case _:
            p = least_favourable(rng, looks=looks, number=number)
    p[:, ~true] = 0.0
    found = years_with_a_false_alarm(p, true, looks=looks)
    assert found <= ERROR + 3 * math.sqrt(ERROR * (1 - ERROR) / YEARS)
    if dependence == "least favourable" and not harmful:
        assert found >= ERROR * 0.8  # the bound is sharp: nothing is given away
    uncorrected = np.mean(np.any((p <= ERROR) & true, axis=1))
    assert uncorrected > 0.9 or dependence != "independent"


def growing(rng, *, alpha, topics):
    """Trade-off scores with mean 0 of topics half of which change, most of them a little and some much."""
    changed = rng.random((YEARS, topics)) < 0.5
    sizes = rng.beta(0.5, 4, (YEARS, topics))
    wins = rng.random((YEARS, topics)) < (1 + alpha) / (2 + alpha)
    return linear(np.where(changed, np.where(wins, sizes, -sizes), 0.0).ravel(), alpha=alpha).reshape(YEARS, topics)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.0, 1.0, 5.0])
def test_a_limit_that_is_looked_at_after_every_topic_holds_in_thousands_of_years(alpha):
    from pytest_riskguard.inference.many_looks import _STAKES

    rng = np.random.default_rng([5, int(alpha)])
    x = growing(rng, alpha=alpha, topics=400)
    wealth = np.zeros(x.shape)
    for stake in _STAKES:
        wealth += np.exp(np.cumsum(np.log1p(-stake * x), axis=1)) / _STAKES.size
    for year, n in ((0, 10), (1, 100), (2, 400)):  # the same as the function gives
        assert always_valid_e_value(x[year, :n], bound=0.0, greatest=1.0) == pytest.approx(wealth[year, n - 1])
    ever = float(np.mean(np.max(wealth, axis=1) >= 1 / ERROR))
    assert ever <= ERROR + 3 * math.sqrt(ERROR / YEARS)
    if alpha <= 1:  # what looking again and again does to an ordinary interval
        t = np.cumsum(x, axis=1)[:, 24:] / np.sqrt(np.cumsum(x**2, axis=1)[:, 24:])
        assert np.mean(np.min(t, axis=1) < -1.96) > 3 * ERROR


def test_the_limit_is_where_the_bet_reaches_the_level():
    rng = np.random.default_rng(8)
    x = growing(rng, alpha=1.0, topics=80)[0]
    for level in (0.5, 0.95, 0.999):
        limit = always_valid_upper_limit(x, greatest=1.0, level=level)
        needed = 2 / (1 - level)
        assert always_valid_e_value(x, bound=limit + 1e-9, greatest=1.0) >= needed
        assert always_valid_e_value(x, bound=limit - 1e-9, greatest=1.0) <= needed
        assert limit > np.mean(x)


@given(
    st.lists(st.floats(-6, 1), min_size=1, max_size=40),
    st.floats(-3, 0.9),
    st.randoms(use_true_random=False),
)
def test_laws(values, bound, random):
    e = always_valid_e_value(values, bound=bound, greatest=1.0)
    shuffled = list(values)
    random.shuffle(shuffled)
    assert always_valid_e_value(shuffled, bound=bound, greatest=1.0) == e  # to the bit: no order counts
    assert always_valid_e_value(values, bound=min(bound + 0.05, 0.95), greatest=1.0) >= e
    scaled = always_valid_e_value(np.multiply(values, 4), bound=4 * bound, greatest=4.0)
    assert scaled == pytest.approx(e, rel=1e-9)
    limit = always_valid_upper_limit(values, greatest=1.0)
    assert np.mean(values) - 1e-9 <= limit <= 1.0


def test_what_never_varies_and_what_is_lost_for_certain():
    assert always_valid_upper_limit(np.ones(50), greatest=1.0) == 1.0
    assert always_valid_upper_limit(np.full(3, -1.0), greatest=1.0) > -1.0
    limits = [always_valid_upper_limit(np.full(n, -0.5), greatest=1.0) for n in (10, 100, 1000, 10_000)]
    assert np.all(np.diff(limits) < 0)
    assert limits[-1] == pytest.approx(-0.5, abs=0.005)
    assert always_valid_e_value(np.full(5000, -1.0), bound=0.0, greatest=1.0) == math.inf


@pytest.mark.parametrize(
    ("scores", "options", "words"),
    [
        ([], {"greatest": 1.0}, "at least one"),
        ([[0.1]], {"greatest": 1.0}, "one axis"),
        ([0.1, math.nan], {"greatest": 1.0}, "finite numbers"),
        ([0.1, 1.1], {"greatest": 1.0}, "at most greatest = 1.0, found 1.1"),
        ([0.1], {"greatest": math.inf}, "greatest must be finite"),
        ([0.1], {"greatest": 1.0, "level": 1.0}, "level"),
    ],
)
def test_what_has_no_limit(scores, options, words):
    with pytest.raises(ValueError, match=words):
        always_valid_upper_limit(scores, **options)
    if words != "level":
        with pytest.raises(ValueError, match=words):
            always_valid_e_value(scores, bound=0.0, greatest=options["greatest"])


def test_a_bound_that_no_mean_can_exceed_is_refused():
    with pytest.raises(ValueError, match=r"bound must be below the greatest possible score 1.0, got 1.0"):
        always_valid_e_value([0.1], bound=1.0, greatest=1.0)
