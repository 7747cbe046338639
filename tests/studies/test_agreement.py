"""Rank-biased overlap against its paper.

W. Webber, A. Moffat, J. Zobel, "A similarity measure for indefinite rankings", TOIS 28(4), 2010.
"""

import math
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_riskguard.studies.overlap import rank_biased_overlap

#: Rankings of some of nine systems, cut at any depth.
ranking = st.lists(st.sampled_from("abcdefghi"), unique=True, min_size=1, max_size=9)
pairs = st.tuples(ranking, ranking)


def common(first, second, depth: int) -> int:
    return len({*first[:depth]} & {*second[:depth]})


def truncated(first, second, *, phi: float, depths: int) -> float:
    """The sum of Eq. 4 as far as the rankings go: agreement of the first d, weighted."""
    agreements = [common(first, second, d) / d for d in range(1, depths + 1)]
    return (1 - phi) * math.fsum(phi ** (d - 1) * one for d, one in enumerate(agreements, 1))


def test_extrapolated_overlap_as_another_implementation_has_it():
    # README of b4ny4n/rankmeasures: RBO.eval(List(1,2,3,4,5), List(2,3,4,1,5), 0.9) = 0.828. Where both rank all
    # there is, that is the upper bound.
    assert sum(rank_biased_overlap("12345", "23415")) == pytest.approx(0.828)


def test_two_systems_by_hand():
    # agreement 0, 1, then 2/d: 0.1 (0.9 + 2 sum_{d > 2} 0.9^(d-1)/d), the series -ln(0.1)/0.9 less its first terms
    beyond = 0.1 * 2 * (math.log(10) / 0.9 - 1 - 0.9 / 2)
    assert rank_biased_overlap([1, 2], [2, 1]) == pytest.approx((0.09 + beyond, 0.81 - beyond))
    assert rank_biased_overlap([1, 2], [1, 2]) == pytest.approx((0.19 + beyond, 0.81 - beyond))


def test_unlike_rankings_by_hand():
    # nothing in common in the first two places: as much as everything from the third on, at best: a b b' a' ...
    # agreement 0, 0, then at depth d: 2 more each, so min(2 (d - 2), d)/d = 2/3, 1, 1, ...
    assert rank_biased_overlap("ab", "cd") == pytest.approx((0, 0.1 * 0.81 * 2 / 3 + 0.9**3))
    # <a> against <b c>: b and c may follow a, and a come third: 0, 1/2, 1, 1, ...
    assert rank_biased_overlap("a", "bc") == pytest.approx((0, 0.1 * 0.9 / 2 + 0.81))


@pytest.mark.parametrize("phi", [0.5, 0.9, 0.98])
@given(pairs)
def test_bounds_are_equations_11_and_30(phi, pair):
    (first, second), (s, l) = pair, sorted(map(len, pair))  # noqa: E741 - as in the paper
    both = common(first, second, 9)
    f = l + s - both

    def series(start, end):
        return sum(phi**d / d for d in range(start, end + 1))

    lower = sum((common(first, second, d) - both) * phi**d / d for d in range(1, l + 1)) - both * math.log(1 - phi)
    rest = s * series(s + 1, f) + l * series(l + 1, f) + both * (math.log(1 / (1 - phi)) - series(1, f))
    scale = (1 - phi) / phi
    expected = scale * lower, phi**s + phi**l - phi**f - scale * rest
    assert rank_biased_overlap(*pair, phi=phi) == pytest.approx(expected, abs=1e-12)


@given(pairs)
def test_with_nothing_in_common_later_the_sum_is_the_lower_bound(pair):
    first, second = ([*one, *(f"{side}{d}" for d in range(600))] for side, one in zip("xy", pair, strict=True))
    whole = truncated(first, second, phi=0.9, depths=600)
    assert rank_biased_overlap(*pair)[0] == pytest.approx(whole, abs=1e-12)


@given(pairs)
def test_no_continuation_reaches_more_than_the_residual_and_one_reaches_it(pair):
    new = [f"n{d}" for d in range(600)]
    best = ([*dict.fromkeys([*one, *other, *new])] for one, other in (pair, pair[::-1]))
    assert sum(rank_biased_overlap(*pair)) == pytest.approx(truncated(*best, phi=0.9, depths=600), abs=1e-12)


@pytest.mark.parametrize(("first", "second"), [("a", "b"), ("ab", "c"), ("ab", "ca"), ("a", "bcd"), ("abc", "cb")])
def test_every_continuation_is_between_the_bounds(first, second):
    depths, names = 5, "abcdxy"
    lower, residual = rank_biased_overlap(first, second, phi=0.6)
    every = ["".join(one) for one in permutations(names, depths)]
    ours, theirs = ([one for one in every if one.startswith(start)] for start in (first, second))
    found = [truncated(*one, phi=0.6, depths=depths) for one in product(ours, theirs)]
    later = 0.6**depths + 1e-12  # what deeper places count at most
    assert max(found) <= lower + residual + 1e-12
    assert lower + residual <= max(found) + later
    assert lower <= min(found) + later


@given(pairs)
def test_overlap_is_symmetric_and_largest_with_itself(pair):
    overlap = rank_biased_overlap(*pair)
    assert overlap == rank_biased_overlap(*reversed(pair))
    assert -1e-12 <= overlap[0] <= sum(overlap) <= 1 + 1e-12
    assert sum(rank_biased_overlap(pair[0], pair[0])) == pytest.approx(1)
