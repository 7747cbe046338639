"""The comparison with an earlier commit finds what it is there to find."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.benchmarks.compare_with_commit import Allowance, differences, result_of

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
    assert result_of(differences(written(), written(**changes), Allowance())) == result


@pytest.mark.parametrize(
    ("upper", "result"),
    [(0.10024, "numbers moved as allowed"), (0.10026, "NUMBERS DIFFER"), (-0.1, "NUMBERS DIFFER")],
)
def test_a_limit_may_move_by_a_share_of_the_standard_error_where_that_is_allowed(upper, result):
    compared = differences(written(), written(intervals=interval(upper)), Allowance(limits=True))
    assert result_of(compared) == result
    assert [str(difference).split(": ")[1] for difference in compared] == [
        f"verdicts[0].intervals[0].upper 0.1 {upper}"
    ]


def test_a_number_may_move_where_it_is_named():
    estimates: Any = VERDICT["estimates"]
    moved = written(estimates={**estimates, "alpha_star": 1.001})
    place = "verdicts[].estimates.alpha_star"
    assert result_of(differences(written(), moved, Allowance(limits=True))) == "NUMBERS DIFFER"
    assert result_of(differences(written(), moved, Allowance(numbers={place: 0.01}))) == "numbers moved as allowed"
    assert result_of(differences(written(), moved, Allowance(numbers={place: 0.0001}))) == "NUMBERS DIFFER"


def test_output_that_is_no_json_must_be_the_same():
    assert result_of(differences("a\tb\n", "a\tb\n", Allowance())) == "same"
    assert result_of(differences("a\tb\n", "a\tc\n", Allowance())) == "NUMBERS DIFFER"
