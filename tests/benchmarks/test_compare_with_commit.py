"""The comparison with an earlier commit finds what it is there to find."""

import json
from typing import Any

import pytest

from tests.benchmarks.compare_with_commit import ABSENT, differences

VERDICT: dict[str, Any] = {
    "outcome": "fail",
    "warnings": [{"code": "churn", "message": "old words"}],
    "intervals": [{"method": "bca", "lower": -0.3, "upper": 0.1}],
}


def written(**changes: object) -> str:
    return json.dumps({"schema": "riskguard-report/1", "verdicts": [{**VERDICT, **changes}]}, indent=2)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({}, None),
        ({"warnings": [{"code": "churn", "message": "new words"}]}, None),
        ({"warnings": [{"code": "loss", "message": "old words"}]}, "warnings[0].code"),
        ({"warnings": []}, "warnings"),
        ({"outcome": "pass"}, "outcome"),
        ({"intervals": [{"method": "bca", "lower": -0.3, "upper": 0.1000001}]}, "intervals[0].upper"),
        ({"added": 1}, "added"),
    ],
)
def test_only_sentences_may_differ(changes, place):
    found = differences(written(), written(**changes))
    assert [one[0] for one in found] == ([] if place is None else [f"verdicts[0].{place}"])
    assert [ABSENT in one for one in found] == ([] if place is None else [place == "added"])
    assert (differences(written(), written(**changes), 1e-6) == found) == (place != "intervals[0].upper")


def test_output_that_is_no_json_must_be_the_same():
    assert differences("a\tb\n", "a\tb\n") == []
    assert differences("a\tb\n", "a\tc\n") == [("output", "a\tb\n", "a\tc\n")]
