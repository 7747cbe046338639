"""What a user can set or read is in the reference, and the reference names nothing that is not there."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Iterator
from typing import Any, get_args

import click
import pytest

import pytest_riskguard
from pytest_riskguard import evaluation, inference, pool_study, risk
from pytest_riskguard.cli.main import cli
from pytest_riskguard.cli.output import ExitStatus
from pytest_riskguard.config.schema import (
    CollectionModel,
    ComputedModel,
    ConfigModel,
    FamilyModel,
    GateModel,
    RetrieveModel,
)
from pytest_riskguard.gates import kinds
from pytest_riskguard.gates.verdict import Outcome
from pytest_riskguard.plugin.options import add_options
from pytest_riskguard.reports.json import SCHEMA_FILE
from tests.docs.pages import DOCS

REFERENCE = DOCS / "reference"
PACKAGE = DOCS.parent / "pytest_riskguard"


def page(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """What stands under a heading, up to the next heading that is not below it."""
    level, start = (
        re.search(rf"^(#+) {re.escape(heading)}\n()", text, re.MULTILINE).group(1),
        text.index(f" {heading}\n"),
    )
    rest = text[start + len(heading) + 1 :]
    end = re.search(rf"^#{{1,{len(level)}}} ", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def first_cells(text: str) -> list[str]:
    """Words in code in the first cell of each row of the tables."""
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row.split(" | ")[0])]


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from commands(inner, f"{path} {name}")


COMMANDS = dict(commands(cli, "riskguard"))
LEAVES = {path: command for path, command in COMMANDS.items() if not isinstance(command, click.Group)}


@pytest.mark.parametrize("path", LEAVES)
def test_each_command_has_a_section_in_which_the_site_lists_its_options(path):
    assert f"\n```{{command-help}} {path}\n```\n" in section(page("command-line.md"), f"`{path}`")
    arguments = [p for p in LEAVES[path].params if isinstance(p, click.Argument)]
    assert all(argument.name.upper() in page("command-line.md") for argument in arguments)


@pytest.mark.parametrize("path", LEAVES)
def test_the_help_that_the_site_shows_has_each_option_with_its_meaning_choices_and_default(path):
    options = [p for p in LEAVES[path].params if isinstance(p, click.Option)]
    shown = runpy.run_path(str(DOCS / "command_help.py"))["help_of"](path)
    assert shown.usage.startswith(f"{path} ")
    assert len(shown.options) == len(options)
    for option, (written, meaning) in zip(options, shown.options, strict=True):
        assert {*option.opts, *option.secondary_opts} <= set(re.split(r"[ ,/]+", written))
        assert re.sub(r"\[.*?\]", "", meaning).strip(), written  # something besides the default
        if isinstance(option.type, click.Choice):
            assert f"[{'|'.join(option.type.choices)}]" in written
        if isinstance(option.default, str | float) and option.default:
            assert f"[default: {option.default}]" in meaning


def test_the_reference_names_no_command_or_option_that_is_not_there():
    text = page("command-line.md")
    assert set(re.findall(r"^#+ `(riskguard [a-z -]+)`$", text, re.MULTILINE)) == set(COMMANDS) - {"riskguard"}
    there = {
        option for command in COMMANDS.values() for p in command.params for option in (*p.opts, *p.secondary_opts)
    }
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)) <= there | {"--help"}


def test_each_exit_status_is_in_the_reference():
    rows = re.findall(r"^\| (\d+) \|", section(page("command-line.md"), "Exit status"), re.MULTILINE)
    assert [int(row) for row in rows] == [int(status) for status in ExitStatus]


class Options:
    """Stands for pytest's parser and writes down what is declared."""

    def __init__(self) -> None:
        self.options: list[str] = []
        self.settings: list[str] = []

    def getgroup(self, *_: str) -> Options:
        return self

    def addoption(self, *names: str, **_: Any) -> None:
        self.options += names

    def addini(self, name: str, **_: Any) -> None:
        self.settings.append(name)


def test_each_option_and_setting_of_the_plugin_is_in_the_reference():
    declared = Options()
    add_options(declared)  # type: ignore[arg-type]
    text = page("pytest.md")
    assert [cell.split("=")[0] for cell in first_cells(section(text, "Options"))] == declared.options
    assert first_cells(section(text, "Ini settings")) == declared.settings


