"""Rank-biased overlap against its paper.

W. Webber, A. Moffat, J. Zobel, "A similarity measure for indefinite rankings", TOIS 28(4), 2010.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pytest_riskguard.studies.pool_statistics import agreement_by_depth, rank_biased_overlap

orders = st.integers(1, 8).flatmap(
    lambda n: st.tuples(*(arrays(np.float64, n, elements=st.integers(0, 4).map(float)),) * 2)
)


def values(order: str, systems: str) -> list[float]:
    """Values that put systems, one letter each, in an order; those that it leaves out come last, in turn."""
    order += "".join(system for system in systems if system not in order)
    return [-float(order.index(system)) for system in systems]


def test_agreements_are_those_of_the_papers_example():
    # Section 3 (its table of average overlap): <a b c d e f g> and <z c a v w x y>, agreement at depths 1 to 7.
    # What comes after the seventh place does not touch them.
    systems = "abcdefgvwxyz"
    agreements = agreement_by_depth(values("abcdefg", systems), values("zcavwxy", systems))
    assert agreements[:7].round(3).tolist() == [0.0, 0.0, 0.667, 0.5, 0.4, 0.333, 0.286]
    assert agreements[-1] == 1


def upper(overlap: tuple[float, float]) -> float:
    """The extrapolated overlap (Eq. 23), which is the upper bound where both orders hold all systems."""
    return sum(overlap)


def test_extrapolated_overlap_as_another_implementation_has_it():
    # README of b4ny4n/rankmeasures: RBO.eval(List(1,2,3,4,5), List(2,3,4,1,5), 0.9) = 0.828
    overlap = rank_biased_overlap(values("12345", "12345"), values("23415", "12345"))
    assert upper(overlap) == pytest.approx(0.828)


def test_two_systems_by_hand():
    # agreement 0, 1, then 2/d: 0.1 (0.9 + 2 sum_{d > 2} 0.9^(d-1)/d), the series -ln(0.1)/0.9 less its first terms
    beyond = 0.1 * 2 * (math.log(10) / 0.9 - 1 - 0.9 / 2)
    turned = rank_biased_overlap([2, 1], [1, 2])
    assert turned[0] == pytest.approx(0.09 + beyond)
    assert turned[1] == pytest.approx(0.81 - beyond)
    same = rank_biased_overlap([2, 1], [7, 3])
    assert same[0] == pytest.approx(0.19 + beyond)
    assert same[1] == turned[1]


def test_tied_systems_stand_at_the_first_of_their_places():
    # (a b) c against a b c: at depth 1 the tops are {a, b} and {a}, which is 2 * 1 / 3
    assert agreement_by_depth([2, 2, 1], [3, 2, 1]).tolist() == pytest.approx([2 / 3, 1, 1])
    # (a b c) against (b c) a: at depths 1 and 2 the tops are all three and {b, c}, which is 4 / 5
    assert agreement_by_depth([1, 1, 1], [1, 2, 2]).tolist() == pytest.approx([0.8, 0.8, 1])
    assert agreement_by_depth([1, 1, 1], [4, 4, 4]).tolist() == [1, 1, 1]
    assert agreement_by_depth([0.3, 0.1 + 0.2], [1, 1]).tolist() == [1, 1]


@pytest.mark.parametrize("phi", [0.5, 0.9, 0.98])
@given(orders)
def test_bounds_are_equations_11_and_30(phi, pair):
    # no ties: equals go by their number
    first, second = (np.lexsort((np.arange(v.size), v)).argsort().astype(float) for v in pair)
    n = first.size
    common = [len({*np.argsort(-first)[:d]} & {*np.argsort(-second)[:d]}) for d in range(1, n + 1)]
    # Eq. 11 at depth k = n, where X_n = n
    lower = (1 - phi) / phi
    lower *= sum((x - n) * phi**d / d for d, x in enumerate(common, 1)) - n * math.log(1 - phi)
    # Eq. 30 with s = l = n, so that f = 2 n - X_n = n and the first two sums are empty
    residual = 2 * phi**n - phi**n
    residual -= (1 - phi) / phi * n * (-math.log(1 - phi) - sum(phi**d / d for d in range(1, n + 1)))
    overlap = rank_biased_overlap(first, second, phi=phi)
    assert overlap[0] == pytest.approx(lower, abs=1e-12)
    assert overlap[1] == pytest.approx(residual, abs=1e-12)


@given(orders)
def test_the_sum_goes_on_for_ever(pair):
    agreements = agreement_by_depth(*pair)
    n = agreements.size
    depths = np.arange(1, 2001)
    padded = np.concatenate([agreements, n / depths[n:]])  # further systems, none in common
    overlap = rank_biased_overlap(*pair)
    assert overlap[0] == pytest.approx(0.1 * np.sum(0.9 ** (depths - 1.0) * padded), abs=1e-12)
    padded[n:] = 1  # further systems, all in common
    assert upper(overlap) == pytest.approx(0.1 * np.sum(0.9 ** (depths - 1.0) * padded), abs=1e-12)


@given(orders)
def test_overlap_is_symmetric_and_largest_with_itself(pair):
    overlap, turned = rank_biased_overlap(*pair), rank_biased_overlap(*reversed(pair))
    assert overlap == turned
    assert 0 <= overlap[0] <= upper(overlap) <= 1 + 1e-12
    assert upper(rank_biased_overlap(pair[0], pair[0])) == pytest.approx(1)
