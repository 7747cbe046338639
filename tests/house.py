"""Counts of the house: ``python -m tests.house`` prints them.

Code is counted in tokens as Python reads them, without comments, docstrings and blank lines: no layout of lines
changes the count. ``test_house.py`` has the ceilings.
"""

from __future__ import annotations

import ast
import importlib
import io
import json
import re
import runpy
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[1]
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
#: Commands that are no part of the core, but plug in.
WINGS = ("study", "replay")


def tokens(source: str) -> int:
    """Tokens of a module that are code."""
    docstrings = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            text = (
                first.value.value if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) else None
            )
            if isinstance(text, str):
                docstrings.add((first.lineno, first.col_offset))
    read = tokenize.generate_tokens(io.StringIO(source).readline)
    return sum(token.type not in NO_CODE and token.start not in docstrings for token in read)


def code(folder: Path) -> tuple[int, int, int]:
    """Tokens, modules and lines of a folder."""
    sources = [path.read_text(encoding="utf-8") for path in folder.rglob("*.py")]
    return sum(map(tokens, sources)), len(sources), sum(source.count("\n") for source in sources)


def words(*pages: Path) -> int:
    """Words of pages, code and tables included."""
    return sum(len(page.read_text(encoding="utf-8").split()) for page in pages)


def documented_modules(root: Path) -> list[str]:
    """The public modules: those that the page of the API lists."""
    page = (root / "docs/reference/api.md").read_text(encoding="utf-8")
    return re.findall(r"^\.\. automodule:: ([\w.]+)$", page, re.MULTILINE)


def public_names(module: str) -> set[str]:
    """What a module names as public, its version aside."""
    return set(getattr(importlib.import_module(module), "__all__", ())) - {"__version__"}


def commands() -> Iterator[tuple[str, int]]:
    """Every command that does something, by how it is called, and its slots for options."""
    import click

    for path, command in runpy.run_path(str(CHECKOUT / "docs/command_help.py"))["commands"]().items():
        yield path, sum(isinstance(parameter, click.Option) for parameter in command.params)


def is_of_a_wing(command: str) -> bool:
    """Whether a command plugs in."""
    return command.split()[1] in WINGS


def properties(schema: Any) -> Iterator[str]:
    """Names of the properties of a JSON Schema, one for each place where it is declared."""
    if isinstance(schema, dict):
        declared = schema.get("properties")
        yield from declared if isinstance(declared, dict) else ()
        for value in schema.values():
            yield from properties(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from properties(value)


def yaml_keys() -> set[str]:
    """The keys of riskguard.yaml."""
    from pytest_riskguard.config.setting_types import Model

    importlib.import_module("pytest_riskguard.config.schema")
    models = [Model]
    for model in models:  # it grows meanwhile
        models += model.__subclasses__()
    return {key for model in models for key in model.model_fields}


def report_properties(root: Path) -> int:
    """Properties of the JSON report, by its schema."""
    (file,) = (root / "pytest_riskguard").rglob("riskguard-report-1.schema.json")
    return sum(1 for _ in properties(json.loads(file.read_text(encoding="utf-8"))))


def sources(root: Path) -> str:
    """The text of all modules of the package."""
    return "\n".join(path.read_text(encoding="utf-8") for path in (root / "pytest_riskguard").rglob("*.py"))


def environment_variables(root: Path) -> set[str]:
    """The variables of the environment that the package knows."""
    return set(re.findall(r"""["'](RISKGUARD_[A-Z_]+)["']""", sources(root)))


class _Parser:
    """Takes what the plugin declares, as pytest's parser does."""

    def __init__(self) -> None:
        self.options: list[str] = []
        self.settings: list[str] = []

    def getgroup(self, *_names: str) -> _Parser:
        """All options together."""
        return self

    def addoption(self, name: str, **_attributes: Any) -> None:
        """An option."""
        self.options.append(name)

    def addini(self, name: str, *_help: str, **_attributes: Any) -> None:
        """A setting of the ini file."""
        self.settings.append(name)


def pytest_settings() -> _Parser:
    """Options and ini settings of the plugin."""
    from pytest_riskguard.plugin import pytest_addoption

    parser = _Parser()
    pytest_addoption(parser)  # type: ignore[arg-type]
    return parser


def extras(root: Path) -> list[str]:
    """What users may install besides the package, and ``test``."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return sorted(project["optional-dependencies"])


def surface(root: Path) -> dict[str, int]:
    """What users meet."""
    from pytest_riskguard.gates.warning_codes import WARNINGS

    core = [slots for name, slots in commands() if not is_of_a_wing(name)]
    wings = [slots for name, slots in commands() if is_of_a_wing(name)]
    declared = pytest_settings()
    return {
        "docs: words": words(*(root / "docs").rglob("*.md")),
        "README: words": words(root / "README.md"),
        "public names": sum(len(public_names(module)) for module in documented_modules(root)),
        "public names: at the top": len(public_names("pytest_riskguard")),
        "commands: core": len(core),
        "commands: wings": len(wings),
        "options": sum(core) + sum(wings),
        "options: compare": dict(commands())["riskguard compare"],
        "YAML keys": len(yaml_keys()),
        "report properties": report_properties(root),
        "environment variables": len(environment_variables(root)),
        "warning codes": len(WARNINGS),
        "pytest options": len(declared.options),
        "ini keys": len(declared.settings),
        "extras": len(extras(root)),
    }


def main() -> None:
    """Print the counts."""
    for folder in ("pytest_riskguard", "tests"):
        print("{}: {:,} tokens, {} modules, {:,} lines".format(folder, *code(CHECKOUT / folder)))
    for name, count in surface(CHECKOUT).items():
        print(f"{name}: {count:,}")


if __name__ == "__main__":
    main()