@pytest.mark.parametrize(
    ("heading", "model"),
    [
        ("Keys of the file", ConfigModel),
        ("Keys of `collection`", CollectionModel),
        ("Keys of a `candidate` that is queried live", RetrieveModel),
        ("Keys of `family`", FamilyModel),
        ("Keys of a `baseline` that is computed", ComputedModel),
        ("Keys of a gate", GateModel),
    ],
)
def test_each_key_of_riskguard_yaml_is_in_the_reference_with_its_default(heading, model):
    text = section(page("configuration.md"), heading)
    assert sorted(first_cells(text)) == sorted(model.model_fields)
    for key, field in model.model_fields.items():
        row = next(line for line in text.splitlines() if line.startswith(f"| `{key}` "))
        said = row.split(" | ")[1].strip("`")
        default = field.default[0] if isinstance(field.default, list) and field.default else field.default
        if field.is_required():
            assert said == "required", key
        elif default is None or default == []:
            assert said == "none" or said.startswith("the file's"), key
        elif isinstance(default, bool):
            assert said == str(default).lower(), key  # as YAML writes it
        else:
            assert said in (str(default), f"{default:g}" if isinstance(default, float) else ""), key


def fields_of(schema: dict[str, Any], node: dict[str, Any], path: str) -> Iterator[str]:
    """Every field of the report, objects in lists as ``name[].field``."""
    if "$ref" in node:
        node = schema["$defs"][node["$ref"].rsplit("/", 1)[1]]
    for option in node.get("oneOf", []):
        yield from fields_of(schema, option, path)
    if node.get("type") == "array":
        yield from fields_of(schema, node["items"], f"{path}[]")
    for name, inner in node.get("properties", {}).items():
        here = f"{path}.{name}" if path else name
        yield here
        yield from fields_of(schema, inner, here)


def test_each_field_of_the_report_is_in_the_reference():
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    fields = [name.removeprefix("verdicts[].") for name in fields_of(schema, schema, "")]
    text = page("report.md")
    tables = text[: text.index("## Reasons")]
    assert sorted(first_cells(tables)) == sorted(fields)


def source() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py")))


def test_each_reason_is_in_the_reference():
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    allowed = schema["$defs"]["verdict"]["properties"]["reason"]["enum"]
    text = section(page("report.md"), "Reasons")
    assert sorted(first_cells(text)) == sorted(reason for reason in allowed if reason)
    code = source()
    emitted = set(re.findall(r'\breason\s*=\s*"(\w+)"', code))
    emitted |= {
        reason for outcome, reason in re.findall(r'return \(?"(\w+)", "(\w+)"', code) if outcome in get_args(Outcome)
    }
    assert len(emitted) >= 15
    for row in text.splitlines():
        if row.startswith("| `"):
            assert (first_cells(row)[0] in emitted) is ("Not in this version" not in row), row


def test_each_warning_code_is_in_the_reference():
    emitted = set(re.findall(r'(?<!Verdict)\bwarning\(\s*"(\w+)"', source()))
    assert len(emitted) >= 9
    assert sorted(first_cells(section(page("report.md"), "Warning codes"))) == sorted(emitted)


def test_each_public_name_is_in_the_reference():
    text = page("python.md")
    for module in (pytest_riskguard, risk, pool_study, inference, evaluation):
        under = section(text, f"`{module.__name__}`")
        missing = [name for name in module.__all__ if not re.search(rf"`{name}\b", under)]
        assert not missing, module.__name__


def test_each_error_is_in_the_reference():
    names = re.findall(r"^class (\w+)", (PACKAGE / "errors.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name in names if f"`{name}`" not in page("python.md")] == []


@pytest.mark.parametrize("values", [kinds.KINDS, kinds.METHODS, kinds.TRADEOFFS, kinds.CONVENTIONS, kinds.RESPONSES])
def test_each_value_that_a_gate_can_take_is_in_the_reference(values):
    assert [
        value for value in values if f"`{value}`" not in section(page("configuration.md"), "Keys of a gate")
    ] == []


def test_each_reference_that_is_no_single_baseline_is_in_the_reference():
    row = next(
        line for line in section(page("configuration.md"), "Keys of a gate").splitlines() if "| `reference` " in line
    )
    assert all(f"`{word}`" in row for word in (kinds.ANY, kinds.MEDIAN))


def test_each_correction_is_in_the_reference():
    text = section(page("configuration.md"), "Keys of `family`")
    assert [value for value in kinds.CORRECTIONS if f"`{value}`" not in text] == []


def test_the_keys_without_a_meaning_are_those_of_each_kind():
    rows = [
        line.split(" | ")
        for line in section(page("configuration.md"), "Kinds of gates").splitlines()
        if line.startswith("| `")
    ]
    found = {row[0].strip("| `"): {*re.findall(r"`(\w+)`", row[2])} for row in rows}
    assert found == {kind: kinds.OPTIONS.keys() - kinds.options_of(cls) for kind, cls in kinds.KINDS.items()}
