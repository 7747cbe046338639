"""The JSON Schema of riskguard.yaml, made from the models of its settings, for editors that complete and check it.

Draft 7, which the YAML language server knows. It describes shapes: what it refuses is wrong, and what it lets through
may still be refused by ``config.load``.
"""

from __future__ import annotations

import math
import re
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from pytest_riskguard.config.schema import Config
from pytest_riskguard.config.setting_types import ListOf, Whole
from pytest_riskguard.gates.kinds import OPTIONS
from pytest_riskguard.gates.option_types import Number, OneOf, ShareOrCount, Text, Texts, TrueOrFalse

#: Where ``riskguard init`` puts it, beside riskguard.yaml, and the comment that names it there.
SCHEMA_NAME = "riskguard.schema.json"
MODELINE = f"# yaml-language-server: $schema={SCHEMA_NAME}"

Schema = dict[str, Any]


def json_schema() -> Schema:
    """The schema of a whole riskguard.yaml."""
    schema = Config.model_json_schema(schema_generator=_Generator)
    about = {"title": "riskguard.yaml", "description": "Settings of pytest-riskguard."}
    return {"$schema": "http://json-schema.org/draft-07/schema#"} | schema | about


class _Generator(GenerateJsonSchema):
    """Knows the checks that the models call; what it does not know may be anything."""

    def function_plain_schema(self, schema: Any) -> Schema:
        return _of_check(schema["function"]["function"]) or super().function_plain_schema(schema)

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False  # it would repeat the key

    def model_schema(self, schema: Any) -> Schema:
        made = super().model_schema(schema)
        made["description"], meanings = documented(schema["cls"])
        meanings |= {name: option.help for name, option in OPTIONS.items()}
        for name, inner in made["properties"].items():
            inner["description"] = meanings.get(name, "")
        return made

    def function_before_schema(self, schema: Any) -> Schema:
        inner, given = self.generate_inner(schema["schema"]), schema.get("json_schema_input_schema")
        return {"anyOf": [inner, self.generate_inner(given)]} if given else inner

    def function_wrap_schema(self, schema: Any) -> Schema:
        inner, check = self.generate_inner(schema["schema"]) | {"minItems": 1}, schema["function"]["function"]
        return {"anyOf": [inner["items"], inner]} if isinstance(check, ListOf) and check.or_one else inner


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
            schema = {"type": "integer", "minimum": check.at_least, "maximum": check.at_most}
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
        said, _, listed = text.partition("\n\n    Attributes\n    ----------\n")
        about = said or about
        for entry in re.split(r"\n(?=    \w)", listed.rstrip()):
            key, _, meaning = entry.strip().partition("\n")
            meanings |= {key: " ".join(meaning.split())} if key else {}
    return " ".join(about.split()), meanings
