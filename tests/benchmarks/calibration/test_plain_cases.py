"""What a search lead would stop is stopped by the default gates, and what one would ship passes."""

from __future__ import annotations

import pytest

from pytest_riskguard import check
from tests.benchmarks.calibration.plain_cases import CASES, Case, first_line, outcomes
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


@pytest.mark.parametrize("case", TOLD, ids=lambda case: case.words)
def test_a_plain_case_ends_as_it_should(case: Case):
    """Ten data sets each; the slow tests make the whole table again."""
    stopped = [set(gates) != {"pass"} for gates in outcomes(case, simulations=50, seed=2)][:10]
    assert sum(stopped) <= 2 if case.expected == "ship" else all(stopped)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.words)
def test_the_first_line_fits_and_names_no_statistic(case: Case):
    line = first_line(case, seed=0)
    assert len(line) <= 80
    assert not any(word in line for word in ("URisk", "TRisk", "BCa", "p 0", "alpha"))


@pytest.mark.parametrize("options", [{}, {"tolerance": 0.01}, {"alpha": 0}, {"on_churn": "fail"}])
def test_six_of_a_hundred_that_fall_while_none_rises_are_a_loss_under_every_policy(options):
    baseline = {f"q{i}": 1.0 for i in range(100)}
    candidate = baseline | {f"q{i}": 0.5 for i in range(6)}
    verdict = check("not_significantly_risky", candidate, baseline, **options)
    assert (verdict.outcome, verdict.reason) == ("fail", "loss")
    assert (verdict.estimates.decision_p_value or 1) <= 0.05


def test_four_tiny_losses_are_no_loss_by_default():
    baseline = {f"q{i}": 1.0 for i in range(100)}
    candidate = baseline | {f"q{i}": 0.9999 for i in range(4)}
    assert check("not_significantly_risky", candidate, baseline).outcome == "pass"
