"""The JSON report."""

import json
from dataclasses import replace

import jsonschema
import pytest

from pytest_riskguard.gates.verdict import FLIPS, Family
from pytest_riskguard.reports import json as report_json
from pytest_riskguard.reports.comparisons import Report
from tests.reports.cases import CASES
from tests.reports.hostile import verdict_with
from tests.reports.schema import SCHEMA_FILE, described, schema_of_a_report
from tests.reports.test_words import VERDICTS
from tests.verdicts import altered

OTHERS = ("smooth", "loss, weighted", "loss, beyond noise", "too weak", "nothing changed", "identical")
LOSS = CASES["loss"]()
#: Rounding may put a p-value on either side of the level.
AT_LEVEL = altered(LOSS, estimates=replace(LOSS.estimates, decision_p_value=0.05))
#: A family that draws lets a gate pass that fails by itself.
DRAWN = altered(LOSS, outcome="pass", reason=None, family=Family(FLIPS, 3, 0.95, 0.2))
NOISE = VERDICTS["loss, beyond noise"]()
#: Where noise is subtracted, a gate may fail at alpha 0 alone.
AT_0 = altered(NOISE, intervals=tuple(replace(one, upper=0.1) for one in NOISE.intervals))
KINDS = {
    "at alpha 0": lambda: AT_0,
    "drawn": lambda: DRAWN,
    "at the level": lambda: AT_LEVEL,
    **CASES,
    **{name: VERDICTS[name] for name in OTHERS},
    "hostile": lambda: verdict_with("\ud800\n<b>"),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_report_is_valid_strict_json_and_reads_back(name):
    given = KINDS[name]()
    text = report_json.dumps(Report([given]))
    assert text.isascii()
    report = json.loads(text, parse_constant=lambda constant: pytest.fail(f"{constant} is not JSON"))
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    jsonschema.validate(report, schema, cls=jsonschema.Draft202012Validator)
    assert report["schema"] == "riskguard-report/1"
    assert report_json.verdicts_of(report)[0].to_dict() == given.to_dict()


def test_the_schema_in_the_package_is_the_closed_one_that_the_types_make():
    schema, made = json.loads(SCHEMA_FILE.read_text(encoding="utf-8")), schema_of_a_report()
    assert described(made, schema) == []
    assert made == schema  # python -m tests.reports.schema writes it


def test_the_schema_is_closed():
    waiting = [json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        waiting += node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
        if isinstance(node, dict) and node.get("type") == "object":
            allowed = node["additionalProperties"]  # a type where the keys are other people's names
            assert allowed is False if "properties" in node else {"type", "anyOf", "$ref"} & {*allowed}, node


def test_the_schema_is_a_schema_and_refuses_what_is_not_a_report():
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    for name, value, problem in (("outcome", "maybe", "enum"), ("new", 1, "additionalProperties")):
        broken = report_json.plain(Report([CASES["loss"]()]))
        broken["verdicts"][0][name] = value
        with pytest.raises(jsonschema.ValidationError) as refused:
            jsonschema.validate(broken, schema, cls=jsonschema.Draft202012Validator)
        assert refused.value.validator == problem
