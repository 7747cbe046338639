"""The comparison with an earlier commit finds what it is there to find."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.benchmarks.compare_with_commit import differences, result_of

VERDICT = {
    "outcome": "fail",
    "warnings": [{"code": "churn", "message": "old words"}],
    "estimates": {"standard_error": 0.5, "georisk_standard_error": None, "alpha_star": 1.0},
    "intervals": [{"method": "bca", "lower": -0.3, "upper": 0.1}],
}


def written(**changes: object) -> str:
    report = {"schema": "riskguard-report/1", "verdicts": [{**VERDICT, **changes}]}
    return json.dumps(report, indent=2) + "\n"


def interval(upper: float) -> list[dict[str, object]]:
    return [{"method": "bca", "lower": -0.3, "upper": upper}]


@pytest.mark.parametrize(
    ("changes", "result"),
    [
        ({}, "same"),
        ({"warnings": [{"code": "churn", "message": "new words"}]}, "texts differ"),
        ({"warnings": [{"code": "loss", "message": "old words"}]}, "NUMBERS DIFFER"),
        ({"outcome": "pass"}, "NUMBERS DIFFER"),
        ({"intervals": interval(0.1000001)}, "NUMBERS DIFFER"),
        ({"warnings": []}, "NUMBERS DIFFER"),
        ({"added": 1}, "other fields"),
    ],
)
def test_only_sentences_may_differ(changes, result):
    assert result_of(differences(written(), written(**changes), {})) == result


def test_a_number_may_move_where_it_is_named():
    estimates: Any = VERDICT["estimates"]
    moved = written(estimates={**estimates, "alpha_star": 1.001})
    place = "verdicts[].estimates.alpha_star"
    assert result_of(differences(written(), moved, {})) == "NUMBERS DIFFER"
    assert result_of(differences(written(), moved, {place: 0.01})) == "numbers moved as allowed"
    assert result_of(differences(written(), moved, {place: 0.0001})) == "NUMBERS DIFFER"


def test_output_that_is_no_json_must_be_the_same():
    assert result_of(differences("a\tb\n", "a\tb\n", {})) == "same"
    assert result_of(differences("a\tb\n", "a\tc\n", {})) == "NUMBERS DIFFER"
