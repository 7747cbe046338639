"""What a search lead would stop is stopped by the default gates, and what one would ship passes."""

import numpy as np
import pytest

from tests.benchmarks.calibration.plain_cases import CASES, Case, outcomes
from tests.benchmarks.calibration.tables import read

TOLD = [case for case in CASES if case.expected]


def test_the_table_holds_what_is_promised_of_each_case():
    header, *rows = read("plain-cases")
    assert [row[:2] for row in rows] == [[case.words, case.expected] for case in CASES]
    assert len(TOLD) >= 16
    for row in rows:
        cell = dict(zip(header, row, strict=True))
        stopped, expected = float(cell["stopped"]), cell["expected"]
        assert stopped >= 95 if expected in ("stop", "no verdict") else stopped <= 4 or not expected, row
        assert int(cell["data sets"]) >= (200 if expected == "stop" else 1000)


@pytest.mark.slow
@pytest.mark.parametrize("case", TOLD, ids=lambda case: case.words)
def test_a_plain_case_ends_as_it_should(case: Case):
    """Ten data sets each; the slow tests make the whole table again."""
    stopped = [set(gates) != {"pass"} for gates in outcomes(case, np.random.default_rng(2), 10)]
    assert sum(stopped) <= 2 if case.expected == "ship" else all(stopped)
