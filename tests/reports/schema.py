"""The JSON Schema that the types of a verdict make, and a form of any schema in which two can be compared.

``python -m tests.reports.schema`` adds new options of gates to the schema in the package.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import create_model

from pytest_riskguard.gates.kinds import OPTIONS
from pytest_riskguard.gates.verdict import JSON_TYPES
from pytest_riskguard.reports.json import SCHEMA_FILE

#: Parts for riskguard's own pages, which the schema leaves open.
OWN: tuple[str, ...] = (
    "Exhibits",
    "TopicDocuments",
    "Judgements",
    "Lineage",
    "CurvePoint",
    "Look",
    "Diagnostics",
    "StratumFigures",
)
OWN += ("TopicGroup", "EffectSizes", "Yardstick")
#: Fields that a report may lack.
OPTIONAL = {
    "verdict": {
        "weighted",
        "max_loss",
        "max_share",
        "allowed",
        "protected",
        "slice",
        "replicates",
        "family",
        "diagnostics",
        "yardstick",
        "lineage",
        "pool",
    },
    "Inputs": {"replicates"},
    "Family": {"look"},
    "TopicCounts": {"left_out", "clusters", "effective", "strata"},
    "Estimates": {
        "win_loss_ratio",
        "stands_up_to_ratio",
        "noise_urisk",
        "decision_p_value",
        "tail",
        "zrisk",
        "georisk",
        "georisk_difference",
        "georisk_standard_error",
    },
    "Power": {"churn_failure_rate"},
    "Slice": {"left_out"},
    "ResponsibleTopic": {"weight", "exceeds", "candidate_z", "baseline_z"},
}
Schema = dict[str, Any]


def schema_of_a_verdict() -> Schema:
    """The schema of one verdict, by pydantic, with its definitions in ``$defs``."""
    fields: dict[str, Any] = {key: (kind, ...) for key, kind in JSON_TYPES.items()}
    verdict = create_model("verdict", **fields).model_json_schema(ref_template="#/$defs/{model}")
    del verdict["$defs"]["VerdictWarning"]["properties"]["parameters"]
    for name, definition in [*verdict["$defs"].items(), ("verdict", verdict)]:
        definition["required"] = [key for key in definition["properties"] if key not in OPTIONAL.get(name, ())]
    verdict["$defs"] |= {name: {"type": "object"} for name in OWN}
    return verdict


def comparable(schema: Schema, definitions: Schema) -> list[Schema]:
    """The alternatives that a schema allows, in order: references followed, without titles and descriptions."""
    while "$ref" in schema:
        schema = definitions[schema["$ref"].rsplit("/", 1)[1]]
    schema = {key: value for key, value in schema.items() if key not in ("title", "description", "default", "$defs")}
    alternatives = schema.pop("anyOf", schema.pop("oneOf", None))
    if alternatives is None and isinstance(schema.get("type"), list):
        alternatives = [{"type": kind} for kind in schema.pop("type")]
    if alternatives is not None:
        every = [one for alternative in alternatives for one in comparable(alternative, definitions)]
        shared = [one if one.get("type") == "null" else one | schema for one in every]
        return sorted(shared, key=lambda one: json.dumps(one, sort_keys=True))
    words = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if words is not None:
        return [{"enum": sorted(map(str, words))}]
    if "properties" in schema:
        inner = {key: comparable(value, definitions) for key, value in schema["properties"].items()}
        schema |= {"properties": inner, "required": sorted(schema.get("required", []))}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            schema[key] = comparable(schema[key], definitions)
    return [schema]


def with_new_options(schema: Schema) -> Schema:
    """The schema of reports, with the options of gates that its verdicts lack."""
    properties = schema["$defs"]["verdict"]["properties"]
    for name, said in schema_of_a_verdict()["properties"].items():
        if name in OPTIONS and name not in properties:
            properties[name] = {"description": OPTIONS[name].help} | {k: v for k, v in said.items() if k != "title"}
    return schema


if __name__ == "__main__":
    new = with_new_options(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))
    SCHEMA_FILE.write_text(json.dumps(new, indent=2) + "\n", encoding="utf-8")
