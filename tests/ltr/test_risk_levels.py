"""alpha' of each query: between 0 and alpha, larger the more was lost, and as the papers write it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_riskguard.ltr.weights import adaptive_alpha
from tests.ltr import plain_lambdas as plain


@settings(deadline=None)
@given(st.integers(1, 30), st.floats(0, 50), st.sampled_from(["deviation", "error"]), st.integers(0, 2**32 - 1))
def test_adaptive_alpha_is_between_0_and_alpha_and_grows_with_the_loss(queries, alpha, standardization, seed):
    rng = np.random.default_rng(seed)
    scores, baseline = rng.integers(0, 4, queries) / 3, rng.integers(0, 4, queries) / 3
    found = adaptive_alpha(scores, baseline, alpha=alpha, standardization=standardization)
    assert ((found >= 0) & (found <= alpha)).all()
    order = np.argsort(scores - baseline, kind="stable")
    assert (np.diff(found[order]) <= 1e-12 * alpha).all()


@pytest.mark.parametrize("standardization", ["deviation", "error"])
def test_one_changed_query_is_the_risky_one(standardization):
    baseline = np.full(10, 0.5)
    scores = baseline.copy()
    scores[3] = 0.4
    found = adaptive_alpha(scores, baseline, alpha=2, standardization=standardization)
    assert found[3] > 1.99
    np.testing.assert_allclose(np.delete(found, 3), 1)  # unchanged: alpha / 2
    np.testing.assert_allclose(adaptive_alpha(baseline, baseline, alpha=2, standardization=standardization), 1)


def test_adaptive_alpha_as_written_in_the_papers():
    scores, baseline = np.array([0.2, 0.5, 0.9, 0.4]), np.array([0.6, 0.5, 0.3, 0.5])
    x = np.array([-1.6, 0.0, 0.6, -0.4])  # differences, losses four times
    expected = [3 * (1 - plain.phi(value / x.std(ddof=1))) for value in x]
    np.testing.assert_allclose(adaptive_alpha(scores, baseline, alpha=3), expected)
    error = x.std(ddof=1) / 2
    expected = [3 * (1 - plain.phi(value / error)) for value in scores - baseline]
    np.testing.assert_allclose(adaptive_alpha(scores, baseline, alpha=3, standardization="error"), expected)
    for name, pair in (("scores", (scores * np.nan, baseline)), ("baseline", (scores, baseline * np.nan))):
        with pytest.raises(ValueError, match=f"^{name} must be finite"):
            adaptive_alpha(*pair, alpha=3)
