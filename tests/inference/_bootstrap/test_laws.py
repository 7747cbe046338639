"""What laws answer, of atoms and draws counted by hand."""

import numpy as np
import pytest
from pytest_riskguard.inference._bootstrap.laws import DrawnLaw, MirroredLaw, StepLaw, WeightedLaw, leans_left, vary
from pytest_riskguard.inference._bootstrap.sample import Sample

LAW = DrawnLaw(np.array([0.3, -0.1, 0.0, 1e-14, 0.2, -1e-14, 0.1, -0.3]), centre=0.0, same=1e-12)


@pytest.mark.parametrize(
    ("p", "expected"), [(0.0, -0.3), (1 / 8, -0.3), (1 / 8 + 1e-9, -0.1), (0.75, 0.1), (0.76, 0.2), (1.0, 0.3)]
)
def test_a_quantile_is_the_smallest_draw_whose_cdf_reaches_the_probability(p, expected):
    assert LAW.quantile(p) == expected


def test_a_law_is_constant_where_every_draw_is_the_sample():
    assert not LAW.constant
    assert DrawnLaw(np.array([0.5, 0.5 + 1e-14]), centre=0.5, same=1e-12).constant
    assert not DrawnLaw(np.array([0.5, 0.5]), centre=0.4, same=1e-12).constant


#: Means of this sample are the same within 3.5e-13.
SAMPLE = Sample.of([-1.0, 0.0, 0.0, 1.0])
STEPS = StepLaw("lattice", np.array([-0.5, 0.0, 0.5]), np.array([1.0, 2.0, 1.0]), SAMPLE, centre=0.0)


@pytest.mark.parametrize(
    ("value", "cdf", "mid_cdf"),
    [
        (-0.6, 0, 0),
        (-0.5 - 1e-10, 0, 0),
        (-0.5 - 1e-11, 0.25, 0.125),
        (-0.5, 0.25, 0.125),
        (-0.5 + 1e-11, 0.25, 0.125),
        (-0.5 + 1e-10, 0.25, 0.25),
        (0.0, 0.75, 0.5),
        (0.5, 1, 0.875),
        (0.6, 1, 1),
    ],
)
def test_steps_count_the_atoms_up_to_a_value(value, cdf, mid_cdf):
    assert (STEPS.cdf(value), STEPS.mid_cdf(value)) == (cdf, mid_cdf)


def test_steps_have_quantiles_where_their_cdf_reaches_the_probability():
    assert (STEPS.kind, STEPS.centre, STEPS.resolution) == ("lattice", 0.0, 1e-12)
    p = np.array([1e-6, 0.25, 0.25 + 5e-14, 0.25 + 2e-13, 0.75, 0.76, 1 - 1e-6])
    assert STEPS.quantiles(p).tolist() == [-0.5, -0.5, -0.5, 0.0, 0.0, 0.5, 0.5]
    assert STEPS.quantile(0.5) == 0.0


WEIGHTED = WeightedLaw("enumerated", np.array([3.0, 1.0, 2.0]), np.array([4.0, 2.0, 2.0]))


def test_the_mirrored_law_turns_sides():
    law = MirroredLaw(WEIGHTED)
    assert law.kind == "enumerated"
    # P(-T* <= t) = P(T* >= -t), the atom at -t included
    assert [law.cdf(t) for t in (-3.1, -3.0, -2.5, -2.0, -1.0, 0.0)] == [0, 0.5, 0.5, 0.75, 1, 1]
    assert [law.quantile(p) for p in (0.25, 0.6, 0.9)] == [-3, -2, -1]
    far = MirroredLaw(WeightedLaw("enumerated", np.array([1000.0, 1001.0]), np.ones(2)))
    assert (far.cdf(-1001 - 0.9e-6), far.cdf(-1001 - 1.1e-6)) == (0.5, 0)
    assert (law.cdf(-1 - 0.9e-9), law.cdf(-1 - 1.1e-9)) == (1, 0.75)


def test_replicates_vary_by_more_than_the_rounding_of_their_scores():
    # of two topics half a unit off their mean: scores span the root of the variance, in units of the sample's
    sample = Sample.of([0.0, 1.0])
    spans, means = np.array([0.9e-12, 1.1e-12, 2.9e-12, 3.1e-12, 3.1e-12]), np.array([0.5, 0.5, 3.0, 3.0, -3.0])
    assert vary(sample, means, spans**2).tolist() == [False, True, False, True, True]
    # of eight topics four times the variance has the same span; so has one whose sample is a quarter as wide
    assert vary(Sample.of([0.0, 0.25] * 4), np.zeros(2), np.array([1.9e-12, 2.1e-12]) ** 2).tolist() == [False, True]


@pytest.mark.parametrize("x", [[-3.0, 1.0, 2.0], [-3.0, -2.0, 1.0, 1.0, 3.0], [-0.2, -0.2, 0.4]])
def test_exactly_one_of_a_sample_and_its_mirror_image_leans_left(x):
    sides = {leans_left(Sample.of(x)), leans_left(Sample.of([-value for value in x]))}
    assert sides == {True, False}
