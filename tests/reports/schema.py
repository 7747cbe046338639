"""The JSON Schema that the types of a report make, and a form of any schema in which two can be compared.

``python -m tests.reports.schema`` writes the schema in the package anew; its descriptions stay, fields without one
are named.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

from pydantic import create_model

from pytest_riskguard import reports
from pytest_riskguard.gates.verdict import JSON_TYPES
from pytest_riskguard.reports.comparisons import KnownGate
from pytest_riskguard.reports.json import SCHEMA
from pytest_riskguard.reports.provenance import Provenance
from pytest_riskguard.serialization import UNLESS_EMPTY

Schema = dict[str, Any]
#: The JSON Schema of a report, which the package has for other programs.
SCHEMA_FILE = Path(reports.__file__).with_name("riskguard-report-1.schema.json")
#: What a report has only where there is something to say.
OPTIONAL = {"gates": list[KnownGate], "provenance": Provenance}
OPTIONAL |= {"policy_changes": list[str]}


def schema_of_a_report() -> Schema:
    """The closed schema of a report, by pydantic, without descriptions."""
    fields: Any = {key: (kind, ...) for key, kind in JSON_TYPES.items()}
    verdict: Any = create_model("verdict", **fields)
    create: Any = create_model
    report = create("report", verdicts=(list[verdict], ...), **{key: (kind, None) for key, kind in OPTIONAL.items()})
    made = report.model_json_schema(ref_template="#/$defs/{model}")
    made["properties"] = {"schema": {"const": SCHEMA}, "generated_by": {"type": "string"}, **made["properties"]}
    kinds = {
        kind.__name__: kind for root in (*JSON_TYPES.values(), *OPTIONAL.values()) for kind in dataclasses_in(root)
    }
    for name, definition in [("report", made), *made["$defs"].items()]:
        if "properties" not in definition:
            continue
        written = getattr(kinds.get(name), "__dataclass_fields__", {})
        left_out = {key for key, field in written.items() if not field.metadata.get("json", True)}
        definition["properties"] = {k: v for k, v in definition["properties"].items() if k not in left_out}
        may_lack = {key for key, field in written.items() if field.metadata == UNLESS_EMPTY} | {*OPTIONAL}
        definition["required"] = [key for key in definition["properties"] if key not in may_lack]
        definition["additionalProperties"] = False
    made["$defs"] = {name: made["$defs"][name] for name in sorted(reached(made, made["$defs"]))}
    return tidy(made)


def reached(node: Any, definitions: Schema) -> set[str]:
    """The definitions that a node refers to, and those that these refer to."""
    found: set[str] = set()
    waiting = [{key: value for key, value in node.items() if key != "$defs"}]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict) and (name := one.get("$ref", "").rpartition("/")[2]) and name not in found:
            found.add(name)
            waiting.append(definitions[name])
        waiting += one.values() if isinstance(one, dict) else one if isinstance(one, list) else []
    return found


def dataclasses_in(kind: Any) -> Iterator[type]:
    """The dataclasses that a type is made of."""
    if isinstance(kind, type) and hasattr(kind, "__dataclass_fields__"):
        yield kind
        for inner in get_type_hints(kind).values():
            yield from dataclasses_in(inner)
    for inner in get_args(kind):
        yield from dataclasses_in(inner)


def tidy(schema: Any) -> Any:
    """The same without titles, defaults and docstrings; simple alternatives as one list of types."""
    if isinstance(schema, list):
        return [tidy(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    named = ("properties", "$defs")
    schema = {
        key: {name: tidy(inner) for name, inner in value.items()} if key in named else tidy(value)
        for key, value in schema.items()
        if key not in ("title", "default") and not (key == "description" and isinstance(value, str))
    }
    if "const" in schema or "enum" in schema:
        schema.pop("type", None)
    null, other = {"type": "null"}, [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    if null in schema.get("anyOf", ()) and len(other) == 1 and isinstance(other[0].get("type"), str):
        del schema["anyOf"]
        return {**other[0], "type": [other[0]["type"], "null"], **schema}
    return schema


def described(made: Schema, known: Schema) -> list[str]:
    """Copy descriptions from the schema that is known, and say which properties have none there."""
    made |= {key: known[key] for key in ("$schema", "title", "description") if key in known}
    missing = []
    for name, definition in [("", made), *made["$defs"].items()]:
        old = known if not name else known["$defs"].get(name, {})
        for key, said in definition.get("properties", {}).items():
            text = old.get("properties", {}).get(key, {}).get("description")
            if text:
                definition["properties"][key] = {"description": text, **said}
            else:
                missing.append(f"{name}.{key}")
    return missing


if __name__ == "__main__":
    new = schema_of_a_report()
    for path in described(new, json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))):
        print(f"{path} has no description yet")
    SCHEMA_FILE.write_text(json.dumps(new, indent=2) + "\n", encoding="utf-8")
