"""What a user can set or read is in the reference, and the reference names nothing that is not there."""

import json
import re
import runpy
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import click
import pytest

import pytest_riskguard
from pytest_riskguard import baselines, data, inference, limits, ltr, risk, studies
from pytest_riskguard import cli as parts
from pytest_riskguard.baselines.manifest import Manifest
from pytest_riskguard.cli.main import ExitStatus, LazyCommand, cli
from pytest_riskguard.config.schema import GateModel, GateSettings
from pytest_riskguard.data.formats import FORMATS
from pytest_riskguard.data.headers import SYNONYMS
from pytest_riskguard.gates import kinds
from pytest_riskguard.gates.power import Plan
from pytest_riskguard.gates.verdict import JSON_TYPES, Outcome
from pytest_riskguard.gates.warning_codes import REASONS, REASONS_OF, WARNINGS
from pytest_riskguard.reports.comparisons import KnownGate
from pytest_riskguard.reports.provenance import Provenance
from tests.docs.pages import DOCS
from tests.house import documented_modules, pytest_settings
from tests.reports.schema import SCHEMA_FILE

REFERENCE = DOCS / "reference"
PACKAGE = DOCS.parent / "pytest_riskguard"
#: What the site lists from the code.
GENERATED: dict[str, Any] = runpy.run_path(str(DOCS / "generated.py"))


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


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    command = command.loaded() if isinstance(command, LazyCommand) else command
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):  # those of wings are found when they are asked for
            yield from commands(command.get_command(context, name), f"{path} {name}")


COMMANDS = dict(commands(cli, "riskguard"))
LEAVES = {path: command for path, command in COMMANDS.items() if not isinstance(command, click.Group)}


@pytest.mark.parametrize("path", LEAVES)
def test_each_command_has_a_section_in_which_the_site_lists_its_options(path):
    shown = path if "baseline" not in path else "riskguard baseline"  # the group, command by command
    assert f"\n```{{command-help}} {shown}\n```\n" in section(page("command-line.md"), f"`{shown}`")


@pytest.mark.parametrize("path", LEAVES)
def test_the_help_that_the_site_shows_has_each_option_with_its_meaning_choices_and_default(path):
    options = [p for p in LEAVES[path].params if isinstance(p, click.Option)]
    shown = runpy.run_path(str(DOCS / "command_help.py"))["help_of"](path)
    assert shown.usage.startswith(f"{path} ")
    assert shown.about[0].endswith(".")
    assert len(shown.options) == len(options)
    for option, (written, meaning) in zip(options, shown.options, strict=True):
        assert {*option.opts, *option.secondary_opts} <= set(re.split(r"[ ,/]+", written))
        assert re.sub(r"\[.*?\]", "", meaning).strip(), written  # something besides the default
        if isinstance(option.type, click.Choice):
            assert f"[{'|'.join(option.type.choices)}]" in written
        if isinstance(option.default, str | float) and option.default:
            default = f"{option.default:g}" if isinstance(option.default, float) else option.default
            assert re.search(rf"\[default: {re.escape(default)}(; [^\]]+)?\]", meaning), meaning


def test_the_reference_names_no_command_or_option_that_is_not_there():
    text = page("command-line.md")
    named = set(re.findall(r"^#+ `(riskguard [a-z -]+)`$", text, re.MULTILINE))
    assert named <= set(COMMANDS)
    assert {path for path in LEAVES if "baseline" not in path} <= named
    there = {
        option for command in COMMANDS.values() for p in command.params for option in (*p.opts, *p.secondary_opts)
    }
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)) <= there | {"--help"}


@pytest.mark.parametrize("path", COMMANDS)
def test_a_help_text_names_only_options_that_the_command_has(path):
    command = COMMANDS[path]
    options = [p for p in command.params if isinstance(p, click.Option)]
    text = " ".join([command.help, *(option.help for option in options)])
    there = {name for option in options for name in (*option.opts, *option.secondary_opts)}
    assert set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text)) <= there


def test_each_exit_status_is_in_the_reference():
    rows = re.findall(r"^\| (\d+) \|", section(page("command-line.md"), "Exit status"), re.MULTILINE)
    assert [int(row) for row in rows] == [int(status) for status in ExitStatus]


def test_the_site_lists_each_option_and_setting_of_the_plugin():
    declared = pytest_settings()
    assert "\n```{plugin-settings}\n```\n" in page("pytest.md")
    options, settings = GENERATED["plugin_settings"]()
    assert [name.split("=")[0] for name, _ in options] == declared.options
    assert [name for name, _ in settings] == declared.settings


@pytest.mark.parametrize(("name", "kind"), [("command-line.md", Plan), ("store.md", Manifest)])
def test_the_site_lists_each_field_of_what_is_written_as_json(name, kind):
    path = f"{kind.__module__}.{kind.__qualname__}"
    assert f"\n```{{fields}} {path}\n```\n" in page(name)
    listed = [field for names, _ in GENERATED["fields_of"](path) for field in names.split(", ")]
    assert sorted(listed) == sorted(field.name for field in fields(kind))


