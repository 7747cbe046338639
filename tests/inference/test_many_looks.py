"""Shares of hundreds of looks: proofs by simulation of 4,000 years."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.inference.many_looks import (
    share_left,
    share_of_next_look,
)

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
