"""The simulation of pools: verdicts warn where its table has a share that is off."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pytest_riskguard import check
from tests.benchmarks.calibration.tables import read

#: What is due, and how far a share may be from it before a verdict warns.
NOMINAL, TOO_FAR = 2.5, 1.5


@pytest.mark.parametrize(("topics", "alpha"), [*product((25, 50, 250), (1.0, 5.0, 10.0))])
def test_a_verdict_warns_where_the_page_has_a_share_that_is_off(topics, alpha):
    rng = np.random.default_rng(topics)
    systems = [{str(n): float(x) for n, x in enumerate(rng.beta(2, 3, topics))} for _ in range(3)]
    verdict = check("georisk_not_worse", systems[0], dict(zip("ab", systems[1:], strict=True)), alpha=alpha)
    warned = "few_topics" in {warning.code for warning in verdict.warnings}
    bca = [float(row[5]) for row in read("georisk")[1:] if (float(row[1]), float(row[3])) == (topics, alpha)]
    assert warned or all(abs(share - NOMINAL) <= TOO_FAR for share in bca)
    assert warned == (topics < 50 and alpha > 1)
