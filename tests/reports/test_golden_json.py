"""A whole JSON report, value by value."""

from pathlib import Path

from pytest_riskguard.reports import json
from pytest_riskguard.reports.comparisons import Report
from tests.reports.cases import CASES
from tests.snapshots import golden_json


def test_the_report_of_a_loss_and_of_data_that_cannot_be_compared():
    report = json.plain(Report([CASES["loss"](), CASES["incomparable"]()]))
    report["generated_by"] = "pytest-riskguard 0"
    golden_json(Path(__file__).parent / "golden" / "report.json", report)
