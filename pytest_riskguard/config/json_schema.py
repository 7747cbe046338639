"""The JSON Schema of riskguard.yaml, made from the models of its settings, for editors that complete and check it.

Draft 7, which the YAML language server knows. It describes shapes: what it refuses is wrong, and what it lets through
may still be refused by ``config.load``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from pytest_riskguard.config.schema import Config, GateModel, GateSettings
from pytest_riskguard.config.setting_types import ListOf, Whole
from pytest_riskguard.gates.kinds import KINDS, OPTIONS, options_of
from pytest_riskguard.gates.option_types import Number, OneOf, ShareOrCount, Text, Texts, TrueOrFalse

#: Where ``riskguard init`` puts it, beside riskguard.yaml, and the comment that names it there.
SCHEMA_NAME = "riskguard.schema.json"
MODELINE = f"# yaml-language-server: $schema={SCHEMA_NAME}"
TITLE = "riskguard.yaml"
_DIALECT = "http://json-schema.org/draft-07/schema#"

Schema = dict[str, Any]


def json_schema() -> Schema:
    """The schema of a whole riskguard.yaml."""
    schema = _tidy(Config.model_json_schema(mode="validation", schema_generator=_Generator))
    about = {"$schema": _DIALECT, "title": TITLE, "description": "Settings of pytest-riskguard."}
    gate = schema["$defs"][GateModel.__name__]
    gate["description"], meanings = documented(GateSettings)
    for name, meaning in meanings.items():
        gate["properties"][name]["description"] = meaning
    gate["allOf"] = [_of_kind(kind, gate["properties"]) for kind in KINDS]
    for name, option in OPTIONS.items():
        if name in gate["properties"]:
            gate["properties"][name]["description"] = option.help
    return about | {key: value for key, value in schema.items() if key not in about}


def _of_kind(kind: str, properties: Mapping[str, Any]) -> Schema:
    """A gate of this kind has no options of other kinds."""
    own = options_of(KINDS[kind])
    foreign = {name: False for name in OPTIONS if name in properties and name not in own}
    return {"if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]}, "then": {"properties": foreign}}


class _Generator(GenerateJsonSchema):
    """Knows the checks that the models call; what it does not know may be anything."""

    def function_plain_schema(self, schema: Any) -> Schema:
        return _of_check(schema["function"]["function"]) or super().function_plain_schema(schema)

    def model_schema(self, schema: Any) -> Schema:
        made = super().model_schema(schema)
        made["description"], meanings = documented(schema["cls"])
        for name, inner in made["properties"].items():
            if name in meanings:
                inner["description"] = meanings[name]
        return made

    def function_before_schema(self, schema: Any) -> Schema:
        inner = self.generate_inner(schema["schema"])
        check = schema["function"]["function"]
        if isinstance(check, ListOf):
            inner = inner | {"minItems": 1}
            return {"anyOf": [inner["items"], inner]} if check.or_one else inner
        given = schema.get("json_schema_input_schema")
        return inner if given is None else {"anyOf": [self.generate_inner(given), inner]}


def _of_check(check: object) -> Schema | None:
    """What a check lets through."""
    match check:
        case ShareOrCount():
            share = {"type": "number", "minimum": check.low, "exclusiveMaximum": 1}
            schema: Schema = {"anyOf": [share, {"type": "integer", "minimum": 1}]}
        case Number():
            edges = ("exclusiveMinimum", "exclusiveMaximum") if check.open_range else ("minimum", "maximum")
            limits = zip(edges, (check.low, check.high), strict=True)
            schema = {"type": "number"} | {edge: value for edge, value in limits if math.isfinite(value)}
        case Whole():
            schema = {"type": "integer", "minimum": check.at_least}
            if check.at_most < math.inf:
                schema["maximum"] = check.at_most
        case OneOf():
            schema = {"enum": list(check.words)}
        case TrueOrFalse():
            schema = {"type": "boolean"}
        case Text():
            schema = {"type": "string", "minLength": 1}
        case Texts():
            schema = {"type": "array", "items": _of_check(check.entry)}
        case _:
            return None
    return {"anyOf": [schema, {"type": "null"}]} if getattr(check, "optional", False) else schema


def documented(model: type) -> tuple[str, dict[str, str]]:
    """What the docstring of a mapping says of it, and of each of its keys, those of its base classes included."""
    meanings: dict[str, str] = {}
    about = ""
    for cls in reversed(model.__mro__):
        text = (cls.__doc__ or "").replace("``", "`")
        about, _, listed = text.partition("\n\n    Attributes\n    ----------\n")
        for entry in re.split(r"\n(?=    \w)", listed.rstrip()):
            key, _, meaning = entry.strip().partition("\n")
            meanings |= {key: " ".join(meaning.split())} if key else {}
    return " ".join(about.split()), meanings


def _tidy(node: Any) -> Any:
    """Without titles that repeat keys, and defaults that say nothing; alternatives in one list."""
    if isinstance(node, list):
        return [_tidy(one) for one in node]
    if not isinstance(node, dict):
        return node
    kept: Schema = {}
    for key, value in node.items():
        if key == "properties":
            kept[key] = {name: _tidy(inner) for name, inner in value.items()}
        elif not (key == "title" or (key == "default" and value in (None, [])) or key == "discriminator"):
            kept["anyOf" if key == "oneOf" else key] = _tidy(value)
    if "anyOf" in kept:
        flat = [inner for one in kept["anyOf"] for inner in (one["anyOf"] if set(one) == {"anyOf"} else [one])]
        kept["anyOf"] = [one for place, one in enumerate(flat) if one not in flat[:place]]
    return kept
