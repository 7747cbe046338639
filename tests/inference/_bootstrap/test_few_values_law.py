"""The law around a question against the law at all points, and where each is used."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest_riskguard.inference._bootstrap.choice import mean_law
from pytest_riskguard.inference._bootstrap.fft_law import (
    MAX_VALUES,
    FewValuesLaw,
    few_values_law,
    grid_law,
)
from pytest_riskguard.inference._bootstrap.sample import Sample

P = np.array([5e-4, 0.004, 0.025, 0.2, 0.5, 0.8, 0.975, 0.996, 0.9995])


def changed(n: int, count: int, *, seed: int, same: bool = False) -> np.ndarray:
    rng = np.random.default_rng(seed)
    d = rng.normal(size=count) * 0.2
    x = np.full(n, 0.3 if seed % 2 else 0.0)
    x[:count] += rng.choice(d[:4], count) if same else np.where(d < 0, 2 * d, d)
    return x


@given(
    n=st.integers(5, 400),
    share=st.floats(0.01, 1),
    seed=st.integers(0, 999),
    same=st.booleans(),
    far=st.sampled_from([0.0, -40.0, 25.0]),
)
@settings(max_examples=20)
def test_questions_have_the_answers_of_the_law_at_all_points(n, share, seed, same, far):
    x = changed(n, max(1, min(round(n * share), 25)), seed=seed, same=same)
    x[-1] += far
    sample = Sample.of(x)
    if sample.constant:
        return
    here, everywhere = few_values_law(sample), grid_law(sample)
    if here is None:
        return
    assert (here.kind, here.centre, here.resolution) == (everywhere.kind, everywhere.centre, everywhere.resolution)
    quantiles = everywhere.quantiles(P)
    assert here.quantiles(P) == pytest.approx(quantiles, rel=0, abs=1e-10 * sample.scale)
    between = quantiles + 0.37 * 24 / 2**16 * sample.scale  # not at an atom, which rounding may put on either side
    for value in (0.0, float(x[0]), here.centre, -1e6, 1e6, *between.tolist()):
        assert here._mid_cdf(value) == pytest.approx(everywhere.mid_cdf(value), rel=0, abs=1e-9)
    assert here.mid_cdf(here.centre) == pytest.approx(everywhere.mid_cdf(here.centre), rel=0, abs=1e-12)
    for value in between.tolist():
        assert (here.cdf(value), here.mid_cdf(value)) == (everywhere.cdf(value), everywhere.mid_cdf(value))


def test_few_changes_have_this_law_and_their_unchanged_replicate_is_an_atom():
    x = changed(225, 12, seed=2)
    law = mean_law(x)
    assert isinstance(law, FewValuesLaw)
    none_drawn = (1 - 12 / 225) ** 225
    assert law.cdf(0.0) - law.cdf(-1e-9) == pytest.approx(none_drawn, rel=1e-9)
    assert law.mid_cdf(0.0) == pytest.approx((law.cdf(0.0) + law.cdf(-1e-9)) / 2, rel=1e-12)


def test_many_scores_or_many_draws_of_them_have_the_law_at_all_points():
    assert few_values_law(Sample.of(changed(90, MAX_VALUES - 1, seed=6))) is not None
    assert few_values_law(Sample.of(changed(90, MAX_VALUES, seed=6))) is None
    rng = np.random.default_rng(8)
    common = np.append(rng.choice([0.1234567, -0.2345678, 0.3141592, 0.777, -0.4], 3000), np.zeros(3000))
    assert few_values_law(Sample.of(common)) is None