@pytest.mark.parametrize("name", GENERATED["SETTINGS"])
def test_the_site_lists_each_key_of_riskguard_yaml_with_its_default_and_meaning(name):
    model = GENERATED["SETTINGS"][name]
    assert f"\n```{{settings}} {name}\n```\n" in page("configuration.md")
    listed = GENERATED["settings"](model)
    assert [key for key, _, _ in listed] == [*model.model_fields]
    assert [key for key, _, meaning in listed if not meaning.endswith(".")] == []
    for key, default, _ in listed:
        field = model.model_fields[key]
        assert (default == "required") is field.is_required(), key
    assert {(key, default) for key, default, _ in GENERATED["settings"](GENERATED["SETTINGS"]["live"])} == {
        ("retrieve", "required"),
        ("depth", "100"),
        ("workers", "1"),
        ("timeout", "30"),
        ("ties", "as_returned"),
    }


def test_every_property_of_the_report_has_a_description():
    """Properties are looked for without following references, and so in every definition."""
    waiting: list[Any] = [json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))]
    count = 0
    while waiting:
        node = waiting.pop()
        waiting += node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
        if isinstance(node, dict) and isinstance(node.get("properties"), dict):
            for name, inner in node["properties"].items():
                count += 1
                assert inner.get("description", "").endswith("."), name
                assert inner["description"].count("`") % 2 == 0, name
    assert 100 < count <= 180


def paths_of(kind: Any, path: str) -> Iterator[str]:
    """Every field below one of this type, as the typed model of a verdict has it; objects in lists as ``name[]``."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        for field in fields(kind):
            if field.metadata.get("json", True):
                yield f"{path}.{field.name}"
                yield from paths_of(hints[field.name], f"{path}.{field.name}")
    elif get_origin(kind) is not Mapping:
        for inner in get_args(kind):
            yield from paths_of(inner, f"{path}[]" if get_origin(kind) is tuple else path)


def test_the_site_lists_every_field_of_the_report():
    assert "\n```{report-fields}\n```\n" in section(page("report.md"), "All fields")
    listed = GENERATED["report_fields"]()
    expected = {"schema", "generated_by", "verdicts", "gates"}
    expected |= {"provenance", *paths_of(Provenance, "provenance")}
    expected |= {*paths_of(KnownGate, "gates[]"), "policy_changes"}
    for name, kind in JSON_TYPES.items():
        expected |= {name, *paths_of(kind, name)}
    assert sorted(field.path for field in listed) == sorted(expected)


def source() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py")))


def test_verdicts_have_the_reasons_and_warnings_that_the_site_lists_and_no_others():
    code = source()
    given = set(re.findall(r'\breason\s*=\s*"(\w+)"', code))
    given |= {
        reason for outcome, reason in re.findall(r'return \(?"(\w+)", "(\w+)"', code) if outcome in get_args(Outcome)
    }
    assert given == set(REASONS)
    assert set(re.findall(r'\bwarning\(\s*"(\w+)"', code)) == set(WARNINGS)
    assert tuple(REASONS_OF) == get_args(Outcome)[1:]


def test_the_api_shows_each_public_name_with_its_docstring():
    shown = documented_modules(DOCS.parent)
    assert "pytest_riskguard.errors" in shown
    for module in (pytest_riskguard, risk, studies, inference, ltr, data, parts, baselines):
        assert module.__name__ in shown
        missing = [name for name in module.__all__ if name != "__version__" and not getattr(module, name).__doc__]
        assert not missing, module.__name__


def test_the_site_lists_every_option_of_a_gate_with_its_kinds():
    assert "\n```{gate-options}\n```\n" in section(page("configuration.md"), "Options of a gate")
    listed = [(kind, row.name) for row in GENERATED["gate_options"]() for kind in row.kinds]
    assert sorted(listed) == sorted(
        (kind, name) for kind, cls in kinds.KINDS.items() for name in kinds.options_of(cls)
    )
    assert all(row.help.endswith(".") and row.expected for row in GENERATED["gate_options"]())


def test_each_key_of_a_gate_is_one_that_the_site_lists():
    options = {row.name for row in GENERATED["gate_options"]() if "Not in riskguard.yaml" not in row.help}
    assert {*GateSettings.model_fields} | options == {*GateModel.model_fields}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("configuration", "gate-kinds"),
        ("files", "columns"),
        ("files", "formats"),
        ("files", "limits"),
        ("report", "reasons"),
        ("report", "warning-codes"),
    ],
)
def test_the_site_lists_what_the_code_declares(name, shown):
    assert f"\n```{{listed}} {shown}\n```\n" in page(f"{name}.md")
    head, widths, rows = GENERATED["LISTED"][shown]
    declared = {
        "gate-kinds": kinds.KINDS,
        "columns": SYNONYMS,
        "formats": [known.name for known in FORMATS],
        "limits": [known.what for known in vars(limits).values() if isinstance(known, limits.Limit)],
        "reasons": REASONS,
        "warning-codes": WARNINGS,
    }
    assert sorted(row[0].strip("`") for row in rows()) == sorted(declared[shown])
    assert {len(row) for row in rows()} == {len(head)} == {len(widths)}
    assert all(all(row) for row in rows())
