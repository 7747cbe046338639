"""GeoRisk with expectations that stay while a swap is weighed, against exact GeoRisk, whose expectations follow."""

import numpy as np
import pytest

from pytest_riskguard.risk import georisk
from tests.docs.pages import DOCS
from tests.ltr import plain_lambdas as plain


@pytest.mark.slow
def test_exact_georisk_would_push_some_swaps_the_wrong_way():
    rng = np.random.default_rng(0)
    swaps = wrong = 0
    for _ in range(400):
        queries, baselines, alpha = int(rng.integers(2, 60)), int(rng.integers(1, 5)), rng.choice([0, 1, 5, 20])
        ease = rng.beta(1.2, 1.2, queries)
        pool = [rng.beta(4 * ease + 0.05, 4 * (1 - ease) + 0.05).tolist() for _ in range(baselines)]
        scores = rng.beta(4 * ease + 0.05, 4 * (1 - ease) + 0.05).tolist()
        for _ in range(10):
            query = int(rng.integers(queries))
            change = float(rng.uniform(-scores[query], 1 - scores[query]))
            if abs(change) < 1e-6:
                continue
            fast = plain.georisk_effect(scores, pool, query, alpha)(change)
            exact = plain.georisk_effect(scores, pool, query, alpha, exact=True)(change)
            assert fast * change >= 0
            swaps, wrong = swaps + 1, wrong + (exact * change < 0)
    share = f"in the wrong direction in {wrong / swaps:.0%} of random swaps (of {swaps:,};"
    text = (DOCS / "explanation/risk-sensitive-training.md").read_text(encoding="utf-8")
    assert share in " ".join(text.split())


def test_georisk_of_plain_python_is_that_of_the_gates():
    rng = np.random.default_rng(1)
    pool = rng.uniform(size=(4, 9))
    expectations = [plain.expected(pool.tolist(), 3, query) for query in range(9)]
    assert plain.georisk(pool[3].tolist(), expectations, 2.0) == pytest.approx(georisk(pool, alpha=2.0)[3])
