"""Wings stand apart: the core imports none of them, and finds them as it finds the plugins of others."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import pytest_riskguard

PACKAGE = Path(pytest_riskguard.__file__).parent
WINGS = ("ltr", "studies")
API = PACKAGE.parent / "docs/reference/api.md"


def imported(path: Path) -> Iterator[str]:
    """Every module of the package that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.slow
def test_neither_the_core_nor_another_wing_imports_a_wing():
    wings = {wing: f"pytest_riskguard.{wing}" for wing in WINGS}
    for path in PACKAGE.rglob("*.py"):
        home = path.relative_to(PACKAGE).parts[0]
        for name in imported(path):
            foreign = [wing for wing, module in wings.items() if wing != home and f"{name}.".startswith(f"{module}.")]
            assert not foreign, f"{path}: {name}"


def test_a_wing_imports_public_names_alone():
    documented = re.findall(r"automodule:: (\S+)", API.read_text(encoding="utf-8"))
    public = {f"{module}.{name}" for module in documented for name in getattr(import_module(module), "__all__", ())}
    whole = {"pytest_riskguard.errors", *(name for name in public if isinstance(_at(name), ModuleType))}
    for wing in WINGS:
        for path in (PACKAGE / wing).rglob("*.py"):
            for name in imported(path):
                if name.startswith("pytest_riskguard.") and not name.startswith(f"pytest_riskguard.{wing}."):
                    assert name in public or name.rpartition(".")[0] in whole, f"{path}: {name}"


def _at(name: str) -> object:
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


def test_at_most_seventy_names_are_public():
    modules = re.findall(r"automodule:: (\S+)", API.read_text(encoding="utf-8"))
    names = [f"{module}.{name}" for module in modules for name in getattr(import_module(module), "__all__", ())]
    assert "pytest_riskguard.ltr" in modules
    assert len(names) <= 70, names
    assert len(pytest_riskguard.__all__) == 12
